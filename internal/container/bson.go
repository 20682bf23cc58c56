package container

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/vigiahq/vigia/internal/scan"
)

// bsonFormat reads what mongodump writes: documents one after the other. Each becomes a line of JSON, numbers written
// out.
var bsonFormat = &format{name: "BSON", known: isBSONDocument, open: func(w *walker, l layer) error {
	l.size = w.limits.Bytes // documents do not swell: a number is at most some times as long in digits
	return w.handWritten(l, func(out *text) error { return writeBSON(bufio.NewReaderSize(l.r, 64<<10), out) })
}}

// isBSONDocument holds the first document against its shape: a length, a known kind, a printable name, and a zero at its end if
// that is in sight.
func isBSONDocument(b []byte) bool {
	if len(b) < 16 {
		return false
	}
	size := binary.LittleEndian.Uint32(b)
	if size < 12 || size > bsonLargest {
		return false
	}
	if int(size) <= len(b) && b[size-1] != 0 {
		return false
	}
	if kind := b[4]; kind == 0 || kind > 0x13 {
		return false
	}
	end := bytes.IndexByte(b[5:min(len(b), 70)], 0)
	if end < 1 {
		return false
	}
	for _, c := range b[5 : 5+end] {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return b[2] == 0 && b[3] == 0 || b[3] == 0 && b[2] < 0x20
}

const bsonLargest = 17 << 20 // Mongo takes no document over 16 MiB

var errBSON = errors.New("damaged: not BSON")

// writeBSON writes the documents of a mongodump file one by one. It refuses a length that no document can have before
// it allocates memory for it.
func writeBSON(in io.Reader, out *text) error {
	var doc []byte
	for {
		var head [4]byte
		n, err := scan.FillBuffer(in, head[:])
		if n == 0 && errors.Is(err, io.EOF) {
			return nil
		}
		size := int64(binary.LittleEndian.Uint32(head[:]))
		if n < len(head) {
			return cutShort(err)
		}
		if size < 5 || size > bsonLargest {
			return errBSON
		}
		if int64(cap(doc)) < size {
			doc = make([]byte, size)
		}
		doc = doc[:size-4]
		k, rerr := scan.FillBuffer(in, doc)
		w := bsonWriter{b: doc[:k], out: out}
		werr := w.document('{', '}', 0)
		if err := out.endRow(); err != nil {
			return err
		}
		if k < len(doc) {
			return cutShort(rerr)
		}
		if werr != nil {
			return werr
		}
	}
}

// bsonWriter writes a document as JSON, as far as it goes.
type bsonWriter struct {
	b   []byte
	out *text
}

// takeBytes returns the next n bytes, or nil when there are fewer.
func (w *bsonWriter) takeBytes(n int) []byte {
	if n < 0 || n > len(w.b) {
		w.b = nil
		return nil
	}
	v := w.b[:n]
	w.b = w.b[n:]
	return v
}

// readName reads the name of a member, up to its zero.
func (w *bsonWriter) readName() ([]byte, bool) {
	end := bytes.IndexByte(w.b, 0)
	if end < 0 {
		return nil, false
	}
	v := w.b[:end]
	w.b = w.b[end+1:]
	return v, true
}

// writeQuoted writes a text as a JSON string.
func (w *bsonWriter) writeQuoted(s []byte) {
	w.out.writeRaw(strconv.AppendQuote(nil, string(s)))
}

// document writes the elements up to the zero that ends them.
func (w *bsonWriter) document(open, end byte, depth int) error {
	if depth > 100 {
		return errBSON
	}
	w.out.writeRaw([]byte{open})
	for first := true; ; first = false {
		kind := w.takeBytes(1)
		if kind == nil {
			return errBSON
		}
		if kind[0] == 0 {
			w.out.writeRaw([]byte{end})
			return nil
		}
		name, ok := w.readName()
		if !ok {
			return errBSON
		}
		if !first {
			w.out.writeRaw([]byte(", "))
		}
		if open == '{' {
			w.writeQuoted(name)
			w.out.writeRaw([]byte(": "))
		}
		if err := w.writeValue(kind[0], depth); err != nil {
			return err
		}
	}
}

// writeValue writes a value of a kind as JSON.
func (w *bsonWriter) writeValue(kind byte, depth int) error {
	fixed := map[byte]int{1: 8, 7: 12, 8: 1, 9: 8, 0x10: 4, 0x11: 8, 0x12: 8, 0x13: 16}
	if n, ok := fixed[kind]; ok {
		v := w.takeBytes(n)
		if v == nil {
			return errBSON
		}
		w.writeFixed(kind, v)
		return nil
	}
	switch kind {
	case 3, 4:
		if w.takeBytes(4) == nil {
			return errBSON
		}
		if kind == 4 {
			return w.document('[', ']', depth+1)
		}
		return w.document('{', '}', depth+1)
	case 2, 13, 14: // text, code, symbol
		return w.writeText()
	case 5:
		return w.writeBinary()
	case 6, 10, 0x7f, 0xff:
		w.out.writeRaw([]byte("null"))
		return nil
	case 11: // a pattern and its options
		pattern, ok := w.readName()
		if _, ok2 := w.readName(); !ok || !ok2 {
			return errBSON
		}
		w.writeQuoted(pattern)
		return nil
	}
	return errBSON
}

// writeText writes a text with its length before it.
func (w *bsonWriter) writeText() error {
	head := w.takeBytes(4)
	if head == nil {
		return errBSON
	}
	s := w.takeBytes(int(int32(binary.LittleEndian.Uint32(head))))
	if len(s) == 0 {
		return errBSON
	}
	w.writeQuoted(s[:len(s)-1])
	return nil
}

// writeBinary writes binary data in hexadecimal digits.
func (w *bsonWriter) writeBinary() error {
	head := w.takeBytes(5)
	if head == nil {
		return errBSON
	}
	b := w.takeBytes(int(int32(binary.LittleEndian.Uint32(head))))
	if b == nil {
		return errBSON
	}
	if isBinary(b) {
		b = nil
	}
	w.writeQuoted(b)
	return nil
}

// writeFixed writes a value of fixed length.
func (w *bsonWriter) writeFixed(kind byte, v []byte) {
	switch kind {
	case 1:
		w.out.writeRaw(strconv.AppendFloat(nil, math.Float64frombits(binary.LittleEndian.Uint64(v)), 'f', -1, 64))
	case 7:
		w.writeQuoted([]byte(hex.EncodeToString(v)))
	case 8:
		w.out.writeRaw(strconv.AppendBool(nil, v[0] != 0))
	case 0x10:
		w.out.writeRaw(strconv.AppendInt(nil, int64(int32(binary.LittleEndian.Uint32(v))), 10))
	case 0x13:
		w.writeDecimal(v)
	default:
		w.out.writeRaw(strconv.AppendInt(nil, int64(binary.LittleEndian.Uint64(v)), 10))
	}
}

// writeDecimal writes a decimal number of 128 bits whose digits fit into 64, as those of people do.
func (w *bsonWriter) writeDecimal(v []byte) {
	low, high := binary.LittleEndian.Uint64(v), binary.LittleEndian.Uint64(v[8:])
	exponent := int(high>>49&0x3fff) - 6176
	if high&(1<<49-1) != 0 || exponent < -30 || exponent > 30 {
		w.out.writeRaw([]byte("null"))
		return
	}
	digits := strconv.FormatUint(low, 10)
	for ; exponent > 0; exponent-- {
		digits += "0"
	}
	if exponent < 0 {
		for len(digits) <= -exponent {
			digits = "0" + digits
		}
		digits = digits[:len(digits)+exponent] + "." + digits[len(digits)+exponent:]
	}
	w.out.writeRaw([]byte(digits))
}
