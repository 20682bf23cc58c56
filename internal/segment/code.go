package segment

import (
	"encoding/binary"
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

// code is how the labels of a segment are written: a canonical Huffman code, so that a label that half of the keys have
// takes one bit. Labels are numbered by their place in the table, the most frequent first, which is also the order of
// their codes.
//
// A page has the bits of the codes level by level: the first bit of every key's code, then the second bits of those
// that have one, ordered by their first bit, and so on (a wavelet tree in the shape of the code). So a label is found by
// counting bits, whatever the lengths of the codes before it, and no positions are stored. As long as a level has one
// node, of which one child is far more frequent, the level is written as the positions of the other.
type code struct {
	leaves [deepest + 1]uint32 // labels whose code has so many bits
	depth  int                 // of the longest code; 0 when there is but one label
	// low is, for the first levels, how many low bits are kept of each position of a one; plainLevel for a level whose
	// bits are written as they are.
	low [deepest]int
	// share is which part of the keys of each level goes on below it, or, on a sparse level, has a one: in 65,536ths.
	// Counts are written as how far they are from that.
	share [deepest]uint16
	// Of each length: the first code, and the place in the table of its label.
	firstCode, firstPlace [deepest + 2]uint32

	price []uint64 // of each label, in parts of a bit, about
}

// part is a bit in the unit of prices.
const part = 1 << 16

// newCode makes the code for labels that are so frequent, in falling order. There is at least one.
func newCode(frequency []uint64) *code {
	c := &code{}
	for i := range c.low {
		c.low[i] = plainLevel
	}
	for floor := uint64(1); ; floor *= 2 {
		if lengths := huffman(frequency, floor); len(lengths) == 1 || int(lengths[len(lengths)-1]) <= deepest {
			for _, l := range lengths {
				c.leaves[l]++
			}
			break
		}
	}
	c.leaves[0] = 0
	c.complete()
	c.choose(frequency)
	c.setShares(frequency)
	c.setPrices()
	return c
}

// huffman returns the length of each label's code, rising. A label counts as at least so frequent: that bounds the
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

// complete fills in what follows from the number of labels of each length. It reports false when no code has them.
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
	// Every code that begins like a code must be one: otherwise a page could hold bits that mean nothing.
	return c.depth == 0 || uint64(c.firstCode[c.depth])+uint64(c.leaves[c.depth]) == 1<<c.depth
}

// labels is how many labels there are.
func (c *code) labels() int {
	n := 0
	for _, l := range c.leaves {
		n += int(l)
	}
	return max(n, 1)
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
	c.price = make([]uint64, 0, c.labels())
	for l := 1; l <= c.depth; l++ {
		for i := range c.leaves[l] {
			c.price = append(c.price, c.priceOf(c.firstCode[l]+i, l))
		}
	}
	if c.depth == 0 {
		c.price = append(c.price, 0)
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

// costs tells about how many bits the labels of the first keys take.
type costs struct {
	sums []uint64 // up to each key, in parts of a bit; one more than keys
}

// costs adds up what labels cost. A nil code has none.
func (c *code) costs(labels []uint32) costs {
	if c == nil {
		return costs{}
	}
	sums, sum := make([]uint64, len(labels)+1), uint64(0)
	for i, l := range labels {
		sum += c.price[l]
		sums[i+1] = sum
	}
	return costs{sums: sums}
}

// of is about what the first n keys take: counts are left out.
func (c *costs) of(n int) uint64 {
	if c.sums == nil {
		return 0
	}
	return (c.sums[n] - c.sums[0]) / part
}

// fill is the labels of one page, of which as many are taken as fit.
type fill struct {
	*code
	lengths [deepest + 1]uint // how many labels have a code of so many bits
	last    uint              // how many are the last of the table
}

func (f *fill) put(label uint32, n uint) {
	f.lengths[f.length(label)] += n
	if int(label) == len(f.price)-1 {
		f.last += n
	}
}

// size is how many bits the labels take.
func (f *fill) size() (size uint64) {
	n := uint(0)
	for _, k := range f.lengths {
		n += k
	}
	for d := 0; d < f.depth && n > 0; d++ {
		below := n - f.lengths[d+1]
		ones := below
		if d+1 == f.depth { // of the two that end here, if the level is sparse, it is the last
			ones = f.last
		}
		if f.counted(d) {
			size += uint64(f.countSize(d, n, ones))
		}
		if low := f.low[d]; low == plainLevel {
			size += uint64(n)
		} else {
			size += uint64(ones+n>>uint(low)+1) + uint64(ones)*uint64(low)
		}
		n = below
	}
	return size
}

// fit corrects how many of the keys, planned by about what their labels take, go into a page with l low bits.
func (c *code) fit(keys []uint64, labels []uint32, n int, l uint) int {
	f := fill{code: c}
	for _, label := range labels[:n] {
		f.put(label, 1)
	}
	full := func() bool { return !fits(n, keys[n-1]-keys[0], l, f.size()) }
	for n < len(keys) && !full() {
		f.put(labels[n], 1)
		n++
	}
	for n > 1 && full() {
		n--
		f.put(labels[n], ^uint(0))
	}
	return n
}

// describe writes the code as it stands in the file.
func (c *code) describe() []byte {
	b := []byte{byte(c.depth)}
	for l := 1; l <= c.depth; l++ {
		b = binary.LittleEndian.AppendUint32(b, c.leaves[l])
		b = binary.LittleEndian.AppendUint16(b, c.share[l-1])
		b = append(b, byte(c.low[l-1]+1))
	}
	return b
}

// describedSize is how many bytes describe writes for codes of so many bits.
func describedSize(depth int) int { return 1 + 7*depth }

// decodeCode reads what describe wrote, and returns the rest.
func decodeCode(b []byte) (*code, []byte, error) {
	if len(b) == 0 || int(b[0]) > deepest || len(b) < describedSize(int(b[0])) {
		return nil, nil, ErrCorrupt.With("labels: no code")
	}
	c := &code{}
	for i := range c.low {
		c.low[i] = plainLevel
	}
	depth := int(b[0])
	for l := 1; l <= depth; l++ {
		at := describedSize(l - 1)
		c.leaves[l], c.share[l-1], c.low[l-1] = binary.LittleEndian.Uint32(b[at:]), binary.LittleEndian.Uint16(b[at+4:]), int(b[at+6])-1
	}
	if !c.complete() || c.depth != depth {
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
