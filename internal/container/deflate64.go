package container

import (
	"bufio"
	"errors"
	"io"
)

// deflate64 unpacks Deflate64: Deflate with a window of 64 KiB, longer matches and two more codes of distance.
type deflate64 struct {
	in      io.ByteReader
	acc     uint32
	bits    uint
	window  [1 << 16]byte
	w, r    int // written and taken, modulo the window
	last    bool
	stored  int // bytes of a stored block to come
	packed  bool
	copying int
	from    int
	literal huffman64
	far     huffman64
	total   int64
	err     error
}

var errDeflate64 = errors.New("damaged: not Deflate64")

// newDeflate64 returns a reader of the decompressed bytes. It reads no further in than the data if in is an
// io.ByteReader, and otherwise buffers.
func newDeflate64(in io.Reader) io.Reader {
	if b, ok := in.(io.ByteReader); ok {
		return &deflate64{in: b}
	}
	return &deflate64{in: bufio.NewReaderSize(in, 4<<10)}
}

// step64 is how much is unpacked before it is handed out.
const step64 = 16 << 10

func (d *deflate64) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if d.r != d.w {
			end := d.w
			if end < d.r {
				end = len(d.window)
			}
			n := copy(p, d.window[d.r:end])
			d.r = (d.r + n) % len(d.window)
			return n, nil
		}
		if d.err != nil {
			return 0, d.err
		}
		d.decodeMore()
	}
	return 0, nil
}

// setError ends the stream with an error.
func (d *deflate64) setError(err error) {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if d.err == nil {
		d.err = err
	}
}

// takeBits returns the next n bits.
func (d *deflate64) takeBits(n uint) uint32 {
	for d.bits < n {
		c, err := d.in.ReadByte()
		if err != nil {
			d.setError(err)
			return 0
		}
		d.acc |= uint32(c) << d.bits
		d.bits += 8
	}
	v := d.acc & (1<<n - 1)
	d.acc >>= n
	d.bits -= n
	return v
}

// putByte adds a byte to the window.
func (d *deflate64) putByte(c byte) {
	d.window[d.w] = c
	d.w = (d.w + 1) % len(d.window)
	d.total++
}

// decodeMore unpacks a step.
func (d *deflate64) decodeMore() {
	for n := 0; n < step64 && d.err == nil; n++ {
		switch {
		case d.copying > 0:
			d.putByte(d.window[d.from])
			d.from = (d.from + 1) % len(d.window)
			d.copying--
		case d.stored > 0:
			if c := byte(d.takeBits(8)); d.err == nil {
				d.putByte(c)
			}
			d.stored--
		case d.packed:
			d.decodeSymbol()
		case d.last:
			d.setError(errEnd64)
		default:
			d.readBlockHead()
		}
	}
	if errors.Is(d.err, errEnd64) {
		d.err = io.EOF
	}
}

var errEnd64 = errors.New("the end")

// readBlockHead reads the head of a block.
func (d *deflate64) readBlockHead() {
	d.last = d.takeBits(1) == 1
	switch d.takeBits(2) {
	case 0:
		d.acc >>= d.bits & 7
		d.bits -= d.bits & 7
		length, inverse := d.takeBits(16), d.takeBits(16)
		if d.err == nil && length != ^inverse&0xffff {
			d.setError(errDeflate64)
		}
		d.stored = int(length)
	case 1:
		var lengths [288]uint8
		for i := range lengths {
			switch {
			case i < 144:
				lengths[i] = 8
			case i < 256:
				lengths[i] = 9
			case i < 280:
				lengths[i] = 7
			default:
				lengths[i] = 8
			}
		}
		var far [32]uint8
		for i := range far {
			far[i] = 5
		}
		d.packed = d.literal.buildTable(lengths[:]) && d.far.buildTable(far[:])
	case 2:
		d.packed = d.readTables()
		if !d.packed {
			d.setError(errDeflate64)
		}
	default:
		d.setError(errDeflate64)
	}
}

// readTables reads the codes of a block.
func (d *deflate64) readTables() bool {
	literals, fars, count := int(d.takeBits(5))+257, int(d.takeBits(5))+1, int(d.takeBits(4))+4
	var small [19]uint8
	for i := range count {
		small[[19]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}[i]] = uint8(d.takeBits(3))
	}
	var code huffman64
	if !code.buildTable(small[:]) {
		return false
	}
	var lengths [288 + 32]uint8
	for i := 0; i < literals+fars; {
		s := code.readSymbol(d)
		if d.err != nil {
			return false
		}
		value, again := uint8(0), 0
		switch {
		case s < 16:
			lengths[i] = uint8(s)
			i++
			continue
		case s == 16:
			if i == 0 {
				return false
			}
			value, again = lengths[i-1], 3+int(d.takeBits(2)) //nolint:gosec // i is above 0 here
		case s == 17:
			again = 3 + int(d.takeBits(3))
		default:
			again = 11 + int(d.takeBits(7))
		}
		if i+again > literals+fars {
			return false
		}
		for range again {
			lengths[i] = value
			i++
		}
	}
	return d.literal.buildTable(lengths[:literals]) && d.far.buildTable(lengths[literals:literals+fars])
}

// decodeSymbol decodes a literal, a match or the end of a block.
func (d *deflate64) decodeSymbol() {
	s := d.literal.readSymbol(d)
	switch {
	case d.err != nil:
	case s < 256:
		d.putByte(byte(s))
	case s == 256:
		d.packed = false
	case s > 285:
		d.setError(errDeflate64)
	default:
		d.decodeMatch(s - 257)
	}
}

// decodeMatch reads how long and how far back a match is.
func (d *deflate64) decodeMatch(code int) {
	length := 3 + code
	switch {
	case code == 28:
		length = 3 + int(d.takeBits(16))
	case code >= 8:
		extra := uint(code/4 - 1)
		length = 3 + (4+code%4)<<extra + int(d.takeBits(extra))
	}
	far := d.far.readSymbol(d)
	distance := 1 + far
	if far >= 4 {
		extra := uint(far/2 - 1)
		distance = 1 + (2+far%2)<<extra + int(d.takeBits(extra))
	}
	if d.err == nil && int64(distance) > d.total {
		d.setError(errDeflate64)
	}
	if d.err == nil {
		d.copying, d.from = length, (d.w-distance+len(d.window))%len(d.window)
	}
}

// huffman64 is a code, read bit by bit: how many codes there are of each length, and their symbols in order.
type huffman64 struct {
	counts  [16]int
	symbols [288]uint16
}

// buildTable makes the table of a code, and reports whether its lengths fit.
func (h *huffman64) buildTable(lengths []uint8) bool {
	clear(h.counts[:])
	for _, n := range lengths {
		h.counts[n]++
	}
	h.counts[0] = 0
	left := 1
	var next [17]int
	for n := 1; n < 16; n++ {
		if left = left<<1 - h.counts[n]; left < 0 {
			return false
		}
		next[n+1] = next[n] + h.counts[n]
	}
	for s, n := range lengths {
		if n > 0 {
			h.symbols[next[n]] = uint16(s)
			next[n]++
		}
	}
	return true
}

// readSymbol reads the next symbol.
func (h *huffman64) readSymbol(d *deflate64) int {
	code, first, index := 0, 0, 0
	for n := 1; n < 16; n++ {
		code |= int(d.takeBits(1))
		if d.err != nil {
			return 0
		}
		count := h.counts[n]
		if code-count < first {
			return int(h.symbols[index+code-first])
		}
		index += count
		first = (first + count) << 1
		code <<= 1
	}
	d.setError(errDeflate64)
	return 0
}
