package record

import "bytes"

// object is a JSON object inside a record, after the one that holds it.
type object struct {
	parent   int
	group    int // the object whose record it belongs to
	column   column
	inList   bool
	identity Classes // e-mail and CPF among its own members
	own      Classes // the same, before what belongs to it was added
	people   int     // objects in it that have such
}

// member is a value of an object.
type member struct {
	object int
	column column
	field
}

// inObject reads the JSON object with hit k in it, which stands in line i, and returns how many hits it handed out.
func (r *Reader) inObject(i, k int) int {
	at := int(r.hits[k].from)
	if l := &r.lines[i]; !l.long && r.b[l.from] == '{' { // a line of its own
		if end := r.parseObject(int(l.from)); end > at && end >= int(l.end)-1 {
			first, last := r.hitsWithin(k, int(l.from), end)
			r.handOutPeople(r.hits[first:last])
			return last - k
		}
	}
	inString, listed, ok := r.memberAt(at)
	if !ok {
		return 0
	}
	low := max(0, at-Longest)
	if listed { // or a field of a row in quotes
		low = max(0, at-longestText)
	}
	start := r.enclosing(at, low, inString)
	if start < 0 {
		return 0
	}
	start = r.climbObjects(k, start)
	end := r.parseObject(start)
	if end <= at {
		return 0
	}
	first, last := r.hitsWithin(k, start, end)
	r.handOutPeople(r.hits[first:last])
	return last - k
}

// memberAt reports whether b[at] is a value with a name before it, or in a list, and whether it is in quotes.
func (r *Reader) memberAt(at int) (inString, listed, ok bool) {
	b, i := r.b, at-1
	for i >= 0 && b[i] == ' ' {
		i--
	}
	if i < 0 {
		return false, false, false
	}
	if b[i] != ':' || i == at-1 && i > 0 && b[i-1] != '"' && b[i-1] != ' ' { // in a string, then
		low := max(0, at-longestText)
		n := at - 1 - low
		if b[at-1] != '"' { // not at the beginning of the string
			n = bytes.LastIndexByte(b[low:at], '"')
		}
		if n < 0 || bytes.IndexByte(b[low+n:at], '\n') >= 0 {
			return false, false, false
		}
		inString, i = true, low+n-1
		for i > low && b[i] == '\\' { // \" inside of it
			if n = bytes.LastIndexByte(b[low:i], '"'); n < 0 {
				return false, false, false
			}
			i = low + n - 1
		}
		for i >= 0 && isSpace(b[i]) {
			i--
		}
	}
	if i < 0 {
		return false, false, false
	}
	switch b[i] {
	case '[', ',':
		return inString, true, true
	case ':':
		for i--; i > 0 && isSpace(b[i]); i-- {
		}
		return inString, false, i > 0 && b[i] == '"'
	}
	return false, false, false
}
