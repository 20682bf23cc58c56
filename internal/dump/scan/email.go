package scan

import (
	"bytes"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/identifier"
)

// Bounds of RFC 5321 and RFC 1035, in bytes.
const (
	localLongest  = 64
	domainLongest = 253
	emailLongest  = 254
	labelLongest  = 63
)

// readEmail reads the address whose local part ends at b[at] and whose domain begins at b[after]. Most are plain; one
// that needs more care than a look at the class of each byte is handed on.
func (s *finder) readEmail(b []byte, at, after int) {
	if after < len(b) && class[b[after]]&(inDomain|rare) == 0 { // no domain: the end of a password
		s.noteHint(b, at)
		return
	}
	before := b[max(0, at-localLongest-1):at]
	first, seen := len(before), uint16(0)
	for ; first > 0; first-- {
		c := class[before[first-1]]
		if c&inLocal == 0 {
			break
		}
		seen |= c
	}
	start := at - len(before) + first
	if first > 0 && class[b[start-1]]&rare != 0 &&
		(b[start-1] != '\'' || start > 1 && class[b[start-2]]&letter != 0) {
		seen |= rare
	}
	// tail gathers the classes of the last label, which begins at label; isPlain ends with the first dot or hyphen that
	// breaks a rule.
	behind := b[after:min(len(b), after+domainLongest+1)]
	end, label, tail, isPlain := 0, 0, uint16(0), true
	for ; end < len(behind); end++ {
		c := class[behind[end]]
		if c&inDomain == 0 {
			break
		}
		tail |= c
		if c&(letter|digit) != 0 {
			continue
		}
		isPlain = isPlain && end > label
		if c&dot != 0 {
			seen |= tail & upper
			label, tail = end+1, 0
		} else {
			isPlain = isPlain && end+1 < len(behind) && class[behind[end+1]]&(letter|digit) != 0
			tail |= digit // the last label has letters only
		}
	}
	seen |= tail & upper
	end, label = after+end, after+label
	if end < len(b) && b[end] >= utf8.RuneSelf {
		seen |= rare
	}
	if seen&hyphen != 0 && bytes.Contains(b[start:at], rule) { // user----address----password
		start += bytes.LastIndex(b[start:at], rule) + len(rule)
	}
	if start > 0 && (b[start-1] == '>' || start == at && b[start-1] == ' ') ||
		end < len(b) && (b[end] == '<' || end == at+1) {
		s.noteHint(b, at)
	}
	switch local := b[start:at]; {
	case end < len(b) && b[end] == ',' && label == after && end > after:
		s.keyEmail(b, at, after)
	case len(local) > localLongest:
	case start == at && at > 2 && b[at-1] == '"':
		s.quotedEmail(b, at, after)
	case seen&rare != 0:
		s.rareEmail(b, start, at, after, end)
	case !isPlain || tail&(letter|digit) != letter || end-label < 2 || label == after || end-after > labelLongest ||
		!dotsInside(local, seen):
		s.plainEmail(local, b[after:end], start, after)
	default:
		normal := b[start:end]
		if seen&upper != 0 || after != at+1 { // written in capitals, or its '@' as %40
			normal = append(appendLower(s.text[:0], local), '@')
			normal = appendLower(normal, b[after:end])
		}
		if notDomain(normal[len(local)+1+label-after:]) {
			s.plainEmail(local, b[after:end], start, after)
			return
		}
		s.addSign(identifier.Email, normal, start, end)
	}
}

func appendLower(dst, text []byte) []byte {
	for _, c := range text {
		dst = append(dst, lower[c])
	}
	return dst
}

// dotsInside reports whether local is not empty and has single dots between other characters only; seen is the union of
// its classes.
func dotsInside(local []byte, seen uint16) bool {
	return len(local) > 0 &&
		(seen&dot == 0 || local[0] != '.' && local[len(local)-1] != '.' && !bytes.Contains(local, twoDots))
}

// plainEmail takes the slower way for an address of plain ASCII characters: one that may break a rule, or run into the
// text around it.
func (s *finder) plainEmail(local, domain []byte, from, after int) {
	if len(local) == 0 || len(local) > localLongest || len(domain) > domainLongest {
		return
	}
	out, last := s.text[:0], byte('.')
	for _, c := range local {
		if c == '.' && last == '.' {
			out = out[:0] // dots that lead, or come in pairs, cut off what stands before them
			continue
		}
		out, last = append(out, lower[c]), c
	}
	if last == '.' {
		return
	}
	out = append(out, '@')
	at := len(out)
	for _, c := range domain {
		out = append(out, lower[c])
	}
	host := trimDomain(out[at:])
	if len(host) == 0 || at+len(host) > emailLongest {
		return
	}
	if bytes.Contains(host, encodedLabel) {
		s.parsedEmail(out[:at+len(host)], from, after+len(host))
		return
	}
	s.addSign(identifier.Email, out[:at+len(host)], from, after+len(host))
}

var (
	twoDots = []byte("..")
	// rule parts the fields of some lists.
	rule = []byte("----")
)
