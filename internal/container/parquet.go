package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/pierrec/lz4/v4"
)

// parquetFormat reads tables of Parquet column by column, page by page; a value is a line that begins with its column's
// name.
var parquetFormat = document("Parquet", starts("PAR1"), func(d *source, out *text) error {
	p := &parquet{d: d, out: out}
	if err := p.foot(); err != nil {
		return err
	}
	var lost error
	for i := range p.columns {
		if err := p.column(&p.columns[i]); err != nil {
			if out.err != nil {
				return out.err
			}
			if lost == nil { // the other columns are read all the same
				lost = err
			}
		}
	}
	return lost
})

var errParquet = errors.New("damaged: not Parquet")

const (
	parquetFootMost = 16 << 20
	parquetPageMost = 32 << 20
)

type parquet struct {
	d       *source
	out     *text
	schema  []parquetElement
	columns []parquetColumn
}

// parquetElement is a column, or a group of so many.
type parquetElement struct {
	name     string
	kind     int64
	length   int64
	repeated int64 // 0 required, 1 optional, 2 repeated
	children int64
}

// parquetColumn is a part of a column: its pages in one group of rows.
type parquetColumn struct {
	path       []string
	kind       int64
	codec      int64
	length     int64
	size       int64
	data, dict int64
	// deepest definition and repetition: where there is any, its levels stand before the values
	definition, repetition int
}

// foot reads the description at the end of the file.
func (p *parquet) foot() error {
	var tail [8]byte
	if err := full(p.d, tail[:], p.d.size-8); err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	switch {
	case string(tail[4:]) == "PARE":
		return errEncrypted
	case string(tail[4:]) != "PAR1":
		return errors.New("cut short: no table of contents")
	case length > parquetFootMost || length > p.d.size-12:
		return errParquet
	}
	raw := make([]byte, length)
	if err := full(p.d, raw, p.d.size-8-length); err != nil {
		return err
	}
	t := &thrift{b: raw}
	t.fields(0, func(id int, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList:
			t.list(func(byte) { p.schema = append(p.schema, readElement(t)) })
		case id == 4 && kind == thriftList:
			t.list(func(byte) { p.group(t) })
		default:
			return false
		}
		return true
	})
	if t.bad {
		return errThrift
	}
	p.levels()
	return nil
}

func readElement(t *thrift) (e parquetElement) {
	t.fields(1, func(id int, kind byte) bool {
		switch {
		case id == 1 && kind <= thriftI64:
			e.kind = t.number()
		case id == 2 && kind <= thriftI64:
			e.length = t.number()
		case id == 3 && kind <= thriftI64:
			e.repeated = t.number()
		case id == 4 && kind == thriftBytes:
			e.name = string(t.bytes())
		case id == 5 && kind <= thriftI64:
			e.children = t.number()
		default:
			return false
		}
		return true
	})
	return e
}

// group reads the columns of a group of rows.
func (p *parquet) group(t *thrift) {
	t.fields(1, func(id int, kind byte) bool {
		if id != 1 || kind != thriftList {
			return false
		}
		t.list(func(byte) {
			c := parquetColumn{}
			t.fields(2, func(id int, kind byte) bool {
				if id != 3 || kind != thriftStruct {
					return false
				}
				c.read(t)
				return true
			})
			p.columns = append(p.columns, c)
		})
		return true
	})
}

func (c *parquetColumn) read(t *thrift) {
	t.fields(3, func(id int, kind byte) bool {
		into := map[int]*int64{1: &c.kind, 4: &c.codec, 7: &c.size, 9: &c.data, 11: &c.dict}
		switch {
		case into[id] != nil && kind <= thriftI64:
			*into[id] = t.number()
		case id == 3 && kind == thriftList:
			t.list(func(byte) { c.path = append(c.path, string(t.bytes())) })
		default:
			return false
		}
		return true
	})
}

// levels finds each column in the tree of the schema: what is optional or repeated on the way has levels.
func (p *parquet) levels() {
	leaves := map[string]parquetColumn{}
	at := 1
	var walk func(children int64, path []string, definition, repetition, depth int)
	walk = func(children int64, path []string, definition, repetition, depth int) {
		for ; children > 0 && at < len(p.schema) && depth < 50; children-- {
			e := p.schema[at]
			at++
			d, r := definition, repetition
			if e.repeated > 0 {
				d++
			}
			if e.repeated == 2 {
				r++
			}
			here := append(append([]string{}, path...), e.name)
			if e.children > 0 {
				walk(e.children, here, d, r, depth+1)
			} else {
				leaves[strings.Join(here, ".")] = parquetColumn{definition: d, repetition: r, length: e.length}
			}
		}
	}
	if len(p.schema) > 0 {
		walk(p.schema[0].children, nil, 0, 0, 0)
	}
	for i := range p.columns {
		c := &p.columns[i]
		leaf := leaves[strings.Join(c.path, ".")]
		c.definition, c.repetition, c.length = leaf.definition, leaf.repetition, leaf.length
	}
}

