package container

import (
	"bufio"
	"errors"
	"io"
)

// compressFormat reads .Z, which the program compress writes.
var compressFormat = streamFormat("compress (.Z)", func(b []byte) bool {
	return len(b) > 4 && b[0] == 0x1f && b[1] == 0x9d && b[2]&0x1f >= 9 && b[2]&0x1f <= 16 && b[2]&0x60 == 0
}, func(in io.Reader) (io.Reader, error) {
	z := &compressReader{in: bufio.NewReaderSize(in, 32<<10)}
	var head [3]byte
	if _, err := io.ReadFull(z.in, head[:]); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	z.most, z.blocks = uint(head[2]&0x1f), head[2]&0x80 != 0
	z.resetTable()
	return z, nil
})

var errCompress = errors.New("damaged: not what compress writes")

// compressReader is LZW with codes that grow from 9 bits on, and that come in groups of eight: when their width
// changes, the rest of a group is padding.
type compressReader struct {
	in     *bufio.Reader
	most   uint
	blocks bool // code 256 begins anew
	width  uint
	next   int // code to be given out
	last   int // code before, or -1
	first  byte
	group  [16]byte
	codes  int // of the group, in bits
	bit    int
	prefix [1 << 16]uint16
	suffix [1 << 16]byte
	stack  [1 << 16]byte
	text   []byte
	err    error
}

// resetTable forgets all codes but those of single bytes.
func (z *compressReader) resetTable() {
	z.width, z.last = 9, -1
	z.next = 256
	if z.blocks {
		z.next = 257
	}
	z.codes, z.bit = 0, 0
}

func (z *compressReader) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if len(z.text) > 0 {
			n := copy(p, z.text)
			z.text = z.text[n:]
			return n, nil
		}
		if z.err != nil {
			return 0, z.err
		}
		z.err = z.decodeStep()
	}
	return 0, nil
}

// readCode takes the next one.
func (z *compressReader) readCode() (int, error) {
	if z.bit+int(z.width) > z.codes {
		n, err := io.ReadFull(z.in, z.group[:z.width])
		if n == 0 {
			if errors.Is(err, io.EOF) {
				return 0, io.EOF
			}
			return 0, err
		}
		z.codes, z.bit = 8*n, 0
		if z.codes < int(z.width) {
			return 0, io.EOF // padding
		}
	}
	v := 0
	for i := range int(z.width) {
		at := z.bit + i
		v |= int(z.group[at>>3]>>(at&7)&1) << i
	}
	z.bit += int(z.width)
	return v, nil
}

// decodeStep decodes one code.
func (z *compressReader) decodeStep() error {
	code, err := z.readCode()
	if err != nil {
		return err
	}
	if z.blocks && code == 256 {
		z.resetTable()
		return nil
	}
	at := len(z.stack)
	c := code
	switch {
	case z.last < 0:
		if code > 255 {
			return errCompress
		}
	case code > z.next || code == z.next && z.next >= 1<<z.most:
		return errCompress
	case code == z.next: // the text before and its first byte
		at--
		z.stack[at] = z.first
		c = z.last
	}
	for c > 255 {
		if at == 1 {
			return errCompress
		}
		at--
		z.stack[at] = z.suffix[c]
		c = int(z.prefix[c])
	}
	at--
	z.stack[at] = byte(c)
	z.first = byte(c)
	if z.last >= 0 && z.next < 1<<z.most {
		z.prefix[z.next], z.suffix[z.next] = uint16(z.last), z.first
		z.next++
		if z.next >= 1<<z.width && z.width < z.most {
			z.width++
			z.codes, z.bit = 0, 0
		}
	}
	z.last = code
	z.text = z.stack[at:]
	return nil
}
