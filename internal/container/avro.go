package container

import (
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"github.com/hamba/avro/v2"
	"github.com/hamba/avro/v2/ocf"
)

// avroFormat reads container files of Avro: the schema in front, then blocks of rows. A row is a line, its fields in
// their columns; those of a record inside it are columns of their own.
var avroFormat = document("Avro", startsWith("Obj\x01"), func(d *source, out *text) error {
	config := avro.Config{MaxByteSliceSize: 16 << 20}.Freeze()
	rows, err := ocf.NewDecoder(io.NewSectionReader(d, 0, d.size), ocf.WithDecoderConfig(config), ocf.WithDecoderSchemaCache(&avro.SchemaCache{}))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // only read
	writeAvroNames(rows.Schema(), "", nil, out)
	for err = out.endRow(); err == nil && rows.HasNext(); err = out.endRow() {
		var row any
		if err := rows.Decode(&row); err != nil {
			return err
		}
		writeAvroValue(rows.Schema(), row, nil, out)
	}
	if err == nil {
		err = rows.Error()
	}
	return err
})

// avroRecord returns the record that a schema is or may be, unless it is inside of one of its kind.
func avroRecord(s avro.Schema, outer []*avro.RecordSchema) *avro.RecordSchema {
	if union, ok := s.(*avro.UnionSchema); ok {
		for _, t := range union.Types() {
			if r := avroRecord(t, outer); r != nil {
				return r
			}
		}
	}
	if ref, ok := s.(*avro.RefSchema); ok {
		s = ref.Schema()
	}
	if r, ok := s.(*avro.RecordSchema); ok && !slices.Contains(outer, r) {
		return r
	}
	return nil
}

// writeAvroNames writes a cell with the name of each column. Records within records are flattened to the columns of
// their fields, as writeAvroValue does with the values.
func writeAvroNames(s avro.Schema, name string, outer []*avro.RecordSchema, out *text) {
	r := avroRecord(s, outer)
	if r == nil {
		out.writeCell([]byte(name))
		return
	}
	for _, f := range r.Fields() {
		writeAvroNames(f.Type(), f.Name(), append(slices.Clip(outer), r), out)
	}
}

// writeAvroValue writes a cell for each column of a value. A value that does not fit its schema gives empty cells, so
// that the columns behind it keep their place.
func writeAvroValue(s avro.Schema, v any, outer []*avro.RecordSchema, out *text) {
	r := avroRecord(s, outer)
	if r == nil {
		out.writeCell([]byte(avroText(v)))
		return
	}
	fields, _ := v.(map[string]any)
	if inner, ok := fields[r.FullName()].(map[string]any); ok && len(fields) == 1 { // one of several kinds, by its name
		fields = inner
	}
	for _, f := range r.Fields() {
		writeAvroValue(f.Type(), fields[f.Name()], append(slices.Clip(outer), r), out)
	}
}

// avroText returns what a value says; lists and maps say what they hold, with blanks between.
func avroText(v any) string {
	text := ""
	switch v := v.(type) {
	case nil:
	case []byte:
		text = string(v)
	case *big.Rat:
		text = v.RatString()
	case []any:
		for _, e := range v {
			text += avroText(e) + " "
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text += key + " " + avroText(v[key]) + " "
		}
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64) // whole ones without an exponent
	default:
		text = fmt.Sprint(v)
	}
	return text
}
