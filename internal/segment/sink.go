package segment

import (
	"bufio"
	"crypto/sha256"
	"hash"
	"io"
	"os"
)

// writeBuffer is what is collected before the system is called.
const writeBuffer = 256 << 10

// sink hashes and writes what it is given.
type sink struct {
	*bufio.Writer
	sum hash.Hash
}

// newFileSink returns a buffered writer to a file.
func newFileSink(file *os.File) *sink {
	sum := sha256.New()
	return &sink{Writer: bufio.NewWriterSize(io.MultiWriter(sum, file), writeBuffer), sum: sum}
}
