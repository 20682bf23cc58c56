package record

import (
	"bytes"
	"sort"

	"github.com/vigiahq/vigia/internal/identifier"
)

// climbBytes is how far before an object that which holds it is looked for.
const climbBytes = 1 << 10

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

// identities are the kinds by which two objects are told to be of different people.
const identities = Email | CPF

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

// longestText is how far back the beginning of a text is sought.
const longestText = 256

// enclosing finds where the innermost object that holds b[at] begins, or -1.
func (r *Reader) enclosing(at, low int, inString bool) int {
	for {
		at = opening(r.b, at, low, inString)
		if at < 0 || r.b[at] == '{' {
			return at
		}
		inString = false
	}
}

// opening goes back to the brace or bracket that is open at b[at], or returns -1.
func opening(b []byte, at, low int, inString bool) int {
	depth := 0
	for i := at - 1; i >= low; i-- {
		c := b[i]
		if c == '"' {
			slashes := 0
			for k := i - 1; k >= low && b[k] == '\\'; k-- {
				slashes++
			}
			if slashes%2 == 0 {
				inString = !inString
			}
			continue
		}
		if inString {
			if c == '\n' {
				return -1
			}
			continue
		}
		switch c {
		case '}', ']':
			depth++
		case '{', '[':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// climbObjects goes from an object to the one that holds it, as long as both may be of one person: not out of a list,
// unless what is in it has neither an e-mail address nor a CPF.
func (r *Reader) climbObjects(k, start int) int {
	for range 8 {
		i := start - 1
		for i >= 0 && isSpace(r.b[i]) {
			i--
		}
		if i < 0 {
			return start
		}
		low := max(0, start-climbBytes)
		var outer int
		switch r.b[i] {
		case ':':
			outer = opening(r.b, start, low, false)
			if outer < 0 || r.b[outer] != '{' {
				return start
			}
		case ',', '[':
			if r.holdsPerson(k, start) {
				return start
			}
			outer = opening(r.b, start, low, false)
			if outer <= 0 || r.b[outer] != '[' {
				return start
			}
			if outer = r.enclosing(outer, max(0, outer-climbBytes), false); outer < 0 || !r.somebody(k, outer) {
				return start
			}
		default:
			return start
		}
		start = outer
	}
	return start
}

// holdsPerson reports whether the object at b[start], which holds hit k, has an e-mail address or a CPF.
func (r *Reader) holdsPerson(k, start int) bool {
	end := r.parseObject(start)
	if end < 0 {
		return true // not to be climbed out of
	}
	first, last := r.hitsWithin(k, start, end)
	for _, h := range r.hits[first:last] {
		if h.length&weak != 0 {
			continue
		}
		if h.kind == identifier.Email || h.kind == identifier.CPF {
			return true
		}
	}
	return false
}

// level is an object or list that is being read.
type level struct {
	object int
	list   bool
	column column
}

// columnOfValue returns the column of a value: its own name, or in a list that of the list.
func (l *level) columnOfValue(name column) column {
	if l.list {
		return l.column
	}
	return name
}

// key is a name that stood in the same place of the last object, and what it says.
type key struct {
	name   []byte
	column column
}

// columnOfKey is columnOf for the nth name of a record: most have the same names in the same order.
func (r *Reader) columnOfKey(n int, name []byte) column {
	if n < len(r.keys) {
		return r.keys[n].columnFor(r, name)
	}
	return r.columnOf(name)
}

// columnFor is columnOf for a name that most likely is the one of the last time.
func (k *key) columnFor(r *Reader, name []byte) column {
	if string(k.name) != string(name) {
		k.learnName(r, name)
	}
	return k.column
}

// learnName remembers the column of a name.
func (k *key) learnName(r *Reader, name []byte) {
	k.name, k.column = append(k.name[:0], name...), r.columnOf(name)
}

// somebody reports whether the object at b[start], which holds hit k, has an e-mail address or a CPF of its own.
func (r *Reader) somebody(k, start int) bool {
	end := r.parseObject(start)
	if end <= int(r.hits[k].from) {
		return false
	}
	first, last := r.hitsWithin(k, start, end)
	for i := first; i < last; i++ {
		if m := r.memberOf(&r.hits[i]); m >= 0 && r.members[m].object == 0 && r.hits[i].length&weak == 0 &&
			ofKind[r.hits[i].kind]&identities != 0 {
			return true
		}
	}
	return false
}

// parseObject reads the object at b[start] into r.objects and r.members and returns its end, or -1 if it is none.
func (r *Reader) parseObject(start int) int {
	b := r.b[:min(len(r.b), start+Longest)]
	r.objects, r.members = r.objects[:0], r.members[:0]
	var stack [24]level
	depth, keys := 0, 0
	name := unknown // of the value to come
	for i := start; i < len(b); i++ {
		switch c := b[i]; c {
		case '{', '[':
			if depth == len(stack) {
				return -1
			}
			next, inList := level{column: name, list: c == '['}, false
			if depth > 0 {
				above := stack[depth-1] //nolint:gosec // depth is above 0 here
				next.object = above.object
				if inList = above.list; inList {
					next.column = above.column
				}
			}
			if c == '{' {
				r.objects = append(r.objects, object{parent: next.object, column: next.column, inList: inList})
				next.object = len(r.objects) - 1
			}
			stack[depth] = next
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			name = unknown
		case '"':
			end := r.marks.closing(i, len(b), false)
			if end < 0 {
				return -1
			}
			top := &stack[depth-1] //nolint:gosec // the text begins with a bracket, and its last one ends the loop
			after := end + 1
			if after < len(b) && b[after] <= ' ' {
				after = skipSpace(b, after)
			}
			if after < len(b) && b[after] == ':' && !top.list {
				name, i = r.columnOfKey(keys, b[i+1:end]), after
				keys++
				continue
			}
			r.members = append(r.members, member{top.object, top.columnOfValue(name), field{i + 1, end, jsonText}})
			if i = end; after < len(b) && b[after] == ',' {
				i = after
			}
		case ',', ':', ' ', '\t', '\n', '\r':
		default: // a number or a word
			end := i
			for end < len(b) && b[end] != ',' && b[end] != '}' && b[end] != ']' && !isSpace(b[end]) {
				end++
			}
			top := &stack[depth-1] //nolint:gosec // as above
			r.members = append(r.members, member{top.object, top.columnOfValue(name), field{i, end, literal}})
			i = end - 1
		}
	}
	return -1
}

// skipSpace returns the position of the first byte from at on that is no white space.
func skipSpace(b []byte, at int) int {
	for at < len(b) && isSpace(b[at]) {
		at++
	}
	return at
}

// handOutPeople hands out the hits of a parsed object, person by person.
func (r *Reader) handOutPeople(hits []hit) {
	if len(r.objects) == 1 {
		r.handOutPerson(hits, 0)
		return
	}
	r.identify(hits)
	for g := range r.objects {
		if r.objects[g].group == g {
			r.group = r.group[:0]
			for i := range hits {
				if m := r.memberOf(&hits[i]); m >= 0 && r.objects[r.members[m].object].group == g || m < 0 && g == 0 {
					r.group = append(r.group, hits[i])
				}
			}
			r.handOutPerson(r.group, g)
		}
	}
}

// identify says which objects are records of their own: those with an e-mail address or CPF that stand in a list,
// beside others of their kind, or in an object that has its own.
func (r *Reader) identify(hits []hit) {
	for i := range hits {
		if m := r.memberOf(&hits[i]); m >= 0 && hits[i].length&weak == 0 && hits[i].isWholeField(&r.members[m].field) {
			o := &r.objects[r.members[m].object]
			o.identity |= ofKind[hits[i].kind] & identities
			o.own = o.identity
		}
	}
	for i := len(r.objects) - 1; i > 0; i-- {
		if o := &r.objects[i]; o.identity != 0 || o.people > 0 {
			r.objects[o.parent].people++
		}
	}
	for i := 1; i < len(r.objects); i++ {
		o := &r.objects[i]
		above := &r.objects[o.parent]
		if o.identity != 0 && (o.inList || above.people > 1 || o.identity&r.objects[above.group].identity != 0) ||
			above.people > 1 && o.people > 0 ||
			o.inList && o.identity == 0 && r.objects[above.group].own&identities == 0 {
			o.group = i
		} else {
			o.group = above.group
			r.objects[o.group].identity |= o.identity
		}
	}
}

// memberOf returns the member that an identifier stands in, or -1.
func (r *Reader) memberOf(h *hit) int {
	low := sort.Search(len(r.members), func(i int) bool { return r.members[i].to >= int(h.to) })
	if low < len(r.members) && r.members[low].from <= int(h.from) {
		return low
	}
	return -1
}

// handOutPerson hands out the hits of one record.
func (r *Reader) handOutPerson(hits []hit, group int) {
	r.beginCells(len(r.members))
	cells, members := r.cells, r.members
	for i := range cells {
		cells[i].column = members[i].column
	}
	m, last := 0, int32(0)
	for i := range hits {
		h := &hits[i]
		if h.to < last {
			m = 0
		}
		for last = h.to; m < len(members) && members[m].to < int(h.to); m++ {
		}
		if m < len(members) && members[m].from <= int(h.from) {
			r.enterHit(h, m, &members[m].field)
		} else {
			h.length |= aside
		}
	}
	for i := range cells {
		m := &members[i]
		o := &r.objects[m.object]
		if cells[i].main || o.group != group ||
			m.column == colName && m.object != group && o.column == unknown && m.object != 0 {
			continue // the name of a company, a product
		}
		if m.column == unknown && !maybeHash(r.b[m.from]) {
			continue
		}
		r.claimField(m.column, &m.field)
	}
	r.tellHits(hits)
}
