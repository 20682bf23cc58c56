package scan

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"sort"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

const (
	// cell is how much of a text is decoded at once, where a hint shows that there is something to decode. Cells lie at
	// multiples of it from the beginning of the text, so what is found does not depend on where the text is cut.
	cell = 4 << 10
	// cellMargin is how much is decoded to either side of a cell, so that what lies over its border is seen.
	cellMargin = 1536
)

// view is a cell of a text and what is around it, decoded.
type view struct {
	text []byte
	// From text[steps[i].at] on, up to the next, each byte stood as far from steps[i].from as it does from at. What is
	// decoded is a step of its own.
	steps []viewStep
	wide  bool // the text has a zero byte after each character
}

// viewStep maps a stretch of the decoded view to where it came from in the text.
type viewStep struct {
	at       int32
	from, to int32 // to is of what is decoded
	decoded  bool
	known    bool // decoded, and understood without that
}

// decoder finds what is written in some code in the cells of a text.
type decoder struct {
	view  view
	room  []byte // what is decoded on the way
	inner *finder
}

// decodeCells searches the cells that begin in b[from:limit], which lies base bytes after the beginning of the text and
// has been searched as it is.
func (s *finder) decodeCells(b []byte, base int64, from, limit int) {
	if s.decoder == nil {
		s.decoder = &decoder{}
	}
	next := 0 // sign
	for at := from; at < limit; {
		start := at - int((base+int64(at))%cell)
		end := min(start+cell, limit)
		low, high := max(start, 0), min(start+cell, len(b))
		for next < len(s.wanted) && s.wanted[next] < low {
			next++
		}
		wanted := next < len(s.wanted) && s.wanted[next] < end
		// Of a cell that was not searched as a whole the rest has to be asked, too, or it would depend on where it was
		// cut.
		wanted = wanted || s.hasSign(b, low, at) || s.hasSign(b, end, high)
		if !wanted {
			look := high
			if base+int64(start) >= wellSeen {
				look = min(high, low+sample)
			}
			wanted = s.decoder.hasPair(b, low, look)
		}
		if wanted {
			s.decodeCell(b, start, at, end)
		}
		at = end
	}
	for next < len(s.wanted) && s.wanted[next] < limit {
		next++
	}
	s.wanted = append(s.wanted[:0], s.wanted[next:]...)
}

// hasSign reports whether a sign in b[from:to] is of something to decode.
func (s *finder) hasSign(b []byte, from, to int) bool {
	for at := from; at < to; at++ {
		if signGroups[b[at]] != 0 && worthDecoding(b, at) {
			return true
		}
	}
	return false
}

// decodeCell searches the decoded cell that begins at b[start] for what begins in b[from:to].
func (s *finder) decodeCell(b []byte, start, from, to int) {
	d := s.decoder
	low, high := max(0, start-cellMargin), min(len(b), start+cell+cellMargin)
	v := &d.view
	v.read(b, low, high, &d.room)
	// placed says where what was found at [at, end) of the view stood, and whether it counts: where nothing in it was
	// decoded, it was found as it is, unless digits stood right behind an escape.
	placed := func(at, end int, number bool) (first, last int, counts bool) {
		first, changed := v.originalPlace(at, end)
		behind := number && first > low && v.decodedAt(at) && class[b[first-1]]&(letter|digit) != 0
		return first, v.originalEnd(end), (changed || behind) && first >= from && first < to
	}
	if d.inner == nil {
		d.inner = &finder{isView: true}
	}
	hand := func(add func(identifier.Kind, []byte, int, int)) func(identifier.Kind, []byte, int, int) {
		return func(kind identifier.Kind, normal []byte, at, end int) {
			if first, last, counts := placed(at, end, kind != identifier.Email); counts {
				add(kind, normal, first, last)
			}
		}
	}
	d.inner.addSign, d.inner.addWeak = hand(s.addSign), hand(s.addWeak)
	d.inner.addNumber = func(n *record.Number) bool {
		first, last, counts := placed(n.From, n.To, true)
		n.From, n.To = first, last
		return !counts || s.addNumber(n)
	}
	d.inner.done, d.inner.taken = 0, 0
	d.inner.extract(v.text, 0, len(v.text))
}

