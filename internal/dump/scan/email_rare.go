package scan

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/identifier"
)

// rareEmail handles an address that touches an escape, a quote or a character beyond ASCII. It may emit two readings
// where both are likely: an extra reading costs nothing, but a missed one is a leak that is never reported.
func (s *finder) rareEmail(b []byte, start, at, after, end int) {
	s.noteHint(b, at)
	if cut := lastEscape(b[start:at]); cut > 0 {
		start += cut
	}
	host := b[after:end]
	if cut := bytes.Index(host, rule); cut >= 0 {
		host = host[:cut]
	} else if end < len(b) && b[end] >= utf8.RuneSelf {
		host = b[after:wordEnd(b, end, min(len(b), after+domainLongest))]
		if gluedWord(host, end-after) {
			s.rareLocal(b, start, at, after, host[:end-after])
		}
	}
	s.rareLocal(b, start, at, after, host)
}

// rareLocal looks closer at the local part b[start:at] of an address.
func (s *finder) rareLocal(b []byte, start, at, after int, host []byte) {
	before := byte(' ')
	if start > 0 {
		before = b[start-1]
	}
	switch {
	case before == '\\' && start < at:
		s.escapedWord(b[start:at], host, start, after)
	case before == '\'' && start > 1 && class[b[start-2]]&letter != 0:
		// o'brien@... and Python's u'maria@...' look alike.
		from := start - 1
		for from > 0 && start-from < localLongest && class[b[from-1]]&(letter|digit) != 0 {
			from--
		}
		s.wholeEmail(b[from:at], host, from, after)
		s.wholeEmail(b[start:at], host, start, after)
	case before >= utf8.RuneSelf:
		from := wordStart(b, start, max(0, at-localLongest))
		s.wholeEmail(b[from:at], host, from, after)
		if from < start && at-start >= gluedShortest {
			s.wholeEmail(b[start:at], host, start, after) // behind a word
		}
	default:
		s.wholeEmail(b[start:at], host, start, after)
	}
}

// gluedWord reports whether the letters beyond ASCII from host[end] on are of a word behind a domain: they stand in its
// last label, which begins with others.
func gluedWord(host []byte, end int) bool {
	label := bytes.LastIndexByte(host[:end], '.') + 1
	return end < len(host) && label > 0 && end-label >= 2 && bytes.IndexByte(host[end:], '.') < 0
}

// gluedShortest is how long the rest of a word after an accent must be to be taken for an address of its own.
const gluedShortest = 5

// escapedWord handles text inside a quoted string, where the letters after a backslash may belong to an escape: \n, \t,
// \u003c.
func (s *finder) escapedWord(local, host []byte, from, after int) {
	if local[0] == 'u' && len(local) > 5 && isHexDigit(local[1]) && isHexDigit(local[2]) && isHexDigit(local[3]) &&
		isHexDigit(local[4]) {
		s.wholeEmail(local[5:], host, from+5, after)
		return
	}
	s.wholeEmail(local, host, from, after)
	if len(local) > 1 && bytes.IndexByte([]byte("nrtbfv0"), local[0]) >= 0 {
		s.wholeEmail(local[1:], host, from+1, after)
	}
}

// wholeEmail takes the way of plain characters where it can, else the full parser.
func (s *finder) wholeEmail(local, host []byte, from, after int) {
	ascii := true
	for _, part := range [2][]byte{local, host} {
		for _, c := range part {
			ascii = ascii && c < utf8.RuneSelf
		}
	}
	if ascii && bytes.IndexByte(local, '\'') < 0 {
		s.plainEmail(local, host, from, after)
		return
	}
	if len(local)+1+len(host) > len(s.text) {
		return
	}
	out := append(s.text[:0], local...)
	out = append(append(out, '@'), bytes.TrimRight(host, ".-")...)
	s.parsedEmail(out, from, after+len(host))
}

// parsedEmail emits the address if the full parser accepts it. The parser is slow, so this is for rare addresses only.
func (s *finder) parsedEmail(address []byte, from, to int) {
	if normal, err := identifier.ParseEmail(string(address)); err == nil {
		s.addSign(identifier.Email, []byte(normal), from, to)
	}
}

// lastEscape returns the position after the last %XX of local, or zero.
func lastEscape(local []byte) int {
	for i := len(local) - 3; i >= 0; i-- {
		if local[i] == '%' && isHexDigit(local[i+1]) && isHexDigit(local[i+2]) {
			return i + 3
		}
	}
	return 0
}

// wordStart moves back from b[from] over letters, marks and digits of any script. Bytes that are no UTF-8 end the word.
func wordStart(b []byte, from, stop int) int {
	for from > stop {
		r, n := utf8.DecodeLastRune(b[stop:from])
		if r == utf8.RuneError || r >= utf8.RuneSelf && !unicode.In(r, unicode.L, unicode.M, unicode.N) ||
			r < utf8.RuneSelf && class[r]&inLocal == 0 {
			break
		}
		from -= n
	}
	return from
}

// wordEnd returns the end of the run of letters, digits and other characters of a domain at from, but not beyond stop.
func wordEnd(b []byte, from, stop int) int {
	for from < stop {
		r, n := utf8.DecodeRune(b[from:stop])
		if r == utf8.RuneError || r >= utf8.RuneSelf && !unicode.In(r, unicode.L, unicode.M, unicode.N) ||
			r < utf8.RuneSelf && class[r]&inDomain == 0 {
			break
		}
		from += n
	}
	return from
}

// quotedEmail reads "maria.silva"@exemplo.com, the '@' of which stands at b[at]: the quotes say nothing where none are
// needed. Inside of other quotes they are doubled, or have a backslash before them.
func (s *finder) quotedEmail(b []byte, at, after int) {
	to := at - 1
	if b[to-1] == '"' || b[to-1] == '\\' {
		to--
	}
	from := to
	for from > 0 && to-from <= localLongest && class[b[from-1]]&inLocal != 0 {
		from--
	}
	if from > 0 && b[from-1] == '"' && from < to {
		end := after
		for end < len(b) && end-after <= domainLongest && class[b[end]]&inDomain != 0 {
			end++
		}
		s.plainEmail(b[from:to], b[after:end], from-1, after)
	}
}

// keyEmail reads an address that is the key of an object, where dots may not stand and commas do for them.
func (s *finder) keyEmail(b []byte, at, after int) {
	from, to := at, after
	for from > 0 && at-from < localLongest && (class[b[from-1]]&inLocal != 0 || b[from-1] == ',') {
		from--
	}
	for to < len(b) && to-after < labelLongest && (class[b[to]]&inDomain != 0 || b[to] == ',') {
		to++
	}
	if from == 0 || to == len(b) || !quote(b[from-1]) || b[to] != b[from-1] {
		return
	}
	text := bytes.ReplaceAll(b[from:to], []byte(","), []byte("."))
	s.plainEmail(text[:at-from], text[after-from:], from, after)
}
