package container

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

// officeNames are the parts by which a document is known, and those that others need.
var officeNames = map[string]bool{
	"xl/workbook.xml": true, "xl/sharedStrings.xml": true, "word/document.xml": true, "ppt/presentation.xml": true, "mimetype": true,
}

// officePart returns what turns a part of a document into a text, or nil where it is read as it is: links, properties
// and all that is no text stay what they are.
func officePart(names map[string]*zip.File, name string) func(d *xml.Decoder, out *text, shared []string) error {
	base := name[strings.LastIndexByte(name, '/')+1:]
	switch {
	case names["xl/workbook.xml"] != nil && strings.HasPrefix(name, "xl/worksheets/") && strings.HasSuffix(base, ".xml"):
		return writeSheet
	case names["word/document.xml"] != nil && strings.HasPrefix(name, "word/") && strings.HasSuffix(base, ".xml"):
		for _, part := range []string{"document", "header", "footer", "comments", "footnotes", "endnotes"} {
			if strings.HasPrefix(base, part) {
				return writeRuns
			}
		}
	case names["ppt/presentation.xml"] != nil && strings.HasPrefix(name, "ppt/") && strings.HasSuffix(base, ".xml") &&
		(strings.Contains(name, "slides/") || strings.Contains(name, "notesSlides/") || strings.Contains(name, "comments")):
		return writeRuns
	case names["mimetype"] != nil && (name == "content.xml" || name == "styles.xml"):
		return writeOpenDocument
	}
	return nil
}

// officeFile reads a part of a document, if it is one.
func (w *walker) officeFile(l layer, names map[string]*zip.File, f *zip.File, shared *sharedStrings) (done bool, err error) {
	write := officePart(names, f.Name)
	if write == nil || f.Flags&zipEncrypted != 0 {
		return false, nil
	}
	if err := w.countFile(l.name); err != nil {
		return true, err
	}
	if err := shared.loadStrings(names["xl/sharedStrings.xml"]); err != nil { // cells would point nowhere
		return true, w.noteDamage(entryName(l.name, "xl/sharedStrings.xml"), 0, err)
	}
	raw, err := f.Open()
	if err != nil {
		return true, w.noteDamage(entryName(l.name, f.Name), 0, err)
	}
	defer func() { _ = raw.Close() }() // only read
	entry := layer{name: entryName(l.name, f.Name), depth: l.depth, size: int64(min(f.CompressedSize64, uint64(l.size)))}
	return true, w.handWritten(entry, func(out *text) error {
		d := xml.NewDecoder(raw)
		d.Strict = false
		d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
		err := write(d, out, shared.texts)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return err
	})
}

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
	d := xml.NewDecoder(raw)
	d.Strict = false
	var one strings.Builder
	inText := false
	for {
		token, err := d.RawToken()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			inText = t.Name.Local == "t"
		case xml.CharData:
			if inText {
				one.Write(t)
			}
		case xml.EndElement:
			inText = false
			if t.Name.Local == "si" {
				s.texts = append(s.texts, one.String())
				one.Reset()
			}
		}
	}
}

// writeSheet writes the cells of a worksheet in their columns.
func writeSheet(d *xml.Decoder, out *text, shared []string) error {
	var kind string
	var value strings.Builder
	column, at, inValue := 0, 0, false
	for {
		token, err := d.RawToken()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "row":
				column = 0
			case "c":
				kind, at = "", column
				for _, a := range t.Attr {
					switch a.Name.Local {
					case "t":
						kind = a.Value
					case "r":
						at = columnOf(a.Value, column)
					}
				}
				value.Reset()
			case "v", "t":
				inValue = true
			}
		case xml.CharData:
			if inValue {
				value.Write(t)
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "v", "t":
				inValue = false
			case "c":
				for ; column < at && column < 1<<14; column++ {
					out.writeCell(nil)
				}
				column++
				writeCell(out, kind, value.String(), shared)
			case "row":
				if err := out.endRow(); err != nil {
					return err
				}
			}
		}
	}
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

// writeRuns writes the text of a document, whose paragraphs are cut into runs at every change of style.
func writeRuns(d *xml.Decoder, out *text, _ []string) error {
	inText := false
	for {
		token, err := d.RawToken()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "t", "instrText", "delText":
				inText = true
			case "tab":
				out.writeRaw([]byte{'\t'})
			case "br", "cr":
				out.writeRaw([]byte{'\n'})
			}
		case xml.CharData:
			if inText {
				out.writeRaw(t)
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "t", "instrText", "delText":
				inText = false
			case "tc":
				out.writeRaw([]byte{'\t'})
			case "p", "tr":
				out.writeRaw([]byte{'\n'})
			}
		}
		if err := out.firstError(); err != nil {
			return err
		}
	}
}

// writeOpenDocument writes texts and tables of LibreOffice: numbers as they are kept, not as they are shown.
func writeOpenDocument(d *xml.Decoder, out *text, _ []string) error {
	var shown strings.Builder
	number, inCell, cells := "", false, 1
	for {
		token, err := d.RawToken()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "table-cell", "covered-table-cell":
				shown.Reset()
				number, inCell, cells = "", true, 1
				for _, a := range t.Attr {
					switch a.Name.Local {
					case "value":
						number = a.Value
					case "number-columns-repeated":
						cells, _ = strconv.Atoi(a.Value) // none where it is no number
					}
				}
			case "tab", "s", "line-break":
				shown.WriteByte(' ')
			case "a":
				for _, a := range t.Attr {
					if a.Name.Local == "href" {
						shown.WriteString(a.Value + " ")
					}
				}
			}
		case xml.CharData:
			shown.Write(t)
		case xml.EndElement:
			switch t.Name.Local {
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
				if err := out.endRow(); err != nil {
					return err
				}
			}
		}
	}
}
