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

	"github.com/parquet-go/parquet-go"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"
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

func (t *text) writeRaw(s []byte) { _, _ = t.w.Write(s) } // see firstError

// avroFormat reads container files of Avro: the schema in front, then blocks of rows. A row is a line, its fields in
// their columns; those of a record inside it are columns of their own.
var avroFormat = document("Avro", startsWith("Obj\x01"), func(d *source, out *text) error {
	rows, err := ocf.NewReader(io.NewSectionReader(d, 0, d.size))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // only read
	columns := avroColumns{named: map[string]*avro.SchemaNode{}}
	schema := rows.Schema().Root()
	columns.collectRecords(schema)
	columns.writeNames(schema, "", nil, out)
	for err = out.endRow(); err == nil; err = out.endRow() {
		var row any
		if err := rows.Decode(&row); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		columns.writeValue(schema, row, nil, out)
	}
	return err
})

// avroColumns knows the records of a schema, which refers to one that stands in it twice by its name.
type avroColumns struct {
	named map[string]*avro.SchemaNode
}

// collectRecords notes the records in a schema.
func (c avroColumns) collectRecords(s *avro.SchemaNode) {
	if s == nil {
		return
	}
	if s.Type == "record" || s.Type == "error" {
		name := s.Name
		if s.Namespace != "" && !strings.Contains(name, ".") {
			name = s.Namespace + "." + name
		}
		c.named[name] = s
	}
	for i := range s.Fields {
		c.collectRecords(&s.Fields[i].Type)
	}
	for i := range s.Branches {
		c.collectRecords(&s.Branches[i])
	}
	c.collectRecords(s.Items)
	c.collectRecords(s.Values)
}

// recordOf returns the record that a schema is or may be, unless it is inside of one of its kind.
func (c avroColumns) recordOf(s *avro.SchemaNode, outer []*avro.SchemaNode) *avro.SchemaNode {
	for i := range s.Branches {
		if r := c.recordOf(&s.Branches[i], outer); r != nil {
			return r
		}
	}
	if named := c.named[s.Type]; named != nil {
		s = named
	}
	if (s.Type == "record" || s.Type == "error") && !slices.Contains(outer, s) {
		return s
	}
	return nil
}

// writeNames writes a cell with the name of each column. Records within records are flattened to the columns of their
// fields, as writeValue does with the values.
func (c avroColumns) writeNames(s *avro.SchemaNode, name string, outer []*avro.SchemaNode, out *text) {
	r := c.recordOf(s, outer)
	if r == nil {
		out.writeCell([]byte(name))
		return
	}
	for i := range r.Fields {
		f := &r.Fields[i]
		c.writeNames(&f.Type, f.Name, append(slices.Clip(outer), r), out)
	}
}

// writeValue writes a cell for each column of a value. A value that does not fit its schema gives empty cells, so that
// the columns behind it keep their place.
func (c avroColumns) writeValue(s *avro.SchemaNode, v any, outer []*avro.SchemaNode, out *text) {
	r := c.recordOf(s, outer)
	if r == nil {
		out.writeCell([]byte(avroText(v)))
		return
	}
	fields, _ := v.(map[string]any)
	for i := range r.Fields {
		f := &r.Fields[i]
		c.writeValue(&f.Type, fields[f.Name], append(slices.Clip(outer), r), out)
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
