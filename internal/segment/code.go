package segment

import (
	"encoding/binary"
	"math"
	"slices"
)

const (
	// MaxLabels is how many different labels a segment may have.
	MaxLabels = 1 << 18
	// deepest is the most bits of the code of a label.
	deepest = 24
	// A page may hold labels that are coded sparsely: see code.low.
	mostSparse = 4
	plainLevel = -1
)

// code is how the labels of a segment are written. They are numbered by their place in the table, the most frequent
// first. The last bits of that number, as many for all, stand in a page key by key; what is before them, the group, has
// a canonical Huffman code, so that a group that half of the keys have takes one bit.
//
// A page has the bits of these codes level by level: the first bit of every key's code, then the second bits of those
// that have one, ordered by their first bit, and so on (a wavelet tree in the shape of the code). So a group is found by
// counting bits, whatever the lengths of the codes before it, and no positions are stored. As long as a level has one
// node, of which one child is far more frequent, the level is written as the positions of the other.
type code struct {
	labels int                 // how many there are
	suffix uint                // bits of a label's place that are no part of its group
	leaves [deepest + 1]uint32 // groups whose code has so many bits
	depth  int                 // of the longest code; 0 when there is but one group
	// low is, for the first levels, how many low bits are kept of each position of a one; plainLevel for a level whose
	// bits are written as they are.
	low [deepest]int
	// share is which part of the keys of each level goes on below it, or, on a sparse level, has a one: in 65,536ths.
	// Counts are written as how far they are from that.
	share [deepest]uint16
	// chain says that every level has one node, whose zeros end there.
	chain bool
	// Of each length: the first code, and the number of its group.
	firstCode, firstPlace [deepest + 2]uint32

	price  []uint64 // of each group, in parts of a bit, about
	boughs []bough  // of each group
	// counter is the length of each group's code, or lastGroup.
	counter []uint8
	steps   [deepest]step
}

// step is what a look-up needs to know of a level.
type step struct {
	leafEnd uint32 // codes of the next length below this one are groups
	place   uint32 // what is added to such a code to get the number of its group
	share   uint32
	low     int
	counted bool
	// single says that the level has one node, all zeros of which end there: what goes on is in order.
	single bool
}

// part is a bit in the unit of prices.
const part = 1 << 16

// Every bit less in the codes of groups makes a look-up faster. So much of a bit a key over the entropy of the labels may
// that cost. A page holds so many keys, about, and a count takes so many bits.
const (
	patience = 0.25
	// With more labels than few, counts of many levels make the guess too low.
	lessPatience = 0.17
	few          = 256
	mostBits     = 8
	pageFull     = 700.0
	countBits    = 6.0
)

// newCode makes the code for labels that are so frequent, in falling order. There is at least one.
func newCode(frequency []uint64) *code {
	best := newGroupCode(frequency, 0)
	more := patience
	if len(frequency) > few {
		more = lessPatience
	}
	enough := max(best.expect(frequency), entropy(frequency)+more)
	for suffix := uint(1); suffix <= mostBits && len(frequency) > 1<<(suffix-1); suffix++ {
		if c := newGroupCode(frequency, suffix); c.expect(frequency) <= enough {
			best = c
		}
	}
	return best
}

// entropy is how many bits labels that are so frequent must take.
func entropy(frequency []uint64) float64 {
	all, sum := 0.0, 0.0
	for _, f := range frequency {
		all += float64(f)
	}
	for _, f := range frequency {
		if f > 0 {
			sum -= float64(f) * math.Log2(float64(f)/all)
		}
	}
	return sum / max(all, 1)
}

// newGroupCode makes the code with so many bits beside the group.
func newGroupCode(frequency []uint64, suffix uint) *code {
	c := &code{labels: len(frequency), suffix: suffix}
	for i := range c.low {
		c.low[i] = plainLevel
	}
	groups := c.groups(frequency)
	for floor := uint64(1); ; floor *= 2 {
		if lengths := huffman(groups, floor); len(lengths) == 1 || int(lengths[len(lengths)-1]) <= deepest {
			for _, l := range lengths {
				c.leaves[l]++
			}
			break
		}
	}
	c.leaves[0] = 0
	c.complete()
	c.choose(groups)
	c.setShares(groups)
	c.setPrices()
	return c
}