// originalPlace says where text[at:end] began, and whether anything in it was decoded.
func (v *view) originalPlace(at, end int) (from int, changed bool) {
	n := v.stepAt(at)
	for i := n; i < len(v.steps) && int(v.steps[i].at) < end; i++ {
		changed = changed || v.steps[i].decoded && !v.steps[i].known
	}
	return v.originalStart(at), changed
}

// decodedAt reports whether what stands right before text[at] was decoded.
func (v *view) decodedAt(at int) bool {
	n := v.stepAt(at)
	return n > 0 && int(v.steps[n].at) == at && v.steps[n-1].decoded && !v.steps[n-1].known
}

// stepAt returns the last step that begins at or before text[at].
func (v *view) stepAt(at int) int {
	return sort.Search(len(v.steps), func(i int) bool { return int(v.steps[i].at) > at }) - 1
}

// originalStart says where text[at] stood.
func (v *view) originalStart(at int) int {
	step := v.steps[v.stepAt(at)]
	if step.decoded {
		return int(step.from)
	}
	return int(step.from) + at - int(step.at)
}

// originalEnd says where text[:at] ended.
func (v *view) originalEnd(at int) int {
	n := sort.Search(len(v.steps), func(i int) bool { return int(v.steps[i].at) >= at }) - 1
	step := v.steps[n]
	if step.decoded {
		return int(step.to)
	}
	return int(step.from) + at - int(step.at)
}

// copyPlain goes on as the text is from b[from] on.
func (v *view) copyPlain(from int) {
	v.steps = append(v.steps, viewStep{at: int32(len(v.text)), from: int32(from)})
}

// putDecoded adds what was decoded of b[from:to], and goes on after it.
func (v *view) putDecoded(from, to int, text ...byte) int {
	v.steps = append(v.steps, viewStep{at: int32(len(v.text)), from: int32(from), to: int32(to), decoded: true})
	v.text = append(v.text, text...)
	v.copyPlain(to)
	return to
}

// codes are the bytes that something encoded may begin with; wordByte those that base64 and hexadecimal digits consist
// of.
var codes, wordByte = func() (codes, word [256]bool) {
	for _, c := range []byte("\\&%=[({<@:\x00\xe2\xef\xc2\xe3") {
		codes[c] = true
	}
	for c := range 256 {
		word[c] = class[c]&(letter|digit) != 0 || c == '+' || c == '/' || c == '_' || c == '-'
	}
	return codes, word
}()

// read decodes b[low:high].
func (v *view) read(b []byte, low, high int, room *[]byte) {
	v.text, v.steps = v.text[:0], v.steps[:0]
	v.wide = bytes.Contains(b[low:high], []byte("@\x00"))
	v.copyPlain(low)
	for i := low; i < high; {
		switch c := b[i]; {
		case wordByte[c]:
			end := i + 1
			for end < high && wordByte[b[end]] {
				end++
			}
			if next := v.word(b[:high], i, end, room); next > 0 {
				i = next
				continue
			}
			v.text = append(v.text, b[i:end]...)
			i = end
		case codes[c]:
			if next := v.code(b[:high], i, room); next > 0 {
				i = next
				continue
			}
			v.text = append(v.text, c)
			i++
		default:
			v.text = append(v.text, c)
			i++
		}
	}
}

