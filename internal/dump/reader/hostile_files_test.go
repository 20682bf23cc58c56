package reader_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// makeHostileFiles returns files that are made to hurt who reads them, bombs, claims and loops, by name; what stands
// before the first dash is their format.
func makeHostileFiles() map[string][]byte {
	zeros := make([]byte, 64<<20)
	files := map[string][]byte{}
	add := func(name string, parts ...[]byte) { files[name] = bytes.Join(parts, nil) }

	// PDF: maps that copy a long text to every code, contents and fonts that refer to themselves, streams that swell.
	cmap := func(text string) []byte {
		return deflateBytes(
			[]byte(
				"1 begincodespacerange <0000> <FFFF> endcodespacerange 2 beginbfrange <0000> <FFFF> <" + text +
					"> <0000> <FFFF> <" + text + "> endbfrange",
			),
		)
	}
	font := "1 0 obj << /Type /Font /Subtype /Type0 /ToUnicode 2 0 R >> endobj\n4 0 obj << /Type /Page /Contents 3 " +
		"0 R /Font << /F1 1 0 R >> >> endobj\n"
	say := pdfStream(3, "", []byte("BT /F1 9 Tf <"+strings.Repeat("0041", 4000)+"> Tj ET"))
	add("pdf-map", makePDF(font, pdfStream(2, "/Filter /FlateDecode", cmap(strings.Repeat("0041", 9000))), say))
	add("pdf-map-long", makePDF(font, pdfStream(2, "/Filter /FlateDecode", cmap(strings.Repeat("0041", 400_000))), say))
	add(
		"pdf-self",
		makePDF("1 0 obj << /Type /Page /Contents [1 0 R 1 0 R 1 0 R] /Resources 1 0 R /Font 1 0 R >> endobj\n"),
	)
	add(
		"pdf-swell",
		makePDF("", pdfStream(1, "/Filter [/FlateDecode /FlateDecode]", deflateBytes(deflateBytes(zeros)))),
	)
	add(
		"pdf-objects",
		makePDF(
			"",
			pdfStream(
				1,
				"/Type /ObjStm /N 99999999 /First 8000000 /Filter /FlateDecode",
				deflateBytes(bytes.Repeat([]byte("1 0 "), 4<<20)),
			),
		),
	)

	// SQLite: tables with millions of columns, pages that lead to themselves.
	add("sqlite-columns", makeSQLite("CREATE TABLE t("+strings.Repeat("a,", 1_500_000)+"b)"))
	add("sqlite-rows", makeSQLite(strings.Repeat("CREATE TABLE t(", 100_000)))
	add("sqlite-loop", sqliteLoop())
	add("sqlite-pages", append(makeSQLite("CREATE TABLE t(a)"), zeros[:8<<20]...))

	// 7z: claims of files, streams and folders; memory that is not needed.
	add("7z-files", sevenZip([]byte{0x01, 0x05, 0xf0, 0xff, 0xff, 0xff, 0xff}))
	add(
		"7z-folders",
		sevenZip(
			append(
				[]byte{0x01, 0x04, 0x07, 0x0b, 0xf0, 0xff, 0xff, 0xff, 0x7f, 0x00},
				bytes.Repeat([]byte{0x01, 0x21, 0x21}, 300_000)...),
		),
	)
	add(
		"7z-memory",
		sevenZip(
			[]byte{
				0x01,
				0x04,
				0x06,
				0x00,
				0x01,
				0x09,
				0x20,
				0x00,
				0x07,
				0x0b,
				0x01,
				0x00,
				0x01,
				0x23,
				0x03,
				0x01,
				0x01,
				0x05,
				0x5d,
				0xff,
				0xff,
				0xff,
				0xff,
				0x0c,
				0xff,
				0xff,
				0xff,
				0xff,
				0xff,
				0xff,
				0xff,
				0x7f,
				0x00,
				0x00,
			},
		),
	)
	add(
		"7z-header",
		[]byte("7z\xbc\xaf\x27\x1c\x00\x04"),
		binary.LittleEndian.AppendUint32(nil, 0),
		bytes.Repeat([]byte{0xff}, 20),
	)

	// RAR: keys that take sixteen million rounds for each password.
	lock := append([]byte{21, 4, 0, 0, 0, 24}, zeros[:16]...)
	add(
		"rar-rounds",
		[]byte("Rar!\x1a\x07\x01\x00"),
		binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(lock)),
		lock,
		bytes.Repeat([]byte{7}, 4096),
	)

	// Zip: archives in archives, overlapping members, tables of contents that are all there is.
	nested := gzipBytes(zeros)
	for range 8 {
		nested = zipMembers(map[string][]byte{"a.zip": nested, "b.zip": nested})
	}
	add("zip-nested", nested)
	add("zip-swell", zipMembers(map[string][]byte{"a": zeros, "b": zeros, "c": zeros}))
	add("zip-overlap", overlapping(60_000, deflateBytes(zeros[:4<<20])))
	many := map[string][]byte{}
	for i := range 100_000 {
		many[fmt.Sprint(i)] = nil
	}
	add("zip-many", zipMembers(many))
	add("zip-claim", zipClaim())

	// Office documents: tables that point to one long text again and again.
	cells := "<worksheet><sheetData><row>" + strings.Repeat(`<c t="s"><v>0</v></c>`, 300_000) +
		"</row></sheetData></worksheet>"
	add("xlsx-strings", zipMembers(map[string][]byte{
		"[Content_Types].xml":      []byte("<Types/>"),
		"xl/workbook.xml":          []byte("<workbook/>"),
		"xl/worksheets/sheet1.xml": []byte(cells),
		"xl/sharedStrings.xml":     []byte("<sst><si><t>" + strings.Repeat("a", 1<<20) + "</t></si></sst>"),
	}))
	add("xlsx-many-strings", zipMembers(map[string][]byte{
		"xl/workbook.xml":      []byte("<workbook/>"),
		"xl/sharedStrings.xml": []byte("<sst>" + strings.Repeat("<si><t>a</t></si>", 3_000_000) + "</sst>"),
	}))
	add("xlsx-deep", zipMembers(map[string][]byte{
		"xl/workbook.xml":          []byte("<workbook/>"),
		"xl/worksheets/sheet1.xml": []byte(strings.Repeat("<a>", 3_000_000)),
	}))
	add("xlsx-entities", zipMembers(map[string][]byte{"word/document.xml": []byte(`<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><w>` + strings.Repeat("&b;", 100_000) + "</w>")}))

	// Streams that swell, many times over, or claim large windows.
	add("gzip-swell", gzipBytes(zeros))
	add("gzip-twice", gzipBytes(gzipBytes(zeros)))
	add("gzip-members", bytes.Repeat(gzipBytes(nil), 400_000))
	quine := gzipBytes(zeros)
	for range 20 {
		quine = gzipBytes(quine)
	}
	add("gzip-nested", quine)
	add("zlib-swell", zlibBytes(zlibBytes(zeros)))
	add("zlib-cut", zlibBytes(zeros)[:1000])
	add("zlib-sync", append([]byte{0x78, 0x9c}, bytes.Repeat([]byte{0, 0, 0, 0xff, 0xff}, 2_000_000)...))
	add("zlib-names", zlibBytes(bytes.Repeat([]byte("a@"), 20<<20)))
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd}
	add("zstd-window", frame, []byte{0x00, 0xff}, bytes.Repeat([]byte{0x02, 0x00, 0x10, 0}, 1000))
	add("zstd-rle", frame, []byte{0x00, 0x58}, bytes.Repeat([]byte{0x02, 0x00, 0x10, 0}, 500_000))
	add("zstd-frames", bytes.Repeat(append(bytes.Clone(frame), 0x20, 0x00, 0x01, 0x00, 0x00), 500_000))
	add("zstd-skip", bytes.Repeat([]byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}, 1_000_000))
	xz := []byte{0xfd, '7', 'z', 'X', 'Z', 0, 0, 0}
	xzHead := binary.LittleEndian.AppendUint32(bytes.Clone(xz), crc32.ChecksumIEEE([]byte{0, 0}))
	block := []byte{0x02, 0x00, 0x21, 0x01, 0x28, 0x00, 0x00, 0x00} // a dictionary of 4 GiB
	add(
		"xz-dictionary",
		xzHead,
		binary.LittleEndian.AppendUint32(bytes.Clone(block), crc32.ChecksumIEEE(block)),
		bytes.Repeat([]byte{0x01, 0xff, 0xff, 0}, 10_000),
	)
	add("xz-empty", bytes.Repeat(append(bytes.Clone(xzHead), bytes.Repeat([]byte{0}, 20)...), 200_000))
	add("lzma-window", []byte{0x5d, 0, 0, 0, 0x80, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0}, zeros[:1<<20])
	add("lzma-size", []byte{0x5d, 0, 0, 0x80, 0, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0}, zeros[:1<<20])
	add("bzip2-empty", bytes.Repeat([]byte("BZh9\x17\x72\x45\x38\x50\x90\x00\x00\x00\x00"), 500_000))
	add("bzip2-cut", []byte("BZh91AY&SY"), bytes.Repeat([]byte{0xff}, 1<<20))

	// Archives whose members claim to be endless, and mail inside mail.
	add("tar-claim", tarMembers("a", 1<<40))
	add("tar-names", tarMembers(strings.Repeat("a/", 1<<20), 0))
	add("tar-many", bytes.Repeat(tarMembers("a", 0)[:512], 200_000))
	add("mail-nested", makeMail(2_000))
	add(
		"mail-borders",
		[]byte("From: a\nMime-Version: 1.0\nContent-Type: multipart/mixed; boundary=a\n\n"),
		bytes.Repeat([]byte("--a\n\n"), 2_000_000),
	)
	add("mail-headers", []byte("From: a\nMime-Version: 1.0\n"), bytes.Repeat([]byte("X: a\n"), 4_000_000))
	add(
		"mail-base64",
		[]byte("From: a\nMime-Version: 1.0\nContent-Transfer-Encoding: base64\n\n"),
		[]byte(base64.StdEncoding.EncodeToString(gzipBytes(zeros))),
	)
	add("bson-deep", makeBSON(200_000))
	add("bson-length", []byte{0x10, 0xff, 0xff, 0x7f, 0x03, 'a', 0, 0xff, 0xff, 0xff, 0x7f}, zeros[:1<<20])
	add("bson-many", bytes.Repeat([]byte{0x0c, 0, 0, 0, 0x10, 'a', 0, 1, 0, 0, 0, 0}, 1_000_000))
	ole := append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), bytes.Repeat([]byte{0}, 504)...)
	ole[26], ole[28], ole[29], ole[30], ole[32], ole[44] = 3, 0xfe, 0xff, 9, 6, 0xff
	add("ole-loop", ole, bytes.Repeat([]byte{0, 0, 0, 0}, 1<<18))
	add(
		"ole-claim",
		ole[:30],
		[]byte{9, 0, 6, 0},
		bytes.Repeat([]byte{0xff, 0xff, 0xff, 0x7f}, 120),
		bytes.Repeat([]byte{1, 0, 0, 0}, 1<<16),
	)

	// Texts that ask much of who searches them.
	add("text-digits", bytes.Repeat([]byte("12345678901"), 2<<20))
	add("text-signs", bytes.Repeat([]byte("@a.b"), 4<<20))
	add("text-columns", []byte(strings.Repeat("email,", 2_000_000)+"\n"+strings.Repeat("a@b.co,", 2_000_000)))
	add("json-deep", bytes.Repeat([]byte(`{"a":[`), 3_000_000))
	add("sql-tuple", []byte("INSERT INTO t VALUES ("+strings.Repeat("'a',", 4_000_000)+"1);"))
	return files
}

