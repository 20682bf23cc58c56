package container

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/scan"
	"github.com/vigiahq/vigia/internal/scan/record"
	"github.com/vigiahq/vigia/internal/scan/scantest"
)

// spelledEach is how many values of each spelling stand in each text.
const spelledEach = 8

// encodingFormats are texts that are written in other bytes, or lines.
func encodingFormats(*testing.T) []subformat {
	const text = "nome;email;cpf\nMaria;maria@exemplo.com;529.982.247-25\nJose;jose@exemplo.com;111.444.777-35\n"
	wide := func(size int, big bool, text string) (b []byte) {
		for _, c := range text {
			unit := make([]byte, size)
			for k := range 2 {
				at := k
				if big {
					at = size - 1 - k
				}
				unit[at] = byte(c >> (8 * k))
			}
			b = append(b, unit...)
		}
		return b
	}
	plain := strings.Repeat("uma linha sem nada\n", 4000)
	return grouped("Encodings", []subformat{
		{name: "UTF-16", file: wide(2, false, text)}, {name: "UTF-16, big end first", file: wide(2, true, text)}, {name: "UTF-16, marked", file: wide(2, false, "\ufeff"+text)},
		{name: "UTF-16 after plain text", file: append([]byte(plain), wide(2, false, text)...)},
		{name: "UTF-32", file: wide(4, false, text)}, {name: "UTF-32, big end first", file: wide(4, true, text)}, {name: "UTF-32, marked", file: wide(4, false, "\ufeff"+text)},
		{name: "LDIF, folded", file: []byte("dn: uid=1\nmail: maria@exem\n plo.com\ndescription: CPF 529.982.\n 247-25\n")},
		{name: "LDIF, base64", file: []byte("dn: uid=1\nmail:: " + base64.StdEncoding.EncodeToString([]byte("maria@exemplo.com")) + "\ncpf: 52998224725\n")},
		{name: "vCard, folded", file: []byte("BEGIN:VCARD\r\nEMAIL:maria@ex\r\n emplo.com\r\nNOTE:529.982.247-\r\n 25\r\nEND:VCARD\r\n")},
		{name: "quoted-printable without mail", file: []byte("maria=40exemplo.com\n" + strings.Repeat("x", 62) + " 529.982.=\n247-25\n")},
	})
}

// sightings are all that an import would find in a dump.
func sightings(t *testing.T, dump []byte) map[scantest.Value]bool {
	t.Helper()
	found := map[scantest.Value]bool{}
	r := scan.NewRecorder(func(s *record.Sighting) { found[scantest.Value{Kind: s.Kind, Normal: string(s.Normal)}] = true })
	report, err := Walk(context.Background(), "dump", bytes.NewReader(dump), Options{}, func(e Entry, in io.Reader) error {
		_, err := r.Scan(context.Background(), in, e.Name)
		return err
	})
	if err != nil || report.Skipped > 0 {
		t.Fatalf("%v, %+v", err, report)
	}
	return found
}

// sheetOf is a spreadsheet with the cells of spelled values, whose texts stand in cells.
func sheetOf(t *testing.T, rows [][]scantest.Cell) []byte {
	var b strings.Builder
	write := func(texts []string) {
		b.WriteString("<row>")
		for _, text := range texts {
			b.WriteString(`<c t="inlineStr"><is><t>` + html.EscapeString(text) + `</t></is></c>`)
		}
		b.WriteString("</row>")
	}
	for i, row := range rows {
		names, texts := []string{"nome"}, []string{"Ana Lima"}
		for _, c := range row {
			names, texts = append(names, c.Name), append(texts, c.Text)
		}
		if i == 0 {
			write(names)
		}
		write(texts)
	}
	return zipped(t, "[Content_Types].xml", "<Types/>", "xl/workbook.xml", "<workbook/>", "xl/worksheets/sheet1.xml", "<worksheet><sheetData>"+b.String()+"</sheetData></worksheet>")
}

