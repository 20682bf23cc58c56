package container

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zlib"
	"github.com/pierrec/lz4/v4"

	"github.com/vigiahq/vigia/internal/dump/scan"
)

// pgDumpFormat reads the custom format of pg_dump (-Fc): a list of what was dumped, then the rows of each table,
// packed. They come out as the plain format has them: COPY, rows, end.
var pgDumpFormat = document("pg_dump archive", startsWith("PGDMP"), func(d *source, out *text) error {
	p := &pgDump{in: bufio.NewReaderSize(io.NewSectionReader(d, 0, d.size), 64<<10), copies: map[int64][]byte{}}
	if err := p.readHead(); err != nil {
		return err
	}
	return p.readBlocks(out)
})

// errPGDump is the verdict on a custom-format dump that cannot be followed.
var errPGDump = errors.New("damaged: not what pg_dump writes")

// pgDump reads the custom format of pg_dump. The sizes of numbers and the compression are those that the header of the
// file declares.
type pgDump struct {
	in      *bufio.Reader
	version int // 0x010e00 is 1.14
	intSize int
	offSize int
	packing int // 0 none, 1 gzip, 2 lz4, 3 zstd
	copies  map[int64][]byte
	err     error
}

// readByte returns the next byte, or -1.
func (p *pgDump) readByte() int {
	c, err := p.in.ReadByte()
	if err != nil {
		p.err = cmp.Or(p.err, cutShort(err))
		return 0
	}
	return int(c)
}

// readInteger reads a number: a byte for the sign, then as many bytes as the header declares, the lowest first.
func (p *pgDump) readInteger() int64 {
	negative := p.readByte() != 0
	var v int64
	for i := range p.intSize {
		v |= int64(p.readByte()) << (8 * i)
	}
	if negative {
		return -v
	}
	return v
}

// pgTextLongest bounds a text in the table of contents of a dump, whose length the file claims.
const pgTextLongest = 16 << 20

// readText reads a length and as many bytes; nil where the length is -1.
func (p *pgDump) readText() []byte {
	n := p.readInteger()
	if n < 0 || p.err != nil {
		return nil
	}
	if n > pgTextLongest {
		p.err = errPGDump
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(p.in, n)) // not made for the claim
	if err != nil || int64(len(b)) < n {
		p.err = cutShort(err)
	}
	return b
}

// readHead reads the version, the packing and the list of what was dumped.
func (p *pgDump) readHead() error {
	for range len("PGDMP") {
		p.readByte()
	}
	p.version = p.readByte()<<16 | p.readByte()<<8
	if p.version > 0x010000 {
		p.version |= p.readByte()
	}
	p.intSize, p.offSize = p.readByte(), p.readByte()
	if format := p.readByte(); p.err == nil && format != 1 || p.intSize < 1 || p.intSize > 8 || p.offSize < 1 ||
		p.offSize > 8 {
		p.err = cmp.Or(p.err, errPGDump)
	}
	if p.version >= 0x010f00 {
		p.packing = p.readByte()
	} else if level := p.readInteger(); level != 0 {
		p.packing = 1
	}
	for range 7 { // when it was made
		p.readInteger()
	}
	p.skipTexts(3) // database, server, program
	count := p.readInteger()
	for i := int64(0); i < count && p.err == nil; i++ {
		p.readEntry()
	}
	return p.err
}

// readEntry reads one thing that was dumped, and keeps the COPY of a table.
func (p *pgDump) readEntry() {
	id := p.readInteger()
	p.readInteger() // has data
	p.skipTexts(4)  // table oid, oid, tag, description
	p.readInteger() // section
	p.skipTexts(2)  // definition, what drops it
	copied := p.readText()
	p.skipTexts(2) // namespace, tablespace
	if p.version >= 0x010e00 {
		p.readText() // access method
	}
	if p.version >= 0x011000 {
		p.readInteger() // kind of relation
	}
	p.skipTexts(2)                            // owner, with oids
	for p.err == nil && p.readText() != nil { // what it depends on
	}
	for range 1 + p.offSize { // how the offset is to be taken, and the offset
		p.readByte()
	}
	if len(copied) > 0 && p.err == nil {
		p.copies[id] = copied
	}
}

// skipTexts passes over n texts.
func (p *pgDump) skipTexts(n int) {
	for range n {
		p.readText()
	}
}

// readBlocks reads the rows of table after table.
func (p *pgDump) readBlocks(out *text) error {
	for {
		kind, err := p.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		const data, blobs = 1, 3
		if err != nil || kind != data && kind != blobs {
			return errors.Join(errPGDump, err)
		}
		id := p.readInteger()
		if p.err != nil {
			return p.err
		}
		if kind == blobs { // each large object has a number before it; zero ends them
			for {
				if oid := p.readInteger(); oid == 0 || p.err != nil {
					break
				}
				if err := p.writeRows(out); err != nil {
					return err
				}
			}
		} else {
			_ = out.writeLine(bytes.TrimSpace(p.copies[id])) // its error comes again with the next line
			if err := p.writeRows(out); err != nil {
				return err
			}
			if err := out.writeLine([]byte(`\.`)); err != nil {
				return err
			}
		}
		if p.err != nil {
			return p.err
		}
	}
}

// writeRows writes the rows of one table. What was unpacked before damage counts; the next table begins behind its
// chunks.
func (p *pgDump) writeRows(out *text) error {
	chunks := &pgChunks{p: p}
	var r io.Reader = chunks
	var err error
	switch p.packing {
	case 0:
	case 1:
		r, err = zlib.NewReader(chunks)
	case 2:
		r = lz4.NewReader(chunks)
	case 3:
		r, err = newZstdReader(chunks)
	default:
		return fmt.Errorf("%w: packed in a way that is not known", errPGDump)
	}
	if err == nil {
		_, err = io.Copy(out.w, r)
	}
	if errors.Is(err, io.EOF) {
		err = nil // an empty table
	}
	_, rest := io.Copy(io.Discard, chunks)
	return errors.Join(err, rest)
}

// pgChunks are the packed bytes of a table: lengths and bytes, zero ends them.
type pgChunks struct {
	p    *pgDump
	left int64
	done bool
}

func (c *pgChunks) Read(b []byte) (int, error) {
	for c.left == 0 {
		if c.done {
			return 0, io.EOF
		}
		if c.left = c.p.readInteger(); c.p.err != nil {
			return 0, c.p.err
		}
		if c.left <= 0 {
			c.done, c.left = true, 0
		}
	}
	n, err := c.p.in.Read(b[:min(int64(len(b)), c.left)])
	c.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

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
