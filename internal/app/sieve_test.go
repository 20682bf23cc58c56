package app_test

import (
	"bytes"
	"encoding/binary"
)

// sieve finds any of many needles of eight bytes or more in one pass.
type sieve struct {
	needles map[uint64][]needle // by their first eight bytes
	// coarse has a bit for what may be such a beginning: nearly all bytes are let go without a look into the map.
	coarse []uint64
}

type needle struct {
	what string
	text []byte
}

const coarseBits = 24

func newSieve() sieve { return sieve{map[uint64][]needle{}, make([]uint64, 1<<(coarseBits-6))} }

func coarseBit(beginning uint64) (word, bit uint64) {
	n := beginning * 0x9E3779B97F4A7C15 >> (64 - coarseBits)
	return n >> 6, 1 << (n & 63)
}

func (s sieve) add(what string, text []byte) {
	if len(text) >= 8 {
		k := binary.LittleEndian.Uint64(text)
		word, bit := coarseBit(k)
		s.coarse[word] |= bit
		s.needles[k] = append(s.needles[k], needle{what, text})
	}
}

func (s sieve) hits(raw []byte) (found []string) {
	for i := 0; i+8 <= len(raw); i++ {
		k := binary.LittleEndian.Uint64(raw[i:])
		if word, bit := coarseBit(k); s.coarse[word]&bit == 0 {
			continue
		}
		for _, n := range s.needles[k] {
			if bytes.HasPrefix(raw[i:], n.text) {
				found = append(found, n.what)
			}
		}
	}
	return found
}

func size(s sieve) (n int) {
	for _, list := range s.needles {
		n += len(list)
	}
	return n
}
