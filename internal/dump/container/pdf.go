package container

import (
	"bytes"
	"encoding/ascii85"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/vigiahq/vigia/internal/dump/scan"
)

// pdfFormat reads the texts of a PDF: page by page where its objects can be found, and else whatever is packed in it.
var pdfFormat = document("PDF", startsWith("%PDF-"), func(d *source, out *text) error {
	if d.size > pdfLargest {
		return errTooLarge
	}
	file := make([]byte, d.size)
	if err := readExactly(d, file, 0); err != nil {
		return err
	}
	p := &pdf{file: file, objects: map[int]pdfObject{}}
	return p.writeText(out)
})

// pdfLargest is the most of a PDF that is held: its objects refer to each other from end to end.
const pdfLargest = 64 << 20

// pdf is a file and the objects found in it, by number. Tables of references are not asked: they are often wrong, and
// objects can be seen.
type pdf struct {
	file    []byte
	objects map[int]pdfObject
	cmaps   map[int]pdfCMap
	fonts   map[string]pdfCMap // of any page
	pages   map[int]int        // from a content to the page that shows it
}

// pdfObject is what stands between obj and endobj.
type pdfObject struct {
	dict   []byte
	stream []byte // still packed
}

// errPDFLocked is the verdict on a PDF that asks for a password.
var errPDFLocked = errors.New("encrypted: a PDF with a password")

// writeText writes the text of all pages.
func (p *pdf) writeText(out *text) error {
	p.findObjects(p.file)
	if len(p.objects) == 0 {
		return errDamaged // the head of a PDF before something else, or nothing left of one
	}
	for _, o := range p.objects {
		if containsMark(o.dict, "/Type/XRef", "/Type /XRef") && containsMark(o.dict, "/Encrypt") {
			return errPDFLocked
		}
	}
	if at := bytes.LastIndex(p.file, []byte("trailer")); at >= 0 && bytes.Contains(p.file[at:], []byte("/Encrypt")) {
		return errPDFLocked
	}
	p.unpackObjects()
	p.findFonts()
	lost := error(nil)
	for _, n := range p.objectNumbers() {
		o := p.objects[n]
		if o.stream == nil || pdfNoText(o.dict) {
			if err := out.writeLine(pdfStrings(o.dict)); err != nil { // titles, forms, links
				return err
			}
			continue
		}
		raw, err := p.unpackStream(o)
		if err != nil && lost == nil {
			lost = err
		}
		if err := p.writeContent(raw, p.pageFonts(n), out); err != nil {
			return err
		}
	}
	return lost
}

// objectNumbers returns the numbers of all objects in rising order.
func (p *pdf) objectNumbers() []int {
	return slices.Sorted(maps.Keys(p.objects))
}

// pdfNoText tells streams that hold pictures, fonts and tables.
func pdfNoText(dict []byte) bool {
	return containsMark(
		dict,
		"/Subtype/Image",
		"/Subtype /Image",
		"/FontFile",
		"/Length1",
		"/Type/XRef",
		"/Type /XRef",
		"/Type/ObjStm",
		"/Type /ObjStm",
		"/CIDFontType0C",
		"/Type1C",
		"/ICCBased",
		"/FunctionType",
		"/ShadingType",
	)
}

// containsMark reports whether one of several marks stands in a dictionary.
func containsMark(dict []byte, marks ...string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return bytes.Contains(dict, []byte(mark)) })
}

// findObjects looks for "12 0 obj".
func (p *pdf) findObjects(file []byte) {
	for at := 0; ; {
		i := bytes.Index(file[at:], []byte(" obj"))
		if i < 0 {
			return
		}
		start := at + i
		at = start + 4
		n, ok := numberBefore(file, start)
		if !ok {
			continue
		}
		body := file[at:]
		end := bytes.Index(body, []byte("endobj"))
		if end < 0 {
			end = len(body)
		}
		s := bytes.Index(body[:end], []byte("stream"))
		o := pdfObject{dict: body[:end]}
		if s >= 0 {
			o = p.streamOf(body, s)
			at += s
		}
		p.objects[n] = o
	}
}

