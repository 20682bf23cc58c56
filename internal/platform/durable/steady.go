package durable

import (
	"io"
	"os"
)

// steadyBytes is how much a steady writer leaves to a sync.
const steadyBytes = 8 << 20

// SteadyWriter returns what writes to the file and syncs it every few megabytes. Left to the end, the sync of a large
// file keeps the disk busy for so long that everybody who syncs a small one meanwhile waits behind it.
func (f *File) SteadyWriter() io.Writer { return &steady{file: f.File} }

// steady is a writer that spreads the syncs of a large file over the time of writing.
type steady struct {
	file    *os.File
	pending int // bytes since the last sync
}

// Write writes and, after every steadyBytes, syncs.
func (s *steady) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if s.pending += n; err == nil && s.pending >= steadyBytes {
		s.pending = 0
		err = calls.sync(s.file)
	}
	return n, err
}
