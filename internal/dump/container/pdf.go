package container

import (
	"bytes"
	"errors"
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
