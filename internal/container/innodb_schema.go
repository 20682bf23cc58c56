package container

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// innodbColumn is a column in the order in which records have it.
type innodbColumn struct {
	name     string
	kind     innodbKind
	size     int // of a fixed one in bytes
	nullable bool
	unsigned bool
	long     bool // a length may take two bytes
	scale    int  // digits behind the point, and all of them
	digits   int
}

// innodbPointer is how many bytes say where the rest of a long value stands.
const innodbPointer = 20

type innodbKind uint8

const (
	innodbHidden innodbKind = iota // the server's own, and what is passed over
	innodbText                     // of changing length
	innodbChars                    // of fixed length
	innodbWhole
	innodbFloat
	innodbDecimal
	innodbDate
	innodbTime
)

// innodbDescription is what MySQL 8 writes of a table, as far as it is needed.
type innodbDescription struct {
	Type   string `json:"dd_object_type"`
	Object struct {
		Columns []struct {
			Name     string `json:"name"`
			Nullable bool   `json:"is_nullable"`
			Unsigned bool   `json:"is_unsigned"`
			Virtual  bool   `json:"is_virtual"`
			Hidden   int    `json:"hidden"`
			Bytes    int    `json:"char_length"`
			Type     string `json:"column_type_utf8"`
			Elements []any  `json:"elements"`
		} `json:"columns"`
		Indexes []struct {
			Elements []struct {
				Column int `json:"column_opx"`
			} `json:"elements"`
		} `json:"indexes"`
	} `json:"dd_object"`
}

// described reads the page of descriptions. It returns nil if there is none that is understood whole.
func (t *innodbTable) described() []innodbColumn {
	const head, most = 33, 8 << 20              // two numbers that name it, two of the server, and two lengths
	records, _ := innodbChain(t.page, 99, true) // rows are read without it too
	for _, at := range records {
		if at+head > len(t.page) {
			continue
		}
		n, size := int64(binary.BigEndian.Uint32(t.page[at+29:])), int64(binary.BigEndian.Uint32(t.page[at+25:]))
		if int64(at+head)+n > int64(len(t.page)) || size > most || t.src.grow(3*size) != nil {
			continue
		}
		z, err := zlib.NewReader(bytes.NewReader(t.page[at+head:][:n]))
		if err != nil {
			continue
		}
		var d innodbDescription
		if json.NewDecoder(io.LimitReader(z, size)).Decode(&d) != nil || d.Type != "Table" || len(d.Object.Indexes) == 0 {
			continue
		}
		return d.layout()
	}
	return nil
}

func (d *innodbDescription) layout() (columns []innodbColumn) {
	for _, e := range d.Object.Indexes[0].Elements {
		if e.Column < 0 || e.Column >= len(d.Object.Columns) {
			return nil
		}
		c := d.Object.Columns[e.Column]
		if c.Virtual {
			continue
		}
		column := innodbColumn{name: c.Name, nullable: c.Nullable, unsigned: c.Unsigned}
		own := map[string]int{"DB_TRX_ID": 6, "DB_ROLL_PTR": 7, "DB_ROW_ID": 6}
		if size, ok := own[c.Name]; ok && c.Hidden > 1 {
			column.size = size
		} else if !column.typed(c.Type, c.Bytes, len(c.Elements)) {
			return nil
		}
		columns = append(columns, column)
	}
	return columns
}

var innodbType = regexp.MustCompile(`^([a-z]+)(?:\((\d+)(?:,(\d+))?\))?`)