// code decodes what begins at b[i] and returns where it ends, or zero.
func (v *view) code(b []byte, i int, room *[]byte) int {
	switch b[i] {
	case '\\':
		return v.backslash(b, i, room)
	case '&':
		if c, n := entity(b[i:]); n > 0 {
			return v.character(c, i, i+n)
		}
	case '%':
		if c, n := percent(b[i:]); n > 0 {
			v.character(c, i, i+n)
			v.steps[len(v.steps)-2].known = n == 3 &&
				(c == '@' || class[byte(c)]&(inLocal|inDomain) == 0 && !inGap[byte(c)])
			return i + n
		}
	case '=':
		return v.equals(b, i, room)
	case '[', '(', '{':
		return v.bracket(b, i)
	case '<':
		return v.tag(b, i)
	case '@':
		return v.apart(b, i)
	case ':':
		return v.attribute(b, i, room)
	case 0:
		if v.wide && i > 0 && b[i-1] != 0 {
			return v.putDecoded(i, i+1)
		}
	default:
		if c, n := utf8.DecodeRune(b[i:]); n > 1 {
			if _, ok := plainRune(c); ok {
				return v.character(c, i, i+n)
			}
		}
	}
	return 0
}

// character puts what b[from:to] stands for. What has no width is left out.
func (v *view) character(c rune, from, to int) int {
	if plain, ok := plainRune(c); ok {
		if plain == 0 {
			return v.putDecoded(from, to)
		}
		return v.putDecoded(from, to, plain)
	}
	var room [utf8.UTFMax]byte
	return v.putDecoded(from, to, utf8.AppendRune(room[:0], c)...)
}

// plainRune returns the character that another stands for in an address or a number; 0 stands for nothing at all.
func plainRune(c rune) (plain byte, ok bool) {
	switch {
	case c == 0xad || c >= 0x200b && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x2060 && c <= 0x206f ||
		c == 0xfeff:
		return 0, true
	case c == 0xa0 || c >= 0x2000 && c <= 0x200a || c == 0x202f || c == 0x3000:
		return ' ', true
	case c >= 0x2010 && c <= 0x2015 || c == 0x2212:
		return '-', true
	case c >= 0xff01 && c <= 0xff5e:
		return byte(c - 0xfee0), true
	case c < utf8.RuneSelf && (c >= ' ' || c == '\n' || c == '\t' || c == '\r'):
		return byte(c), true
	}
	return 0, false
}

// backslash reads \u0040, \x40 and a longer row of hexadecimal digits after \x, the backslash once or twice.
func (v *view) backslash(b []byte, i int, room *[]byte) int {
	at := i + 1
	if at < len(b) && b[at] == '\\' {
		at++
	}
	if at >= len(b) {
		return 0
	}
	switch b[at] | 0x20 {
	case 'u':
		if c, ok := hexRune(b, at+1, 4); ok {
			return v.character(c, i, at+5)
		}
	case 'x':
		end := at + 1
		for end < len(b) && isHexDigit(b[end]) {
			end++
		}
		if text := hexText(room, b[at+1:end]); text != nil {
			return v.putDecoded(i, end, text...)
		}
		if c, ok := hexRune(b, at+1, 2); ok && c >= ' ' && c < 0x7f {
			return v.putDecoded(i, at+3, byte(c))
		}
	}
	return 0
}

// hexRune reads n hexadecimal digits.
func hexRune(b []byte, at, n int) (c rune, ok bool) {
	if at+n > len(b) {
		return 0, false
	}
	for _, d := range b[at : at+n] {
		if !isHexDigit(d) {
			return 0, false
		}
		c = c<<4 | rune(HexDigitValue(d))
	}
	return c, true
}

// entity reads a character of HTML, by number or name, and returns how long it is. The ampersand may be one itself.
func entity(b []byte) (c rune, n int) {
	at := 1
	if bytes.HasPrefix(b, []byte("&amp;")) {
		at = 5
	}
	b = b[:min(len(b), at+12)]
	end := bytes.IndexByte(b, ';')
	if at == 5 {
		if end = bytes.IndexByte(b[at:], ';'); end >= 0 {
			end += at
		}
	}
	if end <= at {
		return 0, 0
	}
	name := b[at:end]
	if name[0] != '#' {
		c = entities[string(name)]
		if c == 0 {
			return 0, 0
		}
		return c, end + 1
	}
	base, digits := rune(10), name[1:]
	if len(digits) > 0 && digits[0]|0x20 == 'x' {
		base, digits = 16, digits[1:]
	}
	if len(digits) == 0 {
		return 0, 0
	}
	for _, d := range digits {
		if !isDigit(d) && (base == 10 || !isHexDigit(d)) || c > utf8.MaxRune {
			return 0, 0
		}
		c = c*base + rune(HexDigitValue(d))
	}
	return c, end + 1
}