// parquetPage is the head of a page.
type parquetPage struct {
	kind, size, packed, count, encoding int64
	levels                              int64 // bytes of levels before the values, in the newer form
	plain                               bool  // is not packed, in the newer form
	newer                               bool
}

func (h *parquetPage) read(t *thrift) {
	t.fields(0, func(id int, kind byte) bool {
		switch {
		case id <= 3 && kind <= thriftI64:
			*[]*int64{&h.kind, &h.size, &h.packed}[max(0, id-1)] = t.number()
		case (id == 5 || id == 7) && kind == thriftStruct:
			h.inner(t, map[int]*int64{1: &h.count, 2: &h.encoding}, nil)
		case id == 8 && kind == thriftStruct:
			var definitions, repetitions int64
			h.newer = true
			h.inner(t, map[int]*int64{1: &h.count, 4: &h.encoding, 5: &definitions, 6: &repetitions}, &h.plain)
			h.levels = definitions + repetitions
		default:
			return false
		}
		return true
	})
}

func (h *parquetPage) inner(t *thrift, into map[int]*int64, plain *bool) {
	t.fields(1, func(id int, kind byte) bool {
		switch {
		case into[id] != nil && kind <= thriftI64 && kind > thriftFalse:
			*into[id] = t.number()
		case id == 7 && plain != nil && kind <= thriftFalse:
			*plain = kind == thriftFalse
		default:
			return false
		}
		return true
	})
}

// column reads the pages of a column.
func (p *parquet) column(c *parquetColumn) error {
	offset := c.data
	if c.dict > 0 && c.dict < offset {
		offset = c.dict
	}
	end := offset + c.size
	if offset < 4 || c.size < 0 || end > p.d.size {
		return errParquet
	}
	values := &parquetValues{c: c, name: []byte(strings.Join(c.path, ".") + ": "), out: p.out}
	for offset < end {
		head := make([]byte, min(end-offset, 64<<10))
		if err := full(p.d, head, offset); err != nil {
			return err
		}
		t := &thrift{b: head}
		var h parquetPage
		h.read(t)
		if t.bad || h.packed < 0 || h.size < 0 || h.packed > parquetPageMost || h.size > parquetPageMost {
			return errThrift
		}
		offset += int64(len(head) - len(t.b))
		if offset+h.packed > end {
			return errParquet
		}
		raw := make([]byte, h.packed)
		if err := full(p.d, raw, offset); err != nil {
			return err
		}
		offset += h.packed
		if err := p.page(c, &h, raw, values); err != nil {
			return err
		}
	}
	return nil
}

func (p *parquet) page(c *parquetColumn, h *parquetPage, raw []byte, values *parquetValues) error {
	const data, dictionary, newer = 0, 2, 3
	if h.kind != data && h.kind != dictionary && h.kind != newer {
		return nil
	}
	var err error
	if h.newer { // levels are never packed here
		if h.levels < 0 || h.levels > int64(len(raw)) {
			return errParquet
		}
		if raw = raw[h.levels:]; !h.plain && len(raw) > 0 {
			raw, err = parquetUnpack(c.codec, raw, h.size-h.levels)
		}
	} else if raw, err = parquetUnpack(c.codec, raw, h.size); err == nil && h.kind == data {
		for _, levels := range []int{c.repetition, c.definition} {
			if levels == 0 {
				continue
			}
			if len(raw) < 4 || int64(binary.LittleEndian.Uint32(raw)) > int64(len(raw)-4) {
				return errParquet
			}
			raw = raw[4+binary.LittleEndian.Uint32(raw):]
		}
	}
	if err != nil {
		return err
	}
	if h.kind == dictionary {
		values.dictionary = raw
		return values.index(raw)
	}
	return values.read(h.encoding, raw, h.count)
}

func parquetUnpack(codec int64, raw []byte, size int64) ([]byte, error) {
	const none, snappy, zip, zst, rawLZ4 = 0, 1, 2, 6, 7
	switch codec {
	case none:
		return raw, nil
	case snappy:
		return snappyUnpack(raw, int(size))
	case rawLZ4:
		text := make([]byte, size)
		n, err := lz4.UncompressBlock(raw, text)
		return text[:max(n, 0)], err
	case zip:
		r, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(r, size))
	case zst:
		r, err := newZstd(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(r, size))
	}
	return nil, fmt.Errorf("packed in a way that is not read: Parquet codec %d", codec)
}
