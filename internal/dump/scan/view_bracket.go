package scan

import "bytes"

// bracket reads [at], (arroba), {dot}, [@], with blanks inside and around.
func (v *view) bracket(b []byte, i int) int {
	c, end := bracketed(b, i)
	if end == 0 {
		return 0
	}
	for n := 0; n < 2 && end < len(b) && b[end] == ' '; n++ {
		end++
	}
	last := len(v.text)
	for n := 0; n < 2 && last > 0 && v.text[last-1] == ' '; n++ {
		last--
	}
	if last == 0 || class[v.text[last-1]]&inLocal == 0 || end >= len(b) || class[b[end]]&(letter|digit) == 0 {
		return 0
	}
	v.text = v.text[:last]
	return v.putDecoded(i, end, c)
}

// bracketed says which character the word in brackets at b[i] stands for, and where it ends.
func bracketed(b []byte, i int) (c byte, end int) {
	at := i + 1
	if at < len(b) && b[at] == ' ' {
		at++
	}
	var word [8]byte
	n := 0
	for ; n < len(word) && at < len(b) && class[b[at]]&letter != 0; n, at = n+1, at+1 {
		word[n] = lower[b[at]]
	}
	if at < len(b) && b[at] == ' ' {
		at++
	}
	if n == 0 && at+1 < len(b) && b[at] == '@' && isClosing(b[at+1]) {
		return '@', at + 2
	}
	if at >= len(b) || !isClosing(b[at]) {
		return 0, 0
	}
	switch string(word[:n]) {
	case "at", "arroba":
		return '@', at + 1
	case "dot", "ponto", "punto":
		return '.', at + 1
	}
	return 0, 0
}

// tag leaves out <wbr> inside words, and any tag or comment beside an '@'.
func (v *view) tag(b []byte, i int) int {
	text := b[i:min(len(b), i+128)]
	n := bytes.IndexByte(text, '>')
	if n < 2 || len(v.text) == 0 {
		return 0
	}
	end := i + n + 1
	before := v.text[len(v.text)-1]
	if end >= len(b) || class[before]&(inLocal|inDomain) == 0 && before != '@' {
		return 0
	}
	after := end
	for k := 0; k < 3 && after < len(b) && b[after] == '<'; k++ { // more tags
		m := bytes.IndexByte(b[after:min(len(b), after+128)], '>')
		if m < 0 {
			break
		}
		after += m + 1
	}
	if before == '@' || after < len(b) && b[after] == '@' || isBreak(text) && class[b[end]]&(inLocal|inDomain) != 0 {
		return v.putDecoded(i, end)
	}
	return 0
}

// isBreak knows <wbr>, <wbr/> and </wbr>.
func isBreak(tag []byte) bool {
	if len(tag) < 5 || tag[0] != '<' {
		return false
	}
	tag = bytes.TrimPrefix(tag[1:], []byte("/"))
	return len(tag) > 3 && bytes.EqualFold(tag[:3], []byte("wbr"))
}

// apart joins maria @ exemplo.com.
func (v *view) apart(b []byte, i int) int {
	last := len(v.text)
	if last < 2 || v.text[last-1] != ' ' || class[v.text[last-2]]&inLocal == 0 || i+2 >= len(b) || b[i+1] != ' ' ||
		class[b[i+2]]&(letter|digit) == 0 {
		return 0
	}
	v.text = v.text[:last-1]
	return v.putDecoded(i, i+2, '@')
}
