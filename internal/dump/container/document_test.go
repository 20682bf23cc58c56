package container

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf16"
)

func pdfFile(t *testing.T, packed bool, objects ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	for i, o := range objects {
		dict, content, stream := strings.Cut(o, "\nSTREAM\n")
		if !stream {
			fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
			continue
		}
		raw, filter := []byte(content), ""
		if packed {
			raw, filter = compressed(t, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil },
				raw), "/Filter /FlateDecode "
		}
		fmt.Fprintf(
			&b,
			"%d 0 obj\n<< %s%s /Length %d >>\nstream\n%s\nendstream\nendobj\n",
			i+1,
			filter,
			strings.Trim(dict, "<> "),
			len(raw),
			raw,
		)
	}
	b.WriteString("trailer << /Root 1 0 R >>\n%%EOF\n")
	return b.Bytes()
}

func pdfFormats(t *testing.T) []subformat {
	page := "<< /Type /Page /Resources << /Font << /F1 3 0 R >> >> /Contents 4 0 R >>"
	font := "<< /Type /Font /Subtype /Type1 >>"
	plain := "BT /F1 12 Tf 10 700 Td (maria@) Tj (exemplo.com) Tj 0 -14 Td [(529.9) -20 (82.247) 3 (-25)] TJ ET"
	cmap := "1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0001> <007F> <0021> endbfrange"
	code := func(s string) (hex string) {
		for _, c := range s {
			hex += fmt.Sprintf("%04x", c-0x20)
		}
		return hex
	}
	// As Chromium prints: letters that are kerned are moved to, one after the other; cells of a row are farther apart.
	moved := "BT /F1 16 Tf 1 0 0 -1 105 85 Tm (maria@e) Tj 67.5 0 Td (x) Tj 8 0 Td (emplo) Tj 45.4 0 Td (.com) Tj ET " +
		"BT /F1 16 Tf 10 100 Td (Maria) Tj 96 0 Td (529.982.247-25) Tj 160 0 Td (Rua 7) Tj ET"
	wide := "BT /F1 12 Tf <" + code("maria@exemplo.com") + "> Tj T* <" + code("52998224725") + "> Tj ET"
	objects := "11 0 12 " + fmt.Sprint(len("<< /Title (maria@exemplo.com) >>")+1) + " "
	inner := "<< /Title (maria@exemplo.com) >> << /Subject (529.982.247\\05525) >>"
	return grouped("PDF", []subformat{
		{name: "plain content", file: pdfFile(t, false, "<< /Type /Catalog >>", page, font, "<<>>\nSTREAM\n"+plain)},
		{
			name: "packed content, kerned",
			file: pdfFile(t, true, "<< /Type /Catalog >>", page, font, "<<>>\nSTREAM\n"+plain),
		},
		{
			name: "moves between letters",
			file: pdfFile(t, true, "<< /Type /Catalog >>", page, font, "<<>>\nSTREAM\n"+moved),
		},
		{
			name: "codes of a font",
			file: pdfFile(
				t,
				true,
				"<< /Type /Catalog >>",
				page,
				"<< /Type /Font /Subtype /Type0 /ToUnicode 5 0 R >>",
				"<<>>\nSTREAM\n"+wide,
				"<<>>\nSTREAM\n"+cmap,
			),
		},
		{
			name: "objects packed together",
			file: pdfFile(
				t,
				true,
				"<< /Type /Catalog >>",
				"<< /Type /ObjStm /N 2 /First "+fmt.Sprint(len(objects))+" >>\nSTREAM\n"+objects+inner,
			),
		},
		{
			name: "a zip behind the head of a PDF",
			file: append([]byte("%PDF-1.4\n"), zipped(t, "a.txt", secret)...),
			lost: "damaged",
		},
		{
			name: "encrypted",
			file: []byte("%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer << /Encrypt 2 0 R >>\n"),
			lost: "encrypted",
		},
	})
}

const (
	oleStream   = 2
	oleRoot     = 5
	oleFree     = 0xffffffff
	oleEnd      = 0xfffffffe
	oleSmallest = 4096 // streams below this lie in small sectors
)

