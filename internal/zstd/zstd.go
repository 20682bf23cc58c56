// Package zstd reads Zstandard, RFC 8878, a stream at a time and within a limit of memory. It writes none, and knows no
// dictionaries.
//
// The library that everybody uses is a download of 40 MB, as its module holds much else; this is the part that a dump
// needs, and the tests hold it against that library. The invariant is that of every reader here: whatever the bytes
// are, the answer is the text that was compressed or an error, without a panic and without more memory than was
// allowed.
package zstd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
)

// Errors of damaged streams, and of those that ask for more than they may.
var (
	ErrCorrupt = errors.New("zstd: not in order")
	ErrWindow  = errors.New("zstd: the window is larger than allowed")
	ErrDict    = errors.New("zstd: made with a dictionary, which is not here")
)

const (
	magic        = 0xfd2fb528
	skippable    = 0x184d2a50 // and the fifteen after it
	maxBlock     = 128 << 10
	unknownSize  = ^uint64(0)
	leastWindow  = 1 << 10
	longestStart = 18 // magic and frame header
)

// frame is what a frame header says.
type frame struct {
	window, size uint64
	checksum     bool
	length       int // of the header
}

// parseFrame reads a frame header, without its magic number.
func parseFrame(b []byte) (f frame, err error) {
	if len(b) == 0 {
		return f, io.ErrUnexpectedEOF
	}
	flags := b[0]
	single := flags&0x20 != 0
	at := 1
	if !single {
		at++
	}
	dictBytes := []int{0, 1, 2, 4}[flags&3]
	sizeBytes := []int{0, 2, 4, 8}[flags>>6]
	if single && sizeBytes == 0 {
		sizeBytes = 1
	}
	f.length = at + dictBytes + sizeBytes
	if flags&0x08 != 0 {
		return f, ErrCorrupt
	}
	if len(b) < f.length {
		return f, io.ErrUnexpectedEOF
	}
	for _, c := range b[at : at+dictBytes] {
		if c != 0 {
			return f, ErrDict
		}
	}
	f.size = unknownSize
	if sizeBytes > 0 {
		var raw [8]byte
		copy(raw[:], b[at+dictBytes:f.length])
		if f.size = binary.LittleEndian.Uint64(raw[:]); sizeBytes == 2 {
			f.size += 256
		}
	}
	if f.window = f.size; !single {
		base := uint64(1) << (10 + b[1]>>3)
		f.window = base + base/8*uint64(b[1]&7)
	}
	f.window = max(f.window, leastWindow)
	f.checksum = flags&0x04 != 0
	return f, nil
}

// Window tells how far back the frame at the beginning of a stream refers, which a Reader must hold in memory.
func Window(start []byte) (uint64, bool) {
	if len(start) < 5 || binary.LittleEndian.Uint32(start) != magic {
		return 0, false
	}
	f, err := parseFrame(start[4:])
	return f.window, err == nil
}

// Memory is about how much a Reader of a window of that size holds.
func Memory(window uint64) uint64 { return window + slack(window) + maxBlock }

// slack is the room behind the window, so that it is moved rarely.
func slack(window uint64) uint64 { return max(1<<20, window/2) }

// Reader unpacks a stream.
type Reader struct {
	in        io.Reader
	maxWindow uint64
	err       error

	open    bool // inside a frame
	frame   frame
	written uint64 // of the frame
	hash    xxhash.Digest

	text []byte // what was unpacked: the window, and what nobody has read yet
	read int    // up to where text was read
	raw  []byte // of the block
	block
}

// NewReader reads in, whose frames may refer back by at most maxWindow bytes.
func NewReader(in io.Reader, maxWindow uint64) *Reader {
	return &Reader{in: in, maxWindow: maxWindow}
}

// Read unpacks on. Its errors stay.
func (r *Reader) Read(p []byte) (int, error) {
	for r.read == len(r.text) {
		if r.err != nil {
			return 0, r.err
		}
		r.err = r.next()
	}
	n := copy(p, r.text[r.read:])
	r.read += n
	return n, nil
}

