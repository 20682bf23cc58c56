package segment

import "slices"

// costs tells about how many bits the labels of the first keys take.
type costs struct {
	sums []uint64 // up to each key, in parts of a bit; one more than keys
}

// append adds labels to those whose costs are known.
func (c *costs) append(code *code, labels []uint32) {
	if len(c.sums) == 0 {
		c.sums = append(c.sums, 0)
	}
	had := len(c.sums)
	c.sums = slices.Grow(c.sums, len(labels))[:had+len(labels)]
	sum, rests, suffix := c.sums[had-1], uint64(code.suffix)*part, code.suffix&31
	sums := c.sums[had:][:len(labels)]
	for i, l := range labels {
		sum += code.price[l>>suffix] + rests
		sums[i] = sum
	}
}

// of is about what the first n keys take: counts are left out. Nothing was added where there are no labels.
func (c *costs) of(n int) uint64 {
	if c.sums == nil {
		return 0
	}
	return (c.sums[n] - c.sums[0]) / part
}

// drop forgets the first n keys.
func (c *costs) drop(n int) { c.sums = c.sums[:copy(c.sums, c.sums[n:])] }

// fill is the labels of one page, of which as many are taken as fit.
type fill struct {
	*code
	lengths [lastGroup + 1]uint // how many have a group whose code has so many bits, the last group for itself
}

// lastGroup stands for the last group, which is not counted with the others of its length.
const lastGroup = 31

func (f *fill) put(label uint32, n uint) { f.lengths[f.counter[label>>(f.suffix&31)]&lastGroup] += n }

// size is how many bits the labels take.
func (f *fill) size() (size uint64) {
	n, last := uint(0), f.lengths[lastGroup]
	for _, k := range f.lengths {
		n += k
	}
	size = uint64(n) * uint64(f.suffix)
	for d := 0; d < f.depth && n > 0; d++ {
		below := n - f.lengths[d+1]
		ones := below
		if d+1 == f.depth { // of the two that end here, if the level is sparse, it is the last
			below, ones = below-last, last
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
