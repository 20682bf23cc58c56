package container

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
)

// innodbPeople are those of the table files that MariaDB 10.11 wrote into testdata: 40 rows, of which two were deleted
// before the file was taken.
func innodbPeople() (want []string) {
	for i := range 40 {
		want = append(want, fmt.Sprintf("email pessoa%d@exemplo.com.br", i+1), "cpf "+cpfOf(529000000+(i+1)*7919))
	}
	return want
}

// cpfOf puts the check digits behind nine digits.
func cpfOf(n int) string {
	for sums := range 100 {
		if s := fmt.Sprintf("%09d%02d", n, sums); identifier.ValidCPF(s) {
			return s
		}
	}
	panic("no check digits")
}

// mysqlPage is a page of a file: its number, kind and content.
func mysqlPage(number, kind int, content func(p []byte)) []byte {
	const size, file = 16 << 10, 7
	p := make([]byte, size)
	u := binary.BigEndian
	u.PutUint32(p[4:], uint32(number))
	u.PutUint16(p[24:], uint16(kind))
	u.PutUint32(p[34:], file)
	content(p)
	return p
}

// mysqlRecord is what stands before a record, and the record.
type mysqlRecord struct {
	before, body []byte
	deleted      bool
	loose        bool // is in the list of freed ones
}

// mysqlRecords writes compact records into a page of an index.
func mysqlRecords(p []byte, index uint64, records []mysqlRecord) {
	u := binary.BigEndian
	u.PutUint16(p[42:], 0x8000|uint16(2+len(records)))
	u.PutUint64(p[66:], index)
	copy(p[94:], "\x01\x00\x02\x00\x00infimum\x00\x01\x00\x0b\x00\x00supremum")
	at, last, free := 120, 99, 0
	for i, r := range records {
		at += copy(p[at:], r.before) + 5
		if r.deleted {
			p[at-5] = 0x20
		}
		u.PutUint16(p[at-4:], uint16(i+2)<<3)
		if r.loose {
			if free > 0 {
				u.PutUint16(p[at-2:], uint16(free-at))
			}
			free = at
		} else {
			u.PutUint16(p[last-2:], uint16(at-last))
			last = at
		}
		at += copy(p[at:], r.body)
	}
	u.PutUint16(p[last-2:], uint16(112-last))
	u.PutUint16(p[44:], uint16(free))
	u.PutUint16(p[40:], uint16(at))
}

// mysqlTable is a table file as MySQL 8 writes one: head, description, rows.
func mysqlTable(t testing.TB, flags uint32, records []mysqlRecord) []byte {
	column := func(name, kind string, bytes int, nullable bool, hidden int) map[string]any {
		return map[string]any{"name": name, "column_type_utf8": kind, "char_length": bytes, "is_nullable": nullable, "hidden": hidden}
	}
	elements := []map[string]any{{"column_opx": 0}, {"column_opx": 6}, {"column_opx": 7}, {"column_opx": 1}, {"column_opx": 2}, {"column_opx": 3}, {"column_opx": 4}, {"column_opx": 5}}
	description, err := json.Marshal(map[string]any{"dd_object_type": "Table", "dd_object": map[string]any{
		"columns": []any{
			column("id", "int", 11, false, 1), column("email", "varchar(120)", 480, true, 1), column("cpf", "bigint", 20, true, 1),
			column("cartao", "decimal(16,0)", 17, true, 1), column("nascimento", "date", 10, true, 1), column("senha", "char(8)", 8, false, 1),
			column("DB_TRX_ID", "", 6, false, 2), column("DB_ROLL_PTR", "", 7, false, 2),
		},
		"indexes": []any{map[string]any{"elements": elements}},
	}})
	must(t, err)
	packed := compressed(t, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }, description)
	u := binary.BigEndian
	sdi := u.AppendUint32(u.AppendUint32(make([]byte, 25), uint32(len(description))), uint32(len(packed)))
	sdi = append(sdi, packed...)
	return slices.Concat(
		mysqlPage(0, 8, func(p []byte) {
			u.PutUint32(p[38:], 7)
			u.PutUint32(p[46:], 6)
			u.PutUint32(p[54:], flags)
		}),
		mysqlPage(1, 5, func([]byte) {}),
		mysqlPage(2, 3, func([]byte) {}),
		mysqlPage(3, 17853, func(p []byte) {
			mysqlRecords(p, 1, []mysqlRecord{{before: []byte{byte(len(packed)), 0x80 | byte(len(packed)>>8)}, body: sdi}})
		}),
		mysqlPage(4, 17855, func(p []byte) { mysqlRecords(p, 155, records) }),
		mysqlPage(5, 17855, func(p []byte) { // another index, of the addresses
			mysqlRecords(p, 156, []mysqlRecord{{before: []byte{4, 0}, body: []byte("ruim\x80\x00\x00\x01")}})
		}),
	)
}

// mysqlPerson is a row: of an address, or of none.
func mysqlPerson(id int, mail string, cpf uint64, password string) mysqlRecord {
	u := binary.BigEndian
	body := u.AppendUint32(nil, uint32(id)|1<<31)
	body = append(body, "\x00\x00\x00\x00\x07\x0b\x82\x00\x00\x01\x0a\x01\x10"...)
	before := []byte{byte(len(mail)), 0}
	if mail == "" {
		before = []byte{1}
	}
	body = append(body, mail...)
	body = u.AppendUint64(body, cpf|1<<63)
	body = append(body, 0x80, 0, 0, 7) // decimal(16,0): seven digits in four bytes, then nine
	body = u.AppendUint32(body, 123456789)
	date := uint32(1984<<9|2<<5|29) | 1<<23
	body = append(body, byte(date>>16), byte(date>>8), byte(date))
	return mysqlRecord{before: before, body: fmt.Appendf(body, "%-8s", password)}
}

