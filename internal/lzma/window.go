package lzma

const (
	leastWindow = 1 << 12
	firstWindow = 64 << 10
)

// window is what was unpacked last, to which matches refer.
type window struct {
	buf    []byte
	most   int64 // what the stream claims to need
	w, r   int   // where the next byte goes, and what of it was not taken yet
	full   bool  // what lies after w is older text
	memory Memory
}

// room makes sure that a byte can be written. It returns false when what is there must be taken first.
func (d *window) room() (bool, error) {
	if d.w < len(d.buf) {
		return true, nil
	}
	if int64(len(d.buf)) < d.most {
		n := min(d.most, max(firstWindow, 2*int64(len(d.buf))))
		if err := d.memory(n - int64(len(d.buf))); err != nil {
			return false, err
		}
		grown := make([]byte, n)
		copy(grown, d.buf)
		d.buf = grown
		return true, nil
	}
	if d.r < d.w {
		return false, nil
	}
	d.w, d.r, d.full = 0, 0, true
	return true, nil
}

// take moves out what was unpacked.
func (d *window) take(p []byte) int {
	n := copy(p, d.buf[d.r:d.w])
	d.r += n
	return n
}

// has says whether the text goes back as far.
func (d *window) has(distance int) bool {
	return distance <= d.w || d.full && distance <= len(d.buf)
}

func (d *window) byteAt(distance int) byte {
	i := d.w - distance
	if i < 0 {
		i += len(d.buf)
	}
	return d.buf[i]
}

// forget begins a text that refers to nothing before it.
func (d *window) forget() {
	if d.r < d.w { // what waits to be taken stays where it is
		d.full = false
		return
	}
	d.w, d.r, d.full = 0, 0, false
}