// streamOf cuts a stream at its end, as its length says or as it is seen.
func (p *pdf) streamOf(body []byte, s int) pdfObject {
	dict, rest := body[:s], body[s+len("stream"):]
	rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("\r")), []byte("\n"))
	end := bytes.Index(rest, []byte("endstream"))
	if length, ok := pdfNumber(
		dict,
		"/Length",
	); ok && length < len(rest) &&
		bytes.HasPrefix(bytes.TrimLeft(rest[length:], "\r\n "), []byte("endstream")) {
		end = length
	}
	if end < 0 {
		end = len(rest)
	}
	return pdfObject{dict: dict, stream: rest[:end]}
}

// numberBefore reads the number of an object backwards: "12 0" before " obj".
func numberBefore(file []byte, end int) (int, bool) {
	const digits = "0123456789"
	generation := len(bytes.TrimRight(file[:end], digits))
	if generation == end || generation == 0 || file[generation-1] != ' ' {
		return 0, false
	}
	start := len(bytes.TrimRight(file[:generation-1], digits))
	n, err := strconv.Atoi(string(file[start : generation-1]))
	return n, err == nil
}

// pdfNumber reads a number behind a name, unless it is kept in another object.
func pdfNumber(dict []byte, name string) (int, bool) {
	n, isReference, ok := pdfInteger(dict, name+" ")
	return n, ok && !isReference
}

// pdfReference reads the object that a name refers to.
func pdfReference(dict []byte, name string) (int, bool) {
	n, isReference, ok := pdfInteger(dict, name)
	return n, ok && isReference
}

// pdfInteger reads the number behind a name, and says whether it is that of an object.
func pdfInteger(dict []byte, name string) (n int, isReference, ok bool) {
	i := bytes.Index(dict, []byte(name))
	if i < 0 {
		return 0, false, false
	}
	digits := bytes.TrimLeft(dict[i+len(name):], " \r\n")
	rest := bytes.TrimLeft(digits, "0123456789")
	n, err := strconv.Atoi(string(digits[:len(digits)-len(rest)]))
	return n, bytes.HasPrefix(bytes.TrimLeft(rest, " "), []byte("0 R")), err == nil
}

// pdfRatio is how much a stream may swell.
const pdfRatio = 200

// unpackStream undoes the filters of a stream; what came out before an error counts.
func (p *pdf) unpackStream(o pdfObject) ([]byte, error) {
	var r io.Reader = bytes.NewReader(o.stream)
	most := int64(slack) + pdfRatio*int64(len(o.stream))
	dict := o.dict
	if i := bytes.Index(dict, []byte("/Filter")); i >= 0 {
		dict = dict[i:]
		if end := bytes.IndexAny(dict, "]>"); end >= 0 {
			dict = dict[:end]
		}
		for _, name := range bytes.FieldsFunc(dict[len("/Filter"):], func(c rune) bool {
			return c == ' ' || c == '[' ||
				c == '/' || c == '\r' || c == '\n'
		}) {
			switch string(name) {
			case "FlateDecode", "Fl":
				r = pdfInflate(r)
			case "ASCIIHexDecode", "AHx":
				r = decodeWhole(r, func(raw []byte) io.Reader { return bytes.NewReader(decodeHex(raw)) })
			case "ASCII85Decode", "A85":
				r = decodeWhole(r, pdfAscii85)
			case "LZWDecode", "DCTDecode", "JPXDecode", "CCITTFaxDecode", "JBIG2Decode", "RunLengthDecode", "Crypt":
				return nil, nil // pictures, nearly always
			}
		}
	}
	text, err := io.ReadAll(io.LimitReader(r, most))
	if int64(len(text)) == most {
		return text, ErrBomb.Note("PDF: unpacks to more than %d times its size", pdfRatio)
	}
	return text, err
}

// unpackObjects finds the objects that are packed together in streams of objects.
func (p *pdf) unpackObjects() {
	for _, n := range p.objectNumbers() {
		o := p.objects[n]
		if o.stream == nil || !bytes.Contains(o.dict, []byte("/ObjStm")) {
			continue
		}
		text, _ := p.unpackStream(o) // what is there counts
		count, _ := pdfNumber(o.dict, "/N")
		first, _ := pdfNumber(o.dict, "/First")
		if first > len(text) {
			continue
		}
		table := bytes.Fields(text[:first])
		for i := 0; i < count && 2*i+1 < len(table); i++ {
			number, err := strconv.Atoi(string(table[2*i]))
			from, err2 := strconv.Atoi(string(table[2*i+1]))
			to := len(text) - first
			if 2*i+3 < len(table) {
				to, _ = strconv.Atoi(string(table[2*i+3])) // an end that is none is refused below
			}
			if err == nil && err2 == nil && from >= 0 && from <= to && first+to <= len(text) {
				if _, there := p.objects[number]; !there {
					p.objects[number] = pdfObject{dict: text[first+from : first+to]}
				}
			}
		}
	}
}

