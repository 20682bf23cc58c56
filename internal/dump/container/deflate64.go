package container

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// deflate64 unpacks Deflate64: Deflate with a window of 64 KiB, longer matches and two more codes of distance. Windows
// packs large files in zips that way.
type deflate64 struct {
	in     io.ByteReader
	acc    uint32
	bits   uint
	window [1 << 16]byte
	w, r   uint16 // written and taken
	total  int
	isLast bool // no block follows
	// left is what is still to come of a stored block or of a match; from is where a match is copied from.
	left          int
	from          uint16
	isMatch       bool
	isPacked      bool // inside of a block with codes
	literals, far huffman64
	err           error
}

// errDeflate64 is the verdict on a stream that breaks off or breaks the format's rules.
var errDeflate64 = errors.New("damaged: not Deflate64")

// newDeflate64 returns a reader of the decompressed bytes. It reads no further in than the data if in is an
// io.ByteReader, and otherwise buffers.
func newDeflate64(in io.Reader) io.Reader {
	if b, ok := in.(io.ByteReader); ok {
		return &deflate64{in: b}
	}
	return &deflate64{in: bufio.NewReaderSize(in, 4<<10)}
}

func (d *deflate64) Read(p []byte) (n int, err error) {
	for d.r == d.w && d.err == nil && len(p) > 0 {
		d.err = d.unpack()
	}
	for ; d.r != d.w && n < len(p); n++ {
		p[n] = d.window[d.r]
		d.r++
	}
	if n == 0 && len(p) > 0 {
		err = d.err
	}
	return n, err
}

// unpack unpacks as much as is handed out at once. What is damaged, or ends too early, panics further down with the
// error.
func (d *deflate64) unpack() (err error) {
	defer func() {
		if failed, ok := recover().(error); ok {
			err = cutShort(failed)
		}
	}()
	const step = 16 << 10
	for range step {
		switch {
		case d.left > 0 && d.isMatch:
			d.putByte(d.window[d.from])
			d.from++
			d.left--
		case d.left > 0:
			d.putByte(byte(d.takeBits(8)))
			d.left--
		case d.isPacked:
			d.readSymbol()
		case d.isLast:
			return io.EOF
		default:
			d.readBlockHead()
		}
	}
	return nil
}

// putByte adds a byte to the window.
func (d *deflate64) putByte(c byte) {
	d.window[d.w] = c
	d.w++
	d.total++
}

func (d *deflate64) takeBits(n uint) int {
	for ; d.bits < n; d.bits += 8 {
		c, err := d.in.ReadByte()
		if err != nil {
			panic(err)
		}
		d.acc |= uint32(c) << d.bits
	}
	v := d.acc & (1<<n - 1)
	d.acc >>= n
	d.bits -= n
	return int(v)
}

func (d *deflate64) readBlockHead() {
	d.isLast = d.takeBits(1) == 1
	switch d.takeBits(2) {
	case 0:
		d.takeBits(d.bits & 7)
		d.left, d.isMatch = d.takeBits(16), false
		if d.takeBits(16) != ^d.left&0xffff {
			panic(errDeflate64)
		}
	case 1:
		d.setCodes(fixedLiterals, bytes.Repeat([]byte{5}, 32))
	case 2:
		d.readCodes()
	default:
		panic(errDeflate64)
	}
}

// fixedLiterals are the lengths of the codes of a block that has none of its own.
var fixedLiterals = slices.Concat(
	bytes.Repeat([]byte{8}, 144),
	bytes.Repeat([]byte{9}, 112),
	bytes.Repeat([]byte{7}, 24),
	bytes.Repeat([]byte{8}, 8),
)

// setCodes begins a block with codes of these lengths.
func (d *deflate64) setCodes(literals, far []uint8) {
	d.literals.setLengths(literals)
	d.far.setLengths(far)
	d.isPacked = true
}

func (d *deflate64) readCodes() {
	literals, far, count := d.takeBits(5)+257, d.takeBits(5)+1, d.takeBits(4)+4
	var small [19]uint8
	for _, i := range []int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}[:count] {
		small[i] = uint8(d.takeBits(3))
	}
	var code huffman64
	code.setLengths(small[:])
	lengths := make([]uint8, 0, 288+32+138)
	for len(lengths) < literals+far {
		value, times := code.readFrom(d), 1
		switch value {
		case 16:
			if len(lengths) == 0 {
				panic(errDeflate64)
			}
			value, times = int(lengths[len(lengths)-1]), 3+d.takeBits(2)
		case 17:
			value, times = 0, 3+d.takeBits(3)
		case 18:
			value, times = 0, 11+d.takeBits(7)
		}
		lengths = append(lengths, bytes.Repeat([]byte{byte(value)}, times)...)
	}
	if len(lengths) > literals+far {
		panic(errDeflate64)
	}
	d.setCodes(lengths[:literals], lengths[literals:])
}

// readSymbol reads a literal, a match or the end of a block.
func (d *deflate64) readSymbol() {
	code := d.literals.readFrom(d) - 257
	switch {
	case code < -1:
		d.putByte(byte(code + 257))
		return
	case code == -1:
		d.isPacked = false
		return
	case code > 28:
		panic(errDeflate64)
	case code == 28:
		d.left = 3 + d.takeBits(16)
	default:
		d.left = 3 + d.readExtra(code, 4)
	}
	distance := 1 + d.readExtra(d.far.readFrom(d), 2)
	if distance > d.total {
		panic(errDeflate64)
	}
	d.isMatch, d.from = true, d.w-uint16(distance)
}

// readExtra returns the value of a code of which every step codes after the second step need one more bit.
func (d *deflate64) readExtra(code, step int) int {
	if code < 2*step {
		return code
	}
	extra := uint(code/step - 1)
	return (step+code%step)<<extra + d.takeBits(extra)
}

// huffman64 is a code, read bit by bit: how many codes there are of each length, and their symbols in order.
type huffman64 struct {
	counts  [16]int
	symbols []uint16
}

// setLengths makes the code whose symbols have these lengths.
func (h *huffman64) setLengths(lengths []uint8) {
	*h = huffman64{symbols: h.symbols[:0]}
	for n := range uint8(len(h.counts) - 1) {
		for symbol, length := range lengths {
			if length == n+1 {
				h.symbols = append(h.symbols, uint16(symbol))
				h.counts[length]++
			}
		}
	}
	left := 1
	for _, count := range h.counts[1:] {
		if left = left<<1 - count; left < 0 {
			panic(errDeflate64)
		}
	}
}

// readFrom reads the next symbol.
func (h *huffman64) readFrom(d *deflate64) int {
	code, first, index := 0, 0, 0
	for _, count := range h.counts[1:] {
		code |= d.takeBits(1)
		if code-count < first {
			return int(h.symbols[index+code-first])
		}
		index += count
		first = (first + count) << 1
		code <<= 1
	}
	panic(errDeflate64)
}
