package record

// pair is a labelled line.
type pair struct {
	column column
	field
}

// inBlock reads the labelled block with hit k in it, which stands in line i, and returns how many hits it handed out.
func (r *Reader) inBlock(i, k int) int {
	l := &r.lines[i]
	to := int(l.end)
	c, value, plain := r.readLabel(int(l.from), to)
	if !plain || c == unknown || int(r.hits[k].from) < value-1 {
		return 0
	}
	if c == colHeader {
		r.handOutAlone(r.hits[k:l.last])
		return int(l.last) - k
	}
	lead, known := r.leadingLabel(int(l.from))
	from := r.block.from
	if !known || int(l.from)-from > blockNear {
		if from, plain = r.blockStart(int(l.from), lead, known); !plain {
			return 0
		}
	}
	from, end := r.readPairs(from, int(l.from), lead)
	if len(r.pairs) < 2 {
		return 0
	}
	return r.judgeBlock(k, from, end)
}

// How far from a line the beginning and the end of its block may be, in bytes, and its beginning in lines.
const (
	blockReach = Longest / 2
	blockLines = 40
	// blockNear is up to which distance all lines are read from the beginning of a segment on.
	blockNear = 512
)

// segment is a stretch of lines without an empty one or a rule among them.
type segment struct {
	from    int // where it begins
	checked int // the line up to which that is sure; 0: nothing is known
	lead    column
	led     bool // lead is known
}

// leadingLabel tells what label the records begin with in the segment of the line at b[at]: the first of the segment,
// where its beginning can be seen.
func (r *Reader) leadingLabel(at int) (lead column, known bool) {
	s := &r.block
	if s.checked == 0 || at < s.checked || at-s.checked > blockReach {
		*s = segment{from: r.ruleBefore(at)}
	} else {
		for line := s.checked; line < at; {
			end := r.marks.lineEnd(line, at)
			if end < 0 {
				break
			}
			if isRuler(r.b[line:end]) {
				*s = segment{from: end + 1}
			}
			line = end + 1
		}
	}
	s.checked = at
	if at-s.from > blockReach {
		return colURL, false
	}
	for line := s.from; !s.led && line <= at; {
		end := r.lineEnd(line)
		if c, _, plain := r.readLabel(line, end); plain && c != unknown {
			s.lead, s.led = c, true
		}
		line = end + 1
	}
	return s.lead, s.led
}

// ruleBefore finds where the segment of the line at b[at] begins, or what is too far away.
func (r *Reader) ruleBefore(at int) int {
	low := max(0, at-blockReach)
	for at > low {
		n := r.marks.lineBefore(low, at-1)
		if n < 0 && low > 0 {
			return low - 1
		}
		before := max(low, n+1)
		if isRuler(r.b[before : at-1]) {
			return at
		}
		at = before
	}
	if at > 0 || !r.begins {
		return low - 1
	}
	return 0
}

// lineEnd returns where the line at b[at] ends.
func (r *Reader) lineEnd(at int) int {
	if n := r.marks.lineEnd(at, min(len(r.b), at+Longest)); n >= 0 {
		return n
	}
	return min(len(r.b), at+Longest)
}

// blockStart goes from the line at b[at] up to the one with which its record begins.
func (r *Reader) blockStart(at int, lead column, known bool) (int, bool) {
	low := max(0, at-blockReach, r.block.from)
	for range blockLines {
		if c, _, plain := r.readLabel(at, r.lineEnd(at)); plain && c == lead {
			return at, true
		}
		if at <= low {
			return at, known && at == r.block.from
		}
		n := r.marks.lineBefore(low, at-1)
		if n < 0 && low > r.block.from {
			return at, false
		}
		at = max(low, n+1)
	}
	return at, false
}

// readPairs reads the labelled lines of the record with the line at b[at], beginning at b[from]: a record begins there,
// or where its first label comes again. It returns where the record begins and ends: with a rule, or before the next
// one.
func (r *Reader) readPairs(from, at int, lead column) (start, end int) {
	r.pairs = r.pairs[:0]
	for line, high := from, min(len(r.b), at+blockReach); line < high; {
		end := r.lineEnd(line)
		text := end
		if text > line && r.b[text-1] == '\r' {
			text--
		}
		if line > at && isRuler(r.b[line:text]) {
			return from, line
		}
		if c, value, plain := r.readLabel(line, text); plain && value <= text {
			if c == lead && line > from {
				if line > at {
					return from, line
				}
				from, r.pairs = line, r.pairs[:0]
			}
			r.pairs = append(r.pairs, pair{c, field{value, text, literal}})
		}
		line = end + 1
	}
	return from, min(len(r.b), at+blockReach)
}

// judgeBlock hands out the hits of the pairs, which stand in b[from:to].
func (r *Reader) judgeBlock(k, from, to int) int {
	start, end := r.hitsWithin(k, from, to)
	hits := r.hits[start:end]
	r.beginCells(len(r.pairs))
	r.fields = r.fields[:0]
	for i := range r.pairs {
		p := &r.pairs[i]
		r.fields = append(r.fields, p.field)
		r.cells[i].column = p.column
	}
	r.locateFields(hits)
	for i, f := range r.places {
		if f >= 0 {
			r.enterHit(&hits[i], f, &r.fields[f])
		} else {
			hits[i].length |= aside
		}
	}
	log := false
	for i := range r.fields {
		c := &r.cells[i]
		log = log || c.column == colURL
		if !c.main && c.column != unknown && c.column != colKey {
			r.claimField(c.column, &r.fields[i])
		}
	}
	if log {
		r.out.Day = r.dayOfNames()
	}
	r.tellHits(hits)
	return end - k
}
