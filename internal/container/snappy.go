package container

import (
	"encoding/binary"
	"errors"
)

var errSnappy = errors.New("damaged: not Snappy")

// snappyUnpack unpacks a block of Snappy, of at most so many bytes. What came out before damage comes with the error.
func snappyUnpack(packed []byte, most int) ([]byte, error) {
	size, n := binary.Uvarint(packed)
	if n <= 0 || size > uint64(most) {
		return nil, errSnappy
	}
	packed = packed[n:]
	text := make([]byte, 0, min(size, 64*uint64(len(packed))+64))
	for len(packed) > 0 {
		tag := packed[0]
		length, back, head := 0, 0, 1
		switch tag & 3 {
		case 0:
			length = int(tag>>2) + 1
			if extra := length - 60; extra > 0 {
				if head += extra; len(packed) < head {
					return text, errSnappy
				}
				length = 0
				for i := extra; i > 0; i-- {
					length = length<<8 | int(packed[i])
				}
				length++
			}
			if length <= 0 || len(packed)-head < length || uint64(len(text)+length) > size {
				return text, errSnappy
			}
			text, packed = append(text, packed[head:head+length]...), packed[head+length:]
			continue
		case 1:
			head = 2
		case 2:
			head = 3
		case 3:
			head = 5
		}
		if len(packed) < head {
			return text, errSnappy
		}
		length = int(tag>>2) + 1
		switch tag & 3 {
		case 1:
			length, back = int(tag>>2&7)+4, int(tag>>5)<<8|int(packed[1])
		case 2:
			back = int(binary.LittleEndian.Uint16(packed[1:]))
		case 3:
			back = int(binary.LittleEndian.Uint32(packed[1:]))
		}
		packed = packed[head:]
		if back <= 0 || back > len(text) || uint64(len(text)+length) > size {
			return text, errSnappy
		}
		for range length {
			text = append(text, text[len(text)-back])
		}
	}
	if uint64(len(text)) < size {
		return text, errSnappy
	}
	return text, nil
}