// pdfInflate reads zlib and forgives a sum that is wrong or missing.
func pdfInflate(r io.Reader) io.Reader {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil {
		return failed{io.ErrUnexpectedEOF}
	}
	return flate.NewReader(r)
}

// decodeWhole reads all of a stream and returns what decode makes of it.
func decodeWhole(r io.Reader, decode func(raw []byte) io.Reader) io.Reader {
	raw, err := io.ReadAll(r)
	if err != nil {
		return failed{err}
	}
	return decode(raw)
}

// pdfAscii85 decodes a stream in ASCII85 without the marks around it, which the decoder of the standard library
// refuses.
func pdfAscii85(raw []byte) io.Reader {
	raw = bytes.TrimPrefix(bytes.TrimSpace(raw), []byte("<~"))
	raw, _, _ = bytes.Cut(raw, []byte("~>"))
	return ascii85.NewDecoder(bytes.NewReader(raw))
}

// decodeHex returns what pairs of hexadecimal digits stand for, up to a '>'. Other characters are passed over, and half
// a pair at the end goes with a zero.
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

// cmapMost bounds the entries of a font's map, which may be claimed by ranges of any length.
const cmapMost = 1 << 17

// cmapModes are the words that begin a list of a font's map: of single codes, of ranges, of the widths of codes.
var cmapModes = map[string]int{"beginbfchar": 1, "beginbfrange": 2, "begincodespacerange": 3}

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
		case kind == pdfWord:
			mode, words = cmapModes[string(token)], nil
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

// writeString writes the text of a string in a font and returns about how wide it is.
func (m pdfCMap) writeString(b []byte, out *text) (width float64) {
	if m.texts == nil {
		said := pdfPlainText(b)
		out.writeRaw(said)
		return estimateWidth(string(said))
	}
	for len(b) >= m.width {
		said := m.texts[codeValue(b[:m.width])]
		out.writeRaw([]byte(said))
		width += estimateWidth(said[:min(len(said), mostOfCode)])
		b = b[m.width:]
	}
	return width
}

// mostOfCode is how many bytes of what one code stands for are measured: ligatures have three letters, hostile maps a
// megabyte.
const mostOfCode = 16

// estimateWidth returns about how wide a text is, in parts of the size of its font. Widths of fonts are not read: those
// of letters differ little from one font to the next.
func estimateWidth(s string) (width float64) {
	for _, r := range s {
		switch {
		case strings.ContainsRune("ijl.,:;'|!/ ()[]-ftr", r):
			width += 0.3
		case strings.ContainsRune("mwMW@", r):
			width += 0.85
		case r >= 'A' && r <= 'Z':
			width += 0.67
		default:
			width += 0.53
		}
	}
	return width
}

// isGap reports whether a move along the line, from the beginning of a text of this width, goes so far behind its end
// that a blank is meant. Some programs write kerned letters one by one, with a move to each.
func isGap(move, size, width float64) bool {
	return move < 0 || move > size*(width*1.2+0.2)
}

// writeContent follows the operators of a page: what is shown, and where a line or a word ends.
func (p *pdf) writeContent(raw []byte, fonts func(name string) pdfCMap, out *text) error {
	var font pdfCMap
	var name string
	var shown [][]byte
	var numbers []float64
	var size, width float64 // of the font, and of the text since the last move
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
				if n := len(numbers); n > 0 {
					size = numbers[n-1]
				}
			case "Tj", "TJ", "'", "\"":
				for _, s := range shown {
					if s == nil {
						out.writeRaw([]byte{' '})
					} else {
						width += font.writeString(s, out)
					}
				}
			case "Td", "TD":
				if n := len(numbers); n < 2 || numbers[n-1] != 0 {
					out.writeRaw([]byte{'\n'})
				} else if isGap(numbers[n-2], size, width) {
					out.writeRaw([]byte{' '})
				}
				width = 0
			case "T*", "ET", "Tm", "BT":
				out.writeRaw([]byte{'\n'})
				width = 0
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
