package scan

import (
	"bytes"
	"math/bits"
	"unicode"
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

// readSigns reads what is told by a sign in b[from:limit], a stretch that is marked: addresses, whose '@' is written
// %40 in URLs, keys by their punctuation, and what has to be decoded.
func (s *finder) readSigns(b []byte, from, limit int) {
	for first := 0; first < stretch/64; first += 6 { // of which there are eleven
		six := (*[6]uint64)(s.marks.signs[first:])
		if six[0]|six[1]|six[2]|six[3]|six[4]|six[5] == 0 { // as in most of a text with little in it
			continue
		}
		for w, signs := range six {
			for ; signs != 0; signs &= signs - 1 {
				at := from + (first+w)*64 + bits.TrailingZeros64(signs)
				if at >= limit {
					return
				}
				if b[at] == '@' {
					s.readEmail(b, at, at+1)
				} else {
					s.otherSign(b, at)
				}
			}
		}
	}
}

// otherSign reads what is told by the sign at b[at], which is no '@'. The most frequent ones come first.
func (s *finder) otherSign(b []byte, at int) {
	switch c := b[at]; {
	case bracket[c]: // (11), [0]: few are (at)
		if at+2 < len(b) && afterBracket[b[at+1]] && (b[at+1] == ' ' || b[at+2]|0x20 >= 'o' && b[at+2]|0x20 <= 'u') {
			s.noteHint(b, at)
		}
	case c == '-' || c == '/':
		s.readKey(b, at)
	case c == '%' && at+3 <= len(b) && b[at+1] == '4' && b[at+2] == '0':
		s.readEmail(b, at, at+3)
	case c == 0xa0:
		if at > 0 && b[at-1] == 0xc2 {
			s.noteHint(b, at)
		}
	default:
		s.noteHint(b, at)
	}
}

// bracket has the opening ones, and afterBracket what the words that are decoded begin with in them: at, arroba, dot,
// ponto, punto.
var bracket = [256]bool{'(': true, '[': true, '{': true}

var afterBracket = [256]bool{' ': true, 'a': true, 'A': true, 'd': true, 'D': true, 'p': true, 'P': true}

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

// encodedLabel begins a label of an international domain in its ASCII form.
var encodedLabel = []byte("xn--")

// trimDomain returns the longest start of host, cut at dots and hyphens, that is a domain name: the rest is the text
// that followed.
func trimDomain(host []byte) []byte {
	for len(host) > 0 {
		if identifier.ValidDomain(host) {
			dot := bytes.LastIndexByte(host, '.')
			if !notDomain(host[dot+1:]) {
				return host
			}
			if !document(host[dot+1:]) {
				return nil
			}
		}
		cut := len(host) - 1
		for cut >= 0 && host[cut] != '.' && host[cut] != '-' {
			cut--
		}
		host = host[:max(0, cut)]
	}
	return nil
}

// notDomain knows the endings of picture and style file names such as logo@2x.png, which are no top-level domains.
func notDomain(ending []byte) bool {
	switch string(ending) {
	case "png",
		"jpg",
		"jpeg",
		"gif",
		"svg",
		"webp",
		"avif",
		"bmp",
		"ico",
		"css",
		"scss",
		"js",
		"mjs",
		"jsx",
		"tsx",
		"html",
		"htm",
		"xml",
		"json",
		"txt",
		"pdf",
		"woff",
		"ttf",
		"dll",
		"exe":
		return true
	}
	return false
}

// document knows the endings of files that lists of addresses are kept in: an address may be the name of one.
func document(ending []byte) bool {
	switch string(ending) {
	case "txt", "pdf", "json", "xml":
		return true
	}
	return false
}

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

// Where the hyphens of a UUID stand, and the punctuation of 12.345.678/0001-95, from the hyphen that is marked.
const (
	uuidBefore, uuidAfter = 13, 23
	cnpjBefore, cnpjAfter = 15, 3
)

// readKey reads the random Pix key or the punctuated CNPJ whose first hyphen or slash stands at b[first], with a hyphen
// keySpan behind it. Only that one of a key counts, so that of two pieces of a stream only one has it. A UUID may be
// anything, so it counts where something says that it is a key.
func (s *finder) readKey(b []byte, first int) {
	at := first + keySpan
	switch {
	case at < uuidBefore:
	case b[first] == '-':
		if at+uuidAfter <= len(b) && b[at+1] == '4' && b[at+5] == '-' && b[at+10] == '-' {
			s.readUUID(b, at-uuidBefore, at+uuidAfter)
		}
	default:
		if at >= cnpjBefore && at+cnpjAfter <= len(b) && b[at-9] == '.' && b[at-13] == '.' {
			s.writtenCNPJ(b, at-cnpjBefore, at+cnpjAfter)
		}
	}
}

// readUUID reads a random Pix key.
func (s *finder) readUUID(b []byte, from, to int) {
	if partOfWord(b, from, to) {
		return
	}
	normal, ok := identifier.AppendPixKey(s.text[:0], b[from:to])
	switch {
	case !ok:
	case saysPix(b, from):
		s.addSign(identifier.PixKey, normal, from, to)
	default:
		s.addWeak(identifier.PixKey, normal, from, to)
	}
}

// writtenCNPJ emits a CNPJ that is written with its dots, slash and dash, if it stands alone and its check digits are
// right. New numbers may hold letters.
func (s *finder) writtenCNPJ(b []byte, from, to int) {
	if partOfWord(b, from, to) {
		return
	}
	t, n := b[from:to], s.text[:0]
	for i, c := range t {
		if i != 2 && i != 6 && i != 10 && i != 15 {
			if c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
			n = append(n, c)
		}
	}
	if identifier.ValidCNPJ(n) {
		s.addSign(identifier.CNPJ, n, from, to)
	}
}

// partOfWord reports whether b[from:to] goes on to either side.
func partOfWord(b []byte, from, to int) bool {
	const goesOn = letter | digit
	return from > 0 && (class[b[from-1]]&goesOn != 0 || b[from-1] == '-') && !afterEscape(b, from) ||
		to < len(b) && (class[b[to]]&goesOn != 0 || b[to] == '-')
}

// afterEscape reports whether what stands before b[i] is \n, \t or the like.
func afterEscape(b []byte, i int) bool {
	return i >= 2 && b[i-2] == '\\' && (b[i-1] == 'n' || b[i-1] == 't' || b[i-1] == 'r')
}

// pixReach is how many bytes before a UUID, in its line, are searched for a word that marks it as a Pix key. It can be
// wide: a UUID taken for a key by mistake never equals a watched one, so it causes no false alert.
const pixReach = 64

// pixWords stand near random Pix keys; without one an UUID is taken for some other id.
var pixWords = [...]string{"pix", "evp", "aleat"}

// saysPix reports whether a word before position i, in its line, marks what follows as a Pix key.
func saysPix(b []byte, i int) bool {
	var room [pixReach]byte
	text := foldedBefore(room[:], b, i, "\n")
	for _, w := range pixWords {
		if bytes.Contains(text, []byte(w)) {
			return true
		}
	}
	return false
}

// foldedBefore returns what stands before b[i], as far as room goes and behind the last of the ends, in small letters.
func foldedBefore(room, b []byte, i int, ends string) []byte {
	text := room[:copy(room, b[max(0, i-len(room)):i])]
	text = text[bytes.LastIndexAny(text, ends)+1:]
	for k, c := range text {
		text[k] = lower[c]
	}
	return text
}
