package zstd

import "encoding/binary"

// block unpacks compressed blocks. Tables and offsets of one block may be used by the next ones of its frame.
type block struct {
	literals []byte
	huffman  huffman
	lengths  codes // of literals
	matches  codes // lengths of matches
	offsets  codes
	recent   [3]int // offsets that were used last
}

func (b *block) reset() {
	b.huffman.log = 0
	b.lengths.known, b.matches.known, b.offsets.known = false, false, false
	b.recent = [3]int{1, 4, 8}
}

// decode appends the text of a block, at most most bytes. The window says how far back it may refer.
func (b *block) decode(text, raw []byte, window uint64, most int) ([]byte, error) {
	literals, raw, ok := b.readLiterals(raw, most)
	if !ok {
		return text, ErrCorrupt
	}
	n, raw, ok := sequenceCount(raw)
	if !ok {
		return text, ErrCorrupt
	}
	if n == 0 {
		if len(raw) > 0 {
			return text, ErrCorrupt
		}
		return append(text, literals...), nil
	}
	before := len(text)
	if text, literals, ok = b.sequences(text, literals, raw, n, window, most); !ok || len(text)-before+len(literals) > most {
		return text[:before], ErrCorrupt
	}
	return append(text, literals...), nil
}

// readLiterals reads the bytes that a block has of its own.
func (b *block) readLiterals(raw []byte, most int) (literals, rest []byte, ok bool) {
	if len(raw) == 0 {
		return nil, nil, false
	}
	kind, format := raw[0]&3, raw[0]>>2&3
	if kind < 2 {
		head, shift := 1, 3
		if format&1 != 0 {
			head, shift = 1+int(format+1)/2, 4
		}
		if len(raw) < head {
			return nil, nil, false
		}
		var word [4]byte
		copy(word[:], raw[:head])
		size := int(binary.LittleEndian.Uint32(word[:]) >> shift)
		if raw = raw[head:]; size > most {
			return nil, nil, false
		}
		if kind == 0 { // as they are
			if len(raw) < size {
				return nil, nil, false
			}
			return raw[:size], raw[size:], true
		}
		if len(raw) == 0 {
			return nil, nil, false
		}
		literals = b.literalRoom(size)
		for i := range literals {
			literals[i] = raw[0]
		}
		return literals, raw[1:], true
	}
	return b.readPacked(raw, kind == 3, int(format), most)
}

func (b *block) literalRoom(size int) []byte {
	if cap(b.literals) < size {
		b.literals = make([]byte, maxBlock)
	}
	return b.literals[:size]
}

// readPacked reads literals under a Huffman code, which is that of the block before where again says so.
func (b *block) readPacked(raw []byte, again bool, format, most int) (literals, rest []byte, ok bool) {
	head, width := []int{3, 3, 4, 5}[format], []int{10, 10, 14, 18}[format]
	if len(raw) < head {
		return nil, nil, false
	}
	var word [8]byte
	copy(word[:], raw[:head])
	v := int(binary.LittleEndian.Uint64(word[:]) >> 4)
	size, packed := v&(1<<width-1), v>>width
	if raw = raw[head:]; size > most || packed > len(raw) {
		return nil, nil, false
	}
	data, rest := raw[:packed], raw[packed:]
	if !again {
		taken, ok := b.huffman.read(data)
		if !ok {
			b.huffman.log = 0
			return nil, nil, false
		}
		data = data[taken:]
	}
	if b.huffman.log == 0 {
		return nil, nil, false
	}
	literals = b.literalRoom(size)
	if format == 0 {
		return literals, rest, b.huffman.decode(literals, data)
	}
	if len(data) < 6 {
		return nil, nil, false
	}
	ends := [4]int{}
	for i := range 3 {
		ends[i] = int(binary.LittleEndian.Uint16(data[2*i:]))
	}
	data = data[6:]
	ends[3] = len(data) - ends[0] - ends[1] - ends[2]
	if ends[3] < 0 {
		return nil, nil, false
	}
	part := (size + 3) / 4
	for i, n := range ends {
		from, to := min(i*part, size), min((i+1)*part, size)
		if !b.huffman.decode(literals[from:to], data[:n]) {
			return nil, nil, false
		}
		data = data[n:]
	}
	return literals, rest, true
}

func sequenceCount(raw []byte) (n int, rest []byte, ok bool) {
	switch {
	case len(raw) == 0:
		return 0, nil, false
	case raw[0] < 128:
		return int(raw[0]), raw[1:], true
	case raw[0] < 255 && len(raw) >= 2:
		return int(raw[0]-128)<<8 + int(raw[1]), raw[2:], true
	case raw[0] == 255 && len(raw) >= 3:
		return int(raw[1]) + int(raw[2])<<8 + 0x7f00, raw[3:], true
	}
	return 0, nil, false
}
