package container

import (
	"bytes"
	"encoding/ascii85"
	"io"
	"strconv"

	"github.com/klauspost/compress/flate"

	"github.com/vigiahq/vigia/internal/dump/scan"
)

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
		for _, name := range bytes.FieldsFunc(dict[len("/Filter"):], func(c rune) bool {
			return c == ' ' || c == '[' ||
				c == '/' || c == '\r' || c == '\n'
		}) {
			switch string(name) {
			case "FlateDecode", "Fl":
				r = pdfInflate(r)
			case "ASCIIHexDecode", "AHx":
				r = decodeWhole(r, func(raw []byte) io.Reader { return bytes.NewReader(decodeHex(raw)) })
			case "ASCII85Decode", "A85":
				r = decodeWhole(r, pdfAscii85)
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

// pdfInflate reads zlib and forgives a sum that is wrong or missing.
func pdfInflate(r io.Reader) io.Reader {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil {
		return failed{io.ErrUnexpectedEOF}
	}
	return flate.NewReader(r)
}

// decodeWhole reads all of a stream and returns what decode makes of it.
func decodeWhole(r io.Reader, decode func(raw []byte) io.Reader) io.Reader {
	raw, err := io.ReadAll(r)
	if err != nil {
		return failed{err}
	}
	return decode(raw)
}

// pdfAscii85 decodes a stream in ASCII85 without the marks around it, which the decoder of the standard library
// refuses.
func pdfAscii85(raw []byte) io.Reader {
	raw = bytes.TrimPrefix(bytes.TrimSpace(raw), []byte("<~"))
	raw, _, _ = bytes.Cut(raw, []byte("~>"))
	return ascii85.NewDecoder(bytes.NewReader(raw))
}

// decodeHex returns what pairs of hexadecimal digits stand for, up to a '>'. Other characters are passed over, and half
// a pair at the end goes with a zero.
func decodeHex(text []byte) (s []byte) {
	half, pending := byte(0), false
	text, _, _ = bytes.Cut(text, []byte{'>'})
	for _, c := range text {
		if v := scan.HexDigitValue(c); v < 16 {
			if pending {
				s = append(s, half<<4|v)
			}
			half, pending = v, !pending
		}
	}
	if pending {
		s = append(s, half<<4)
	}
	return s
}
