package segment

import (
	"encoding/binary"
	"math/bits"
)

// MaxLabels is how many different labels a segment may have.
const MaxLabels = 1 << 18

// labelCode is how the labels of a segment are written: behind the keys of a page stands, for each of them in their
// order, the place of its label in the table, in as many bits as the last place takes.
type labelCode struct {
	labels int  // how many there are, at least one
	width  uint // bits of a place
}

// newLabelCode returns a code for the given number of labels. Ids have a fixed width of as many bits as the largest
// needs.
func newLabelCode(labels int) *labelCode {
	return &labelCode{labels: labels, width: uint(bits.Len(uint(labels - 1)))}
}

// encodeCode returns the code as it stands in the file.
func (c *labelCode) encodeCode() []byte {
	return binary.LittleEndian.AppendUint32(nil, uint32(c.labels))
}

// decodeLabelCode reads what encode wrote, and returns the rest.
func decodeLabelCode(b []byte) (*labelCode, []byte, error) {
	if len(b) < 4 {
		return nil, nil, ErrCorrupt.Note("labels: no code")
	}
	labels := binary.LittleEndian.Uint32(b)
	if labels == 0 || labels > MaxLabels {
		return nil, nil, ErrCorrupt.Note("labels: a code that cannot be")
	}
	return newLabelCode(int(labels)), b[4:], nil
}

// bitsPerKey returns what the labels of a page take for each key. There may be no labels.
func (c *labelCode) bitsPerKey() uint64 {
	if c == nil {
		return 0
	}
	return uint64(c.width)
}

// placeOfLabel returns the place of the label of key number i of a page, whose labels begin at bit position at. Like
// pageFind it must only be given pages whose checksum was right.
func (c *labelCode) placeOfLabel(p *page, at, i uint) uint32 {
	return uint32(loadBits(p, at+i*c.width)) & (1<<c.width - 1)
}

// putPlaces writes the places of labels at bit position at of a page that has nothing behind it yet.
func (c *labelCode) putPlaces(p *page, at uint, places []uint32) {
	if c.width == 0 {
		return
	}
	for perWord := int(64 / c.width); len(places) > 0; {
		n := min(len(places), perWord)
		word := uint64(0)
		for i, place := range places[:n] {
			word |= uint64(place) << (uint(i) * c.width)
		}
		putBits(p, at, word, uint(n)*c.width)
		at, places = at+uint(n)*c.width, places[n:]
	}
}

// decodePlaces appends the places of the labels of n keys, which begin at bit position at, and returns the bit position
// behind them. It reports false when they cannot be.
func (c *labelCode) decodePlaces(dst []uint32, p *page, at, n uint) (_ []uint32, end uint, ok bool) {
	if end = at + n*c.width; end > contentBits {
		return dst, end, false
	}
	for i := range n {
		place := c.placeOfLabel(p, at, i)
		if int(place) >= c.labels {
			return dst, end, false
		}
		dst = append(dst, place)
	}
	return dst, end, true
}

// putBits writes the low bits of v, of which there are at most 64 and no others, at bit position at, where there are
// zeros.
func putBits(p *page, at uint, v uint64, n uint) {
	word, shift := at>>6, at&63
	setWordBits(p, word, v<<shift)
	if shift+n > 64 {
		setWordBits(p, word+1, v>>(64-shift))
	}
}