// entities are the named characters of HTML that stand inside of addresses and numbers.
var entities = map[string]rune{
	"commat": '@',
	"period": '.',
	"lowbar": '_',
	"plus":   '+',
	"hyphen": '-',
	"dash":   '-',
	"ndash":  '-',
	"mdash":  '-',
	"nbsp":   ' ',
	"shy":    0xad,
	"zwj":    0x200d,
	"zwnj":   0x200c,
	"lpar":   '(',
	"rpar":   ')',
	"num":    '#',
	"sol":    '/',
	"colon":  ':',
	"ensp":   ' ',
	"emsp":   ' ',
	"thinsp": ' ',
}

// percent reads %40, also where its percent sign was written like that itself, and %u0040.
func percent(b []byte) (c rune, n int) {
	for n = 1; ; n += 2 {
		if n < len(b) && b[n] == 'u' {
			c, ok := hexRune(b, n+1, 4)
			if !ok {
				return 0, 0
			}
			return c, n + 5
		}
		c, ok := hexRune(b, n, 2)
		if !ok || c >= 0x7f || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return 0, 0
		}
		if _, more := hexRune(b, n+2, 2); c != '%' || !more || n > 8 {
			return c, n + 2
		}
	}
}

// equals reads quoted-printable text and encoded words of mail.
func (v *view) equals(b []byte, i int, room *[]byte) int {
	rest := b[i+1:]
	if len(rest) == 0 {
		return 0
	}
	switch {
	case rest[0] == '?':
		return v.encodedWord(b, i, room)
	case rest[0] == '\n' || rest[0] == '\r' && len(rest) > 1 && rest[1] == '\n':
		start := bytes.LastIndexByte(b[max(0, i-quotedLine-1):i], '\n') + 1 + max(0, i-quotedLine-1)
		if i-start < quotedLine-16 || start == 0 && i > quotedLine {
			return 0
		}
		return v.putDecoded(i, i+1+bytes.IndexByte(rest, '\n')+1)
	}
	c, ok := hexRune(b, i+1, 2)
	if !ok || bytes.IndexByte([]byte("@.-_+="), byte(c)) < 0 || c > 0x7f ||
		c == '@' && (len(rest) < 3 || class[rest[2]]&letter == 0) {
		return 0 // width=40, cpf=402...
	}
	return v.putDecoded(i, i+3, byte(c))
}

// quotedLine is how long lines of quoted-printable text are at most.
const quotedLine = 76

// encodedWord reads =?utf-8?B?...?= and =?utf-8?Q?...?=.
func (v *view) encodedWord(b []byte, i int, room *[]byte) int {
	text := b[i+2 : min(len(b), i+200)]
	n := bytes.IndexByte(text, '?')
	if n < 1 || n > 20 || n+2 >= len(text) || text[n+2] != '?' {
		return 0
	}
	end := bytes.Index(text[n+3:], []byte("?="))
	if end < 0 {
		return 0
	}
	word, to := text[n+3:n+3+end], i+2+n+3+end+2
	if text[n+1]|0x20 == 'q' {
		*room = AppendUnquoted((*room)[:0], word)
	} else {
		plain, err := base64.StdEncoding.AppendDecode((*room)[:0], word)
		if err != nil {
			return 0
		}
		*room = plain
	}
	return v.putDecoded(i, to, *room...)
}

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