// typed takes a type as it is written in SQL. It reports false for one that is not known.
func (c *innodbColumn) typed(sql string, most, elements int) bool {
	m := innodbType.FindStringSubmatch(sql)
	if m == nil {
		return false
	}
	n, _ := strconv.Atoi(m[2]) // 0 where there is none
	scale, _ := strconv.Atoi(m[3])
	whole := map[string]int{"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8, "year": 1}
	fraction := (n + 1) / 2
	switch name := m[1]; name {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "year":
		c.kind, c.size = innodbWhole, whole[name]
		c.unsigned = c.unsigned || name == "year"
	case "float", "double":
		c.kind, c.size = innodbFloat, map[string]int{"float": 4, "double": 8}[name]
	case "decimal":
		c.kind, c.digits, c.scale = innodbDecimal, n, scale
		c.size = decimalBytes(n-scale) + decimalBytes(scale)
	case "date":
		c.kind, c.size = innodbDate, 3
	case "datetime":
		c.kind, c.size = innodbTime, 5+fraction
	case "timestamp":
		c.size = 4 + fraction
	case "time":
		c.size = 3 + fraction
	case "bit":
		c.size = (n + 7) / 8
	case "enum":
		c.size = 1 + elements/256
	case "set":
		c.size = (elements + 7) / 8
		if c.size > 4 {
			c.size = 8
		}
	case "binary":
		c.size, c.kind = n, innodbChars
	case "char":
		if c.kind, c.size = innodbChars, n; most != n { // characters of several bytes: their length is told
			c.kind, c.long = innodbText, most > 255
		}
	case "varchar", "varbinary":
		c.kind, c.long = innodbText, most > 255
	default:
		c.kind, c.long = innodbText, true
		return strings.HasSuffix(name, "text") || strings.HasSuffix(name, "blob") || name == "json"
	}
	return true
}

// decimalBytes is how many bytes digits take: nine in four.
func decimalBytes(digits int) int {
	return digits/9*4 + [...]int{0, 1, 1, 2, 2, 3, 3, 4, 4}[digits%9]
}

// record writes a record by its columns. It reports false, and writes nothing, where it does not fit them.
func (t *innodbTable) record(at int) bool {
	nullable := 0
	for _, c := range t.columns {
		if c.nullable {
			nullable++
		}
	}
	bits, lengths := at-6, at-6-(nullable+7)/8
	values := make([][]byte, len(t.columns))
	null := 0
	for i, c := range t.columns {
		if c.nullable {
			place := bits - null/8
			if place < innodbData {
				return false
			}
			empty := t.page[place]>>(null%8)&1 != 0
			if null++; empty {
				continue
			}
		}
		n := c.size
		elsewhere := false
		if c.kind == innodbText {
			if lengths-1 < innodbData {
				return false
			}
			n = int(t.page[lengths])
			lengths--
			if c.long && n&0x80 != 0 {
				elsewhere = n&0x40 != 0
				n = n&0x3f<<8 | int(t.page[lengths])
				lengths--
			}
		}
		if at+n > len(t.page)-innodbTail {
			return false
		}
		values[i] = t.page[at : at+n]
		if elsewhere && n >= innodbPointer { // the rest is written where it stands
			values[i] = t.page[at : at+n-innodbPointer]
		}
		at += n
	}
	for i := range t.columns {
		if c := &t.columns[i]; c.kind != innodbHidden {
			c.write(values[i], t.out)
		}
	}
	t.out.note(t.out.row())
	return true
}

// write writes a value, or an empty cell.
func (c *innodbColumn) write(b []byte, out *text) {
	if len(b) == 0 {
		out.cell(nil)
		return
	}
	v := uint64(0)
	for _, x := range b[:min(len(b), 8)] {
		v = v<<8 | uint64(x)
	}
	switch c.kind {
	case innodbText, innodbChars:
		out.cell(trimmed(b))
	case innodbWhole:
		if bits := 8 * len(b); !c.unsigned {
			v ^= 1 << (bits - 1)
			v = uint64(int64(v<<(64-bits)) >> (64 - bits))
		}
		out.integer(int64(v))
	case innodbFloat:
		if len(b) == 4 {
			out.number(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		} else {
			out.number(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	case innodbDecimal:
		out.cell(c.decimal(b))
	case innodbDate:
		v ^= 1 << 23
		out.cell(fmt.Appendf(nil, "%04d-%02d-%02d", v>>9, v>>5&15, v&31))
	case innodbTime:
		v = v>>(8*(len(b)-5)) ^ 1<<39
		month := v >> 22 & (1<<17 - 1)
		out.cell(fmt.Appendf(nil, "%04d-%02d-%02d %02d:%02d:%02d", month/13, month%13, v>>17&31, v>>12&31, v>>6&63, v&63))
	default:
		out.cell(nil)
	}
}

// decimal writes digits that are kept nine in four bytes, those before the point that are left over first.
func (c *innodbColumn) decimal(b []byte) []byte {
	b = bytes.Clone(b)
	negative := b[0]&0x80 == 0
	b[0] ^= 0x80
	if negative {
		for i := range b {
			b[i] = ^b[i]
		}
	}
	var out []byte
	group := func(digits int) {
		n := decimalBytes(digits)
		v := uint64(0)
		for _, x := range b[:n] {
			v = v<<8 | uint64(x)
		}
		b = b[n:]
		out = fmt.Appendf(out, "%0*d", digits, v)
	}
	before := c.digits - c.scale
	if before%9 > 0 {
		group(before % 9)
	}
	for range before / 9 {
		group(9)
	}
	if c.scale > 0 {
		out = append(out, '.')
		for range c.scale / 9 {
			group(9)
		}
		if c.scale%9 > 0 {
			group(c.scale % 9)
		}
	}
	if out = bytes.TrimLeft(out, "0"); len(out) == 0 || out[0] == '.' {
		out = append([]byte("0"), out...)
	}
	if negative {
		out = append([]byte("-"), out...)
	}
	return out
}
