package container

import (
	"encoding/binary"
	"fmt"
	"math"
)

// parquetValues writes the values of a column.
type parquetValues struct {
	c          *parquetColumn
	name       []byte
	out        *text
	dictionary []byte
	entries    [][]byte // of the dictionary
}

// The kinds of values.
const (
	parquetBool = iota
	parquetInt32
	parquetInt64
	parquetInt96
	parquetFloat
	parquetDouble
	parquetBytes
	parquetFixed
)

// width is how many bytes a value has; 0 where each says it itself.
func (v *parquetValues) width() int {
	switch v.c.kind {
	case parquetInt32, parquetFloat:
		return 4
	case parquetInt64, parquetDouble:
		return 8
	case parquetInt96:
		return 12
	case parquetFixed:
		return int(v.c.length)
	}
	return 0
}

// write writes one value on a line of its own.
func (v *parquetValues) write(b []byte) error {
	v.out.raw(v.name)
	switch v.c.kind {
	case parquetInt32:
		v.out.integer(int64(int32(binary.LittleEndian.Uint32(b))))
	case parquetInt64:
		v.out.integer(int64(binary.LittleEndian.Uint64(b)))
	case parquetFloat:
		v.out.number(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case parquetDouble:
		v.out.number(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case parquetBytes, parquetFixed:
		v.out.cell(b)
	}
	return v.out.row()
}

// plain cuts values that stand one after the other.
func (v *parquetValues) plain(raw []byte, take func(b []byte) error) error {
	width := v.width()
	if v.c.kind == parquetBool {
		return nil
	}
	if width <= 0 && v.c.kind != parquetBytes {
		return errParquet
	}
	for len(raw) > 0 {
		n := width
		if v.c.kind == parquetBytes {
			if len(raw) < 4 || int64(binary.LittleEndian.Uint32(raw)) > int64(len(raw)-4) {
				return errParquet
			}
			n = int(binary.LittleEndian.Uint32(raw))
			raw = raw[4:]
		}
		if n > len(raw) {
			return errParquet
		}
		if err := take(raw[:n]); err != nil {
			return err
		}
		raw = raw[n:]
	}
	return nil
}

// index finds the values of a dictionary.
func (v *parquetValues) index(raw []byte) error {
	v.entries = nil
	return v.plain(raw, func(b []byte) error {
		v.entries = append(v.entries, b)
		return nil
	})
}

// read writes the values of a page.
func (v *parquetValues) read(encoding int64, raw []byte, count int64) error {
	const plain, plainDictionary, rle, delta, deltaLength, deltaBytes, dictionary, split = 0, 2, 3, 5, 6, 7, 8, 9
	switch encoding {
	case plain:
		return v.plain(raw, v.write)
	case plainDictionary, dictionary:
		if len(raw) == 0 {
			return nil
		}
		return hybrid(raw[1:], uint(raw[0]), count, func(i uint64) error {
			if i >= uint64(len(v.entries)) {
				return errParquet
			}
			return v.write(v.entries[i])
		})
	case rle:
		return nil // truth values
	case delta:
		_, err := deltaNumbers(raw, count, func(n int64) error {
			b := binary.LittleEndian.AppendUint64(nil, uint64(n))
			return v.write(b)
		})
		return err
	case deltaLength, deltaBytes:
		return v.deltaTexts(raw, count, encoding == deltaBytes)
	case split:
		return v.splitBytes(raw)
	}
	return fmt.Errorf("Parquet: encoding %d is not read", encoding) //nolint:staticcheck // a name
}

// hybrid reads numbers of so many bits, packed or as runs.
func hybrid(raw []byte, bits uint, count int64, take func(uint64) error) error {
	if bits > 32 {
		return errParquet
	}
	for len(raw) > 0 && count > 0 {
		head, n := binary.Uvarint(raw)
		if n <= 0 {
			return errParquet
		}
		raw = raw[n:]
		if head&1 == 0 { // a run
			bytesOf := int(bits+7) / 8
			if len(raw) < bytesOf {
				return errParquet
			}
			var value uint64
			for i := range bytesOf {
				value |= uint64(raw[i]) << (8 * i)
			}
			raw = raw[bytesOf:]
			for run := min(int64(min(head>>1, 1<<40)), count); run > 0; run-- {
				if err := take(value); err != nil {
					return err
				}
				count--
			}
			continue
		}
		packed := min(uint64(len(raw)), head>>1*uint64(bits))
		var acc uint64
		var have uint
		for _, c := range raw[:packed] {
			acc |= uint64(c) << have
			for have += 8; bits > 0 && have >= bits && count > 0; have -= bits {
				if err := take(acc & (1<<bits - 1)); err != nil {
					return err
				}
				acc >>= bits
				count--
			}
		}
		if bits == 0 {
			for run := min(int64(min(head>>1, 1<<20))*8, count); run > 0; run-- {
				if err := take(0); err != nil {
					return err
				}
				count--
			}
		}
		raw = raw[packed:]
	}
	return nil
}

// deltaNumbers reads numbers that are kept as differences, in blocks of packed ones. It returns what follows them.
func deltaNumbers(raw []byte, most int64, take func(int64) error) ([]byte, error) {
	var head [3]uint64
	for i := range head {
		v, n := binary.Uvarint(raw)
		if n <= 0 {
			return nil, errParquet
		}
		head[i], raw = v, raw[n:]
	}
	block, minis, left := head[0], head[1], int64(min(head[2], uint64(max(most, 0))))
	value, n := binary.Varint(raw)
	if n <= 0 || minis == 0 || minis > 512 || block > 1<<20 || block/minis == 0 {
		return nil, errParquet
	}
	raw = raw[n:]
	if left > 0 {
		if err := take(value); err != nil {
			return nil, err
		}
		left--
	}
	for left > 0 {
		least, n := binary.Varint(raw)
		if n <= 0 || uint64(len(raw)-n) < minis {
			return nil, errParquet
		}
		widths := raw[n:][:minis]
		raw = raw[uint64(n)+minis:]
		for _, bits := range widths {
			if left == 0 {
				break
			}
			size := block / minis * uint64(bits) / 8
			if bits > 64 || size > uint64(len(raw)) {
				return nil, errParquet
			}
			mini := raw[:size]
			raw = raw[size:]
			for i := uint64(0); i < block/minis && left > 0; i++ {
				value += least + int64(bitsAt(mini, i*uint64(bits), uint(bits)))
				if err := take(value); err != nil {
					return nil, err
				}
				left--
			}
		}
	}
	return raw, nil
}

// bitsAt takes a number of so many bits from an offset in bits.
func bitsAt(b []byte, at uint64, bits uint) (v uint64) {
	for i := uint(0); i < bits; {
		c := uint64(b[at>>3]) >> (at & 7)
		n := min(8-uint(at&7), bits-i)
		v |= (c & (1<<n - 1)) << i
		i += n
		at += uint64(n)
	}
	return v
}

// deltaTexts reads texts whose lengths stand before them, and, where they are shared, how much of the text before each
// begins with.
func (v *parquetValues) deltaTexts(raw []byte, count int64, shared bool) error {
	var prefixes, lengths []int64
	var err error
	keep := func(into *[]int64) func(int64) error {
		return func(n int64) error {
			if n < 0 || n > parquetPageMost || len(*into) > parquetPageMost/8 {
				return errParquet
			}
			*into = append(*into, n)
			return nil
		}
	}
	if shared {
		if raw, err = deltaNumbers(raw, count, keep(&prefixes)); err != nil {
			return err
		}
	}
	if raw, err = deltaNumbers(raw, count, keep(&lengths)); err != nil {
		return err
	}
	var before []byte
	for i, n := range lengths {
		if n > int64(len(raw)) {
			return errParquet
		}
		value := raw[:n]
		raw = raw[n:]
		if shared && i < len(prefixes) {
			if prefixes[i] > int64(len(before)) {
				return errParquet
			}
			value = append(append([]byte{}, before[:prefixes[i]]...), value...)
		}
		before = value
		if err := v.write(value); err != nil {
			return err
		}
	}
	return nil
}

// splitBytes reads values whose first bytes stand together, then their second ones, and so on.
func (v *parquetValues) splitBytes(raw []byte) error {
	width := v.width()
	if width <= 0 {
		return errParquet
	}
	count := len(raw) / width
	value := make([]byte, width)
	for i := range count {
		for j := range value {
			value[j] = raw[j*count+i]
		}
		if err := v.write(value); err != nil {
			return err
		}
	}
	return nil
}
