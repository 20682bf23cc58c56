package record

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
