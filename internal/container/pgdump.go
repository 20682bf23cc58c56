package container

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/pierrec/lz4/v4"
)

// pgDumpFormat reads the custom format of pg_dump (-Fc): a list of what was dumped, then the rows of each table, packed.
// They come out as the plain format has them: COPY, rows, end.
var pgDumpFormat = document("pg_dump archive", startsWith("PGDMP"), func(d *source, out *text) error {
	p := &pgDump{in: bufio.NewReaderSize(io.NewSectionReader(d, 0, d.size), 64<<10), copies: map[int64][]byte{}}
	if err := p.readHead(); err != nil {
		return err
	}
	return p.readBlocks(out)
})

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
		p.setError(cutShort(err))
		return 0
	}
	return int(c)
}

// setError ends the dump with an error.
func (p *pgDump) setError(err error) {
	if p.err == nil {
		p.err = err
	}
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

const pgTextLongest = 16 << 20

// readText reads a length and as many bytes; nil where the length is -1.
func (p *pgDump) readText() []byte {
	n := p.readInteger()
	if n < 0 || p.err != nil {
		return nil
	}
	if n > pgTextLongest {
		p.setError(errPGDump)
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(p.in, n)) // not made for the claim
	if err != nil || int64(len(b)) < n {
		p.setError(cutShort(err))
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
	if format := p.readByte(); p.err == nil && format != 1 || p.intSize < 1 || p.intSize > 8 || p.offSize < 1 || p.offSize > 8 {
		p.setError(errPGDump)
	}
	if p.version >= 0x010f00 {
		p.packing = p.readByte()
	} else if level := p.readInteger(); level != 0 {
		p.packing = 1
	}
	for range 7 { // when it was made
		p.readInteger()
	}
	for range 3 { // database, server, program
		p.readText()
	}
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
	p.readText()    // table oid
	p.readText()    // oid
	p.readText()    // tag
	p.readText()    // description
	p.readInteger() // section
	p.readText()    // definition
	p.readText()    // what drops it
	copied := p.readText()
	p.readText() // namespace
	p.readText() // tablespace
	if p.version >= 0x010e00 {
		p.readText() // access method
	}
	if p.version >= 0x011000 {
		p.readInteger() // kind of relation
	}
	p.readText()                              // owner
	p.readText()                              // with oids
	for p.err == nil && p.readText() != nil { // what it depends on
	}
	p.readByte() // how the offset is to be taken
	for range p.offSize {
		p.readByte()
	}
	if len(copied) > 0 && p.err == nil {
		p.copies[id] = copied
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
			if err := out.writeLine(bytes.TrimSpace(p.copies[id])); err != nil {
				return err
			}
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

// writeRows writes the rows of one table. What was unpacked before damage counts; the next table begins behind its chunks.
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
