package lzma

import "io"

// chunked is LZMA2: chunks of LZMA, or of plain bytes.
type chunked struct {
	decoder
	in      *input
	packed  [1 << 16]byte
	plain   int  // bytes of a plain chunk that are still to come
	started bool // a first chunk has told the properties
	known   bool // the text before may be referred to
	err     error
}

// coderHead is how many bytes a chunk begins with that are not of its text.
const coderHead = 5

// NewRaw2 reads LZMA2 as it lies in a 7z; code is the byte that stands for the size of the window.
func NewRaw2(r io.Reader, code byte, memory Memory) (io.Reader, error) {
	return newChunked(&input{src: r}, code, memory)
}

func newChunked(in *input, code byte, memory Memory) (*chunked, error) {
	c := &chunked{in: in, decoder: decoder{window: window{memory: memory}}}
	return c, c.again(code)
}

// again begins another stream of chunks with the same window.
func (c *chunked) again(code byte) error {
	if code > 40 {
		return ErrCorrupt
	}
	c.window.forget()
	c.window.most = max(Window2(code), int64(len(c.window.buf)))
	c.started, c.known, c.plain, c.left, c.err = false, false, 0, 0, nil
	c.coder = rangeCoder{inChunk: true}
	return nil
}

// Window2 is the size of the window that one byte of LZMA2 stands for.
func Window2(code byte) int64 {
	if code >= 40 {
		return 1<<32 - 1
	}
	return int64(2|code&1) << (code/2 + 11)
}

func (c *chunked) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if n := c.window.take(p); n > 0 {
			return n, nil
		}
		if c.err != nil {
			return 0, c.err
		}
		c.err = c.more()
	}
	return 0, nil
}

func (c *chunked) more() error {
	switch {
	case c.plain > 0:
		return c.copyPlain()
	case c.left > 0:
		ended, err := c.decode()
		if ended {
			err = ErrCorrupt // chunks know their size
		}
		return err
	}
	return c.chunk()
}

func (c *chunked) copyPlain() error {
	ok, err := c.window.room()
	if err != nil || !ok {
		return err
	}
	n := min(c.plain, len(c.window.buf)-c.window.w)
	n, err = c.in.some(c.window.buf[c.window.w:][:n])
	c.window.w += n
	c.total += uint32(n)
	c.plain -= n
	return err
}

// chunk reads the head of the next one.
func (c *chunked) chunk() error {
	control, err := c.in.next()
	if err != nil {
		return err
	}
	if control == 0 {
		return io.EOF
	}
	if control == 1 || control >= 0xe0 {
		c.window.forget()
		c.known = true
		c.total = 0
	}
	if !c.known || control > 2 && control < 0x80 {
		return ErrCorrupt
	}
	var sizes [4]byte
	if control < 0x80 {
		if err := c.in.full(sizes[:2]); err != nil {
			return err
		}
		c.plain = int(sizes[0])<<8 + int(sizes[1]) + 1
		return nil
	}
	if err := c.in.full(sizes[:]); err != nil {
		return err
	}
	if control >= 0xc0 {
		properties, err := c.in.next()
		if err != nil {
			return err
		}
		if err := c.setProperties(properties); err != nil || c.lc+c.lp > 4 {
			return ErrCorrupt
		}
		c.started = true
	}
	if !c.started {
		return ErrCorrupt
	}
	if control >= 0xa0 {
		c.resetState()
	}
	if c.copying > 0 {
		return ErrCorrupt
	}
	packed := c.packed[:int(sizes[2])<<8+int(sizes[3])+1]
	n, err := c.in.some(packed)
	if err != nil && n <= coderHead {
		return err
	}
	// Of a chunk that is cut short, what is there is unpacked first.
	c.coder.packed, c.coder.packedTaken, c.coder.short = packed[:n], 0, err
	c.left = int64(control&0x1f)<<16 + int64(sizes[0])<<8 + int64(sizes[1]) + 1
	return c.coder.start()
}
