package scan

import (
	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

const (
	// cell is how much of a text is decoded at once, where a hint shows that there is something to decode. Cells lie at
	// multiples of it from the beginning of the text, so what is found does not depend on where the text is cut.
	cell = 4 << 10
	// cellMargin is how much is decoded to either side of a cell, so that what lies over its border is seen.
	cellMargin = 1536
)

// decoder finds what is written in some code in the cells of a text.
type decoder struct {
	view  view
	room  []byte // what is decoded on the way
	inner *finder
}

// decodeCells searches the cells that begin in b[from:limit], which lies base bytes after the beginning of the text and
// has been searched as it is.
func (s *finder) decodeCells(b []byte, base int64, from, limit int) {
	if s.decoder == nil {
		s.decoder = &decoder{}
	}
	next := 0 // sign
	for at := from; at < limit; {
		start := at - int((base+int64(at))%cell)
		end := min(start+cell, limit)
		low, high := max(start, 0), min(start+cell, len(b))
		for next < len(s.wanted) && s.wanted[next] < low {
			next++
		}
		wanted := next < len(s.wanted) && s.wanted[next] < end
		// Of a cell that was not searched as a whole the rest has to be asked, too, or it would depend on where it was
		// cut.
		wanted = wanted || s.hasSign(b, low, at) || s.hasSign(b, end, high)
		if !wanted {
			look := high
			if base+int64(start) >= wellSeen {
				look = min(high, low+sample)
			}
			wanted = s.decoder.hasPair(b, low, look)
		}
		if wanted {
			s.decodeCell(b, start, at, end)
		}
		at = end
	}
	for next < len(s.wanted) && s.wanted[next] < limit {
		next++
	}
	s.wanted = append(s.wanted[:0], s.wanted[next:]...)
}

// hasSign reports whether a sign in b[from:to] is of something to decode.
func (s *finder) hasSign(b []byte, from, to int) bool {
	for at := from; at < to; at++ {
		if signGroups[b[at]] != 0 && worthDecoding(b, at) {
			return true
		}
	}
	return false
}

// decodeCell searches the decoded cell that begins at b[start] for what begins in b[from:to].
func (s *finder) decodeCell(b []byte, start, from, to int) {
	d := s.decoder
	low, high := max(0, start-cellMargin), min(len(b), start+cell+cellMargin)
	v := &d.view
	v.read(b, low, high, &d.room)
	// placed says where what was found at [at, end) of the view stood, and whether it counts: where nothing in it was
	// decoded, it was found as it is, unless digits stood right behind an escape.
	placed := func(at, end int, number bool) (first, last int, counts bool) {
		first, changed := v.originalPlace(at, end)
		behind := number && first > low && v.decodedAt(at) && class[b[first-1]]&(letter|digit) != 0
		return first, v.originalEnd(end), (changed || behind) && first >= from && first < to
	}
	if d.inner == nil {
		d.inner = &finder{isView: true}
	}
	hand := func(add func(identifier.Kind, []byte, int, int)) func(identifier.Kind, []byte, int, int) {
		return func(kind identifier.Kind, normal []byte, at, end int) {
			if first, last, counts := placed(at, end, kind != identifier.Email); counts {
				add(kind, normal, first, last)
			}
		}
	}
	d.inner.addSign, d.inner.addWeak = hand(s.addSign), hand(s.addWeak)
	d.inner.addNumber = func(n *record.Number) bool {
		first, last, counts := placed(n.From, n.To, true)
		n.From, n.To = first, last
		return !counts || s.addNumber(n)
	}
	d.inner.done, d.inner.taken = 0, 0
	d.inner.extract(v.text, 0, len(v.text))
}
