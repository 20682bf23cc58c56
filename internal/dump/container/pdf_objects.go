package container

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
)

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
	if length, ok := pdfNumber(dict, "/Length"); ok && length < len(rest) &&
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
