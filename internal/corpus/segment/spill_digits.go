package segment

import "slices"

// digits is a source that gives all keys of a spill, digit by digit.
type digits[R record] struct {
	spill *spill[R]
	unite unite
	limit int // keys that are held to sort one digit
	next  int // digit
	// above is the last key given of a digit that has more keys than may be held.
	above        *uint64
	buffer       readBuffer[R]
	keys, sorted []R
	places       fineDigits
}

// nextRecords reads the keys of the next digit, and sorts them.
func (d *digits[R]) nextRecords() ([]R, error) {
	for ; d.next < 1<<d.spill.digit; d.next++ {
		n := d.spill.countDigit(d.next)
		if n > d.limit {
			keys, err := d.leastKeys()
			if err != nil || len(keys) > 0 {
				return keys, err
			}
			d.above = nil
			continue
		}
		if n == 0 {
			continue
		}
		d.keys = slices.Grow(d.keys[:0], n)[:n]
		if err := d.spill.gatherDigit(d.next, d.keys); err != nil {
			return nil, err
		}
		d.sorted = slices.Grow(d.sorted[:0], n)[:n]
		sortPiece(d.sorted, d.keys, uint(d.spill.width)-d.spill.digit, &d.places)
		d.next++
		return dropRepeated(d.sorted, d.unite), nil
	}
	return nil, nil
}

// leastKeys gives keys of a digit that has more than may be held: the least ones of them first, then the least of those
// above, and so on, reading all of them each time. Only keys that are not evenly spread need it.
func (d *digits[R]) leastKeys() ([]R, error) {
	keys, isCut := slices.Grow(d.keys[:0], d.limit), false
	cut := func() { // keeps the lower half of what may be held
		slices.SortFunc(keys, compareKeys[R])
		if keys = dropRepeated(keys, d.unite); len(keys) > d.limit/2 {
			keys, isCut = keys[:d.limit/2], true
		}
	}
	err := d.spill.readDigit(d.next, &d.buffer, func(some []R) {
		for _, k := range some {
			if d.above != nil && k[0] <= *d.above || isCut && k[0] > keys[d.limit/2-1][0] {
				continue
			}
			if len(keys) >= d.limit {
				cut()
			}
			keys = append(keys, k)
		}
	})
	cut()
	if d.keys = keys; len(keys) > 0 {
		last := keys[len(keys)-1][0]
		d.above = &last
	}
	return keys, err
}
