package container

import (
	"bytes"
	"compress/flate"
	"encoding/ascii85"
	"io"
	"strconv"

	"github.com/vigiahq/vigia/internal/scan"
)

// pdfInflate reads zlib and forgives a sum that is wrong or missing.
func pdfInflate(r io.Reader) io.Reader {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil {
		return failed{io.ErrUnexpectedEOF}
	}
	return flate.NewReader(r)
}

// pdfAscii85 decodes a stream in ASCII85 without the marks around it, which the decoder of the standard library
// refuses.
func pdfAscii85(r io.Reader) io.Reader {
	raw, err := io.ReadAll(r)
	if err != nil {
		return failed{err}
	}
	raw = bytes.TrimPrefix(bytes.TrimSpace(raw), []byte("<~"))
	if end := bytes.Index(raw, []byte("~>")); end >= 0 {
		raw = raw[:end]
	}
	return ascii85.NewDecoder(bytes.NewReader(raw))
}

// pdfHex decodes a stream of hexadecimal digits.
func pdfHex(r io.Reader) io.Reader {
	raw, err := io.ReadAll(r)
	if err != nil {
		return failed{err}
	}
	return bytes.NewReader(decodeHex(raw))
}

// decodeHex returns what pairs of hexadecimal digits stand for, up to a '>'. Other characters are passed over, and half a
// pair at the end goes with a zero.
func decodeHex(text []byte) (s []byte) {
	half, pending := byte(0), false
	text, _, _ = bytes.Cut(text, []byte{'>'})
	for _, c := range text {
		if v := scan.HexDigitValue(c); v < 16 {
			if pending {
				s = append(s, half<<4|v)
			}
			half, pending = v, !pending
		}
	}
	if pending {
		s = append(s, half<<4)
	}
	return s
}

// pdfCMap says what the codes of a font stand for, and how many bytes a code has.
type pdfCMap struct {
	width int
	texts map[int]string
}

// findFonts gives every content the fonts that it may use, by the names it has for them: those of the page that names
// it, and else any of that name, for names are nearly always the same all over a file.
func (p *pdf) findFonts() {
	p.cmaps, p.fonts, p.pages = map[int]pdfCMap{}, map[string]pdfCMap{}, map[int]int{}
	for _, n := range p.objectNumbers() {
		dict := p.objects[n].dict
		p.collectFonts(dict, p.fonts, 0)
		i := bytes.Index(dict, []byte("/Contents"))
		if i < 0 {
			continue
		}
		list := bytes.TrimLeft(dict[i+len("/Contents"):], " \r\n[")
		if end := bytes.IndexAny(list, "]/>"); end >= 0 {
			list = list[:end]
		}
		fields := bytes.Fields(list)
		for j := 0; j+2 < len(fields); j += 3 {
			if content, err := strconv.Atoi(string(fields[j])); err == nil {
				p.pages[content] = n
			}
		}
	}
}

// pageFonts returns what finds the fonts of a page by name.
func (p *pdf) pageFonts(content int) func(name string) pdfCMap {
	mine := map[string]pdfCMap{}
	for _, n := range []int{p.pages[content], content} {
		p.collectFonts(p.objects[n].dict, mine, 0)
	}
	return func(name string) pdfCMap {
		if font, ok := mine[name]; ok {
			return font
		}
		return p.fonts[name]
	}
}

// collectFonts reads /Font << /F1 5 0 R >>, there or in the object that it refers to.
func (p *pdf) collectFonts(dict []byte, fonts map[string]pdfCMap, depth int) {
	if depth > 3 {
		return
	}
	if n, ok := pdfReference(dict, "/Resources"); ok {
		p.collectFonts(p.objects[n].dict, fonts, depth+1)
	}
	i := bytes.Index(dict, []byte("/Font"))
	if i < 0 {
		return
	}
	rest := bytes.TrimLeft(dict[i+len("/Font"):], " \r\n")
	if n, ok := pdfReference(dict[i:], "/Font"); ok {
		rest = bytes.TrimLeft(p.objects[n].dict, " \r\n")
	}
	if !bytes.HasPrefix(rest, []byte("<<")) {
		return
	}
	end := bytes.Index(rest, []byte(">>"))
	if end < 0 {
		return
	}
	fields := bytes.FieldsFunc(rest[2:end], func(c rune) bool { return c == ' ' || c == '/' || c == '\r' || c == '\n' })
	for j := 0; j+3 < len(fields); j += 4 {
		if n, err := strconv.Atoi(string(fields[j+1])); err == nil {
			fonts[string(fields[j])] = p.fontCMap(n)
		}
	}
}

