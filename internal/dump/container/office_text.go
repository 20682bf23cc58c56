package container

import (
	"encoding/xml"
	"io"
	"strconv"
	"strings"
)

// writeRuns writes the text of a document, whose paragraphs are cut into runs at every change of style.
func writeRuns(raw io.Reader, out *text, _ []string) error {
	inText := false
	return readXML(raw, xmlHandlers{
		start: func(name string, _ []xml.Attr) {
			switch name {
			case "t", "instrText", "delText":
				inText = true
			case "tab":
				out.writeRaw([]byte{'\t'})
			case "br", "cr":
				out.writeRaw([]byte{'\n'})
			}
		},
		text: func(text []byte) {
			if inText {
				out.writeRaw(text)
			}
		},
		end: func(name string) error {
			switch name {
			case "t", "instrText", "delText":
				inText = false
			case "tc":
				out.writeRaw([]byte{'\t'})
			case "p", "tr":
				out.writeRaw([]byte{'\n'})
			}
			return out.firstError()
		},
	})
}

// writeOpenDocument writes texts and tables of LibreOffice: numbers as they are kept, not as they are shown.
func writeOpenDocument(raw io.Reader, out *text, _ []string) error {
	var shown strings.Builder
	number, inCell, cells := "", false, 1
	return readXML(raw, xmlHandlers{
		start: func(name string, attributes []xml.Attr) {
			switch name {
			case "table-cell", "covered-table-cell":
				shown.Reset()
				number, inCell = attributeOf(attributes, "value", ""), true
				repeated := attributeOf(attributes, "number-columns-repeated", "1")
				cells, _ = strconv.Atoi(repeated) // none where it is no number
			case "tab", "s", "line-break":
				shown.WriteByte(' ')
			case "a":
				if link := attributeOf(attributes, "href", ""); link != "" {
					shown.WriteString(link + " ")
				}
			}
		},
		text: func(text []byte) { shown.Write(text) },
		end: func(name string) error {
			switch name {
			case "table-cell", "covered-table-cell":
				if number != "" {
					writeCell(out, "n", number, nil)
				} else {
					out.writeCell([]byte(shown.String()))
				}
				for range min(max(cells-1, 0), 64) {
					out.writeCell(nil)
				}
				shown.Reset()
				inCell = false
			case "table-row", "p", "h":
				if inCell {
					shown.WriteByte(' ')
					break
				}
				out.writeRaw([]byte(shown.String()))
				shown.Reset()
				return out.endRow()
			}
			return nil
		},
	})
}