func mysqlPeople() []mysqlRecord {
	cpf := uint64(0)
	_, _ = fmt.Sscan(cpfOf(111444777), &cpf) // has only digits
	gone := mysqlPerson(3, "apagada@exemplo.com", cpf, "s3")
	gone.deleted = true
	loose := mysqlPerson(4, "solta@exemplo.com", cpf, "s4")
	loose.loose = true
	return []mysqlRecord{mysqlPerson(1, "maria@exemplo.com", cpf, "s1"), mysqlPerson(2, "", cpf, "s2"), gone, loose}
}

// TestInnoDBColumns: where the file says what its columns are, they come by name, of all rows that still stand in it.
func TestInnoDBColumns(t *testing.T) {
	var got []string
	_, err := Walk(context.Background(), "dump", bytes.NewReader(mysqlTable(t, 0x4021, mysqlPeople())), Options{}, func(_ Entry, r io.Reader) error {
		b, err := io.ReadAll(r)
		got = strings.Split(string(b), "\n")
		return err
	})
	rest := cpfOf(111444777) + "\t7123456789\t1984-02-29\ts"
	want := []string{
		"id\temail\tcpf\tcartao\tnascimento\tsenha", "1\tmaria@exemplo.com\t" + rest + "1", "2\t\t" + rest + "2",
		"3\tapagada@exemplo.com\t" + rest + "3", "4\tsolta@exemplo.com\t" + rest + "4", "",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v: got %q\nwant %q", err, got, want)
	}
}

func innodbFormats(t *testing.T) []subformat {
	whole := mysqlTable(t, 0x4021, mysqlPeople())
	three := []string{"email maria@exemplo.com", "email apagada@exemplo.com", "email solta@exemplo.com", "cpf " + cpfOf(111444777)}
	maria := func(name string) []byte { return read(t, "db/"+name+".ibd.gz") }
	return grouped("Dumps of databases", []subformat{
		{name: "InnoDB, MySQL 8, with deleted rows", file: whole, want: three},
		{name: "InnoDB, MariaDB, dynamic", file: maria("pessoas"), want: append(innodbPeople(), "email longe@exemplo.com.br")},
		{name: "InnoDB, compact", file: maria("compacta"), want: innodbPeople()}, {name: "InnoDB, redundant", file: maria("redundante"), want: innodbPeople()},
		{name: "InnoDB, cut short", file: whole[:4*16<<10+100], want: three, lost: "cut short"},
		{name: "InnoDB, compressed", file: maria("apertada"), want: innodbPeople(), lost: "compressed"},
		{name: "InnoDB, encrypted", file: mysqlTable(t, 0x6021, mysqlPeople()), want: three, lost: "encrypted"},
	})
}

// TestInnoDBGarbage: pages of noise, chains in circles and descriptions that swell come to an end, and are told.
func TestInnoDBGarbage(t *testing.T) {
	circle := mysqlTable(t, 0x4021, mysqlPeople())
	rows := circle[4*16<<10:]
	for at := 120; at < 600; at++ {
		binary.BigEndian.PutUint16(rows[at:], uint16(200-at))
	}
	swells := mysqlTable(t, 0x4021, mysqlPeople())
	sdi := swells[3*16<<10:]
	at := 99 + int(binary.BigEndian.Uint16(sdi[97:]))
	binary.BigEndian.PutUint32(sdi[at+25:], 1<<31)
	noise := append(slices.Clone(circle[:16<<10]), gzippedNoise()...)
	for name, file := range map[string][]byte{"circle": circle, "noise": noise} {
		if values, _, report, err := walked(bytes.NewReader(file), Limits{}); err != nil || report.Skipped == 0 {
			t.Errorf("%s: %q, %+v, %v", name, values, report, err)
		}
	}
	if values, _, report, err := walked(bytes.NewReader(swells), Limits{}); err != nil || len(values) != 3 {
		t.Errorf("what a description cannot say is guessed: %q, %+v, %v", values, report, err)
	}
}

// FuzzInnoDB looks for panics in the reader of table files, and for an end: a page of rows is made up, in files that say
// what their columns are and in others.
func FuzzInnoDB(f *testing.F) {
	const size = 4 << 10
	whole := mysqlTable(f, 0x4021, mysqlPeople())
	var pages [][]byte
	for p := range slices.Chunk(whole, 16<<10) {
		pages = append(pages, p[:size])
	}
	binary.BigEndian.PutUint32(pages[0][54:], 0x4021|3<<6)
	f.Add(pages[3])
	f.Add(pages[4])
	for _, name := range []string{"pessoas", "compacta", "redundante"} {
		f.Add(read(f, "db/"+name+".ibd.gz")[3*16<<10:][:size])
	}
	f.Fuzz(func(t *testing.T, rows []byte) {
		rows = append(rows, make([]byte, size)...)[:size]
		for _, file := range [][]byte{slices.Concat(pages[0], rows), slices.Concat(pages[0], pages[3], rows)} {
			read, err := openInnoDB(&source{ReaderAt: bytes.NewReader(file), size: int64(len(file)), grow: func(int64) error { return nil }}, &text{w: bufio.NewWriter(io.Discard)})
			if err != nil {
				t.Fatal(err)
			}
			_ = read.pages() // says that the page is damaged
		}
	})
}
