package container

import "io"

// meter stops a layer that swells: it sits on what comes out, and knows what went in.
type meter struct {
	w    *walker
	name string
	r    io.Reader
	in   func() int64 // nil where the layer's own input is not known, as in an archive read in place
	out  int64
}

func (m *meter) Read(p []byte) (int, error) {
	if err := m.w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.Read(p)
	m.out += int64(n)
	m.w.unpacked += int64(n)
	l := &m.w.limits
	switch {
	case m.w.unpacked > l.Bytes:
		return n, ErrBomb.With("%s: more than %d bytes unpacked", m.name, l.Bytes)
	case m.out > slack && m.in != nil && m.out > l.Ratio*m.in(),
		m.w.unpacked > slack && m.w.unpacked > l.Ratio*int64(l.Depth)*m.w.source.bytes(),
		m.out > slack && m.out > l.Ratio*m.w.source.bytes():
		return n, ErrBomb.With("%s: unpacks to more than %d times its size", m.name, l.Ratio)
	}
	return n, err
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded stops one part that swells, where no walker may be asked: beside it, on another goroutine, another meter
// counts.
type bounded struct {
	r        io.Reader
	name     string
	in       int64
	ratio    int64
	out      int64
	canceled func() error
}

func (w *walker) bounded(name string, r io.Reader, in int64) io.Reader {
	return &bounded{r: r, name: name, in: max(in, 1), ratio: w.limits.Ratio, canceled: w.ctx.Err}
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.canceled(); err != nil {
		return 0, err
	}
	n, err := b.r.Read(p)
	if b.out += int64(n); b.out > slack && b.out > b.ratio*b.in {
		return n, ErrBomb.With("%s: unpacks to more than %d times its size", b.name, b.ratio)
	}
	return n, err
}
