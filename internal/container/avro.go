package container

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/klauspost/compress/flate"
	"io"
	"math"
)

// avroFormat reads container files of Avro: the schema in front, then blocks of rows. A row is a line, its fields in
// their columns.
var avroFormat = document("Avro", starts("Obj\x01"), func(d *source, out *text) error {
	a := &avro{in: bufio.NewReaderSize(io.NewSectionReader(d, 4, d.size-4), 64<<10), out: out, named: map[string]*avroType{}}
	if err := a.head(); err != nil {
		return err
	}
	return a.blocks()
})

var errAvro = errors.New("damaged: not Avro")

const (
	avroBlockMost = 64 << 20
	avroDepth     = 60
)

type avro struct {
	in    *bufio.Reader
	out   *text
	codec string
	row   *avroType
	named map[string]*avroType
}

// avroType is a part of a schema.
type avroType struct {
	kind    string
	fields  []avroField
	inner   *avroType   // of arrays and maps
	choices []*avroType // of unions
	symbols []string
	size    int
}

type avroField struct {
	name string
	t    *avroType
}

func (a *avro) long() (int64, error) {
	v, err := binary.ReadVarint(a.in)
	return v, cutAt(err)
}

func cutAt(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// bytes takes a length and so many bytes, which are not made for the claim.
func (a *avro) bytes(most int64) ([]byte, error) {
	n, err := a.long()
	if err != nil {
		return nil, err
	}
	if n < 0 || n > most {
		return nil, errAvro
	}
	b, err := io.ReadAll(io.LimitReader(a.in, n))
	if err == nil && int64(len(b)) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// head reads the schema and the packing.
func (a *avro) head() error {
	var schema []byte
	for {
		n, err := a.long()
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		if n < 0 { // a size follows
			if _, err := a.long(); err != nil {
				return err
			}
			n = -n
		}
		for range n {
			key, err := a.bytes(1 << 16)
			if err != nil {
				return err
			}
			value, err := a.bytes(16 << 20)
			if err != nil {
				return err
			}
			switch string(key) {
			case "avro.schema":
				schema = value
			case "avro.codec":
				a.codec = string(value)
			}
		}
	}
	var tree any
	if err := json.Unmarshal(schema, &tree); err != nil {
		return errAvro
	}
	a.row = a.schema(tree, 0)
	var mark [16]byte
	_, err := io.ReadFull(a.in, mark[:])
	for _, f := range a.row.fields {
		a.out.cell([]byte(f.name))
	}
	return errors.Join(cutAt(err), a.out.row())
}

// schema understands what JSON says of a type. What it does not is an unknown kind, which ends reading where it is met.
func (a *avro) schema(tree any, depth int) *avroType {
	t := &avroType{}
	if depth > avroDepth {
		return t
	}
	switch v := tree.(type) {
	case string:
		if known := a.named[v]; known != nil {
			return known
		}
		t.kind = v
	case []any:
		t.kind = "union"
		for _, c := range v {
			t.choices = append(t.choices, a.schema(c, depth+1))
		}
	case map[string]any:
		kind, ok := v["type"].(string)
		if !ok {
			return a.schema(v["type"], depth+1)
		}
		t.kind = kind
		if name, ok := v["name"].(string); ok {
			a.named[name] = t
			if space, ok := v["namespace"].(string); ok {
				a.named[space+"."+name] = t
			}
		}
		a.complex(t, v, depth)
	}
	return t
}

func (a *avro) complex(t *avroType, v map[string]any, depth int) {
	switch t.kind {
	case "record", "error":
		fields, _ := v["fields"].([]any)
		for _, f := range fields {
			m, _ := f.(map[string]any)
			name, _ := m["name"].(string)
			t.fields = append(t.fields, avroField{name, a.schema(m["type"], depth+1)})
		}
	case "array":
		t.inner = a.schema(v["items"], depth+1)
	case "map":
		t.inner = a.schema(v["values"], depth+1)
	case "enum":
		symbols, _ := v["symbols"].([]any)
		for _, s := range symbols {
			t.symbols = append(t.symbols, fmt.Sprint(s))
		}
	case "fixed":
		size, _ := v["size"].(float64)
		t.size = int(size)
	}
}

// blocks reads the rows, block by block.
func (a *avro) blocks() error {
	for {
		if _, err := a.in.Peek(1); errors.Is(err, io.EOF) {
			return nil
		}
		count, err := a.long()
		if err != nil {
			return err
		}
		packed, err := a.bytes(avroBlockMost)
		raw, uerr := a.unpack(packed)
		b := avroRows{b: raw, out: a.out}
		for i := int64(0); i < count && len(b.b) > 0 && b.err == nil; i++ {
			before := len(b.b)
			if b.row(a.row); len(b.b) == before { // rows of no size would have no end
				break
			}
		}
		if err = errors.Join(err, uerr, b.err); err != nil {
			return err
		}
		var mark [16]byte
		if _, err := io.ReadFull(a.in, mark[:]); err != nil {
			return cutAt(err)
		}
	}
}

func (a *avro) unpack(packed []byte) (_ []byte, err error) {
	var r io.Reader
	switch a.codec {
	case "", "null":
		return packed, nil
	case "snappy": // a sum stands behind
		return snappyUnpack(packed[:max(0, len(packed)-4)], avroBlockMost)
	case "deflate":
		r = flate.NewReader(bytes.NewReader(packed))
	case "bzip2":
		r = bzip2.NewReader(bytes.NewReader(packed))
	case "xz":
		r, err = newXZ(bytes.NewReader(packed))
	case "zstandard":
		r, err = newZstd(bytes.NewReader(packed))
	default:
		return nil, fmt.Errorf("packed in a way that is not read: Avro codec %.20q", a.codec)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, avroBlockMost))
}

// avroRows takes rows apart.
type avroRows struct {
	b   []byte
	out *text
	err error
}

func (r *avroRows) fail() {
	r.b = nil
	if r.err == nil {
		r.err = errAvro
	}
}

func (r *avroRows) long() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *avroRows) take(n int64) []byte {
	if n < 0 || n > int64(len(r.b)) {
		r.fail()
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *avroRows) row(t *avroType) {
	if t.kind == "record" {
		for _, f := range t.fields {
			r.value(f.t, 0)
		}
	} else {
		r.value(t, 0)
	}
	if err := r.out.row(); err != nil && r.err == nil {
		r.err = err
	}
}

// value writes a value as a cell, or as several where it has parts.
func (r *avroRows) value(t *avroType, depth int) {
	if r.err != nil || t == nil || depth > avroDepth {
		r.fail()
		return
	}
	switch t.kind {
	case "null":
		r.out.cell(nil)
	case "boolean":
		r.out.cell([]byte(fmt.Sprint(len(r.b) > 0 && r.b[0] != 0)))
		r.take(1)
	case "int", "long":
		if v := r.long(); r.err == nil {
			r.out.integer(v)
		}
	case "float":
		if b := r.take(4); b != nil {
			r.out.number(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
	case "double":
		if b := r.take(8); b != nil {
			r.out.number(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	case "string", "bytes":
		r.out.cell(r.take(r.long()))
	case "fixed":
		r.out.cell(r.take(int64(t.size)))
	case "enum":
		if i := r.long(); i >= 0 && i < int64(len(t.symbols)) {
			r.out.cell([]byte(t.symbols[i]))
		}
	case "union":
		if i := r.long(); i >= 0 && i < int64(len(t.choices)) {
			r.value(t.choices[i], depth+1)
		} else {
			r.fail()
		}
	case "record", "error":
		for _, f := range t.fields {
			r.value(f.t, depth+1)
		}
	case "array", "map":
		r.list(t, depth)
	default:
		r.fail()
	}
}

// list reads blocks of items; a map's have keys.
func (r *avroRows) list(t *avroType, depth int) {
	for r.err == nil {
		n := r.long()
		if n == 0 {
			return
		}
		if n < 0 {
			n = -n
			r.long()
		}
		if n < 0 || n > 1<<24 && len(r.b) == 0 {
			r.fail()
		}
		for i := int64(0); i < n && r.err == nil; i++ {
			if t.kind == "map" {
				r.out.cell(r.take(r.long()))
			}
			before := len(r.b)
			r.value(t.inner, depth+1)
			if len(r.b) == before && n > 1<<16 { // items of no size, without end
				r.fail()
			}
		}
	}
}
