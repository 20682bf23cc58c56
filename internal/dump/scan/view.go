package scan

import (
	"bytes"
	"sort"
	"unicode/utf8"
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
