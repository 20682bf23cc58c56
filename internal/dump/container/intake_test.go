package container

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ulikunitz/xz/lzma"
)

var update = flag.Bool("update", false, "write the page of formats anew")

// subformat is one way in which a dump may come.
type subformat struct {
	group, name string
	file        []byte
	volumes     []Volume
	passwords   []string
	// want is what is to be found, each with its kind; those of secret where there is nothing.
	want []string
	// lost says, in the words of the report, why it is known not to be read; the page names it.
	lost string
}

// intakeFormats are made by these; another group of sub-formats is another function here.
var intakeFormats = []func(t *testing.T) []subformat{
	streamFormats,
	archiveFormats,
	foreignFormatsMade,
	splitFormats,
	lockedFormatsMade,
	documentFormats,
	oleFormats,
	pdfFormats,
	databaseFormats,
	dumpFormats,
	mailFormats,
	binaryFormats,
	encodingFormats,
}

// TestIntake holds what is found in each sub-format against what was put into it: all of it, or a reason why not. From
// this docs/formats/intake.md is made (go test ./internal/dump/container -run TestIntake -update).
func TestIntake(t *testing.T) {
	var page strings.Builder
	page.WriteString(intakeHead)
	var group string
	var whole, missing []string
	flush := func() {
		if group != "" {
			fmt.Fprintf(&page, "| %s | %s | %s |\n", group, joinVariants(whole), strings.Join(missing, "; "))
		}
		whole, missing = nil, nil
	}
	for _, make := range intakeFormats {
		for _, s := range make(t) {
			if s.want == nil {
				s.want = []string{"cpf 52998224725", "email maria@exemplo.com"}
			}
			n, missed := judgeFormat(t, s)
			if s.group != group {
				flush()
				group = s.group
			}
			if missed == "" {
				whole = append(whole, s.name)
			} else {
				missing = append(missing, fmt.Sprintf("%s, %d of %d: *%s*", s.name, n, len(s.want), missed))
			}
		}
	}
	flush()
	page.WriteString(intakeFoot)
	keepPage(t, "intake.md", page.String())
}

// joinVariants lists sub-formats; those that share what stands before their first comma say it once.
func joinVariants(names []string) string {
	list, last := "", ""
	for _, name := range names {
		base, variant, _ := strings.Cut(name, ", ")
		if base == last && variant != "" {
			list += ", " + variant
		} else {
			list += "; " + name
		}
		last = base
	}
	return strings.TrimPrefix(list, "; ")
}

// keepPage writes a page, or holds what there is against it.
func keepPage(t *testing.T, name, page string) {
	t.Helper()
	path := filepath.Join("../../../docs/formats", name)
	if *update {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(page), 0o644))
		return
	}
	was, err := os.ReadFile(path)
	if err != nil || string(was) != page {
		t.Errorf("%s is not what the readers do: write it with -update (%v)", path, err)
	}
}

const intakeHead = `# What an import reads

Made by TestIntake in internal/dump/container, which puts values into each sub-format and reads it again. The last column has what
is cut short, encrypted or not understood: how many values were found all the same, and the reason that the import reports.

| | Read whole | Reported |
|---|---|---|
`

const intakeFoot = `
ORC tables, table files of InnoDB, PostgreSQL and SQL Server, Outlook's folders, Access databases and unknown binaries are
searched for plain text, of one or two bytes a character; what stands beside an identifier there is not told as its record.
Not read: zip by PPMd, and what is encrypted for a key or by a password that was not given. The import names each and counts
it as read in part or not read.
`

// judgeFormat counts the values that were found. What is missing must be reported.
func judgeFormat(t *testing.T, s subformat) (found int, missed string) {
	t.Helper()
	var source io.Reader = bytes.NewReader(s.file)
	if s.volumes != nil {
		source = NewSet(s.volumes)
	}
	values, _, report, err := walkedWith(source, Options{Passwords: s.passwords})
	if err != nil {
		t.Errorf("%s: %s: %v", s.group, s.name, err)
	}
	for _, w := range s.want {
		if slices.Contains(values, w) {
			found++
		}
	}
	reason := ""
	if report.Skipped > 0 {
		reason = report.Skips[0].Reason
	}
	if found < len(s.want) && (s.lost == "" || !strings.Contains(reason, s.lost)) {
		t.Errorf("%s: %s: %d of %d found, reported %q: %q", s.group, s.name, found, len(s.want), reason, values)
	}
	if s.lost == "" && reason != "" {
		t.Errorf("%s: %s: reported %q", s.group, s.name, reason)
	}
	return found, reason
}

func fixture(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + path)
	must(t, err)
	return b
}