// deflateBytes returns b compressed with zlib, as strongly as possible: bombs need a high ratio.
func deflateBytes(b []byte) []byte {
	var out bytes.Buffer
	w, _ := zlib.NewWriterLevel(&out, flate.BestCompression)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

func zlibBytes(b []byte) []byte { return deflateBytes(b) }

func gzipBytes(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

// zipMembers returns an archive of the given files.
func zipMembers(files map[string][]byte) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, content := range files {
		f, _ := w.Create(name)
		_, _ = f.Write(content)
	}
	_ = w.Close()
	return out.Bytes()
}

// overlapping returns a zip whose members all are the same bytes of the file.
func overlapping(n int, zlibStream []byte) []byte {
	packed := zlibStream[2 : len(zlibStream)-4]
	local := append([]byte("PK\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00\x00\x00"), make([]byte, 12)...)
	binary.LittleEndian.PutUint32(local[18:], uint32(len(packed)))
	binary.LittleEndian.PutUint32(local[22:], 4<<20)
	local = append(append(local, 1, 0, 0, 0, 'a'), packed...)
	entry := append([]byte("PK\x01\x02\x14\x00\x14\x00\x00\x00\x08\x00\x00\x00\x00\x00"), make([]byte, 30)...)
	binary.LittleEndian.PutUint32(entry[20:], uint32(len(packed)))
	binary.LittleEndian.PutUint32(entry[24:], 4<<20)
	entry[28] = 1
	directory := bytes.Repeat(append(entry, 'a'), n)
	end := append([]byte("PK\x05\x06\x00\x00\x00\x00"), byte(n), byte(n>>8), byte(n), byte(n>>8))
	end = binary.LittleEndian.AppendUint32(end, uint32(len(directory)))
	end = binary.LittleEndian.AppendUint32(end, uint32(len(local)))
	return bytes.Join([][]byte{local, directory, append(end, 0, 0)}, nil)
}

// zipClaim returns a zip whose table of contents claims to be larger than any disk.
func zipClaim() []byte {
	end64 := append([]byte("PK\x06\x06"), binary.LittleEndian.AppendUint64(nil, 44)...)
	end64 = append(end64, make([]byte, 12)...)
	for range 3 {
		end64 = binary.LittleEndian.AppendUint64(end64, 1<<50)
	}
	end64 = binary.LittleEndian.AppendUint64(end64, 0)
	locator := append([]byte("PK\x06\x07\x00\x00\x00\x00"), binary.LittleEndian.AppendUint64(nil, 30)...)
	end := append([]byte("PK\x05\x06"), bytes.Repeat([]byte{0xff}, 16)...)
	return bytes.Join(
		[][]byte{
			append([]byte("PK\x03\x04"), make([]byte, 26)...),
			end64,
			append(locator, 1, 0, 0, 0),
			append(end, 0, 0),
		},
		nil,
	)
}

// makePDF returns a document of the given objects and streams, without a cross-reference table.
func makePDF(objects string, streams ...[]byte) []byte {
	return bytes.Join(
		append(
			append([][]byte{[]byte("%PDF-1.5\n" + objects)}, streams...),
			[]byte("trailer << /Root 1 0 R >>\n%%EOF"),
		),
		nil,
	)
}

// pdfStream returns a stream object with the true length; dict adds to its dictionary, where lies belong.
func pdfStream(number int, dict string, content []byte) []byte {
	return fmt.Appendf(
		nil,
		"%d 0 obj << /Length %d %s >> stream\n%s\nendstream endobj\n",
		number,
		len(content),
		dict,
		content,
	)
}

const sqlitePage = 65536

// sqliteHead returns the first page of a database that claims to have so many pages.
func sqliteHead(pages int) []byte {
	head := make([]byte, sqlitePage)
	copy(head, "SQLite format 3\x00\x00\x01\x01\x01\x00\x40\x20\x20")
	binary.BigEndian.PutUint32(head[28:], uint32(pages))
	head[47], head[56+3] = 4, 1
	return head
}

// makeSQLite returns a database with one table, whose definition goes on over many pages.
func makeSQLite(definition string) []byte {
	payload := []byte{0x07, 0x17, 0x0f, 0x0f, 0x01}
	payload = append(payload, varintBig(uint64(len(definition)*2+13))...)
	payload[0] = byte(len(payload))
	payload = append(append(payload, "tabletttt\x02"[:5]+"t"+"t"+"\x02"...), definition...)
	const inner = sqlitePage - 4
	pages := (len(payload)+inner-1)/inner + 3
	head := sqliteHead(pages)
	cell := append(varintBig(uint64(len(payload))), 1)
	local := 8000
	if len(payload) < local {
		local = len(payload)
	}
	cell = append(cell, payload[:local]...)
	cell = binary.BigEndian.AppendUint32(cell, 2)
	at := sqlitePage - len(cell)
	copy(head[at:], cell)
	copy(head[100:], []byte{0x0d, 0, 0, 0, 1, byte(at >> 8), byte(at), 0, byte(at >> 8), byte(at)})
	out := head
	for rest, page := payload[local:], uint32(3); len(rest) > 0; page++ {
		p := make([]byte, sqlitePage)
		n := copy(p[4:], rest)
		if rest = rest[n:]; len(rest) > 0 {
			binary.BigEndian.PutUint32(p, page)
		}
		out = append(out, p...)
	}
	return out
}

// sqliteLoop returns a database whose pages are all above each other.
func sqliteLoop() []byte {
	head := sqliteHead(3)
	copy(head[100:], []byte{0x05, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 1})
	for i := range 0x4000 - 100 {
		binary.BigEndian.PutUint16(head[112+2*i%60000:], 60_000)
	}
	copy(head[60_000:], []byte{0, 0, 0, 1, 1})
	return append(head, head...)
}

// varintBig returns v in the variable-length encoding of SQLite, high bits first.
func varintBig(v uint64) (b []byte) {
	b = []byte{byte(v & 0x7f)}
	for v >>= 7; v > 0; v >>= 7 {
		b = append([]byte{byte(v&0x7f) | 0x80}, b...)
	}
	return b
}

// sevenZip returns an archive with the given header and valid checksums: a wrong one would be refused before the header
// is read.
func sevenZip(header []byte) []byte {
	start := binary.LittleEndian.AppendUint64(nil, 32)
	start = binary.LittleEndian.AppendUint64(start, uint64(len(header)))
	start = binary.LittleEndian.AppendUint32(start, crc32.ChecksumIEEE(header))
	return bytes.Join(
		[][]byte{
			[]byte("7z\xbc\xaf\x27\x1c\x00\x04"),
			binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(start)),
			start,
			make([]byte, 32),
			header,
		},
		nil,
	)
}

// tarMembers returns an archive whose entry claims size bytes but holds 1000 at most.
func tarMembers(name string, size int64) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	_ = w.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o600, Format: tar.FormatGNU})
	_, _ = io.WriteString(w, strings.Repeat("a", int(min(size, 1000))))
	_ = w.Flush()
	return out.Bytes()
}

// makeMail returns a message with so many messages nested in each other.
func makeMail(depth int) []byte {
	var b bytes.Buffer
	b.WriteString("From: a\nMime-Version: 1.0\n")
	for i := range depth {
		fmt.Fprintf(
			&b,
			"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\nContent-Type: message/rfc822\n\nFrom: "+
				"a\nMime-Version: 1.0\n",
			i,
			i,
		)
	}
	return b.Bytes()
}

// makeBSON returns a document in a document, and so on.
func makeBSON(depth int) []byte {
	doc := []byte{5, 0, 0, 0, 0}
	head, tail := make([]byte, 0, depth*7), make([]byte, 0, depth)
	for i := range depth {
		head = binary.LittleEndian.AppendUint32(head, uint32(8*(depth-i)+len(doc)))
		head, tail = append(head, 0x03, 'a', 0), append(tail, 0)
	}
	return bytes.Join([][]byte{head, doc, tail}, nil)
}