// attribute decodes the value of an LDIF attribute in base64, which may go on over lines.
func (v *view) attribute(b []byte, i int, room *[]byte) int {
	if i+3 >= len(b) || b[i+1] != ':' || b[i+2] != ' ' || i == 0 || class[b[i-1]]&letter == 0 {
		return 0
	}
	at := i + 3
	*room = (*room)[:0]
	for at < len(b) && len(*room) < margin {
		switch c := b[at]; {
		case wordByte[c] || c == '=':
			*room = append(*room, c)
			at++
			continue
		case c == '\r' && at+2 < len(b) && b[at+1] == '\n' && b[at+2] == ' ':
			at += 3
			continue
		case c == '\n' && at+1 < len(b) && b[at+1] == ' ':
			at += 2
			continue
		}
		break
	}
	plain, err := base64.StdEncoding.AppendDecode(nil, *room)
	if err != nil || !printable(plain) {
		return 0
	}
	v.text = append(v.text, ": "...)
	return v.putDecoded(i+3, at, plain...)
}

// word decodes the word b[i:end], if it is a text in base64 or hexadecimal digits or an address that a network hid.
func (v *view) word(b []byte, i, end int, room *[]byte) int {
	n := end - i
	switch {
	case n < shortestCode:
		if n == 12 && end < len(b) && b[end] == '=' && string(b[i:end]) == "data-cfemail" {
			for end < len(b) && (b[end] == '=' || b[end] == '\\' || quote(b[end])) {
				end++
			}
			return v.decodeHidden(b, end)
		}
		return 0
	case b[i] == '0' && b[i+1]|0x20 == 'x':
		if text := hexText(room, b[i+2:end]); text != nil {
			return v.putDecoded(i, end, text...)
		}
		return 0
	}
	if text := hexText(room, b[i:end]); text != nil {
		return v.putDecoded(i, end, text...)
	}
	if text := baseText(room, b[i:end]); text != nil {
		for k := 0; k < 2 && end < len(b) && b[end] == '='; k++ {
			end++
		}
		return v.putDecoded(i, end, text...)
	}
	return 0
}

// decodeHidden reads an address each byte of which was changed by the first.
func (v *view) decodeHidden(b []byte, i int) int {
	end := i
	for end < len(b) && end-i < 2*margin && isHexDigit(b[end]) {
		end++
	}
	n := (end - i) / 2
	if n < 6 {
		return 0
	}
	text := make([]byte, n)
	if _, err := hex.Decode(text, b[i:i+2*n]); err != nil {
		return 0
	}
	for k := 1; k < n; k++ {
		text[k] ^= text[0]
	}
	text[0] = ' '
	return v.putDecoded(i, end, text...)
}

// shortestCode is how long a word in a code has to be: no identifier is written in fewer.
const shortestCode = 16

// hexText returns the text that hexadecimal digits stand for, or nil.
func hexText(room *[]byte, digits []byte) []byte {
	if len(digits) < shortestCode || len(digits)%2 == 1 || digits[0] < '2' || digits[0] > '7' {
		return nil
	}
	text := (*room)[:0]
	for k := 0; k < len(digits); k += 2 {
		if !isHexDigit(digits[k]) || !isHexDigit(digits[k+1]) {
			return nil
		}
		c := HexDigitValue(digits[k])<<4 | HexDigitValue(digits[k+1])
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return nil
		}
		text = append(text, c)
	}
	*room = text
	return text
}

// baseText returns the text that base64 stands for, or nil.
func baseText(room *[]byte, word []byte) []byte {
	if len(word)%4 == 1 || len(word) > 4*margin {
		return nil
	}
	coding := base64.RawStdEncoding
	if bytes.IndexByte(word, '_') >= 0 || bytes.IndexByte(word, '-') >= 0 {
		coding = base64.RawURLEncoding
	}
	// Most words are none: their first bytes show it.
	var start [6]byte
	if _, err := coding.Decode(start[:], word[:8]); err != nil || !printable(start[:]) {
		return nil
	}
	text, err := coding.AppendDecode((*room)[:0], word)
	if err != nil || !printable(text) {
		return nil
	}
	*room = text
	return text
}

// printable reports whether bytes are text.
func printable(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(text)
}
