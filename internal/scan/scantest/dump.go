// Package scantest makes up dumps for tests and benchmarks: no person, address or number in them is real, and the same
// seed gives the same bytes.
//
// Every identifier it writes is reported as it is written, so that a test knows the truth of a dump without reading it.
// It writes what dumps also hold and must not be taken for identifiers: hashes, timestamps, keys, prices, company
// numbers, network addresses.
package scantest

import (
	"math/rand/v2"
	"strconv"

	"github.com/vigiahq/vigia/internal/identifier"
)

// Truth receives each identifier written, in normal form, the bytes being valid during the call only. Meant is false
// for a second reading that the digits allow as well as the first and that cannot be ruled out from the text alone: a
// scanner may report it or not, and neither is a mistake.
type Truth func(kind identifier.Kind, normal []byte, meant bool)

// Dump writes records of made-up people in the formats dumps come in.
type Dump struct {
	rnd    *rand.Rand
	truth  Truth
	sparse bool
	out    []byte
	id     int
	// A dump is put together of files: so many more records have the same format and separator.
	left   int
	format int
	sep    string
	normal [64]byte
}

// NewDense makes a Dump in which every line is about a person.
func NewDense(seed uint64, truth Truth) *Dump {
	return &Dump{rnd: rand.New(rand.NewPCG(seed, 1)), truth: truth}
}

// NewSparse makes a Dump of logs and pages in which one line in some two hundred is about a person.
func NewSparse(seed uint64, truth Truth) *Dump {
	return &Dump{rnd: rand.New(rand.NewPCG(seed, 2)), truth: truth, sparse: true}
}

// Append appends at least n more bytes of the dump, in whole records, to dst.
func (d *Dump) Append(dst []byte, n int) []byte {
	d.out = dst
	for end := len(dst) + n; len(d.out) < end; {
		if d.sparse && d.rnd.IntN(200) != 0 {
			d.noiseLine()
			continue
		}
		d.record()
	}
	dst, d.out = d.out, nil
	return dst
}

// record writes the next one. Formats are mostly combo lines, as in the large public collections.
func (d *Dump) record() {
	d.id++
	if d.left == 0 {
		d.left, d.format, d.sep = 20+d.rnd.IntN(200), d.rnd.IntN(100), d.pick(",", ";", "\t", "|")
	}
	d.left--
	switch n := d.format; {
	case n < 52:
		d.combo()
	case n < 70:
		d.csv(d.sep)
	case n < 80:
		d.json()
	case n < 90:
		d.sql()
	case n < 95:
		d.stealer()
	default:
		d.html()
	}
}

// combo writes a line of a combo list: an address and a password, and now and then a phone number.
func (d *Dump) combo() {
	d.email()
	d.text(d.pick(":", ";", "|", ":"))
	d.password()
	if d.rnd.IntN(5) == 0 {
		d.text(":")
		d.phone(unlabelled)
	}
	d.text("\n")
}

// csv writes a row of a table, with an amount and a Unix time that look like identifiers but are none.
func (d *Dump) csv(sep string) {
	d.number(d.id)
	d.text(sep + d.pick(FirstNames...) + " " + d.pick(LastNames...) + sep)
	d.cpf()
	d.text(sep)
	d.phone(unlabelled)
	d.text(sep)
	d.email()
	d.text(sep)
	d.number(1_500_000_000 + d.rnd.IntN(200_000_000))
	d.text(sep)
	d.number(d.rnd.IntN(9999))
	d.text("." + strconv.Itoa(10+d.rnd.IntN(90)) + "\n")
}

// json writes an object in a line, with an id of ten digits that is no phone number.
func (d *Dump) json() {
	d.text(`{"id":`)
	d.number(1_000_000_000 + d.rnd.IntN(2_000_000_000))
	d.text(`,"cpf":"`)
	d.cpf()
	d.text(`","email":"`)
	d.email()
	d.text(`","telefone":"`)
	d.phone(labelled)
	d.text(`","created_at":"2024-0` + strconv.Itoa(1+d.rnd.IntN(9)) + `-1` + strconv.Itoa(d.rnd.IntN(9)) + `T12:34:56.000Z","hash":"`)
	d.hex(32)
	d.text("\"}\n")
}

// sql writes a tuple of a multi-row INSERT with identifiers of all kinds.
func (d *Dump) sql() {
	d.text("(")
	d.number(d.id)
	d.text(",'")
	d.email()
	d.text("','$2y$10$")
	d.hex(22)
	d.text("','")
	d.cpf()
	d.text("','")
	d.phone(unlabelled)
	d.text("','")
	d.card()
	d.text("','")
	d.uuid()
	d.text("','")
	d.cnpj()
	d.text("'),\n")
}

// stealer writes a block of a stealer log, with numbers in the URL and the version that are no identifiers.
func (d *Dump) stealer() {
	d.text("URL: https://www." + d.pick(Domains...) + "/login?next=%2Fconta&t=")
	d.number(1_700_000_000_000 + d.rnd.IntN(90_000_000_000))
	d.text("\r\nUsername: ")
	d.email()
	d.text("\r\nPassword: ")
	d.password()
	d.text("\r\nApplication: Chrome 126.0.6478." + strconv.Itoa(100+d.rnd.IntN(100)) + "\r\nIP: ")
	d.ip()
	d.text("\r\nCard: ")
	d.card()
	d.text("\r\n===============\r\n")
}

// html writes a row of an HTML table.
func (d *Dump) html() {
	d.text("<tr><td>" + d.pick(FirstNames...) + "</td><td><a href=\"mailto:")
	d.email()
	d.text("\">e-mail</a></td><td>")
	d.cpf()
	d.text("</td><td class=\"tel\">")
	d.phone(unlabelled)
	d.text("</td><td>R$ 1.")
	d.number(100 + d.rnd.IntN(900))
	d.text(",00</td></tr>\n")
}

// noiseLine writes a line of a log or a page that holds no identifier.
func (d *Dump) noiseLine() {
	switch d.rnd.IntN(4) {
	case 0:
		d.ip()
		d.text(" - - [12/Mar/2024:10:11:12 -0300] \"GET /produtos/")
		d.number(d.rnd.IntN(100_000))
		d.text("/fotos/grande.jpg HTTP/1.1\" 200 ")
		d.number(d.rnd.IntN(1_000_000))
		d.text(" \"-\" \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)\"\n")
	case 1:
		d.text("<div class=\"produto\"><h3>" + d.pick(words...) + " " + d.pick(words...) + "</h3><p>")
		for range 12 {
			d.text(d.pick(words...) + " ")
		}
		d.text("</p></div>\n")
	case 2:
		d.text("2024-03-12T10:11:12.345Z level=info msg=\"" + d.pick(words...) + " " + d.pick(words...) + "\" trace=")
		d.hex(32)
		d.text(" took=" + strconv.Itoa(d.rnd.IntN(1000)) + "ms\n")
	default:
		for range 18 {
			d.text(d.pick(words...) + " ")
		}
		d.text("\n")
	}
}
