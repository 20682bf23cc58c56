package reader

import (
	"io"
	"sync/atomic"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/scan"
)

// meteredFile counts the bytes that are read from a file, for progress.
type meteredFile struct {
	inPlace
	n *atomic.Int64
}

func (m meteredFile) Read(p []byte) (int, error) {
	n, err := m.inPlace.Read(p)
	m.n.Add(int64(n))
	return n, err
}

func (m meteredFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.inPlace.ReadAt(p, off)
	m.n.Add(int64(n))
	return n, err
}

// Volumes returns the volumes of a set, as some archives number their blocks by volume; nil for a single file.
func (m meteredFile) Volumes() []container.Volume {
	if s, ok := m.inPlace.(interface{ Volumes() []container.Volume }); ok {
		return s.Volumes()
	}
	return nil
}

// meterReads counts what is read. A file stays readable in place: archives that begin at their end need that.
func meterReads(r io.Reader, n *atomic.Int64) io.Reader {
	if f, ok := r.(inPlace); ok {
		return meteredFile{f, n}
	}
	return scan.MeteredReader{Reader: r, Count: n}
}
