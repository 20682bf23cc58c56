package container

import (
	"encoding/binary"
	"errors"
	"io"
)

// lz4Format reads frames of LZ4, one after the other, and the older form of `lz4 -l`.
var lz4Format = stream("lz4", func(b []byte) bool {
	return starts("\x04\x22\x4d\x18", lz4Old)(b) && len(b) > 7
}, 13<<20, func(in io.Reader, _ func(int64) error) (io.Reader, error) { return &lz4Reader{in: in}, nil })

const lz4Old = "\x02\x21\x4c\x18"

var errLZ4 = errors.New("damaged: not LZ4")

// lz4Reader unpacks a block at a time; blocks may refer to the 64 KiB before them.
type lz4Reader struct {
	in      io.Reader
	packed  []byte
	text    []byte // the window before, and the block
	at      int    // what of text was not taken yet
	most    int    // of a block; 0 between frames
	linked  bool
	sums    bool // a sum behind each block
	sum     bool // and behind the frame
	old     bool
	err     error
	started bool
}

const lz4Window = 64 << 10

func (z *lz4Reader) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if z.at < len(z.text) {
			n := copy(p, z.text[z.at:])
			z.at += n
			return n, nil
		}
		if z.err != nil {
			return 0, z.err
		}
		if z.most == 0 {
			z.err = z.frame()
		} else {
			z.err = z.block()
		}
	}
	return 0, nil
}

func (z *lz4Reader) full(p []byte) error {
	n, err := fill(z.in, p)
	if n < len(p) && errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// frame reads the head of the next frame, or finds the end.
func (z *lz4Reader) frame() error {
	var head [15]byte
	n, err := fill(z.in, head[:4])
	if n == 0 && errors.Is(err, io.EOF) && z.started {
		return io.EOF
	}
	if n < 4 {
		return cutShort(err)
	}
	mark := binary.LittleEndian.Uint32(head[:])
	switch {
	case string(head[:4]) == lz4Old:
		z.started, z.old, z.most, z.linked = true, true, 8<<20, false
		return nil
	case mark>>4 == 0x184d2a5: // something of a program's own
		if err := z.full(head[:4]); err != nil {
			return err
		}
		n := int64(binary.LittleEndian.Uint32(head[:]))
		k, err := io.CopyN(io.Discard, z.in, n)
		if k < n {
			return cutShort(err)
		}
		return nil
	case mark != 0x184d2204:
		if z.started { // what follows the last frame is somebody else's
			return io.EOF
		}
		return errLZ4
	}
	z.started = true
	if err := z.full(head[:2]); err != nil {
		return err
	}
	flags, size := head[0], head[1]>>4&7
	if flags>>6 != 1 || size < 4 || flags&1 != 0 {
		return errLZ4 // another version, or a dictionary that is elsewhere
	}
	rest := 1
	if flags&8 != 0 {
		rest += 8
	}
	z.old, z.linked, z.sums, z.sum = false, flags&0x20 == 0, flags&0x10 != 0, flags&4 != 0
	z.most = 1 << (8 + 2*size)
	z.text, z.at = z.text[:0], 0
	return z.full(head[:rest])
}

func cutShort(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (z *lz4Reader) block() error {
	var word [4]byte
	n, err := fill(z.in, word[:])
	if n == 0 && z.old && errors.Is(err, io.EOF) {
		return io.EOF
	}
	if n < len(word) {
		return cutShort(err)
	}
	size := binary.LittleEndian.Uint32(word[:])
	if size == 0 && !z.old {
		z.most = 0
		if z.sum {
			return z.full(word[:])
		}
		return nil
	}
	plain := size>>31 == 1 && !z.old
	size &= 1<<31 - 1
	if int(size) > z.most+z.most/128+64 {
		return errLZ4
	}
	if cap(z.packed) < int(size) {
		z.packed = make([]byte, size)
	}
	packed := z.packed[:size]
	n, rerr := fill(z.in, packed)
	if n < len(packed) { // what is there can be unpacked all the same
		packed, rerr = packed[:n], cutShort(rerr)
	}
	z.slide()
	before := len(z.text)
	if plain {
		z.text = append(z.text, packed...)
	} else if z.text, err = lz4Unpack(z.text, packed, before+z.most); err != nil && rerr == nil {
		rerr = err
	}
	z.at = before
	if rerr == nil && z.sums {
		rerr = z.full(word[:])
	}
	return rerr
}

// slide keeps the text that the next block may refer to.
func (z *lz4Reader) slide() {
	if !z.linked {
		z.text = z.text[:0]
		return
	}
	if n := len(z.text); n > lz4Window {
		z.text = z.text[:copy(z.text, z.text[n-lz4Window:])]
	}
}

// lz4Unpack appends the text of a block, as far as it goes, up to a length of most.
func lz4Unpack(text, packed []byte, most int) ([]byte, error) {
	length := func(n int) (int, bool) {
		for more := n == 15; more; {
			if len(packed) == 0 || n > most {
				return 0, false
			}
			n, more = n+int(packed[0]), packed[0] == 255
			packed = packed[1:]
		}
		return n, true
	}
	for len(packed) > 0 {
		token := packed[0]
		packed = packed[1:]
		n, ok := length(int(token >> 4))
		if !ok || n > most-len(text) {
			return text, errLZ4
		}
		k := min(n, len(packed))
		text, packed = append(text, packed[:k]...), packed[k:]
		if k < n {
			return text, errLZ4
		}
		if len(packed) == 0 {
			return text, nil
		}
		if len(packed) < 2 {
			return text, errLZ4
		}
		back := int(packed[0]) | int(packed[1])<<8
		packed = packed[2:]
		n, ok = length(int(token & 15))
		if n += 4; !ok || back == 0 || back > len(text) || n > most-len(text) {
			return text, errLZ4
		}
		for ; n > 0; n-- {
			text = append(text, text[len(text)-back])
		}
	}
	return text, nil
}