// fontCMap reads what the codes of a font stand for, once.
func (p *pdf) fontCMap(font int) pdfCMap {
	if m, ok := p.cmaps[font]; ok {
		return m
	}
	m := pdfCMap{width: 1}
	if dict := p.objects[font].dict; bytes.Contains(dict, []byte("/Type0")) {
		m.width = 2
	}
	if n, ok := pdfReference(p.objects[font].dict, "/ToUnicode"); ok {
		raw, _ := p.unpackStream(p.objects[n]) // what is there counts
		m.readRanges(raw)
	}
	p.cmaps[font] = m
	return m
}

const cmapMost = 1 << 17

// readRanges reads the lists of single codes and of ranges.
func (m *pdfCMap) readRanges(raw []byte) {
	m.texts = map[int]string{}
	var words [][]byte
	mode := 0
	for l := (pdfLexer{b: raw}); ; {
		token, kind := l.nextToken()
		switch {
		case kind == pdfEnd || len(m.texts) > cmapMost:
			return
		case kind == pdfWord && string(token) == "beginbfchar":
			mode, words = 1, nil
		case kind == pdfWord && string(token) == "beginbfrange":
			mode, words = 2, nil
		case kind == pdfWord && string(token) == "begincodespacerange":
			mode, words = 3, nil
		case kind == pdfWord:
			mode = 0
		case kind == pdfString && mode > 0:
			words = append(words, token)
		}
		switch {
		case mode == 3 && len(words) == 1:
			m.width = max(1, min(2, len(words[0])))
		case mode == 1 && len(words) == 2:
			m.texts[codeValue(words[0])] = wideText(words[1], true)
			words = nil
		case mode == 2 && len(words) == 3:
			from, to := codeValue(words[0]), codeValue(words[1])
			text := []rune(wideText(words[2], true))
			for c := from; c <= min(to, from+0xffff) && len(text) > 0; c++ {
				m.texts[c] = string(text)
				text[len(text)-1]++
			}
			words = nil
		}
	}
}

// codeValue returns the number that bytes of a code are.
func codeValue(b []byte) (n int) {
	for _, c := range b[:min(len(b), 3)] {
		n = n<<8 | int(c)
	}
	return n
}

// pdfPlainText returns the text of a string that needs no font.
func pdfPlainText(s []byte) []byte {
	if bytes.HasPrefix(s, []byte{0xfe, 0xff}) {
		return []byte(wideText(s[2:], true))
	}
	return s
}

// writeString writes the text of a string in a font.
func (m pdfCMap) writeString(b []byte, out *text) {
	if m.texts == nil {
		out.writeRaw(pdfPlainText(b))
		return
	}
	for len(b) >= m.width {
		if s, ok := m.texts[codeValue(b[:m.width])]; ok {
			out.writeRaw([]byte(s))
		}
		b = b[m.width:]
	}
}

// writeContent follows the operators of a page: what is shown, and where a line or a word ends.
func (p *pdf) writeContent(raw []byte, fonts func(name string) pdfCMap, out *text) error {
	var font pdfCMap
	var name string
	var shown [][]byte
	var numbers []float64
	for l := (pdfLexer{b: raw}); ; {
		token, kind := l.nextToken()
		switch kind {
		case pdfEnd:
			return out.endRow()
		case pdfName:
			name = string(token)
		case pdfString:
			shown = append(shown, bytes.Clone(token))
		case pdfNumberToken:
			n, _ := strconv.ParseFloat(string(token), 64) // none where it is no number
			const gap = -180                              // a blank of this many thousandths is one between words
			if len(shown) > 0 && n < gap {
				shown = append(shown, nil)
			}
			numbers = append(numbers, n)
		case pdfWord:
			switch string(token) {
			case "Tf":
				font = fonts(name)
			case "Tj", "TJ", "'", "\"":
				for _, s := range shown {
					if s == nil {
						out.writeRaw([]byte{' '})
					} else {
						font.writeString(s, out)
					}
				}
			case "Td", "TD":
				if n := len(numbers); n >= 2 && numbers[n-1] == 0 {
					out.writeRaw([]byte{' '})
				} else {
					out.writeRaw([]byte{'\n'})
				}
			case "T*", "ET", "Tm", "BT":
				out.writeRaw([]byte{'\n'})
			}
			shown, numbers = nil, nil
		}
		if err := out.firstError(); err != nil {
			return err
		}
	}
}

