package container

import (
	"archive/zip"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
)

// sharedStrings are the texts of a workbook, which cells point to. They are held while it is read.
type sharedStrings struct {
	texts  []string
	loaded bool
}

// loadStrings reads the texts that cells refer to.
func (s *sharedStrings) loadStrings(f *zip.File) error {
	if s.loaded || f == nil {
		return nil
	}
	s.loaded = true
	raw, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = raw.Close() }() // only read
	var one strings.Builder
	inText := false
	return readXML(raw, xmlHandlers{
		start: func(name string, _ []xml.Attr) { inText = name == "t" },
		text: func(text []byte) {
			if inText {
				one.Write(text)
			}
		},
		end: func(name string) error {
			if inText = false; name == "si" {
				s.texts = append(s.texts, one.String())
				one.Reset()
			}
			return nil
		},
	})
}

// writeSheet writes the cells of a worksheet in their columns.
func writeSheet(raw io.Reader, out *text, shared []string) error {
	var kind string
	var value strings.Builder
	column, at, inValue := 0, 0, false
	return readXML(raw, xmlHandlers{
		start: func(name string, attributes []xml.Attr) {
			switch name {
			case "row":
				column = 0
			case "c":
				kind, at = attributeOf(attributes, "t", ""), columnOf(attributeOf(attributes, "r", ""), column)
				value.Reset()
			case "v", "t":
				inValue = true
			}
		},
		text: func(text []byte) {
			if inValue {
				value.Write(text)
			}
		},
		end: func(name string) error {
			switch name {
			case "v", "t":
				inValue = false
			case "c":
				for ; column < at && column < 1<<14; column++ {
					out.writeCell(nil)
				}
				column++
				writeCell(out, kind, value.String(), shared)
			case "row":
				return out.endRow()
			}
			return nil
		},
	})
}

// writeCell writes what a cell shows: a shared text, a text, or a number without the exponent it is kept with.
func writeCell(out *text, kind, value string, shared []string) {
	switch kind {
	case "s":
		if i, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && i >= 0 && i < len(shared) {
			value = shared[i]
		}
	case "", "n":
		if f, err := strconv.ParseFloat(value, 64); err == nil && strings.ContainsAny(value, "eE") {
			out.writeNumber(f)
			return
		}
	}
	out.writeCell([]byte(value))
}

// columnOf reads the letters of a cell's name: AB12 is column 27.
func columnOf(name string, byDefault int) int {
	n := 0
	for _, c := range name {
		if c < 'A' || c > 'Z' {
			break
		}
		if n = n*26 + int(c-'A') + 1; n > 1<<14 {
			return byDefault
		}
	}
	if n == 0 {
		return byDefault
	}
	return n - 1
}
