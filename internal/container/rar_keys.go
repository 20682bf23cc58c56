package container

import (
	"encoding/binary"
	"errors"
	"io"
)

// rarKeys is what the keys of a RAR cost, in rounds of hashing: one of them, and all that reading it takes.
type rarKeys struct{ one, all int64 }

// rarOldRounds is what a key of version 4 takes, always.
const rarOldRounds = 1 << 18

// rarKeysOf reads from the heads of a RAR what its keys will cost, before any is made: version 5 says itself how many
// rounds a key takes, up to sixteen million.
func rarKeysOf(at io.ReaderAt, size int64) (rarKeys, error) {
	var mark [8]byte
	if err := full(at, mark[:], 0); err != nil {
		return rarKeys{}, err
	}
	if mark[6] == 0 {
		return rarKeys{one: rarOldRounds, all: rarOldRounds * 64}, nil
	}
	salts := map[[16]byte]bool{}
	var most int64
	for offset := int64(len(mark)); offset < size && len(salts) < 1<<16; {
		head, next, err := rarHead(at, offset)
		if err != nil {
			break // the library says what is wrong
		}
		offset = next
		rounds, salt, locked, all := head.lock()
		if !locked {
			continue
		}
		most = max(most, rounds)
		salts[salt] = true
		if all { // what follows cannot be read without the key
			break
		}
	}
	if most == 0 {
		return rarKeys{}, errDamaged
	}
	return rarKeys{one: most, all: most * int64(len(salts))}, nil
}

// rarBlock is the head of a block: its kind, and what stands in it.
type rarBlock struct {
	kind  uint64
	body  []byte
	extra []byte
}

var errRarHead = errors.New("RAR: a head is not in order")

func rarHead(at io.ReaderAt, offset int64) (b rarBlock, next int64, err error) {
	var start [14]byte
	n, _ := at.ReadAt(start[:], offset) // the last head may end before
	length, k := binary.Uvarint(start[min(n, 4):n])
	if k <= 0 || length > 2<<20 {
		return b, 0, errRarHead
	}
	text := make([]byte, length)
	if err := full(at, text, offset+4+int64(k)); err != nil {
		return b, 0, err
	}
	next = offset + 4 + int64(k) + int64(length)
	var fields [2]uint64
	for i := range fields {
		if fields[i], k = binary.Uvarint(text); k <= 0 {
			return b, 0, errRarHead
		}
		text = text[k:]
	}
	b.kind = fields[0]
	var extra, data uint64
	for bit, into := range []*uint64{&extra, &data} {
		if fields[1]>>bit&1 != 0 {
			if *into, k = binary.Uvarint(text); k <= 0 {
				return b, 0, errRarHead
			}
			text = text[k:]
		}
	}
	if extra > uint64(len(text)) || data > 1<<60 {
		return b, 0, errRarHead
	}
	b.body, b.extra = text, text[uint64(len(text))-extra:]
	return b, next + int64(data), nil
}

// lock finds how a file, or all that follows, is encrypted.
func (b *rarBlock) lock() (rounds int64, salt [16]byte, locked, all bool) {
	const encryption, file, service = 4, 2, 3
	switch b.kind {
	case encryption:
		rounds, salt, locked = rarLock(b.body)
		return rounds, salt, locked, true
	case file, service:
	default:
		return 0, salt, false, false
	}
	for extra := b.extra; ; {
		length, k := binary.Uvarint(extra)
		if k <= 0 || length > uint64(len(extra)-k) {
			return 0, salt, false, false
		}
		record := extra[k:][:length]
		extra = extra[uint64(k)+length:]
		if kind, n := binary.Uvarint(record); n > 0 && kind == 1 {
			rounds, salt, locked = rarLock(record[n:])
			return rounds, salt, locked, false
		}
	}
}

// rarLock reads version, flags, the exponent of rounds and the salt.
func rarLock(b []byte) (rounds int64, salt [16]byte, ok bool) {
	for range 2 {
		_, k := binary.Uvarint(b)
		if k <= 0 {
			return 0, salt, false
		}
		b = b[k:]
	}
	if len(b) < 1 || b[0] > 40 {
		return 0, salt, false
	}
	copy(salt[:], b[1:])
	return 2 << b[0], salt, true
}
