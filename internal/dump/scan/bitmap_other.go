//go:build !amd64

package scan

// markBytes fills digits and signs, which have as many bits, with those of src, which has a byte for each and keySpan more.
func markBytes(digits []byte, signs []uint64, src []byte) { markPortable(digits, signs, src) }

// findNumbers marks the places where numbers begin.
func (m *marks) findNumbers() { m.findPortable() }

// fastAddress says that shapeOf may be called.
const fastAddress = false

// shapeOf is never called, as fastAddress is false: only amd64 has an implementation.
func shapeOf(*[margin]byte, *byte, *byte, *addressShape) {}

// findHints sets a bit of out for each byte of src that begins a hint, and says whether there is any. src has a byte more than
// out has bits.
func findHints(out, src []byte) (any bool) { return hintsPortable(out, src) }
