package segment

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
		sum += c.price[l>>c.suffix] + uint64(c.suffix)*part
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
	lengths [deepest + 1]uint // how many have a group whose code has so many bits
	last    uint              // how many have the last group
}

func (f *fill) put(label uint32, n uint) {
	group := label >> f.suffix
	f.lengths[f.length(group)] += n
	if int(group) == len(f.price)-1 {
		f.last += n
	}
}

// size is how many bits the labels take.
func (f *fill) size() (size uint64) {
	n := uint(0)
	for _, k := range f.lengths {
		n += k
	}
	size = uint64(n) * uint64(f.suffix)
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
