package container

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// officeNames are the parts by which a document is known, and those that others need.
var officeNames = map[string]bool{
	"xl/workbook.xml":      true,
	"xl/sharedStrings.xml": true,
	"word/document.xml":    true,
	"ppt/presentation.xml": true,
	"mimetype":             true,
}

// officePart returns what turns a part of a document into a text, or nil where it is read as it is: links, properties
// and all that is no text stay what they are.
func officePart(names map[string]*zip.File, name string) func(raw io.Reader, out *text, shared []string) error {
	base := name[strings.LastIndexByte(name, '/')+1:]
	switch {
	case names["xl/workbook.xml"] != nil && strings.HasPrefix(name, "xl/worksheets/") &&
		strings.HasSuffix(base, ".xml"):
		return writeSheet
	case names["word/document.xml"] != nil && strings.HasPrefix(name, "word/") && strings.HasSuffix(base, ".xml"):
		if startsWith("document", "header", "footer", "comments", "footnotes", "endnotes")([]byte(base)) {
			return writeRuns
		}
	case names["ppt/presentation.xml"] != nil && strings.HasPrefix(name, "ppt/") && strings.HasSuffix(base, ".xml") &&
		(strings.Contains(name, "slides/") || strings.Contains(name, "notesSlides/") ||
			strings.Contains(name, "comments")):
		return writeRuns
	case names["mimetype"] != nil && (name == "content.xml" || name == "styles.xml"):
		return writeOpenDocument
	}
	return nil
}

// officeFile reads a part of a document, if it is one.
func (w *walker) officeFile(
	l layer, names map[string]*zip.File, f *zip.File, shared *sharedStrings,
) (done bool, err error) {
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
	entry := layer{
		name:  entryName(l.name, f.Name),
		depth: l.depth,
		size:  int64(min(f.CompressedSize64, uint64(l.size))),
	}
	return true, w.handWritten(entry, func(out *text) error { return write(raw, out, shared.texts) })
}

// xmlHandlers are called with what a part of a document holds, in its order.
type xmlHandlers struct {
	start func(name string, attributes []xml.Attr)
	text  func(text []byte)
	end   func(name string) error
}

// readXML reads a part to its end, or to the first error of a handler.
func readXML(raw io.Reader, h xmlHandlers) error {
	d := xml.NewDecoder(raw)
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			h.start(t.Name.Local, t.Attr)
		case xml.CharData:
			h.text(t)
		case xml.EndElement:
			if err := h.end(t.Name.Local); err != nil {
				return err
			}
		}
	}
}

// attributeOf returns the value of an attribute, or what is given where there is none.
func attributeOf(attributes []xml.Attr, name, otherwise string) string {
	for _, a := range attributes {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return otherwise
}