// people are the values of the texts that programs packed into testdata.
func people(n int) (want []string) {
	for i := range n {
		want = append(want, fmt.Sprintf("email pessoa%d@exemplo.com.br", i+1))
	}
	return want
}

func streamFormats(t *testing.T) []subformat {
	text := []byte(secret)
	alone := func(c lzma.WriterConfig) []byte {
		return compressed(t, func(w io.Writer) (io.WriteCloser, error) { return c.NewWriter(w) }, text)
	}
	made := []subformat{
		{name: "as it is", file: text},
		{name: "gzip", file: gzipped(t, text)},
		{name: "gzip, two members", file: append(gzipped(t, text[:10]), gzipped(t, text[10:])...)},
		{name: "zstd", file: zstded(t, text)},
		{name: "xz", file: xzed(t, text)},
		{name: "bzip2", file: fixture(t, "secret.bz2")},
		{
			name: "zlib",
			file: compressed(t, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }, text),
		},
		{name: "lzma", file: alone(lzma.WriterConfig{})},
		{name: "lzma, size in its head", file: alone(lzma.WriterConfig{SizeInHeader: true, Size: int64(len(text))})},
		{name: "lzip", file: lzipped(t, text)},
		{name: "compress (.Z)", file: []byte("\x1f\x9d\x90" + secret), lost: "packed by compress"},
		{name: "gzip in xz", file: xzed(t, gzipped(t, text))},
	}
	for _, name := range []string{"frame", "linked", "old", "sums", "many"} {
		made = append(made, subformat{name: "lz4, " + name, file: fixture(t, "streams/"+name+".lz4"), want: people(60)})
	}
	long := []byte(secret + strings.Repeat("0123456789abcdef", 1<<10))
	for name, whole := range map[string][]byte{
		"gzip": gzipped(t, long), "zstd": zstded(t, long), "xz": xzed(t, long),
		"lzip": lzipped(t, long),
	} {
		made = append(made, subformat{name: name + ", cut short", file: whole[:len(whole)-12], lost: "cut short"})
	}
	slices.SortFunc(made[len(made)-4:], func(a, b subformat) int { return strings.Compare(a.name, b.name) })
	return grouped("Compressed files", made)
}

func grouped(group string, made []subformat) []subformat {
	for i := range made {
		made[i].group = group
	}
	return made
}

func archiveFormats(t *testing.T) []subformat {
	text := []byte(secret)
	made := []subformat{
		{name: "tar", file: tarred(t, "a.txt", secret)},
		{name: "tar.gz", file: gzipped(t, tarred(t, "a.txt", secret))},
		{name: "zip", file: zipped(t, "a.txt", secret)},
		{name: "zip, its table of contents cut off", file: zipped(t, "a.txt", secret)[:90], lost: "cut short"},
		{name: "RAR 4", file: rar4(secret)},
		{name: "RAR 5", file: rar5Part(t, 0, text, text, false, false, 0)},
		{name: "RAR 5, usual password", file: rar5Part(t, 0, text, text, false, false, 5)},
		{name: "7z", file: sevenZipped(t, "a.txt", secret, false, 1)},
		{
			name: "zip in 7z in tar.gz",
			file: gzipped(
				t,
				tarred(t, "a.7z", string(sevenZipped(t, "a.zip", string(zipped(t, "a.txt", secret)), true, 1))),
			),
		},
	}
	for _, kind := range []string{"7z", "zip"} {
		paths, err := filepath.Glob("testdata/" + kind + "/*." + kind)
		must(t, err)
		for _, path := range paths {
			s := subformat{
				name: kind + ", " + strings.TrimSuffix(filepath.Base(path), "."+kind),
				file: fixture(t, strings.TrimPrefix(path, "testdata/")),
				want: people(60),
			}
			made = append(made, s)
		}
	}
	return grouped("Archives", made)
}

func splitFormats(t *testing.T) []subformat {
	cut := func(file []byte, pattern string) (volumes []Volume) {
		for i := 0; len(file) > 0; i++ {
			n := min(len(file), 60)
			volumes = append(
				volumes,
				Volume{Name: fmt.Sprintf(pattern, i+1), At: bytes.NewReader(file[:n]), Size: int64(n)},
			)
			file = file[n:]
		}
		return volumes
	}
	var rars []Volume
	for i := range 2 {
		half := len(secret) / 2
		part := rar5Part(t, i, []byte(secret[i*half:][:half+i*(len(secret)-2*half)]), []byte(secret), i > 0, i == 0, 0)
		rars = append(
			rars,
			Volume{Name: fmt.Sprintf("a.part%d.rar", i+1), At: bytes.NewReader(part), Size: int64(len(part))},
		)
	}
	return grouped("Split sets", []subformat{
		{name: "a.7z.001, .002, ...", volumes: cut(sevenZipped(t, "a.txt", secret, true, 1), "a.7z.%03d")},
		{name: "a.zip.001, .002, ...", volumes: cut(zipped(t, "a.txt", secret), "a.zip.%03d")},
		{name: "a.z01, ..., a.zip", volumes: cut(append([]byte(zipSpanned), zipped(t, "a.txt", secret)...), "a.z%02d")},
		{name: "a.part1.rar, a.part2.rar", volumes: rars},
		{name: "a.part1.rar without the second", volumes: rars[:1], lost: "volume"},
		{name: "a.txt.001, .002, ...", volumes: cut([]byte(strings.Repeat("x", 50)+" "+secret), "a.txt.%03d")},
	})
}

