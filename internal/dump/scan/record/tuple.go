package record

import "bytes"

// inTuple reads the SQL tuple with hit k in it, in line i or, where lines are too long to be one, wherever it begins.
// It returns how many hits it handed out.
func (r *Reader) inTuple(i, k int) int {
	l, at := &r.lines[i], int(r.hits[k].from)
	if r.tuple > 0 && r.tuple <= at && at-r.tuple < Longest { // where the last one ended
		if n := r.tupleFrom(i, k, r.tuple); n > 0 {
			return n
		}
	}
	low := max(0, at-Longest)
	if l.long {
		low = min(at, max(low, r.barren))
	} else {
		low = int(l.from)
		if n := r.tupleFrom(i, k, r.firstTuple(low, at)); n > 0 {
			return n
		}
	}
	for end, tries := at, 0; tries < 3; tries++ {
		next := between(r.b[low:end])
		if next < 0 {
			if tries == 0 {
				r.barren = max(r.barren, at)
			}
			return 0
		}
		if n := r.tupleFrom(i, k, low+next); n > 0 {
			return n
		}
		end = low + next
	}
	return 0
}

// firstTuple returns where the tuples of a line that begins at b[from] begin.
func (r *Reader) firstTuple(from, to int) int {
	if r.b[from] != '(' {
		if _, _, end := r.readInsert(r.b[from:min(len(r.b), from+statementLongest)]); end > 0 {
			from += end
		} else if next := keyword(r.b[from:to], 0, "values"); next > 0 {
			from += next
		}
	}
	return skipSpace(r.b[:to], from)
}

// mostTuples is how many tuples are passed on the way to the one that is wanted.
const mostTuples = 64

// tupleFrom goes from the tuple at b[from] to the one with hit k in it, and hands out its hits.
func (r *Reader) tupleFrom(i, k, from int) int {
	at := int(r.hits[k].from)
	for range mostTuples {
		end := r.splitTuple(from)
		if end > at {
			return r.judgeTuple(i, k, from, end)
		}
		if end < 0 {
			return 0
		}
		if from = nextTuple(r.b, end); from < 0 {
			return 0
		}
	}
	return 0
}

// between finds the last place where one tuple ends and another begins, and returns where the latter does, or -1.
func between(b []byte) int {
	for end := len(b); end > 0; {
		n := bytes.LastIndexByte(b[:end], '(')
		if n < 0 {
			return -1
		}
		k := n - 1
		for k > 0 && isSpace(b[k]) {
			k--
		}
		endsTuple := k > 0 && b[k] == ',' && closesTuple(b[:k])
		endsValues := k >= 5 && bytes.EqualFold(b[k-5:k+1], []byte("values"))
		if endsTuple || endsValues {
			return n
		}
		end = n
	}
	return -1
}

// closesTuple reports whether a text ends a tuple.
func closesTuple(b []byte) bool {
	for k := len(b) - 1; k >= 0; k-- {
		if !isSpace(b[k]) {
			return b[k] == ')'
		}
	}
	return false
}

// nextTuple returns where the tuple after one that ends before b[end] begins, or -1.
func nextTuple(b []byte, end int) int {
	for end < len(b) && (isSpace(b[end]) || b[end] == ',') {
		end++
	}
	if end < len(b) && b[end] == '(' {
		return end
	}
	return -1
}

// splitTuple cuts the tuple at b[at] into fields and returns its end, or -1 if it is none.
func (r *Reader) splitTuple(at int) int {
	b := r.b[:min(len(r.b), at+Longest)]
	if at >= len(b) || b[at] != '(' {
		return -1
	}
	r.fields = r.fields[:0]
	for at++; at < len(b); {
		at = skipSpace(b, at)
		from, end := at, 0
		if at < len(b) &&
			(b[at] == '\'' || b[at] == '"' || (b[at] == 'N' || b[at] == 'E') && at+1 < len(b) && b[at+1] == '\'') {
			if b[at] == 'N' || b[at] == 'E' {
				at++
			}
			end = r.marks.closing(at, len(b), true)
			if end < 0 {
				return -1
			}
			from, at = at+1, end+1
		} else {
			if at = r.bareEnd(b, at); at < 0 {
				return -1
			}
			end = at
		}
		r.fields = append(r.fields, field{from, end, backslash})
		at = skipSpace(b, at)
		if at >= len(b) {
			return -1
		}
		switch b[at] {
		case ',':
			at++
		case ')':
			if at++; at < len(b) && b[at] != ',' && b[at] != ';' && !isSpace(b[at]) {
				return -1
			}
			return at
		default:
			return -1
		}
	}
	return -1
}

// bareEnd finds where a value without quotes ends, which may be a call, or -1.
func (r *Reader) bareEnd(b []byte, at int) int {
	for depth := 0; at < len(b) && (depth > 0 || b[at] != ',' && b[at] != ')'); at++ {
		switch b[at] {
		case '(':
			if depth++; depth > 2 {
				return -1
			}
		case ')':
			depth--
		case '\'':
			if at = r.marks.closing(at, len(b), true); at < 0 {
				return -1
			}
		case ';', '{', '@':
			return -1
		case '\n':
			return at
		}
	}
	return at
}

// judgeTuple hands out the hits of the tuple b[from:to], which begins with or before hit k.
func (r *Reader) judgeTuple(i, k, from, to int) int {
	first, end := r.hitsWithin(k, from, to)
	hits := r.hits[first:end]
	columns := r.tupleColumns(i)
	switch {
	case len(r.fields) < 2:
		return 0
	case columns == nil:
		r.locateFields(hits)
		if !r.anyWhole(hits) {
			return 0
		}
		r.judgeFields(hits, nil)
	case len(columns) != len(r.fields) || !r.fitsColumns(hits, columns):
		r.locateFields(hits)
		if r.places[k-first] < 0 {
			return 0
		}
		r.onlyHits(hits)
	default:
		r.judgeFields(hits, columns)
	}
	if r.tuple = nextTuple(r.b, to); r.tuple < 0 {
		r.tuple = 0
	}
	return end - k
}

// tupleColumns returns the columns of the statement that line i begins or goes on.
func (r *Reader) tupleColumns(i int) []column {
	if l := &r.lines[i]; !l.long && r.b[l.from] != '(' {
		if in, table, end := r.readInsert(r.b[l.from:min(len(r.b), int(l.from)+statementLongest)]); end > 0 {
			if in.Columns != nil {
				return in.Columns
			}
			return r.inForce().Tables[table]
		}
	}
	if in := r.inForce().Layout; in != nil && in.Form == tuples {
		return in.Columns
	}
	return nil
}

// hitsWithin returns the hits in b[from:to], of which hit k is one.
func (r *Reader) hitsWithin(k, from, to int) (first, end int) {
	for first = k; first > 0 && int(r.hits[first-1].from) >= from; first-- {
	}
	for end = k; end < len(r.hits) && int(r.hits[end].from) < to; end++ {
	}
	return first, end
}
