package container

import (
	"bytes"
	"strconv"
	"strings"
)

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

// pdfPlainText returns the text of a string that needs no font.
func pdfPlainText(s []byte) []byte {
	if bytes.HasPrefix(s, []byte{0xfe, 0xff}) {
		return []byte(wideText(s[2:], true))
	}
	return s
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