// next unpacks a block, or begins a frame.
func (r *Reader) next() error {
	if !r.open {
		return r.begin()
	}
	var head [3]byte
	if err := r.fill(head[:]); err != nil {
		return err
	}
	h := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
	last, kind, size := h&1 != 0, h>>1&3, int(h>>3)
	most := int(min(maxBlock, r.frame.window))
	if size > most {
		return ErrCorrupt
	}
	r.makeRoom(most)
	before := len(r.text)
	if err := r.unpack(kind, size, most); err != nil {
		return err
	}
	added := r.text[before:]
	r.written += uint64(len(added))
	if r.frame.checksum {
		_, _ = r.hash.Write(added) // a digest takes everything
	}
	if r.written > r.frame.size {
		return ErrCorrupt
	}
	if last {
		return r.end()
	}
	return nil
}

func (r *Reader) unpack(kind uint32, size, most int) error {
	switch kind {
	case 0: // as it is
		at := len(r.text)
		r.text = r.text[:at+size]
		if err := r.fill(r.text[at:]); err != nil {
			r.text = r.text[:at]
			return err
		}
		return nil
	case 1: // one byte, many times
		var c [1]byte
		if err := r.fill(c[:]); err != nil {
			return err
		}
		for range size {
			r.text = append(r.text, c[0])
		}
		return nil
	case 2:
		if cap(r.raw) < size {
			r.raw = make([]byte, maxBlock)
		}
		raw := r.raw[:size]
		if err := r.fill(raw); err != nil {
			return err
		}
		text, err := r.block.decode(r.text, raw, r.frame.window, most)
		if err != nil {
			return err
		}
		r.text = text
		return nil
	}
	return ErrCorrupt
}

// makeRoom has n bytes free behind the text, forgetting what the window no longer reaches. It is asked when all was
// read.
func (r *Reader) makeRoom(n int) {
	whole := int(r.frame.window + slack(r.frame.window) + maxBlock) // the window was held against the limit
	if len(r.text)+n > whole {
		keep := r.text[max(0, len(r.text)-int(r.frame.window)):]
		r.text = r.text[:copy(r.text, keep)]
		r.read = len(r.text)
	}
	if len(r.text)+n > cap(r.text) {
		larger := make([]byte, len(r.text), min(whole, max(4*cap(r.text), len(r.text)+n, 4*maxBlock)))
		copy(larger, r.text)
		r.text = larger
	}
}

// begin reads the header of a frame, or passes over one that is not for us.
func (r *Reader) begin() error {
	var head [longestStart]byte
	if n, err := io.ReadFull(r.in, head[:4]); err != nil {
		if n == 0 && errors.Is(err, io.EOF) {
			return io.EOF // between two frames
		}
		return unexpected(err)
	}
	mark := binary.LittleEndian.Uint32(head[:])
	if mark&^15 == skippable {
		if err := r.fill(head[:4]); err != nil {
			return err
		}
		length := int64(binary.LittleEndian.Uint32(head[:]))
		if n, err := io.CopyN(io.Discard, r.in, length); n < length {
			return unexpected(err)
		}
		return nil
	}
	if mark != magic {
		return ErrCorrupt
	}
	if err := r.fill(head[:1]); err != nil {
		return err
	}
	length := 1
	for { // the first byte says how long the header is
		f, err := parseFrame(head[:length])
		if errors.Is(err, io.ErrUnexpectedEOF) && f.length > length {
			if err := r.fill(head[length:f.length]); err != nil {
				return err
			}
			length = f.length
			continue
		}
		if err != nil {
			return err
		}
		if f.window > r.maxWindow {
			return fmt.Errorf("%w: %d bytes", ErrWindow, f.window)
		}
		r.frame, r.open, r.written, r.text, r.read = f, true, 0, r.text[:0], 0
		r.hash.Reset()
		r.block.reset()
		return nil
	}
}

// end checks what the frame said of itself.
func (r *Reader) end() error {
	r.open = false
	if r.frame.size != unknownSize && r.written != r.frame.size {
		return ErrCorrupt
	}
	if r.frame.checksum {
		var sum [4]byte
		if err := r.fill(sum[:]); err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(sum[:]) != uint32(r.hash.Sum64()) {
			return fmt.Errorf("%w: the checksum does not match", ErrCorrupt)
		}
	}
	return nil
}

// fill reads what a frame has to have.
func (r *Reader) fill(p []byte) error {
	_, err := io.ReadFull(r.in, p)
	return unexpected(err)
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