// pdfStrings returns the strings of an object, a line each.
func pdfStrings(dict []byte) []byte {
	var all []byte
	for l := (pdfLexer{b: dict}); ; {
		token, kind := l.nextToken()
		switch kind {
		case pdfEnd:
			return all
		case pdfString:
			all = append(append(all, pdfPlainText(token)...), '\n')
		default:
		}
	}
}

// pdfToken is the kind of a token in a content stream.
type pdfToken uint8

const (
	pdfEnd pdfToken = iota
	pdfWord
	pdfName
	pdfString
	pdfNumberToken
)

// pdfLexer cuts a content into what PDF is written in.
type pdfLexer struct {
	b  []byte
	at int
}

// nextToken returns the next token.
func (l *pdfLexer) nextToken() ([]byte, pdfToken) {
	for l.at < len(l.b) {
		c := l.b[l.at]
		switch {
		case c == '%':
			for l.at < len(l.b) && l.b[l.at] != '\n' && l.b[l.at] != '\r' {
				l.at++
			}
		case c == '(':
			return l.readLiteral(), pdfString
		case bytes.HasPrefix(l.b[l.at:], []byte("<<")):
			l.at += 2
		case c == '<':
			return l.readHexString(), pdfString
		case c == '/':
			l.at++
			return l.readWord(), pdfName
		case pdfDelimiter(c):
			l.at++
		default:
			w := l.readWord()
			if len(w) == 0 {
				l.at++
				continue
			}
			if w[0] >= '0' && w[0] <= '9' || w[0] == '-' || w[0] == '.' || w[0] == '+' {
				return w, pdfNumberToken
			}
			return w, pdfWord
		}
	}
	return nil, pdfEnd
}

// pdfDelimiter reports whether c ends a number, a name or an operator.
func pdfDelimiter(c byte) bool {
	return c <= ' ' || c == '<' || c == '>' || c == '[' || c == ']' || c == '{' || c == '}' || c == ')'
}

// readWord reads a word up to a delimiter.
func (l *pdfLexer) readWord() []byte {
	from := l.at
	for l.at < len(l.b) && !pdfDelimiter(l.b[l.at]) && l.b[l.at] != '/' && l.b[l.at] != '(' && l.b[l.at] != '%' {
		l.at++
	}
	return l.b[from:l.at]
}

// readLiteral reads (text), with its escapes and inner parentheses.
func (l *pdfLexer) readLiteral() (s []byte) {
	depth := 0
	for l.at < len(l.b) {
		c := l.b[l.at]
		l.at++
		switch {
		case c == '(':
			if depth++; depth == 1 {
				continue
			}
		case c == ')':
			if depth--; depth == 0 {
				return s
			}
		case c == '\\' && l.at < len(l.b):
			s = l.readEscape(s)
			continue
		}
		s = append(s, c)
	}
	return s
}

// readEscape reads what follows a backslash.
func (l *pdfLexer) readEscape(s []byte) []byte {
	c := l.b[l.at]
	l.at++
	switch {
	case c == 'n' || c == 'r' || c == 't' || c == 'b' || c == 'f':
		return append(s, ' ')
	case c == '\r' || c == '\n':
		return s
	case c >= '0' && c <= '7':
		v := int(c - '0')
		for range 2 {
			if l.at < len(l.b) && l.b[l.at] >= '0' && l.b[l.at] <= '7' {
				v = v<<3 | int(l.b[l.at]-'0')
				l.at++
			}
		}
		return append(s, byte(v))
	}
	return append(s, c)
}

// readHexString reads <hexadecimal digits>.
func (l *pdfLexer) readHexString() (s []byte) {
	text := l.b[l.at+1:]
	if end := bytes.IndexByte(text, '>'); end >= 0 {
		text = text[:end+1]
	}
	l.at += 1 + len(text)
	return decodeHex(text)
}