// groups adds up the frequencies of each group.
func (c *code) groups(frequency []uint64) []uint64 {
	groups := make([]uint64, (len(frequency)-1)>>c.suffix+1)
	for i, f := range frequency {
		groups[i>>c.suffix] += f
	}
	return groups
}

// expect is about how many bits a label takes.
func (c *code) expect(frequency []uint64) float64 {
	sum, all := 0.0, 0.0
	for i, f := range c.groups(frequency) {
		sum += float64(f) * float64(c.price[i]) / part
		all += float64(f)
	}
	counts := 0
	for d := range c.depth {
		if c.counted(d) {
			counts++
		}
	}
	return sum/max(all, 1) + float64(c.suffix) + float64(counts)*countBits/pageFull
}

// huffman returns the length of each group's code, rising. A group counts as at least so frequent: that bounds the
// lengths.
func huffman(frequency []uint64, floor uint64) []uint8 {
	n := len(frequency)
	// Nodes: first the leaves by rising frequency, then the inner ones in the order they are made, which rises too.
	weight, parent := make([]uint64, 0, 2*n), make([]int32, 2*n)
	for _, f := range slices.Backward(frequency) {
		weight = append(weight, max(f, floor))
	}
	leaf, inner := 0, n
	least := func() int {
		if leaf < n && (inner >= len(weight) || weight[leaf] <= weight[inner]) {
			leaf++
			return leaf - 1
		}
		inner++
		return inner - 1
	}
	for len(weight) < 2*n-1 {
		a, b := least(), least()
		parent[a], parent[b] = int32(len(weight)), int32(len(weight))
		weight = append(weight, weight[a]+weight[b])
	}
	depth := make([]uint8, 2*n)
	for i := 2*n - 3; i >= 0; i-- {
		depth[i] = depth[parent[i]] + 1
	}
	lengths := depth[:n]
	slices.Sort(lengths)
	return lengths
}

// complete fills in what follows from the number of groups of each length. It reports false when no code has them.
func (c *code) complete() bool {
	next, place := uint64(0), uint64(0)
	for l := 1; l <= deepest; l++ {
		next = (next + uint64(c.leaves[l-1])) * 2
		c.firstCode[l], c.firstPlace[l] = uint32(next), uint32(place)
		place += uint64(c.leaves[l])
		if c.leaves[l] > 0 {
			c.depth = l
		}
		if next+uint64(c.leaves[l]) > 1<<l || place > MaxLabels {
			return false
		}
	}
	c.chain = c.depth > 0 && c.alone(c.depth-1) && c.leaves[c.depth] == 2
	// Every code that begins like a code must be one: otherwise a page could hold bits that mean nothing.
	return c.depth == 0 || uint64(c.firstCode[c.depth])+uint64(c.leaves[c.depth]) == 1<<c.depth
}

func (c *code) groupCount() (n int) {
	for _, l := range c.leaves {
		n += int(l)
	}
	return n
}

// alone says whether level d has one node: every level above it has one label.
func (c *code) alone(d int) bool {
	for l := 1; l <= d; l++ {
		if c.leaves[l] != 1 {
			return false
		}
	}
	return d < c.depth
}

// choose decides which levels are sparse.
func (c *code) choose(frequency []uint64) {
	total, rest := float64(0), float64(0)
	for _, f := range frequency {
		total += float64(f)
	}
	rest = total
	for d := 0; d < mostSparse && c.alone(d) && c.leaves[d+1] > 0; d++ {
		ones := rest - float64(frequency[d])
		best := rest * 0.98 // a plain level is read faster
		for low := range 13 {
			if size := ones*float64(1+low) + rest/float64(int(1)<<low); size < best {
				best, c.low[d] = size, low
			}
		}
		if c.low[d] == plainLevel {
			return
		}
		rest = ones
	}
}

