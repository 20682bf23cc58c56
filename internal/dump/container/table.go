package container

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/hamba/avro/v2"
	"github.com/hamba/avro/v2/ocf"
	"github.com/parquet-go/parquet-go"
)

// text is what a document says. Tables are rows of cells between tabs, the first row their columns' names.
type text struct {
	w     *bufio.Writer
	begun bool // a cell of this row was written
}

// firstError returns the error that ended writing, which the buffer keeps: what is written after it goes nowhere.
func (t *text) firstError() error {
	_, err := t.w.Write(nil)
	return err
}

// nextCell begins a cell.
func (t *text) nextCell() {
	if t.begun {
		t.writeRaw([]byte{'\t'})
	}
	t.begun = true
}

// writeCell writes a text; what would end its row or itself becomes a blank.
func (t *text) writeCell(s []byte) {
	t.nextCell()
	for at := bytes.IndexAny(s, "\n\t\r\x00"); at >= 0; at = bytes.IndexAny(s, "\n\t\r\x00") {
		t.writeRaw(s[:at])
		t.writeRaw([]byte{' '})
		s = s[at+1:]
	}
	t.writeRaw(s)
}

// writeInteger writes a whole number.
func (t *text) writeInteger(n int64) {
	t.nextCell()
	t.writeRaw(strconv.AppendInt(nil, n, 10))
}

// writeNumber writes a number as a person would: whole ones without a point, whatever their size.
func (t *text) writeNumber(f float64) {
	t.nextCell()
	format := byte('f')
	if math.Abs(f) > 1e21 {
		format = 'g'
	}
	t.writeRaw(strconv.AppendFloat(nil, f, format, -1, 64))
}

// endRow ends a row, and tells whether it is worth going on.
func (t *text) endRow() error {
	t.begun = false
	return t.w.WriteByte('\n')
}

// writeLine writes a line of its own.
func (t *text) writeLine(s []byte) error {
	t.writeRaw(s)
	return t.endRow()
}

// writeRaw writes a text as it is.
func (t *text) writeRaw(s []byte) { _, _ = t.w.Write(s) } // see firstError

// avroFormat reads container files of Avro: the schema in front, then blocks of rows. A row is a line, its fields in
// their columns; those of a record inside it are columns of their own.
var avroFormat = document("Avro", startsWith("Obj\x01"), func(d *source, out *text) error {
	config := avro.Config{MaxByteSliceSize: 16 << 20}.Freeze()
	rows, err := ocf.NewDecoder(
		io.NewSectionReader(d, 0, d.size),
		ocf.WithDecoderConfig(config),
		ocf.WithDecoderSchemaCache(&avro.SchemaCache{}),
	)
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

// parquetFormat reads tables of Parquet row by row, their columns by the paths of their names.
var parquetFormat = document("Parquet", startsWith("PAR1"), func(d *source, out *text) error {
	var mark [4]byte
	if err := readExactly(d, mark[:], d.size-4); err != nil {
		return err
	}
	switch string(mark[:]) {
	case "PARE":
		return errEncrypted
	case "PAR1":
	default:
		return errors.New("cut short: no table of contents")
	}
	table, err := parquet.OpenFile(d, d.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	columns := table.Schema().Columns()
	for _, path := range columns {
		out.writeCell([]byte(strings.Join(path, ".")))
	}
	if err := out.endRow(); err != nil {
		return err
	}
	for _, group := range table.RowGroups() {
		if err := writeParquetRows(group.Rows(), len(columns), out); err != nil {
			return err
		}
	}
	return nil
})

// writeParquetRows writes a line for each row. A column that repeats within a row has its values in one cell.
func writeParquetRows(rows parquet.Rows, columns int, out *text) error {
	defer func() { _ = rows.Close() }() // only read
	batch := make([]parquet.Row, 64)
	for {
		n, err := rows.ReadRows(batch)
		for _, row := range batch[:n] {
			for column := range columns {
				for first := true; len(row) > 0 && row[0].Column() == column; row = row[1:] {
					if !first {
						out.writeRaw([]byte{' '})
						out.begun = false
					}
					writeParquetValue(row[0], out)
					first = false
				}
			}
			if err := out.endRow(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// writeParquetValue writes a value as a cell. Kinds that cannot hold an identifier give an empty cell, so that the
// columns behind them keep their place.
func writeParquetValue(v parquet.Value, out *text) {
	switch v.Kind() {
	case parquet.Int32:
		out.writeInteger(int64(v.Int32()))
	case parquet.Int64:
		out.writeInteger(v.Int64())
	case parquet.Float:
		out.writeNumber(float64(v.Float()))
	case parquet.Double:
		out.writeNumber(v.Double())
	case parquet.ByteArray, parquet.FixedLenByteArray:
		out.writeCell(v.ByteArray())
	default: // nothing, a truth value, a time
		out.writeCell(nil)
	}
}
