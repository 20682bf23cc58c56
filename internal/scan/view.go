package scan

import (
	"sort"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/scan/record"
)

const (
	// cell is how much of a text is decoded at once, where a hint shows that there is something to decode. Cells lie at
	// multiples of it from the beginning of the text, so what is found does not depend on where the text is cut.
	cell = 4 << 10
	// cellMargin is how much is decoded to either side of a cell, so that what lies over its border is seen.
	cellMargin = 1536
)

// view is a cell of a text and what is around it, decoded.
type view struct {
	text []byte
	// From text[steps[i].at] on, up to the next, each byte stood as far from steps[i].from as it does from at. What is
	// decoded is a step of its own.
	steps []viewStep
	wide  bool // the text has a zero byte after each character
}

// viewStep maps a stretch of the decoded view to where it came from in the text.
type viewStep struct {
	at       int32
	from, to int32 // to is of what is decoded
	decoded  bool
	known    bool // decoded, and understood without that
}

// decoder finds what is written in some code in the cells of a text.
type decoder struct {
	pairs [cell / 8]byte
	view  view
	room  []byte // what is decoded on the way
	inner *finder
}

// decodeCells searches the cells that begin in b[from:limit], which lies base bytes after the beginning of the text and has been
// searched as it is.
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
		// Of a cell that was not searched as a whole the rest has to be asked, too, or it would depend on where it was cut.
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
		if isSign[b[at]] && worthDecoding(b, at) {
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
	// placed says where what was found at [at, end) of the view stood, and whether it counts: where nothing in it was decoded,
	// it was found as it is, unless digits stood right behind an escape.
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

// originalPlace says where text[at:end] began, and whether anything in it was decoded.
func (v *view) originalPlace(at, end int) (from int, changed bool) {
	n := v.stepAt(at)
	for i := n; i < len(v.steps) && int(v.steps[i].at) < end; i++ {
		changed = changed || v.steps[i].decoded && !v.steps[i].known
	}
	return v.originalStart(at), changed
}

// decodedAt reports whether what stands right before text[at] was decoded.
func (v *view) decodedAt(at int) bool {
	n := v.stepAt(at)
	return n > 0 && int(v.steps[n].at) == at && v.steps[n-1].decoded && !v.steps[n-1].known
}

// stepAt returns the last step that begins at or before text[at].
func (v *view) stepAt(at int) int {
	return sort.Search(len(v.steps), func(i int) bool { return int(v.steps[i].at) > at }) - 1
}

// originalStart says where text[at] stood.
func (v *view) originalStart(at int) int {
	step := v.steps[v.stepAt(at)]
	if step.decoded {
		return int(step.from)
	}
	return int(step.from) + at - int(step.at)
}

// originalEnd says where text[:at] ended.
func (v *view) originalEnd(at int) int {
	n := sort.Search(len(v.steps), func(i int) bool { return int(v.steps[i].at) >= at }) - 1
	step := v.steps[n]
	if step.decoded {
		return int(step.to)
	}
	return int(step.from) + at - int(step.at)
}

// copyPlain goes on as the text is from b[from] on.
func (v *view) copyPlain(from int) {
	v.steps = append(v.steps, viewStep{at: int32(len(v.text)), from: int32(from)})
}

// putDecoded adds what was decoded of b[from:to], and goes on after it.
func (v *view) putDecoded(from, to int, text ...byte) int {
	v.steps = append(v.steps, viewStep{at: int32(len(v.text)), from: int32(from), to: int32(to), decoded: true})
	v.text = append(v.text, text...)
	v.copyPlain(to)
	return to
}
