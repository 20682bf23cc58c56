package container

import (
	"bytes"
	"strconv"
)

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
