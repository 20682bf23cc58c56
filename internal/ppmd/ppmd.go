// Package ppmd reads PPMd variant I revision 1, one of the ways in which a file in a zip is packed. It predicts each byte
// from those before it by counts that packer and reader learn alike, in an arena of a size that the packer chose: what
// happens when the arena is full is part of the format, so its layout and the order in which blocks are reused are fixed.
// The method is Dmitry Shkarin's.
package ppmd

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// ErrCorrupt means that the bytes are no stream of this kind.
var ErrCorrupt = errors.New("PPMd: damaged")

// errMethod means a way of going on with a full arena of which there are two kinds that do not understand each other.
var errMethod = errors.New("PPMd: a model that is frozen is not read")

// Unknown is the size of a text that a mark ends.
const Unknown = -1

// Ways of going on when the arena is full.
const (
	restart = iota
	cutOff
)

// tables is what a model needs beside its arena.
const tables = 64 << 10

// NewZip reads a stream as it stands in a zip, behind two bytes that say how large the model is: from 1 to 256 MiB, for
// which grow is asked first. It takes no byte from r that is not needed if r is an io.ByteReader.
func NewZip(r io.Reader, size int64, grow func(int64) error) (io.Reader, error) {
	in, ok := r.(io.ByteReader)
	if !ok {
		in = bufio.NewReader(r)
	}
	d := &decoder{in: in, left: size, sized: size != Unknown, faults: func(any) {}}
	var head [2]byte
	for i := range head {
		head[i] = d.next()
	}
	if d.err != nil {
		return nil, d.err
	}
	v := binary.LittleEndian.Uint16(head[:])
	order, memory, method := int(v&15)+1, (uint32(v>>4&255)+1)<<20, v>>12
	switch {
	case order < 2 || method > cutOff+1:
		return nil, ErrCorrupt
	case method > cutOff:
		return nil, errMethod
	}
	if err := grow(int64(memory) + tables); err != nil {
		return nil, err
	}
	d.model.start(memory, order, method == cutOff)
	d.span = 1<<32 - 1
	for range 4 {
		d.code = d.code<<8 | uint32(d.next())
	}
	return d, d.err
}

// decoder reads symbols by the intervals that the model gives them.
type decoder struct {
	in    io.ByteReader
	err   error
	left  int64
	sized bool
	// faults is told what the model broke on; a test asks.
	faults func(p any)

	low, span, code uint32
	model           model
}

func (d *decoder) next() byte {
	if d.err != nil {
		return 0
	}
	b, err := d.in.ReadByte()
	if d.err = err; errors.Is(err, io.EOF) {
		d.err = io.ErrUnexpectedEOF
	}
	return b
}

// Read turns what a fault in the model can do into an error: an arena has no other bounds than its own.
func (d *decoder) Read(p []byte) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			d.faults(p)
			d.err = ErrCorrupt
			err = d.err
		}
	}()
	if d.sized {
		p = p[:min(int64(len(p)), d.left)]
		if d.left == 0 {
			return 0, io.EOF
		}
	}
	for n < len(p) {
		if d.err != nil {
			return n, d.err
		}
		symbol, ok := d.symbol()
		if !ok {
			return n, d.err
		}
		p[n] = symbol
		n++
		d.left--
	}
	return n, nil
}

// share says which of total equal parts of the interval the code lies in.
func (d *decoder) share(total uint32) uint32 {
	d.span /= total
	return d.code / d.span
}

// take narrows the interval to size parts from start on, and reads on what that decided.
func (d *decoder) take(start, size uint32) {
	const top, bottom = 1 << 24, 1 << 15
	d.low += start * d.span
	d.code -= start * d.span
	for d.span *= size; d.err == nil; {
		if d.low^(d.low+d.span) >= top {
			if d.span >= bottom {
				return
			}
			d.span = -d.low & (bottom - 1)
		}
		d.code = d.code<<8 | uint32(d.next())
		d.span <<= 8
		d.low <<= 8
	}
}

// symbol reads the next byte. It reports false at the end, and if the code lies where no symbol is.
func (d *decoder) symbol() (byte, bool) {
	m := &d.model
	if m.last(m.here) == 0 {
		if symbol, ok := d.binary(); ok {
			return symbol, true
		}
	} else if symbol, ok, escaped := d.first(); !escaped {
		return symbol, ok
	}
	for {
		before := m.last(m.here)
		for m.last(m.here) == before {
			m.fall++
			if m.here = m.suffix(m.here); m.here == 0 { // below the context that knows every symbol: the mark of the end
				d.err = io.EOF
				return 0, false
			}
		}
		if symbol, ok, escaped := d.masked(before); !escaped {
			return symbol, ok
		}
	}
}

// binary reads on in a context of one symbol: it comes, or the context is left.
func (d *decoder) binary() (byte, bool) {
	m := &d.model
	odds := m.binaryOdds()
	state := m.here + 2
	d.span >>= scaleBits
	if p := uint32(*odds); d.code/d.span < p {
		d.take(0, p)
		*odds += 1<<periodBits - mean(*odds)
		symbol := m.symbol(state)
		m.foundAlone(state)
		return symbol, true
	}
	d.take(uint32(*odds), 1<<scaleBits-uint32(*odds))
	*odds -= mean(*odds)
	m.escape = uint32(escapes[*odds>>10])
	m.mask = [256]bool{}
	m.mask[m.symbol(state)] = true
	m.succeeded = 0
	return 0, false
}

// first reads on in the longest context.
func (d *decoder) first() (symbol byte, ok, escaped bool) {
	m := &d.model
	total := uint32(m.sum(m.here))
	at := d.share(total)
	state, count := m.states(m.here), m.last(m.here)
	below := uint32(0)
	for i := range count + 1 {
		if freq := uint32(m.freq(state)); at < below+freq {
			d.take(below, freq)
			symbol = m.symbol(state)
			if i == 0 {
				m.foundFirst(state)
			} else {
				m.succeeded = 0
				m.foundLater(state)
			}
			return symbol, true, false
		} else {
			below += freq
			state += stateSize
		}
	}
	m.succeeded = 0
	if at >= total {
		d.err = ErrCorrupt
		return 0, false, false
	}
	d.take(below, total-below)
	m.mask = [256]bool{}
	for range count + 1 {
		state -= stateSize
		m.mask[m.symbol(state)] = true
	}
	return 0, false, true
}

// masked reads on in a shorter context, in which symbols of the longer ones do not come.
func (d *decoder) masked(before int) (symbol byte, ok, escaped bool) {
	m := &d.model
	states, count := m.states(m.here), m.last(m.here)
	possible := uint32(0)
	for i := range count + 1 {
		if s := states + uint32(i)*stateSize; !m.mask[m.symbol(s)] {
			possible += uint32(m.freq(s))
		}
	}
	see, escape := m.escapeOdds(before)
	total := possible + escape
	at := d.share(total)
	if at >= total {
		d.err = ErrCorrupt
		return 0, false, false
	}
	if at >= possible {
		d.take(possible, total-possible)
		see.sum += uint16(total)
		for i := range count + 1 {
			m.mask[m.symbol(states+uint32(i)*stateSize)] = true
		}
		return 0, false, true
	}
	below := uint32(0)
	for s := states; ; s += stateSize {
		if m.mask[m.symbol(s)] {
			continue
		}
		freq := uint32(m.freq(s))
		if at < below+freq {
			d.take(below, freq)
			see.learn()
			symbol = m.symbol(s)
			m.foundMasked(s)
			return symbol, true, false
		}
		below += freq
	}
}