// written is what is known of a spelling once it was looked for in all texts.
type written struct {
	name, lost            string
	texts, planted, found int
}

// writeSpellings looks for each spelling in each text and writes what came of it, many spellings in a row where nothing was
// lost.
func writeSpellings(t *testing.T, page *strings.Builder) (texts, planted, found int) {
	carriers := append(scantest.Carriers, scantest.Carrier{Name: "spreadsheet", Named: true, Write: func(rows [][]scantest.Cell) []byte { return sheetOf(t, rows) }})
	names := make([]string, len(carriers))
	for i, c := range carriers {
		names[i] = c.Name
	}
	fmt.Fprintf(page, "\n## Spellings\n\nEach is written into texts of these kinds, those that need a name for their column into those with names:\n%s.\n", wrapped(names))
	var kinds []string
	byKind := map[string][]written{}
	for i := range scantest.Spellings {
		s := &scantest.Spellings[i]
		w := written{name: s.Name, lost: s.Lost}
		for _, text := range scantest.Spell(s, carriers, spelledEach) {
			got := sightings(t, text.Text)
			n := 0
			for _, v := range text.Want {
				if got[v] {
					n++
				}
			}
			if n < len(text.Want) && s.Lost == "" {
				t.Errorf("%v, %s, in %s: %d of %d found", s.Kind, s.Name, text.Carrier.Name, n, len(text.Want))
			}
			w.texts, w.planted, w.found = w.texts+1, w.planted+len(text.Want), w.found+n
		}
		kind := s.Kind.String()
		if len(byKind[kind]) == 0 {
			kinds = append(kinds, kind)
		}
		byKind[kind] = append(byKind[kind], w)
		texts, planted, found = texts+w.texts, planted+w.planted, found+w.found
	}
	page.WriteString("\n| Kind | Written as | Texts | Planted | Found | Known not to be found |\n|---|---|---:|---:|---:|---|\n")
	for _, kind := range kinds {
		row := written{}
		flush := func() {
			if row.name != "" {
				fmt.Fprintf(page, "| %s | %s | %d | %d | %d | %s |\n", kind, row.name, row.texts, row.planted, row.found, row.lost)
			}
			row = written{}
		}
		for _, w := range byKind[kind] {
			w.name = strings.ReplaceAll("`"+w.name+"`", "``", "`")
			if len(row.name)+len(w.name) > 66 || w.lost != row.lost {
				flush()
			}
			if row.name != "" {
				row.name += ", "
			}
			row = written{row.name + w.name, w.lost, row.texts + w.texts, row.planted + w.planted, row.found + w.found}
		}
		flush()
	}
	return texts, planted, found
}

// writeFixed looks for the values in records of fixed width and writes what came of it.
func writeFixed(t *testing.T, page *strings.Builder) (texts, planted, found int) {
	page.WriteString("\n## Records of fixed width\n\nNothing stands between the columns: they are told by the rows around, of which there are 40.\n\n" +
		"| Planted | Found | Known not to be found | Columns |\n|---:|---:|---|---|\n")
	for _, text := range scantest.FixedTexts(40) {
		got, n := sightings(t, text.Text), 0
		for _, v := range text.Want {
			if got[v] {
				n++
			}
		}
		if n < len(text.Want) && text.Lost == "" {
			t.Errorf("%s: %d of %d found", text.Name, n, len(text.Want))
		}
		fmt.Fprintf(page, "| %d | %d | %s | %s |\n", len(text.Want), n, text.Lost, text.Name)
		texts, planted, found = texts+1, planted+len(text.Want), found+n
	}
	return texts, planted, found
}

// wrapped is a list in lines of a page.
func wrapped(names []string) string {
	var lines []string
	line := ""
	for i, n := range names {
		if i < len(names)-1 {
			n += ","
		}
		if len(line)+len(n) > 110 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + n)
	}
	return strings.Join(append(lines, line), "\n")
}
