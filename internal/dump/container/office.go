package container

import (
	"archive/zip"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/richardlehane/mscfb"

	"github.com/vigiahq/vigia/internal/dump/scan"
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
	l layer,
	names map[string]*zip.File,
	f *zip.File,
	shared *sharedStrings,
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
				cells, _ = strconv.Atoi(
					attributeOf(attributes, "number-columns-repeated", "1"),
				) // none where it is no number
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

// oleFormat is the file of many streams in which Office kept documents before 2007, and Outlook keeps messages.
var oleFormat = inPlaceFormat("OLE document", startsWith("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), (*walker).walkOLE)

// walkOLE hands out the streams: workbooks as rows, texts of messages as such, attachments opened, the rest as it is.
func (w *walker) walkOLE(l layer) error {
	streams, err := mscfb.New(l.at)
	if err != nil {
		return w.noteDamage(l.name, 0, err)
	}
	for _, e := range streams.File {
		if e.Name == "EncryptedPackage" || e.Name == "EncryptionInfo" {
			w.noteSkip(l.name, errEncrypted.Error(), 0)
			return nil
		}
	}
	for _, e := range streams.File {
		if e.FileInfo().IsDir() || e.Size == 0 {
			continue
		}
		if err := w.countFile(l.name); err != nil {
			return err
		}
		if err := w.oleStream(l, e); err != nil {
			return err
		}
	}
	return nil
}

// oleStream hands on one stream of an OLE file: a workbook as rows, text of Word and Outlook in all its encodings, an
// attachment as a file of its own, and any other stream as it is.
func (w *walker) oleStream(l layer, e *mscfb.File) error {
	entry := layer{name: entryName(l.name, e.Name), depth: l.depth, size: l.size}
	switch {
	case e.Name == "Workbook" || e.Name == "Book":
		return w.handWritten(entry, func(out *text) error { return writeXLS(e, out) })
	case strings.HasPrefix(e.Name, "__substg1.0_") && strings.HasSuffix(e.Name, "001F"), e.Name == "WordDocument":
		return w.handWritten(entry, func(out *text) error { return writeMixed(e, out) })
	case strings.HasPrefix(e.Name, "__substg1.0_3701"): // an attachment
		return w.openLayer(
			layer{name: entry.name, depth: l.depth + 1},
			&meter{w: w, name: entry.name, r: e, in: func() int64 { return l.size }},
		)
	}
	return w.handEntry(Entry{Name: entry.name, Depth: l.depth + 1}, e)
}

// writeMixed writes bytes that hold texts of one and of two bytes a character: zeros between letters are left out, and
// what is no text ends a line.
func writeMixed(r io.Reader, out *text) error {
	buf := make([]byte, 32<<10)
	zeros := 0
	for {
		n, err := r.Read(buf)
		for _, c := range buf[:n] {
			switch {
			case c == 0:
				if zeros++; zeros == 2 {
					out.writeRaw([]byte{'\n'})
				}
				continue
			case c < ' ' && c != '\t':
				out.writeRaw([]byte{'\n'})
			default:
				out.writeRaw([]byte{c})
			}
			zeros = 0
		}
		if err := out.firstError(); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return out.endRow()
		}
		if err != nil {
			return err
		}
	}
}

// writeXLS writes the cells of a workbook of Excel 97 to 2003: records of a kind and a length.
func writeXLS(r io.Reader, out *text) error {
	x := &xls{out: out}
	for {
		var head [4]byte
		n, err := scan.FillBuffer(r, head[:])
		if n < len(head) {
			if errors.Is(err, io.EOF) {
				return x.endXLSRow()
			}
			return cutShort(err)
		}
		body := make([]byte, binary.LittleEndian.Uint16(head[2:]))
		n, err = scan.FillBuffer(r, body)
		if werr := x.readRecord(binary.LittleEndian.Uint16(head[:]), body[:n]); werr != nil {
			return werr
		}
		if n < len(body) {
			return cutShort(err)
		}
	}
}

// xls writes the cells of a workbook in BIFF8, record by record, in the order of rows and columns.
type xls struct {
	out    *text
	texts  []string // shared by cells
	raw    []byte   // the record of texts and those that continue it
	breaks []int    // where a record ends in raw
	inText bool
	row    int
	column int
}

const (
	xlsTexts    = 0x00fc
	xlsContinue = 0x003c
	xlsText     = 0x00fd // a cell that points to a text
	xlsLabel    = 0x0204 // a cell with a text of its own
	xlsNumber   = 0x0203
	xlsShort    = 0x027e // a number in four bytes
	xlsShorts   = 0x00bd
	xlsFormula  = 0x0006
	xlsString   = 0x0207 // what a formula gives
	xlsLocked   = 0x002f
	xlsMost     = 64 << 20
)

func (x *xls) readRecord(kind uint16, b []byte) error {
	u := binary.LittleEndian
	if kind == xlsContinue && x.inText {
		if len(x.raw)+len(b) > xlsMost {
			return errTooLarge
		}
		x.breaks = append(x.breaks, len(x.raw))
		x.raw = append(x.raw, b...)
		return nil
	}
	if x.inText {
		x.endTexts()
	}
	switch {
	case kind == xlsLocked:
		return errEncrypted
	case kind == xlsTexts && len(b) > 8:
		x.raw, x.inText = append([]byte{}, b[8:]...), true
	case kind == xlsText && len(b) >= 10:
		if i := int(u.Uint32(b[6:])); i < len(x.texts) {
			return x.writeCell(b, func() { x.out.writeCell([]byte(x.texts[i])) })
		}
	case kind == xlsLabel && len(b) > 9:
		s, _, _ := xlsUnicode(b[6:], nil, 0)
		return x.writeCell(b, func() { x.out.writeCell([]byte(s)) })
	case kind == xlsNumber && len(b) >= 14, kind == xlsFormula && len(b) >= 14 && u.Uint16(b[12:]) != 0xffff:
		return x.writeCell(b, func() { x.out.writeNumber(math.Float64frombits(u.Uint64(b[6:]))) })
	case kind == xlsShort && len(b) >= 10:
		return x.writeCell(b, func() { x.out.writeNumber(xlsShortNumber(u.Uint32(b[6:]))) })
	case kind == xlsShorts && len(b) >= 6:
		for i := 4; i+6 <= len(b)-2; i += 6 {
			cell := append([]byte{b[0], b[1]}, 0, 0)
			u.PutUint16(cell[2:], u.Uint16(b[2:])+uint16((i-4)/6))
			if err := x.writeCell(cell, func() { x.out.writeNumber(xlsShortNumber(u.Uint32(b[i+2:]))) }); err != nil {
				return err
			}
		}
	case kind == xlsString && len(b) > 3:
		s, _, _ := xlsUnicode(b, nil, 0)
		x.out.writeCell([]byte(s))
	}
	return nil
}

// writeCell begins a row where the number of the row changes, and leaves out the columns between.
func (x *xls) writeCell(b []byte, write func()) error {
	row, column := int(binary.LittleEndian.Uint16(b)), int(binary.LittleEndian.Uint16(b[2:]))
	if row != x.row || column < x.column {
		if err := x.endXLSRow(); err != nil {
			return err
		}
		x.row = row
	}
	for ; x.column < min(column, 256); x.column++ {
		x.out.writeCell(nil)
	}
	x.column++
	write()
	return x.out.firstError()
}

// endXLSRow ends the row that is being written.
func (x *xls) endXLSRow() error {
	x.column = 0
	return x.out.endRow()
}

// xlsShortNumber decodes an RK number: an integer or the upper half of a float, multiplied by 100 if a flag says so.
func xlsShortNumber(v uint32) float64 {
	f := float64(int32(v) >> 2)
	if v&2 == 0 {
		f = math.Float64frombits(uint64(v&^3) << 32)
	}
	if v&1 != 0 {
		f /= 100
	}
	return f
}

// endTexts takes the shared texts apart, which go on over the ends of records.
func (x *xls) endTexts() {
	x.inText = false
	for at := 0; at+3 <= len(x.raw); {
		s, next, ok := xlsUnicode(x.raw, x.breaks, at)
		x.texts = append(x.texts, s)
		if !ok {
			break
		}
		at = next
	}
	x.raw, x.breaks = nil, nil
}

// xlsUnicode reads the text at b[at]: how many characters it has, flags, and these. Where a record ends within it, its
// flags come again.
func xlsUnicode(b []byte, breaks []int, at int) (s string, next int, ok bool) {
	count := int(binary.LittleEndian.Uint16(b[at:]))
	at += 2
	if at >= len(b) {
		return "", at, false
	}
	flags := b[at]
	at++
	extra := 0
	if flags&8 != 0 && at+2 <= len(b) {
		extra += 4 * int(binary.LittleEndian.Uint16(b[at:]))
		at += 2
	}
	if flags&4 != 0 && at+4 <= len(b) {
		extra += int(binary.LittleEndian.Uint32(b[at:]) & 0xffffff)
		at += 4
	}
	var runes []rune
	for ; count > 0; count-- {
		for len(breaks) > 0 && breaks[0] < at {
			breaks = breaks[1:]
		}
		if len(breaks) > 0 && breaks[0] == at && at < len(b) {
			flags = flags&^1 | b[at]&1
			at++
			breaks = breaks[1:]
		}
		width := 1 + int(flags&1)
		if at+width > len(b) {
			return string(runes), at, false
		}
		c := rune(b[at])
		if width == 2 {
			c |= rune(b[at+1]) << 8
		}
		runes = append(runes, c)
		at += width
	}
	return string(runes), at + extra, true
}
