package scan

import (
	"bytes"
	"strconv"
)

type format uint8

const (
	plain format = iota
	gzipStream
	zstdStream
	xzStream
	bzip2Stream
	tarFile
	zipFile
	sevenZipFile
)

// sniffed is how many bytes tell a format: a tar header.
const sniffed = 512

// sniff knows a format by its first bytes. Names are not asked: dumps are called anything.
func sniff(b []byte) format {
	switch {
	case bytes.HasPrefix(b, []byte{0x1f, 0x8b, 8}):
		return gzipStream
	case bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}), len(b) > 8 && b[0]>>4 == 5 && bytes.Equal(b[1:4], []byte{0x2a, 0x4d, 0x18}):
		return zstdStream
	case bytes.HasPrefix(b, []byte("\xfd7zXZ\x00")):
		return xzStream
	case len(b) > 10 && bytes.HasPrefix(b, []byte("BZh")) && b[3] >= '1' && b[3] <= '9' &&
		(bytes.Equal(b[4:10], []byte{0x31, 0x41, 0x59, 0x26, 0x53, 0x59}) || bytes.Equal(b[4:10], []byte{0x17, 0x72, 0x45, 0x38, 0x50, 0x90})):
		return bzip2Stream
	case bytes.HasPrefix(b, []byte("PK\x03\x04")), bytes.HasPrefix(b, []byte("PK\x05\x06")), bytes.HasPrefix(b, []byte("PK\x07\x08PK\x03\x04")):
		return zipFile
	case bytes.HasPrefix(b, []byte("7z\xbc\xaf\x27\x1c")):
		return sevenZipFile
	case tarHeader(b):
		return tarFile
	}
	return plain
}

// tarHeader checks the sum that every tar header carries: old archives have no other mark.
func tarHeader(b []byte) bool {
	if len(b) < 512 || b[0] == 0 {
		return false
	}
	want, err := strconv.ParseInt(string(bytes.Trim(b[148:156], " \x00")), 8, 32)
	if err != nil {
		return false
	}
	sum := int64(8 * ' ')
	for i, c := range b[:512] {
		if i < 148 || i >= 156 {
			sum += int64(c)
		}
	}
	return sum == want
}
