package container

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/vigiahq/vigia/internal/zstd"
)

// orcFormat reads ORC tables, column by column. Of texts with a dictionary the dictionary is written: each of its words
// stands in the table.
var orcFormat = document("ORC", isORC, writeORC)

// isORC tells a table from a text that begins with the same letters: there are no control characters in that.
func isORC(b []byte) bool {
	return len(b) > 16 && string(b[:3]) == "ORC" && !printableBytes(b)
}

var errORC = errors.New("damaged: an ORC table that is not in order")

// orcMost is the largest piece of a table that is held.
const orcMost = 64 << 20

// The kinds of columns whose values are written.
const (
	orcShort   = 2
	orcInt     = 3
	orcLong    = 4
	orcDouble  = 6
	orcString  = 7
	orcBinary  = 8
	orcDecimal = 14
	orcVarchar = 16
	orcChar    = 17
)

// orc is a table under way.
type orc struct {
	d       *source
	out     *text
	packing uint64
	kinds   []uint64
	names   []string
	held    int64
}

type orcStripe struct{ at, index, data, foot uint64 }

// orcStream is a piece of a stripe.
type orcStream struct{ kind, column, size, at uint64 }

func writeORC(d *source, out *text) error {
	o := &orc{d: d, out: out}
	stripes, err := o.tail()
	if err != nil {
		return err
	}
	for _, s := range stripes {
		if err := o.stripe(s); err != nil {
			return err
		}
	}
	return nil
}

// tail reads the description at the end of the file.
func (o *orc) tail() (stripes []orcStripe, err error) {
	end := make([]byte, min(256, o.d.size))
	if err := full(o.d, end, o.d.size-int64(len(end))); err != nil {
		return nil, err
	}
	n := int(end[len(end)-1])
	if n+1 > len(end) || !bytes.Contains(end[len(end)-1-n:], []byte("ORC")) {
		return nil, fmt.Errorf("%w: no table of contents", io.ErrUnexpectedEOF)
	}
	var foot, meta uint64
	fields(end[len(end)-1-n:len(end)-1], func(field, v uint64, _ []byte) {
		switch field {
		case 1:
			foot = v
		case 2:
			o.packing = v
		case 5:
			meta = v
		}
	})
	b, err := o.piece(uint64(o.d.size)-1-uint64(n)-foot, foot)
	if err != nil {
		return nil, err
	}
	if foot+meta > uint64(o.d.size) {
		return nil, errORC
	}
	var children [][]string
	fields(b, func(field, _ uint64, b []byte) {
		switch field {
		case 3:
			var s orcStripe
			fields(b, func(field, v uint64, _ []byte) {
				if field >= 1 && field <= 4 {
					*[]*uint64{&s.at, &s.index, &s.data, &s.foot}[field-1] = v
				}
			})
			stripes = append(stripes, s)
		case 4:
			kind, names := uint64(0), []string(nil)
			fields(b, func(field, v uint64, b []byte) {
				switch field {
				case 1:
					kind = v
				case 3:
					names = append(names, string(b))
				}
			})
			o.kinds, children = append(o.kinds, kind), append(children, names)
		}
	})
	o.names = make([]string, len(o.kinds))
	if len(children) > 0 && len(children[0]) < len(o.kinds) && len(children[0]) == len(o.kinds)-1 {
		copy(o.names[1:], children[0]) // no columns in columns
	}
	return stripes, nil
}

// fields calls back with each field of a message: its number and value.
func fields(b []byte, take func(field, v uint64, b []byte)) {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return
		}
		b = b[n:]
		const number, eight, counted, four = 0, 1, 2, 5
		switch key & 7 {
		case number:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				return
			}
			take(key>>3, v, nil)
			b = b[n:]
		case counted:
			v, n := binary.Uvarint(b)
			if n <= 0 || v > uint64(len(b)-n) {
				return
			}
			take(key>>3, v, b[n:][:v])
			b = b[n:][v:]
		case eight, four:
			size := 8
			if key&7 == four {
				size = 4
			}
			if len(b) < size {
				return
			}
			b = b[size:]
		default:
			return
		}
	}
}

// piece reads and unpacks a part of the file.
func (o *orc) piece(at, size uint64) ([]byte, error) {
	if size > orcMost || at > uint64(o.d.size) || at+size > uint64(o.d.size) {
		return nil, errORC
	}
	if need := int64(size); need > o.held {
		if err := o.d.grow(need - o.held); err != nil {
			return nil, err
		}
		o.held = need
	}
	raw := make([]byte, size)
	if err := full(o.d, raw, int64(at)); err != nil || o.packing == 0 {
		return raw, err
	}
	var plain []byte
	for len(raw) > 0 {
		if len(raw) < 3 {
			return plain, errORC
		}
		head := int(raw[0]) | int(raw[1])<<8 | int(raw[2])<<16
		n := head >> 1
		if raw = raw[3:]; n > len(raw) {
			return plain, errORC
		}
		text := raw[:n]
		if head&1 == 0 {
			var err error
			if text, err = orcUnpack(o.packing, text); err != nil {
				return plain, err
			}
		}
		if len(plain)+len(text) > orcMost {
			return plain, errORC
		}
		if err := o.d.grow(int64(len(text))); err != nil {
			return plain, err
		}
		plain, raw = append(plain, text...), raw[n:]
	}
	return plain, nil
}