func (c *code) setShares(frequency []uint64) {
	rest := uint64(0)
	for _, f := range frequency {
		rest += f
	}
	for d, at := 0, 0; d < c.depth; d++ {
		below := rest
		for range c.leaves[d+1] {
			below -= frequency[at]
			at++
		}
		goes := below
		if d+1 == c.depth {
			goes = frequency[len(frequency)-1]
		}
		c.share[d] = uint16(min(float64(goes)/float64(max(rest, 1))*(1<<16), 1<<16-1))
		rest = below
	}
}

// setPrices computes what labels cost, for whoever fills pages.
func (c *code) setPrices() {
	c.price, c.boughs = nil, nil
	for l := 1; l <= c.depth; l++ {
		for i := range c.leaves[l] {
			c.price, c.boughs = append(c.price, c.priceOf(c.firstCode[l]+i, l)), append(c.boughs, makeBough(c.firstCode[l]+i, l))
		}
	}
	if c.depth == 0 {
		c.price, c.boughs = append(c.price, 0), append(c.boughs, 0)
	}
	c.counter = make([]uint8, len(c.boughs))
	for i, b := range c.boughs {
		c.counter[i] = uint8(b.length())
	}
	c.counter[len(c.counter)-1] = lastGroup
	for d := range c.depth {
		c.steps[d] = step{c.firstCode[d+1] + c.leaves[d+1], c.firstPlace[d+1] - c.firstCode[d+1], uint32(c.share[d]), c.low[d], c.counted(d), c.alone(d) && c.leaves[d+1] == 1}
	}
}

func (c *code) priceOf(code uint32, length int) (price uint64) {
	for d := range length {
		if c.low[d] == plainLevel {
			price += part
			continue
		}
		price += part >> c.low[d]
		if code>>(length-1-d)&1 == 1 {
			price += uint64(1+c.low[d]) * part
		}
	}
	return price
}

// counted says whether a page states, before level d, how many keys go on below it; of a sparse level, how many ones it
// has, which is the same where there is a level below.
func (c *code) counted(d int) bool {
	return c.low[d] != plainLevel || c.leaves[d+1] > 0 && d+1 < c.depth
}

// describe writes the code as it stands in the file.
func (c *code) describe() []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(c.labels))
	b = append(b, byte(c.suffix), byte(c.depth))
	for l := 1; l <= c.depth; l++ {
		b = binary.LittleEndian.AppendUint32(b, c.leaves[l])
		b = binary.LittleEndian.AppendUint16(b, c.share[l-1])
		b = append(b, byte(c.low[l-1]+1))
	}
	return b
}

// describedSize is how many bytes describe writes for codes of so many bits.
func describedSize(depth int) int { return 6 + 7*depth }

// decodeCode reads what describe wrote, and returns the rest.
func decodeCode(b []byte) (*code, []byte, error) {
	if len(b) < describedSize(0) || b[4] > mostBits || int(b[5]) > deepest || len(b) < describedSize(int(b[5])) {
		return nil, nil, ErrCorrupt.With("labels: no code")
	}
	c := &code{labels: int(binary.LittleEndian.Uint32(b)), suffix: uint(b[4])}
	for i := range c.low {
		c.low[i] = plainLevel
	}
	depth := int(b[5])
	for l := 1; l <= depth; l++ {
		at := describedSize(l - 1)
		c.leaves[l], c.share[l-1], c.low[l-1] = binary.LittleEndian.Uint32(b[at:]), binary.LittleEndian.Uint16(b[at+4:]), int(b[at+6])-1
	}
	if !c.complete() || c.depth != depth || c.labels < 1 || c.labels > MaxLabels || (c.labels-1)>>c.suffix+1 != max(1, c.groupCount()) {
		return nil, nil, ErrCorrupt.With("labels: a code that cannot be")
	}
	for d := range depth {
		if c.low[d] != plainLevel && (c.low[d] > 15 || d >= mostSparse || !c.alone(d) || c.leaves[d+1] == 0) {
			return nil, nil, ErrCorrupt.With("labels: a code that cannot be")
		}
	}
	c.setPrices()
	return c, b[describedSize(depth):], nil
}
