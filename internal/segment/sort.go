package segment

// sortKeys sorts keys of the given width by radix, least significant digit first; scratch is as long as keys. Digits in
// which all keys agree cost one count and no move. Several times faster than a comparison sort for millions of keys.
func sortKeys(keys, scratch []uint64, w Width) {
	const digit = 11
	from, to := keys, scratch[:len(keys)]
	for shift := uint(0); shift < uint(w); shift += digit {
		var at [1 << digit]int
		for _, k := range from {
			at[k>>shift&(1<<digit-1)]++
		}
		if len(from) > 0 && at[from[0]>>shift&(1<<digit-1)] == len(from) {
			continue
		}
		sum := 0
		for d, n := range at {
			at[d] = sum
			sum += n
		}
		for _, k := range from {
			d := k >> shift & (1<<digit - 1)
			to[at[d]] = k
			at[d]++
		}
		from, to = to, from
	}
	if len(keys) > 0 && &from[0] != &keys[0] {
		copy(keys, from)
	}
}
