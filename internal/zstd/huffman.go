package zstd

import "math/bits"

// huffman decodes literals: the next bits of a stream, as many as the longest code has, name an entry.
type huffman struct {
	entries []uint16 // symbol<<8 | length of its code
	log     int      // 0: there is no table yet
}

const huffmanMaxLog = 11

// read reads the description of a table and returns the bytes it took.
func (h *huffman) read(data []byte) (taken int, ok bool) {
	if len(data) == 0 {
		return 0, false
	}
	var weights [256]uint8
	n, length := 0, int(data[0])
	if data = data[1:]; length >= 128 { // half a byte each
		n = length - 127
		length = (n + 1) / 2
		if length > len(data) {
			return 0, false
		}
		for i := range n {
			weights[i] = data[i/2] >> (4 - i%2*4) & 15
		}
	} else {
		if length > len(data) {
			return 0, false
		}
		if n, ok = readWeights(data[:length], &weights); !ok {
			return 0, false
		}
	}
	return 1 + length, h.build(weights[:n+1])
}

// readWeights reads weights that are packed themselves, by two states that take turns.
func readWeights(data []byte, weights *[256]uint8) (n int, ok bool) {
	counts, log, taken, ok := readCounts(data, 6, 255)
	if !ok {
		return 0, false
	}
	var t table
	t.build(counts, log, func(s int) (uint32, uint8) { return uint32(s), 0 })
	b, ok := newBackward(data[taken:])
	if !ok {
		return 0, false
	}
	b.refill()
	turn := [2]uint64{b.take(log), b.take(log)}
	if b.left() < 0 {
		return 0, false
	}
	for i := 0; n < 254; i ^= 1 {
		s := t.states[turn[i]]
		weights[n] = uint8(s.base)
		n++
		b.refill()
		turn[i] = uint64(s.next) + b.take(int(s.bits))
		if b.left() < 0 { // the other state is the last
			weights[n] = uint8(t.states[turn[i^1]].base)
			return n + 1, true
		}
	}
	return 0, false
}

// build makes the table. The last weight is not written: it is what is missing to a power of two.
func (h *huffman) build(weights []uint8) bool {
	sum := 0
	for _, w := range weights[:len(weights)-1] {
		if w > huffmanMaxLog {
			return false
		}
		sum += 1 << w >> 1
	}
	if sum == 0 {
		return false
	}
	log := bits.Len(uint(sum))
	missing := 1<<log - sum
	if log > huffmanMaxLog || missing&(missing-1) != 0 {
		return false
	}
	weights[len(weights)-1] = uint8(bits.Len(uint(missing)))
	h.log = log
	if h.entries == nil {
		h.entries = make([]uint16, 1<<huffmanMaxLog)
	}
	at := 0
	for w := 1; w <= log; w++ {
		for s, has := range weights {
			if int(has) != w {
				continue
			}
			for range 1 << (w - 1) {
				h.entries[at] = uint16(s)<<8 | uint16(log+1-w)
				at++
			}
		}
	}
	return at == 1<<log
}

// decode fills out with the literals of a stream, which must end with them.
func (h *huffman) decode(out, data []byte) bool {
	b, ok := newBackward(data)
	if !ok {
		return false
	}
	entries, shift := h.entries[:1<<huffmanMaxLog], uint(64-h.log)
	i := 0
	for ; i+4 <= len(out); i += 4 { // at most 44 bits
		b.refill()
		acc, n := b.acc, b.n
		for j := range 4 {
			e := entries[acc>>shift&(1<<huffmanMaxLog-1)]
			out[i+j] = uint8(e >> 8)
			acc <<= e & 15
			n -= int(e & 15)
		}
		b.acc, b.n = acc, n
		if n < 0 {
			return false
		}
	}
	for ; i < len(out); i++ {
		b.refill()
		e := entries[b.acc>>shift&(1<<huffmanMaxLog-1)]
		out[i] = uint8(e >> 8)
		b.skip(int(e & 15))
	}
	return b.left() == 0
}
