package record

import "github.com/vigiahq/vigia/internal/identifier"

// climbBytes is how far before an object that which holds it is looked for.
const climbBytes = 1 << 10

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
