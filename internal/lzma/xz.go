package lzma

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
)

// xzReader reads an .xz file: streams of blocks, each block with filters and a check sum of its text.
type xzReader struct {
	in     *input
	memory Memory
	chunks *chunked // kept from block to block, with its window
	text   io.Reader
	sum    hash.Hash
	check  int // bytes of the check sum
	from   int64
	err    error
}

var (
	xzMagic     = []byte("\xfd7zXZ\x00")
	errXZFilter = errors.New("xz: a filter that is not known")
	checkSizes  = [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}
)

// NewXZ reads an .xz file. Filters for machine code are left in: texts are the same without them, and their check sums
// are not held against anything then.
func NewXZ(r io.Reader, memory Memory) io.Reader {
	return &xzReader{in: &input{src: r}, memory: memory}
}

func (x *xzReader) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if x.err != nil {
			return 0, x.err
		}
		if x.text == nil {
			x.err = x.next()
			continue
		}
		n, err := x.text.Read(p)
		if x.sum != nil {
			_, _ = x.sum.Write(p[:n]) // a hash takes everything
		}
		if errors.Is(err, io.EOF) {
			err = x.blockEnd()
		}
		x.err = err
		if n > 0 {
			return n, nil
		}
	}
	return 0, nil
}

// next begins the next block, reading over the borders of streams.
func (x *xzReader) next() error {
	if x.from == 0 && x.in.n == 0 {
		if err := x.streamHead(); err != nil {
			return err
		}
	}
	for {
		x.from = x.in.n
		size, err := x.in.next()
		if err != nil {
			return err
		}
		if size != 0 {
			return x.blockHead(size)
		}
		if err := x.index(); err != nil {
			return err
		}
		more, err := x.another()
		if err != nil {
			return err
		}
		if !more {
			return io.EOF
		}
	}
}

func (x *xzReader) streamHead() error {
	var head [12]byte
	if err := x.in.full(head[:]); err != nil {
		return err
	}
	if !bytes.HasPrefix(head[:], xzMagic) || head[6] != 0 || head[7] > 15 || crc32.ChecksumIEEE(head[6:8]) != binary.LittleEndian.Uint32(head[8:]) {
		return ErrCorrupt
	}
	x.check = checkSizes[head[7]]
	switch head[7] {
	case 1:
		x.sum = crc32.NewIEEE()
	case 4:
		x.sum = crc64.New(crc64.MakeTable(crc64.ECMA))
	case 10:
		x.sum = sha256.New()
	default:
		x.sum = nil
	}
	return nil
}

// another says whether a further stream follows, after any padding.
func (x *xzReader) another() (bool, error) {
	var zeros [4]byte
	for {
		if err := x.in.fill(); err != nil {
			if errors.Is(err, io.EOF) {
				return false, nil
			}
			return false, err
		}
		if x.in.buf[x.in.r] != 0 {
			return true, x.streamHead()
		}
		if err := x.in.full(zeros[:]); err != nil || zeros != [4]byte{} {
			return false, ErrCorrupt
		}
	}
}

// index passes over the list of blocks at the end of a stream, and its footer.
func (x *xzReader) index() error {
	count, err := x.number()
	if err != nil {
		return err
	}
	for range count {
		for range 2 {
			if _, err := x.number(); err != nil {
				return err
			}
		}
	}
	rest := (4-(x.in.n-x.from)%4)%4 + 4 + 12 // padding, sum, footer
	var footer [19]byte
	if err := x.in.full(footer[:rest]); err != nil {
		return err
	}
	if !bytes.HasSuffix(footer[:rest], []byte("YZ")) {
		return ErrCorrupt
	}
	return nil
}

func (x *xzReader) number() (v uint64, err error) {
	for shift := 0; shift < 63; shift += 7 {
		c, err := x.in.next()
		if err != nil {
			return 0, err
		}
		if v |= uint64(c&0x7f) << shift; c < 0x80 {
			return v, nil
		}
	}
	return 0, ErrCorrupt
}

func (x *xzReader) blockHead(size byte) error {
	head := make([]byte, (int(size)+1)*4)
	head[0] = size
	if err := x.in.full(head[1:]); err != nil {
		return err
	}
	end := len(head) - 4
	if crc32.ChecksumIEEE(head[:end]) != binary.LittleEndian.Uint32(head[end:]) {
		return ErrCorrupt
	}
	flags, rest := head[1], head[2:end]
	for _, has := range []bool{flags&0x40 != 0, flags&0x80 != 0} {
		if has {
			_, n := binary.Uvarint(rest)
			if n <= 0 {
				return ErrCorrupt
			}
			rest = rest[n:]
		}
	}
	var distances []int
	exact := true
	for filter := 0; filter <= int(flags&3); filter++ {
		id, n := binary.Uvarint(rest)
		if n <= 0 || n >= len(rest) {
			return ErrCorrupt
		}
		length := int(rest[n])
		if length >= 0x80 || n+1+length > len(rest) {
			return ErrCorrupt
		}
		properties := rest[n+1:][:length]
		rest = rest[n+1+length:]
		last := filter == int(flags&3)
		switch {
		case last && id == 0x21 && length == 1:
			return x.begin(properties[0], distances, exact)
		case !last && id == 3 && length == 1:
			distances = append(distances, int(properties[0])+1)
		case !last && id >= 4 && id <= 0x0b:
			exact = false
		default:
			return errXZFilter
		}
	}
	return ErrCorrupt
}

// begin opens the text of a block: LZMA2, then its filters from the last to the first.
func (x *xzReader) begin(code byte, distances []int, exact bool) (err error) {
	if x.chunks == nil {
		x.chunks, err = newChunked(x.in, code, x.memory)
	} else {
		err = x.chunks.again(code)
	}
	if err != nil {
		return err
	}
	x.text = x.chunks
	for i := len(distances) - 1; i >= 0; i-- {
		x.text = NewDelta(x.text, distances[i])
	}
	if x.sum != nil {
		x.sum.Reset()
	}
	if !exact {
		x.sum = nil
	}
	return nil
}

func (x *xzReader) blockEnd() error {
	x.text = nil
	padding := int((4 - (x.in.n-x.from)%4) % 4)
	var tail [3 + 64]byte
	if err := x.in.full(tail[:padding+x.check]); err != nil {
		return err
	}
	if x.sum == nil {
		return nil
	}
	want := tail[padding : padding+x.check]
	got := x.sum.Sum(nil)
	if len(got) <= 8 { // numbers are written from their lowest byte on
		for i, j := 0, len(got)-1; i < j; i, j = i+1, j-1 {
			got[i], got[j] = got[j], got[i]
		}
	}
	if !bytes.Equal(want, got) {
		return errors.New("xz: the check sum does not match")
	}
	return nil
}

// delta adds to each byte the one that stood distance before it.
type delta struct {
	r        io.Reader
	distance int
	last     [256]byte
	at       int
}

// NewDelta undoes the filter that keeps differences of bytes, distance (1 to 256) apart.
func NewDelta(r io.Reader, distance int) io.Reader { return &delta{r: r, distance: distance} }

func (d *delta) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	for i := range p[:n] {
		p[i] += d.last[d.at]
		d.last[d.at] = p[i]
		d.at = (d.at + 1) % d.distance
	}
	return n, err
}