// orcUnpack unpacks a block, which has at most 8 MiB.
func orcUnpack(packing uint64, raw []byte) ([]byte, error) {
	const deflate, snappy, lz4, zst, most = 1, 2, 4, 5, 8 << 20
	switch packing {
	case deflate:
		return io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(raw)), most))
	case snappy:
		return snappyUnpack(raw, most)
	case lz4:
		return lz4Unpack(nil, raw, most)
	case zst:
		return io.ReadAll(io.LimitReader(zstd.NewReader(bytes.NewReader(raw), most), most))
	}
	return nil, fmt.Errorf("ORC: packed in a way that is not read: %d", packing)
}

// stripe writes the columns of some rows.
func (o *orc) stripe(s orcStripe) error {
	foot, err := o.piece(s.at+s.index+s.data, s.foot)
	if err != nil {
		return err
	}
	var streams []orcStream
	var encodings []uint64
	at := s.at
	fields(foot, func(field, _ uint64, b []byte) {
		switch field {
		case 1:
			f := orcStream{at: at}
			fields(b, func(field, v uint64, _ []byte) {
				if field >= 1 && field <= 3 {
					*[]*uint64{&f.kind, &f.column, &f.size}[field-1] = v
				}
			})
			at += f.size
			streams = append(streams, f)
		case 2:
			kind := uint64(0)
			fields(b, func(field, v uint64, _ []byte) {
				if field == 1 {
					kind = v
				}
			})
			encodings = append(encodings, kind)
		}
	})
	for column, kind := range o.kinds {
		if column >= len(encodings) {
			return errORC
		}
		if err := o.column(uint64(column), kind, encodings[column], streams); err != nil {
			return err
		}
	}
	return nil
}

// column writes the values of one column.
func (o *orc) column(column, kind, encoding uint64, streams []orcStream) error {
	const data, lengths, words = 1, 2, 3
	load := func(kind uint64) ([]byte, error) {
		for _, s := range streams {
			if s.column == column && s.kind == kind {
				return o.piece(s.at, s.size)
			}
		}
		return nil, nil
	}
	newer, dictionary := encoding >= 2, encoding&1 == 1
	switch kind {
	case orcString, orcVarchar, orcChar, orcBinary:
		from := uint64(data)
		if dictionary {
			from = words
		}
		b, err := load(from)
		if err != nil {
			return err
		}
		sizes, err := load(lengths)
		if err != nil {
			return err
		}
		return orcNumbers(sizes, newer, false, func(n int64) error {
			if n < 0 || n > int64(len(b)) {
				return errORC
			}
			value := b[:n]
			b = b[n:]
			return o.write(column, func() { o.out.cell(value) })
		})
	case orcShort, orcInt, orcLong:
		b, err := load(data)
		if err != nil {
			return err
		}
		return orcNumbers(b, newer, true, func(n int64) error { return o.integer(column, n) })
	case orcDouble:
		b, err := load(data)
		for ; len(b) >= 8 && err == nil; b = b[8:] {
			f := math.Float64frombits(binary.LittleEndian.Uint64(b))
			err = o.write(column, func() { o.out.number(f) })
		}
		return err
	case orcDecimal:
		return o.decimals(column, newer, load)
	}
	return nil
}

// decimals writes numbers that have their places behind the point beside them: the whole ones.
func (o *orc) decimals(column uint64, newer bool, load func(kind uint64) ([]byte, error)) error {
	const data, places = 1, 5
	b, err := load(data)
	if err != nil {
		return err
	}
	behind, err := load(places)
	if err != nil {
		return err
	}
	return orcNumbers(behind, newer, true, func(n int64) error {
		v, size := binary.Varint(b)
		if size == 0 {
			return errORC
		}
		if size < 0 { // more digits than anybody's number has
			v, size = 0, -size
			for size < len(b) && b[size-1] >= 0x80 {
				size++
			}
		}
		b = b[size:]
		for ; n > 0 && v != 0; n-- {
			if v%10 != 0 {
				return nil
			}
			v /= 10
		}
		return o.integer(column, v)
	})
}

// integer writes a number that has as many digits as somebody's, which keeps counters from swelling.
func (o *orc) integer(column uint64, n int64) error {
	const least = 10_000_000
	if n < least {
		return nil
	}
	return o.write(column, func() { o.out.integer(n) })
}

// write writes one value on a line of its own.
func (o *orc) write(column uint64, value func()) error {
	if name := o.names[column]; name != "" {
		o.out.raw([]byte(name + ": "))
	}
	value()
	return o.out.row()
}