// binaryFormats are of kinds that are not read: the texts in them are.
func binaryFormats(*testing.T) []subformat {
	holding := func(mark string) []byte {
		var wide []byte
		for _, c := range []byte("529.982.247-25") {
			wide = append(wide, c, 0)
		}
		return slices.Concat(
			[]byte(mark),
			bytes.Repeat([]byte{1, 0, 2, 0xff, 6, 3}, 200),
			[]byte("maria@exemplo.com\x00"),
			bytes.Repeat([]byte{4, 5}, 50),
			wide,
			[]byte{1, 2, 3},
		)
	}
	var made []subformat
	for name, mark := range map[string]string{
		"ORC": "ORC\x01", "Outlook": "!BDN\x01\x02",
		"SQL Server backup": "TAPE\x00\x00\x03", "unknown": "\x01\x02\x03",
	} {
		made = append(made, subformat{name: name, file: holding(mark), lost: "only searched for plain text"})
	}
	slices.SortFunc(made, func(a, b subformat) int { return strings.Compare(a.name, b.name) })
	return grouped("Binaries that are searched for texts", made)
}

func lockedFormatsMade(t *testing.T) []subformat {
	return grouped("Encrypted, and only named", []subformat{
		{name: "OpenPGP, password", file: fixture(t, "streams/symmetric.gpg"), lost: "OpenPGP"},
		{name: "OpenPGP, as text", file: []byte("-----BEGIN PGP MESSAGE-----\n\nhQEMA\n"), lost: "OpenPGP"},
		{name: "OpenSSL", file: fixture(t, "streams/salted.enc"), lost: "OpenSSL"},
		{name: "OpenSSL, base64", file: fixture(t, "streams/salted.b64"), lost: "OpenSSL"},
		{name: "age", file: []byte("age-encryption.org/v1\n-> X25519 abc\n"), lost: "age"},
	})
}

func documentFormats(t *testing.T) []subformat {
	shared := `<sst><si><t>nome</t></si><si><t>cpf</t></si><si><r><t>maria@exe</t></r><r><t>mplo.com</t></r></si></sst>`
	sheet := func(cells string) []byte {
		return zipped(
			t,
			"[Content_Types].xml",
			"<Types/>",
			"xl/workbook.xml",
			"<workbook/>",
			"xl/sharedStrings.xml",
			shared,
			"xl/worksheets/sheet1.xml",
			"<worksheet><sheetData>"+cells+"</sheetData></worksheet>",
		)
	}
	head := `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>`
	docx := func(runs string) []byte {
		return zipped(
			t,
			"[Content_Types].xml",
			"<Types/>",
			"word/document.xml",
			`<w:document xmlns:w="w"><w:body>`+runs+`</w:body></w:document>`,
		)
	}
	ods := func(content string) []byte {
		return zipped(t, "mimetype", "application/vnd.oasis.opendocument.spreadsheet", "content.xml", content)
	}
	return grouped("Office documents", []subformat{
		{
			name: "xlsx, texts and numbers",
			file: sheet(head + `<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>52998224725</v></c></row>`),
		},
		{
			name: "xlsx, number with an exponent",
			file: sheet(head + `<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>5.2998224725E10</v></c></row>`),
		},
		{
			name: "xlsx, texts in cells",
			file: sheet(
				`<row><c t="inlineStr"><is><t>maria@exemplo.com</t></is></c><c t="str"><v>529.982.247-25</v></c></row>`,
			),
		},
		{
			name: "docx, runs",
			file: docx(
				`<w:p><w:r><w:t>maria@</w:t></w:r><w:r><w:t>exemplo.com</w:t></w:r></w:p><w:p><w:r><w:t>529.982.</w:t></w:r><w:r><w:t>247-25</w:t></w:r></w:p>`,
			),
		},
		{
			name: "docx, table",
			file: docx(
				`<w:tbl><w:tr><w:tc><w:p><w:r><w:t>maria@exemplo.com</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>52998224725</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`,
			),
		},
		{
			name: "docx, link",
			file: zipped(
				t,
				"word/document.xml",
				"<d/>",
				"word/_rels/document.xml.rels",
				`<r Target="mailto:maria@exemplo.com"/><x>529.982.247-25</x>`,
			),
		},
		{
			name: "pptx",
			file: zipped(
				t,
				"ppt/presentation.xml",
				"<p/>",
				"ppt/slides/slide1.xml",
				`<p:sld><a:p><a:r><a:t>maria@exe</a:t></a:r><a:r><a:t>mplo.com</a:t></a:r></a:p><a:p><a:r><a:t>52998224725</a:t></a:r></a:p></p:sld>`,
			),
		},
		{
			name: "ods, numbers",
			file: ods(
				`<o><table:table-row><table:table-cell office:value-type="string"><text:p>maria@<text:span>exemplo.com</text:span></text:p></table:table-cell><table:table-cell office:value-type="float" office:value="52998224725"><text:p>5,30E+10</text:p></table:table-cell></table:table-row></o>`,
			),
		},
		{
			name: "odt",
			file: zipped(
				t,
				"mimetype",
				"application/vnd.oasis.opendocument.text",
				"content.xml",
				`<o><text:p>maria@<text:span>exemplo.com</text:span></text:p><text:p>529.982.<text:span>247-25</text:span></text:p></o>`,
			),
		},
	})
}