// oleOf makes a compound file: sectors of 512 bytes, all streams in large ones.
func oleOf(streams ...any) []byte {
	u := binary.LittleEndian
	var data, table []byte
	link := func(n uint32) { table = u.AppendUint32(table, n) }
	var list []byte
	entry := func(name string, kind byte, start uint32, size int) {
		e := make([]byte, 128)
		for i, c := range utf16.Encode([]rune(name)) {
			u.PutUint16(e[2*i:], c)
		}
		u.PutUint16(e[64:], uint16(2*len(name)+2))
		e[66] = kind
		next, below := uint32(len(list)/128+1), uint32(oleFree) // each entry is to the right of the one before
		if kind == oleRoot {
			next, below = oleFree, 1
		} else if int(next) > len(streams)/2 {
			next = oleFree
		}
		for i, other := range []uint32{oleFree, next, below} {
			u.PutUint32(e[68+4*i:], other)
		}
		u.PutUint32(e[116:], start)
		u.PutUint32(e[120:], uint32(size))
		list = append(list, e...)
	}
	entry("Root Entry", oleRoot, oleEnd, 0)
	sector := uint32(0)
	for i := 0; i < len(streams); i += 2 {
		content := streams[i+1].([]byte)
		if len(content) < oleSmallest {
			content = append(bytes.Clone(content), make([]byte, oleSmallest-len(content))...)
		}
		entry(streams[i].(string), oleStream, sector, len(content))
		for from := 0; from < len(content); from += 512 {
			part := make([]byte, 512)
			copy(part, content[from:])
			data = append(data, part...)
			sector++
			if from+512 < len(content) {
				link(sector)
			} else {
				link(oleEnd)
			}
		}
	}
	directory := sector
	for len(list)%512 != 0 {
		list = append(list, make([]byte, 128)...)
	}
	for i := range len(list) / 512 {
		data = append(data, list[i*512:][:512]...)
		sector++
		if i+1 < len(list)/512 {
			link(sector)
		} else {
			link(oleEnd)
		}
	}
	link(0xfffffffd)
	for len(table) < 512 {
		link(oleFree)
	}
	head := make([]byte, 512)
	copy(head, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	u.PutUint16(head[30:], 9)
	u.PutUint16(head[26:], 3)
	u.PutUint16(head[28:], 0xfffe)
	u.PutUint16(head[32:], 6)
	u.PutUint32(head[44:], 1)
	u.PutUint32(head[56:], oleSmallest)
	u.PutUint32(head[48:], directory)
	u.PutUint32(head[60:], oleEnd)
	u.PutUint32(head[68:], oleEnd)
	u.PutUint32(head[76:], sector)
	for i := 80; i < 512; i += 4 {
		u.PutUint32(head[i:], oleFree)
	}
	return bytes.Join([][]byte{head, data, table}, nil)
}

func biff(kind uint16, body ...any) []byte {
	var b bytes.Buffer
	for _, v := range body {
		if s, ok := v.(string); ok {
			b.WriteString(s)
			continue
		}
		_ = binary.Write(&b, binary.LittleEndian, v)
	}
	head := binary.LittleEndian.AppendUint16(nil, kind)
	return append(binary.LittleEndian.AppendUint16(head, uint16(b.Len())), b.Bytes()...)
}

func wide(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

func oleFormats(t *testing.T) []subformat {
	mail := "maria@exemplo.com"
	texts := biff(xlsTexts, uint32(2), uint32(2), uint16(len(mail)), byte(0), mail[:5])
	texts = append(texts, biff(xlsContinue, byte(0), mail[5:], uint16(3), byte(1), string(wide("cpf")))...)
	sheet := bytes.Join(
		[][]byte{
			texts,
			biff(xlsText, uint16(0), uint16(0), uint16(0), uint32(1)),
			biff(xlsText, uint16(1), uint16(0), uint16(0), uint32(0)),
		},
		nil,
	)
	number := biff(xlsNumber, uint16(1), uint16(1), uint16(0), math.Float64bits(52998224725))
	return grouped("Older Office files", []subformat{
		{name: "xls, texts and numbers", file: oleOf("Workbook", append(bytes.Clone(sheet), number...))},
		{
			name: "msg, body and attachment",
			file: oleOf(
				"__substg1.0_1000001F",
				wide(mail),
				"__substg1.0_37010102",
				zipped(t, "a.txt", "529.982.247-25"),
			),
		},
		{
			name: "doc",
			file: oleOf("WordDocument", append([]byte("\x01\x02\x00\x00"), wide(mail+"\r529.982.247-25\r")...)),
		},
		{name: "encrypted docx", file: oleOf("EncryptedPackage", []byte("x")), lost: "encrypted"},
	})
}

func bsonOf(elements ...[]byte) []byte {
	body := append(bytes.Join(elements, nil), 0)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
}

func bsonElement(kind byte, name string, value []byte) []byte {
	return append(append(append([]byte{kind}, name...), 0), value...)
}

func dumpFormats(t *testing.T) []subformat {
	text := func(s string) []byte {
		return append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(s)+1)), s...), 0)
	}
	id := bsonElement(7, "_id", bytes.Repeat([]byte{1}, 12))
	doc := func(kind byte, cpf []byte) []byte {
		return bsonOf(
			id,
			bsonElement(2, "email", text("maria@exemplo.com")),
			bsonElement(3, "doc", bsonOf(bsonElement(kind, "cpf", cpf))),
		)
	}
	decimal := append(
		binary.LittleEndian.AppendUint64(nil, 52998224725),
		binary.LittleEndian.AppendUint64(nil, 6176<<49)...,
	)
	return grouped("Dumps of databases", []subformat{
		{name: "BSON, texts", file: doc(2, text("529.982.247-25"))},
		{name: "BSON, whole numbers", file: doc(0x12, binary.LittleEndian.AppendUint64(nil, 52998224725))},
		{name: "BSON, floats", file: doc(1, binary.LittleEndian.AppendUint64(nil, math.Float64bits(52998224725)))},
		{name: "BSON, decimals", file: doc(0x13, decimal)},
		{
			name: "BSON, two documents in gzip",
			file: gzipped(
				t,
				append(
					bsonOf(id, bsonElement(2, "a", text("maria@exemplo.com"))),
					bsonOf(id, bsonElement(0x12, "cpf", binary.LittleEndian.AppendUint64(nil, 52998224725)))...),
			),
		},
	})
}

// FuzzDocument looks for panics in our readers of documents, and for an end.
func FuzzDocument(f *testing.F) {
	t := &testing.T{}
	for _, make := range []func(*testing.T) []subformat{
		pdfFormats, oleFormats, dumpFormats,
		documentFormats, mailFormats,
	} {
		for _, s := range make(t) {
			f.Add(s.file)
		}
	}
	fuzzDocument(f)
}

// FuzzStream does so for compressed streams and small archives.
func FuzzStream(f *testing.F) {
	t := &testing.T{}
	for _, make := range []func(*testing.T) []subformat{streamFormats, archiveFormats, foreignFormatsMade} {
		for _, s := range make(t) {
			f.Add(s.file)
		}
	}
	fuzzDocument(f)
}
