package segment

import (
	"crypto/sha256"
	"hash"
	"os"
	"sync/atomic"
)

// writeBuffer is what a sink collects before it calls the system.
const writeBuffer = 256 << 10

// sink hashes and writes what it is given. From the second buffer on it does so on a goroutine of its own, so that the
// next pages are encoded meanwhile.
type sink struct {
	file   *os.File
	sum    hash.Hash
	buf    []byte
	full   chan []byte // nil until there is a goroutine
	free   chan []byte
	done   chan error
	failed atomic.Bool
}

func newSink(file *os.File) *sink {
	return &sink{file: file, sum: sha256.New(), buf: make([]byte, 0, writeBuffer)}
}

// Write takes p. An error of the disk is told by a later call, at the latest by flush.
func (s *sink) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if len(s.buf) == cap(s.buf) {
			s.pass()
		}
		if s.failed.Load() {
			return 0, s.flush()
		}
		k := min(len(p), cap(s.buf)-len(s.buf))
		s.buf, p = append(s.buf, p[:k]...), p[k:]
	}
	return n, nil
}

// pass hands the buffer to the goroutine.
func (s *sink) pass() {
	if s.full == nil {
		const others = 2
		s.full, s.free, s.done = make(chan []byte, others), make(chan []byte, others+1), make(chan error, 1)
		for range others {
			s.free <- make([]byte, 0, writeBuffer)
		}
		go s.drain(s.full)
	}
	s.full <- s.buf
	s.buf = <-s.free
}

func (s *sink) drain(full <-chan []byte) {
	var err error
	for b := range full {
		if err == nil {
			if err = s.write(b); err != nil {
				s.failed.Store(true)
			}
		}
		s.free <- b[:0]
	}
	s.done <- err
}

func (s *sink) write(b []byte) error {
	_, _ = s.sum.Write(b) // never fails
	_, err := s.file.Write(b)
	return err
}

// flush returns when everything has been written and the goroutine has ended.
func (s *sink) flush() error {
	if err := s.stop(); err != nil {
		return err
	}
	err := s.write(s.buf)
	s.buf = s.buf[:0]
	return err
}

// stop ends the goroutine, if there is one. What it was given has been written then, unless there is an error.
func (s *sink) stop() error {
	if s.full == nil {
		return nil
	}
	close(s.full)
	s.full = nil
	return <-s.done
}
