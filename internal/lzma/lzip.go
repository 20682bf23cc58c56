package lzma

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"
)

// lzipReader reads a .lz file: members one after the other.
type lzipReader struct {
	in     *input
	memory Memory
	member *stream
	sum    hash.Hash32
	size   uint64
	first  bool
	err    error
}

// NewLzip reads a .lz file.
func NewLzip(r io.Reader, memory Memory) io.Reader {
	return &lzipReader{in: &input{src: r}, memory: memory, sum: crc32.NewIEEE(), first: true}
}

func (l *lzipReader) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if l.err != nil {
			return 0, l.err
		}
		if l.member == nil {
			l.err = l.next()
			continue
		}
		n, err := l.member.Read(p)
		_, _ = l.sum.Write(p[:n]) // a hash takes everything
		l.size += uint64(n)
		if errors.Is(err, io.EOF) {
			err = l.end()
		}
		l.err = err
		if n > 0 {
			return n, nil
		}
	}
	return 0, nil
}

// next begins a member. What follows the last one and is none is passed over, as the program does.
func (l *lzipReader) next() error {
	if err := l.in.fill(); err != nil && !l.first {
		return err
	}
	var head [6]byte
	if err := l.in.full(head[:]); err != nil {
		return err
	}
	if !bytes.HasPrefix(head[:], []byte("LZIP\x01")) {
		if l.first {
			return ErrCorrupt
		}
		return io.EOF
	}
	l.first = false
	bits := head[5] & 0x1f
	if bits < 12 || bits > 29 {
		return ErrCorrupt
	}
	dict := uint32(1)<<bits - uint32(1)<<bits/16*uint32(head[5]>>5)
	properties := binary.LittleEndian.AppendUint32([]byte{3 + 2*45}, dict)
	l.sum.Reset()
	l.size = 0
	before := l.member
	var err error
	if l.member, err = newStream(l.in, properties, Unknown, l.memory); err == nil && before != nil {
		l.member.window.buf = before.window.buf
	}
	return err
}

func (l *lzipReader) end() error {
	var tail [20]byte
	if err := l.in.full(tail[:]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(tail[:]) != l.sum.Sum32() || binary.LittleEndian.Uint64(tail[4:]) != l.size {
		return errors.New("lzip: the check sum does not match")
	}
	done := l.member
	l.member = nil
	if err := l.next(); err != nil {
		return err
	}
	if len(done.window.buf) <= int(l.member.window.most) { // its room serves the next one
		l.member.window.buf = done.window.buf
	}
	return nil
}
