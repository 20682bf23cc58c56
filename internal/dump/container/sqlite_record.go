package container

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unicode/utf16"
)

// parseRecord takes the values of a row apart: their kinds stand before them.
func (db *sqlite) parseRecord(b []byte) (values []any) {
	head, n := sqliteVarint(b, 0)
	if n == 0 || head < int64(n) || head > int64(len(b)) {
		if len(b) > 0 {
			db.noteDamage(errDamaged)
		}
		return nil
	}
	body := b[head:]
	for at := n; at < int(head); {
		kind, k := sqliteVarint(b[:head], at)
		if k == 0 {
			break
		}
		at += k
		size := sqliteSize(kind)
		if size < 0 || size > int64(len(body)) {
			if size = int64(len(body)); size == 0 || kind < 12 {
				break
			}
		}
		values = append(values, db.parseValue(kind, body[:size]))
		body = body[size:]
	}
	return values
}

// sqliteSize returns how many bytes a value of the given serial type takes in a record, or -1 for a type that does not
// exist.
func sqliteSize(kind int64) int64 {
	switch {
	case kind < 0:
		return -1
	case kind >= 12:
		return (kind - 12) / 2
	}
	return [12]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, -1, -1}[kind]
}

func (db *sqlite) parseValue(kind int64, b []byte) any {
	switch {
	case kind == 0:
		return nil
	case kind <= 6:
		v := int64(int8(b[0]))
		for _, c := range b[1:] {
			v = v<<8 | int64(c)
		}
		return v
	case kind == 7:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	case kind == 8, kind == 9:
		return kind - 8
	case kind&1 == 0 && isBinary(b): // bytes that are no text
		return nil
	case kind&1 == 1 && db.encoding > 1:
		return wideText(b, db.encoding == 3)
	}
	return string(b)
}

// wideText reads UTF-16.
func wideText(b []byte, bigEndian bool) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		if units[i] = binary.LittleEndian.Uint16(b[2*i:]); bigEndian {
			units[i] = bits.ReverseBytes16(units[i])
		}
	}
	return string(utf16.Decode(units))
}

// sqliteVarint reads a number of up to nine bytes, and how many they were; none where the page ends.
func sqliteVarint(b []byte, at int) (v int64, n int) {
	for n < 9 {
		if at < 0 || at+n >= len(b) {
			return 0, 0
		}
		c := b[at+n]
		n++
		if n == 9 {
			return v<<8 | int64(c), n
		}
		if v = v<<7 | int64(c&0x7f); c < 0x80 {
			return v, n
		}
	}
	return v, n
}