func databaseFormats(t *testing.T) []subformat {
	return grouped("Databases", []subformat{
		{name: "SQLite, texts", file: fixture(t, "db/texts.sqlite")},
		{name: "SQLite, numbers", file: fixture(t, "db/numbers.sqlite")},
		{name: "SQLite, UTF-16", file: fixture(t, "db/wide.sqlite")},
		{name: "SQLite, without row numbers", file: fixture(t, "db/norows.sqlite")},
		{name: "SQLite, write-ahead log", file: fixture(t, "db/log.sqlite-wal")},
		{
			name: "SQLite, cut short",
			file: read(t, "db/page512.sqlite.gz")[:40_000],
			want: []string{"email pessoa1@exemplo.com.br"},
			lost: "damaged",
		},
	})
}

func mailFormats(t *testing.T) []subformat {
	head := "From: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"b b\"\n\n--b b\nContent-Type: " +
		"text/plain\n\noi\n"
	attached := func(name, kind string, content []byte) string {
		lines := base64.StdEncoding.EncodeToString(content)
		var b strings.Builder
		for len(lines) > 76 {
			b.WriteString(lines[:76] + "\r\n")
			lines = lines[76:]
		}
		return "--b b\nContent-Type: " + kind + ";\n name=\"" + name + "\"\nContent-Transfer-Encoding: base64\n\n" +
			b.String() + lines + "\n"
	}
	message := func(parts ...string) []byte { return []byte(head + strings.Join(parts, "") + "--b b--\n") }
	return grouped("Mail", []subformat{
		{name: "plain message", file: []byte("Received: x\n\n" + secret)},
		{name: "quoted-printable", file: []byte("MIME-Version: 1.0\nContent-Transfer-Encoding: " +
			"quoted-printable\n\nmaria=40exem=\nplo.com 529.982.247=2D25\n")},
		{name: "base64", file: []byte("MIME-Version: 1.0\nContent-Transfer-Encoding: base64\n\n" +
			base64.StdEncoding.EncodeToString([]byte(secret)) + "\n")},
		{
			name: "encoded words in headers",
			file: []byte("MIME-Version: 1.0\nSubject: =?utf-8?b?" +
				base64.StdEncoding.EncodeToString([]byte(strings.TrimSpace(secret))) + "?=\n\n"),
		},
		{name: "attached zip", file: message(attached("a.zip", "application/zip", zipped(t, "a.txt", secret)))},
		{name: "attached text", file: message(attached("a.csv", "text/csv", []byte(secret)))},
		{
			name: "attached 7z, then a text",
			file: message(attached("b.7z", "application/octet-stream",
				sevenZipped(t, "a", "maria@exemplo.com", true, 1)), "--b b\nContent-Type: text/plain\n\n529.982.247-25\n"),
		},
		{name: "mailbox of two", file: []byte("From a\n" +
			string(message(attached("a.gz", "application/gzip", gzipped(t, []byte("maria@exemplo.com"))))) +
			"\nFrom b\nSubject: y\n\n529.982.247-25\n")},
		{name: "attachment cut short", file: []byte(head +
			strings.TrimSuffix(attached("a.gz", "application/gzip", gzipped(t, []byte(secret))),
				"A==\n")), lost: "cut short"},
	})
}
