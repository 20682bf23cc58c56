package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

var errNoDirectory = errors.New("no table of contents")

// zipDirectory returns the size of a zip's table of contents, from the record at the end of the file. The zip library
// reads all of it into memory, several times its size.
func zipDirectory(at io.ReaderAt, size int64) (int64, error) {
	const record, comment = 22, 1<<16 - 1
	tail := make([]byte, min(size, record+comment))
	if _, err := at.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	i := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if i < 0 || i+record > len(tail) {
		return 0, errNoDirectory
	}
	dir := int64(binary.LittleEndian.Uint32(tail[i+12:]))
	if dir != 1<<32-1 {
		return dir, nil
	}
	// A large archive: the locator before the record says where the record of 64 bits is.
	if i < 20 || !bytes.Equal(tail[i-20:i-16], []byte("PK\x06\x07")) {
		return 0, errNoDirectory
	}
	var large [56]byte
	if _, err := at.ReadAt(large[:], int64(binary.LittleEndian.Uint64(tail[i-12:]))); err != nil || !bytes.HasPrefix(large[:], []byte("PK\x06\x06")) {
		return 0, errNoDirectory
	}
	dir = int64(binary.LittleEndian.Uint64(large[40:]))
	if dir < 0 {
		return 0, errNoDirectory
	}
	return dir, nil
}
