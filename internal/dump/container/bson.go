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
	"strings"

	"github.com/vigiahq/vigia/internal/dump/scan"
)

// bsonFormat reads what mongodump writes: documents one after the other. Each becomes a line of JSON, numbers written
// out.
var bsonFormat = &format{name: "BSON", known: isBSONDocument, open: func(w *walker, l layer) error {
	l.size = w.limits.Bytes // documents do not swell: a number is at most some times as long in digits
	return w.handWritten(l, func(out *text) error { return writeBSON(bufio.NewReaderSize(l.r, 64<<10), out) })
}}

// isBSONDocument holds the first document against its shape: a length, a known kind, a printable name, and a zero at
// its end if that is in sight.
func isBSONDocument(b []byte) bool {
	if len(b) < 16 {
		return false
	}
	size := binary.LittleEndian.Uint32(b)
	if size < 12 || size > bsonLargest || int(size) <= len(b) && b[size-1] != 0 || b[4] == 0 || b[4] > 0x13 {
		return false
	}
	end := bytes.IndexByte(b[5:min(len(b), 70)], 0)
	if end < 1 || bytes.ContainsFunc(b[5:5+end], func(c rune) bool { return c < ' ' || c > '~' }) {
		return false
	}
	return b[2] == 0 && b[3] == 0 || b[3] == 0 && b[2] < 0x20
}

const bsonLargest = 17 << 20 // Mongo takes no document over 16 MiB

// errBSON is the verdict on a document whose lengths contradict each other.
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
		w.document('{', '}', 0)
		if err := out.endRow(); err != nil {
			return err
		}
		if k < len(doc) {
			return cutShort(rerr)
		}
		if w.failed {
			return errBSON
		}
	}
}

// bsonWriter writes a document as JSON, as far as it goes.
type bsonWriter struct {
	b      []byte
	out    *text
	failed bool // it is no BSON from here on
}

// takeBytes returns the next n bytes. Where there are fewer the document has failed, and they are few zeros.
func (w *bsonWriter) takeBytes(n int) []byte {
	if n < 0 || n > len(w.b) {
		w.failed, w.b = true, nil
		return make([]byte, 16)
	}
	v := w.b[:n]
	w.b = w.b[n:]
	return v
}

// takeSized returns bytes whose length stands before them, with so many others between.
func (w *bsonWriter) takeSized(between int) []byte {
	return w.takeBytes(int(int32(binary.LittleEndian.Uint32(w.takeBytes(4 + between)))))
}

// readName reads the name of a member, up to its zero.
func (w *bsonWriter) readName() []byte {
	end := bytes.IndexByte(w.b, 0)
	name := w.takeBytes(end)
	w.takeBytes(1)
	return name
}

// writeQuoted writes a text as a JSON string.
func (w *bsonWriter) writeQuoted(s []byte) {
	w.out.writeRaw(strconv.AppendQuote(nil, string(s)))
}

// document writes the elements up to the zero that ends them.
func (w *bsonWriter) document(open, end byte, depth int) {
	if w.failed = w.failed || depth > 100; w.failed {
		return
	}
	w.out.writeRaw([]byte{open})
	for first := true; ; first = false {
		kind := w.takeBytes(1)[0]
		if kind == 0 && !w.failed {
			w.out.writeRaw([]byte{end})
			return
		}
		name := w.readName()
		if w.failed {
			return
		}
		if !first {
			w.out.writeRaw([]byte(", "))
		}
		if open == '{' {
			w.writeQuoted(name)
			w.out.writeRaw([]byte(": "))
		}
		w.writeValue(kind, depth)
	}
}

// writeValue writes a value of a kind as JSON.
func (w *bsonWriter) writeValue(kind byte, depth int) {
	u := binary.LittleEndian
	switch kind {
	case 1:
		w.out.writeRaw(strconv.AppendFloat(nil, math.Float64frombits(u.Uint64(w.takeBytes(8))), 'f', -1, 64))
	case 2, 13, 14: // text, code, symbol, with a zero behind them
		w.writeQuoted(bytes.TrimSuffix(w.takeSized(0), []byte{0}))
	case 3:
		w.takeBytes(4)
		w.document('{', '}', depth+1)
	case 4:
		w.takeBytes(4)
		w.document('[', ']', depth+1)
	case 5:
		b := w.takeSized(1)
		if isBinary(b) {
			b = nil
		}
		w.writeQuoted(b)
	case 6, 10, 0x7f, 0xff:
		w.out.writeRaw([]byte("null"))
	case 7:
		w.writeQuoted([]byte(hex.EncodeToString(w.takeBytes(12))))
	case 8:
		w.out.writeRaw(strconv.AppendBool(nil, w.takeBytes(1)[0] != 0))
	case 9, 0x11, 0x12: // times, and a whole number
		w.out.writeRaw(strconv.AppendInt(nil, int64(u.Uint64(w.takeBytes(8))), 10))
	case 11: // a pattern and its options
		w.writeQuoted(w.readName())
		w.readName()
	case 0x10:
		w.out.writeRaw(strconv.AppendInt(nil, int64(int32(u.Uint32(w.takeBytes(4)))), 10))
	case 0x13:
		w.writeDecimal(w.takeBytes(16))
	default:
		w.failed = true
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
	digits := strconv.FormatUint(low, 10) + strings.Repeat("0", max(exponent, 0))
	if exponent < 0 {
		digits = strings.Repeat("0", max(0, 1-exponent-len(digits))) + digits
		digits = digits[:len(digits)+exponent] + "." + digits[len(digits)+exponent:]
	}
	w.out.writeRaw([]byte(digits))
}
