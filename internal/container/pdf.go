package container

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
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

var errPDFLocked = errors.New("encrypted: a PDF with a password")

// writeText writes the text of all pages.
func (p *pdf) writeText(out *text) error {
	p.findObjects(p.file)
	for _, o := range p.objects {
		if bytes.Contains(o.dict, []byte("/Type/XRef")) || bytes.Contains(o.dict, []byte("/Type /XRef")) {
			if bytes.Contains(o.dict, []byte("/Encrypt")) {
				return errPDFLocked
			}
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
	for _, mark := range []string{"/Subtype/Image", "/Subtype /Image", "/FontFile", "/Length1", "/Type/XRef", "/Type /XRef", "/Type/ObjStm", "/Type /ObjStm", "/CIDFontType0C", "/Type1C", "/ICCBased", "/FunctionType", "/ShadingType"} {
		if bytes.Contains(dict, []byte(mark)) {
			return true
		}
	}
	return false
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
	if length, ok := pdfNumber(dict, "/Length"); ok && length < len(rest) && bytes.HasPrefix(bytes.TrimLeft(rest[length:], "\r\n "), []byte("endstream")) {
		end = length
	}
	if end < 0 {
		end = len(rest)
	}
	return pdfObject{dict: dict, stream: rest[:end]}
}

// numberBefore reads the number of an object backwards: "12 0" before " obj".
func numberBefore(file []byte, end int) (int, bool) {
	back := func(i int) int {
		for i > 0 && file[i-1] >= '0' && file[i-1] <= '9' {
			i--
		}
		return i
	}
	generation := back(end)
	if generation == end || generation == 0 || file[generation-1] != ' ' {
		return 0, false
	}
	start := back(generation - 1)
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
		for _, name := range bytes.FieldsFunc(dict[len("/Filter"):], func(c rune) bool { return c == ' ' || c == '[' || c == '/' || c == '\r' || c == '\n' }) {
			switch string(name) {
			case "FlateDecode", "Fl":
				r = pdfInflate(r)
			case "ASCIIHexDecode", "AHx":
				r = pdfHex(r)
			case "ASCII85Decode", "A85":
				r = pdfAscii85(r)
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
