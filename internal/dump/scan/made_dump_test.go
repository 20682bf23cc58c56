// The dumps here are made up: no person, address or number in them is real, and the same seed gives the same bytes.
//
// Every identifier written is reported as it is written, so that a test knows the truth of a dump without reading it.
// They hold what dumps also hold and must not be taken for identifiers: hashes, timestamps, keys, prices, company
// numbers, network addresses.

package scan

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

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
		d.writeRecord()
	}
	dst, d.out = d.out, nil
	return dst
}

// writeRecord writes the next one. Formats are mostly combo lines, as in the large public collections.
func (d *Dump) writeRecord() {
	d.id++
	if d.left == 0 {
		d.left, d.format, d.sep = 20+d.rnd.IntN(200), d.rnd.IntN(100), d.pickString(",", ";", "\t", "|")
	}
	d.left--
	switch n := d.format; {
	case n < 52:
		d.writeComboLine()
	case n < 70:
		d.writeCSVRow(d.sep)
	case n < 80:
		d.writeJSONObject()
	case n < 90:
		d.writeInsertRow()
	case n < 95:
		d.writeStealerBlock()
	default:
		d.writeHTMLRow()
	}
}

// writeComboLine writes a line of a combo list: an address and a password, and now and then a phone number.
func (d *Dump) writeComboLine() {
	d.randomEmail()
	d.randomText(d.pickString(":", ";", "|", ":"))
	d.password()
	if d.rnd.IntN(5) == 0 {
		d.randomText(":")
		d.randomPhone(unlabelled)
	}
	d.randomText("\n")
}

// writeCSVRow writes a row of a table, with an amount and a Unix time that look like identifiers but are none.
func (d *Dump) writeCSVRow(sep string) {
	d.randomNumber(d.id)
	d.randomText(sep + d.pickString(FirstNames...) + " " + d.pickString(LastNames...) + sep)
	d.randomCPF()
	d.randomText(sep)
	d.randomPhone(unlabelled)
	d.randomText(sep)
	d.randomEmail()
	d.randomText(sep)
	d.randomNumber(1_500_000_000 + d.rnd.IntN(200_000_000))
	d.randomText(sep)
	d.randomNumber(d.rnd.IntN(9999))
	d.randomText("." + strconv.Itoa(10+d.rnd.IntN(90)) + "\n")
}

// writeJSONObject writes an object in a line, with an id of ten digits that is no phone number.
func (d *Dump) writeJSONObject() {
	d.randomText(`{"id":`)
	d.randomNumber(1_000_000_000 + d.rnd.IntN(2_000_000_000))
	d.randomText(`,"cpf":"`)
	d.randomCPF()
	d.randomText(`","email":"`)
	d.randomEmail()
	d.randomText(`","telefone":"`)
	d.randomPhone(labelled)
	d.randomText(`","created_at":"2024-0` + strconv.Itoa(1+d.rnd.IntN(9)) + `-1` + strconv.Itoa(d.rnd.IntN(9)) +
		`T12:34:56.000Z","hash":"`)
	d.randomHex(32)
	d.randomText("\"}\n")
}

// writeInsertRow writes a tuple of a multi-row INSERT with identifiers of all kinds.
func (d *Dump) writeInsertRow() {
	d.randomText("(")
	d.randomNumber(d.id)
	d.randomText(",'")
	d.randomEmail()
	d.randomText("','$2y$10$")
	d.randomHex(22)
	d.randomText("','")
	d.randomCPF()
	d.randomText("','")
	d.randomPhone(unlabelled)
	d.randomText("','")
	d.randomCard()
	d.randomText("','")
	d.randomUUID()
	d.randomText("','")
	d.randomCNPJ()
	d.randomText("'),\n")
}

// writeStealerBlock writes a block of a stealer log, with numbers in the URL and the version that are no identifiers.
func (d *Dump) writeStealerBlock() {
	d.randomText("URL: https://www." + d.pickString(Domains...) + "/login?next=%2Fconta&t=")
	d.randomNumber(1_700_000_000_000 + d.rnd.IntN(90_000_000_000))
	d.randomText("\r\nUsername: ")
	d.randomEmail()
	d.randomText("\r\nPassword: ")
	d.password()
	d.randomText("\r\nApplication: Chrome 126.0.6478." + strconv.Itoa(100+d.rnd.IntN(100)) + "\r\nIP: ")
	d.randomAddress()
	d.randomText("\r\nCard: ")
	d.randomCard()
	d.randomText("\r\n===============\r\n")
}

// writeHTMLRow writes a row of an HTML table.
func (d *Dump) writeHTMLRow() {
	d.randomText("<tr><td>" + d.pickString(FirstNames...) + "</td><td><a href=\"mailto:")
	d.randomEmail()
	d.randomText("\">e-mail</a></td><td>")
	d.randomCPF()
	d.randomText("</td><td class=\"tel\">")
	d.randomPhone(unlabelled)
	d.randomText("</td><td>R$ 1.")
	d.randomNumber(100 + d.rnd.IntN(900))
	d.randomText(",00</td></tr>\n")
}

// noiseLine writes a line of a log or a page that holds no identifier.
func (d *Dump) noiseLine() {
	switch d.rnd.IntN(4) {
	case 0:
		d.randomAddress()
		d.randomText(" - - [12/Mar/2024:10:11:12 -0300] \"GET /produtos/")
		d.randomNumber(d.rnd.IntN(100_000))
		d.randomText("/fotos/grande.jpg HTTP/1.1\" 200 ")
		d.randomNumber(d.rnd.IntN(1_000_000))
		d.randomText(" \"-\" \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)\"\n")
	case 1:
		d.randomText("<div class=\"produto\"><h3>" + d.pickString(words...) + " " + d.pickString(words...) + "</h3><p>")
		for range 12 {
			d.randomText(d.pickString(words...) + " ")
		}
		d.randomText("</p></div>\n")
	case 2:
		d.randomText(
			"2024-03-12T10:11:12.345Z level=info msg=\"" + d.pickString(
				words...) + " " + d.pickString(
				words...) + "\" trace=",
		)
		d.randomHex(32)
		d.randomText(" took=" + strconv.Itoa(d.rnd.IntN(1000)) + "ms\n")
	default:
		for range 18 {
			d.randomText(d.pickString(words...) + " ")
		}
		d.randomText("\n")
	}
}

// measureHeap runs work and returns by how much the heap grew at its largest, looked at often.
func measureHeap(t testing.TB, work func()) uint64 {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	defer runtime.GOMAXPROCS(
		runtime.GOMAXPROCS(min(4, runtime.GOMAXPROCS(0))),
	) // the collector's share grows with the processors
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	peak, stop, stopped := before.HeapAlloc, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapAlloc)
				time.Sleep(5 * time.Millisecond) // reading the figures stops the program
			}
		}
	}()
	work()
	close(stop)
	<-stopped
	return peak - before.HeapAlloc
}

// Words that made-up people and their identifiers are made of.
var (
	FirstNames = []string{
		"Maria",
		"João",
		"Ana",
		"Pedro",
		"Beatriz",
		"Carlos",
		"Débora",
		"Eduardo",
		"Flávia",
		"Gustavo",
		"Helena",
		"Ígor",
	}
	LastNames = []string{
		"Silva",
		"Souza",
		"Oliveira",
		"Lima",
		"Araújo",
		"Barros",
		"Conceição",
		"Dias",
		"Esteves",
		"Freitas",
	}
	LocalNames = []string{
		"maria",
		"joao",
		"ana",
		"pedro",
		"bia",
		"carlos",
		"debora",
		"edu",
		"flavia",
		"guto",
		"helena",
		"igor",
		"silva",
		"souza",
		"lima",
	}
	Domains = []string{
		"exemplo.com.br",
		"exemplo.com",
		"correio.test",
		"caixa-postal.example",
		"empresa.example.org",
		"loja.exemplo.net.br",
		"uni.example.edu",
	}
	words = []string{
		"casa",
		"livro",
		"mesa",
		"verde",
		"promoção",
		"entrega",
		"frete",
		"garantia",
		"novo",
		"para",
		"com",
		"sem",
		"juros",
		"oferta",
		"página",
		"serviço",
		"cliente",
		"atendimento",
		"carrinho",
		"desconto",
		"tamanho",
		"cor",
		"azul",
		"branco",
		"loja",
		"pedido",
		"nota",
	}
	Areas = []string{
		"11",
		"12",
		"15",
		"18",
		"19",
		"21",
		"24",
		"27",
		"31",
		"35",
		"41",
		"47",
		"51",
		"55",
		"61",
		"62",
		"67",
		"71",
		"75",
		"81",
		"85",
		"91",
		"98",
	}
)

// pickString returns one of the texts at random; a text given twice is twice as likely.
func (d *Dump) pickString(from ...string) string { return from[d.rnd.IntN(len(from))] }

func (d *Dump) randomText(s string) { d.out = append(d.out, s...) }

// randomNumber appends a number that is no identifier.
func (d *Dump) randomNumber(n int) { d.out = strconv.AppendInt(d.out, int64(n), 10) }

// randomHex appends n random hexadecimal digits.
func (d *Dump) randomHex(n int) {
	for range n {
		d.out = append(d.out, "0123456789abcdef"[d.rnd.IntN(16)])
	}
}

func (d *Dump) randomUUID() {
	for i, n := range [...]int{8, 4, 4, 4, 12} {
		if i > 0 {
			d.randomText("-")
		}
		d.randomHex(n)
	}
}

// randomAddress appends a random IPv4 address.
func (d *Dump) randomAddress() {
	for i := range 4 {
		if i > 0 {
			d.randomText(".")
		}
		d.randomNumber(d.rnd.IntN(256))
	}
}

// password appends a password such as people choose.
func (d *Dump) password() {
	d.randomText(d.pickString(words...))
	d.randomNumber(d.rnd.IntN(10_000))
	d.randomText(d.pickString("", "!", "#", "$"))
}

// randomCNPJ writes a company number, formatted or bare. Bare ones are found where the rows around say what they are.
func (d *Dump) randomCNPJ() {
	n := d.normal[:0]
	for range 8 {
		n = append(n, byte('0'+d.rnd.IntN(10)))
	}
	n = append(n, "000100"...)
	for check := 0; !identifier.ValidCNPJ(n); check++ {
		n[12], n[13] = byte('0'+check/10), byte('0'+check%10)
	}
	if d.rnd.IntN(2) == 0 {
		d.truth(identifier.CNPJ, n, false)
		d.out = append(d.out, n...)
		return
	}
	d.truth(identifier.CNPJ, n, true)
	d.randomText(
		string(n[:2]) + "." + string(n[2:5]) + "." + string(n[5:8]) + "/" + string(n[8:12]) + "-" + string(n[12:]),
	)
}

// randomEmail appends an address, one in ten in capitals, and reports it in normal form.
func (d *Dump) randomEmail() {
	start := len(d.out)
	d.randomText(d.pickString(LocalNames...))
	d.randomText(d.pickString("", ".", "_", "-"))
	d.randomText(d.pickString(LocalNames...))
	d.randomNumber(d.rnd.IntN(100_000))
	d.randomText(d.pickString("", "", "", "", "", "", "+loja"))
	d.randomText("@")
	d.randomText(d.pickString(Domains...))
	d.truth(identifier.Email, d.out[start:], true)
	if d.rnd.IntN(10) == 0 {
		for i := start; i < len(d.out); i++ {
			if c := d.out[i]; c >= 'a' && c <= 'z' {
				d.out[i] = c - 'a' + 'A'
			}
		}
	}
}

// randomCPF appends a valid CPF.
func (d *Dump) randomCPF() {
	n := d.normal[:11]
	for {
		for i := range 9 {
			n[i] = byte('0' + d.rnd.IntN(10))
		}
		for check := range 100 {
			n[9], n[10] = byte('0'+check/10), byte('0'+check%10)
			if identifier.IsValidCPF(n) {
				d.truth(identifier.CPF, n, true)
				d.writeCPF(n)
				return
			}
		}
	}
}

// writeCPF writes a CPF in one of its usual forms. Eleven plain digits may be a mobile number too, which is reported as
// not meant.
func (d *Dump) writeCPF(n []byte) {
	switch d.rnd.IntN(5) {
	case 0, 1:
		if phone, ok := identifier.AppendBrazilianPhone(nil, n); ok {
			d.truth(identifier.Phone, phone, false)
		}
		d.out = append(d.out, n...)
	case 2, 3:
		d.randomText(string(n[:3]) + "." + string(n[3:6]) + "." + string(n[6:9]) + "-" + string(n[9:]))
	default:
		d.randomText(string(n[:9]) + "-" + string(n[9:]))
	}
}

const (
	unlabelled = false
	labelled   = true
)

// randomPhone writes a mobile, an old mobile or a landline. Ten bare digits of the area codes 12 to 17 without a label
// are left out: those are times.
func (d *Dump) randomPhone(label bool) {
	area, mid, last := d.pickString(Areas...), strconv.Itoa(1000+d.rnd.IntN(9000)), strconv.Itoa(1000+d.rnd.IntN(9000))
	kind := d.rnd.IntN(10)
	switch {
	case kind < 7: // a mobile of today
		d.reportWritten(identifier.Phone, "+55"+area+"9"+mid+last)
		d.writeMobile(area, mid, last)
		return
	case kind == 7: // an old mobile
		mid = d.pickString("6", "7", "8", "9") + mid[1:]
		d.reportWritten(identifier.Phone, "+55"+area+"9"+mid+last)
	default:
		mid = d.pickString("2", "3", "4", "5") + mid[1:]
		d.reportWritten(identifier.Phone, "+55"+area+mid+last)
	}
	switch form := d.rnd.IntN(4); {
	case form == 0 && (label || area[0] != '1' || area[1] < '2' || area[1] > '7'):
		d.randomText(area + mid + last)
	case form == 1:
		d.randomText("+55" + area + mid + last)
	case form == 2:
		d.randomText("+55 " + area + " " + mid + "-" + last)
	default:
		d.randomText("(" + area + ") " + mid + "-" + last)
	}
}

// writeMobile writes a mobile number in one of its usual forms. Eleven plain digits may be a CPF too, which is reported
// as not meant.
func (d *Dump) writeMobile(area, mid, last string) {
	switch d.rnd.IntN(6) {
	case 0:
		n := area + "9" + mid + last
		if identifier.IsValidCPF(n) {
			d.truth(identifier.CPF, []byte(n), false)
		}
		d.randomText(n)
	case 1:
		d.randomText("+55" + area + "9" + mid + last)
	case 2:
		d.randomText("55" + area + "9" + mid + last)
	case 3:
		d.randomText("(" + area + ") 9" + mid + "-" + last)
	case 4:
		d.randomText(area + " 9" + mid + "-" + last)
	default:
		d.randomText("+55 (" + area + ") 9 " + mid + "-" + last)
	}
}

// reportWritten reports an identifier that was written on purpose.
func (d *Dump) reportWritten(kind identifier.Kind, normal string) {
	d.truth(kind, append(d.normal[:0], normal...), true)
}

// randomCard appends a card number with a valid check digit, plain or in groups.
func (d *Dump) randomCard() {
	prefix := d.pickString("4111", "5412", "2720", "6062", "6500", "3714", "4532")
	length := 16
	if prefix == "3714" {
		length = 15
	}
	n := append(d.normal[:0], prefix...)
	for len(n) < length {
		n = append(n, byte('0'+d.rnd.IntN(10)))
	}
	for !identifier.IsLuhnValid(n) {
		n[length-1] = '0' + (n[length-1]-'0'+1)%10
	}
	d.truth(identifier.Card, n, true)
	sep := d.pickString("", "", " ", "-")
	switch {
	case sep == "":
		d.out = append(d.out, n...)
	case length == 15:
		d.randomText(string(n[:4]) + sep + string(n[4:10]) + sep + string(n[10:]))
	default:
		d.randomText(string(n[:4]) + sep + string(n[4:8]) + sep + string(n[8:12]) + sep + string(n[12:]))
	}
}

// Value is an identifier of a made-up person, in normal form.
type Value struct {
	Kind   identifier.Kind
	Normal string
}

// Person is what one record truly holds, known because it was written.
type Person struct {
	Values []Value
	// Classes are words of the breach vocabulary.
	Classes  map[string]bool
	Password string
	Site     string
}

// datum is a field of a record as it is written.
type datum struct {
	class string // of the vocabulary; empty for what is no class, such as a number of the record
	text  string
	value Value
}

// people makes up records.
type people struct {
	rnd  *rand.Rand
	dump *Dump
	last []Value
	used map[string]bool
	id   int
}

// newPeople returns a source of made-up people; the same seed gives the same people.
func newPeople(seed uint64) *people {
	p := &people{rnd: rand.New(rand.NewPCG(seed, 3)), used: map[string]bool{}}
	p.dump = &Dump{rnd: p.rnd, truth: func(kind identifier.Kind, normal []byte, meant bool) {
		if meant {
			p.last = append(p.last, Value{kind, string(normal)})
		}
	}}
	return p
}

// identifier has the dump write an identifier that no other person has.
func (p *people) identifier(class string, write func()) datum {
	for {
		p.dump.out, p.last = p.dump.out[:0], p.last[:0]
		write()
		if key := fmt.Sprint(p.last[0]); !p.used[key] {
			p.used[key] = true
			return datum{class, string(p.dump.out), p.last[0]}
		}
	}
}

// pickString returns one of the texts at random; a text given twice is twice as likely.
func (p *people) pickString(from ...string) string { return from[p.rnd.IntN(len(from))] }

// randomHex returns n random hexadecimal digits.
func (p *people) randomHex(n int) string {
	p.dump.out = p.dump.out[:0]
	p.dump.randomHex(n)
	return string(p.dump.out)
}

func (p *people) randomDigits(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(byte('0' + p.rnd.IntN(10)))
	}
	return b.String()
}

// password makes up what people choose, and what parsers stumble over.
func (p *people) password() string {
	base := p.pickString(words...) + strconv.Itoa(p.rnd.IntN(10_000))
	switch p.rnd.IntN(16) {
	case 0:
		return base + p.pickString(":", ";", ",", "|") + p.pickString(words...)
	case 1:
		return base + p.pickString(`"`, `'`, `\`, "''", `"",`) + "x" + strconv.Itoa(p.rnd.IntN(100))
	case 2: // a password that contains an e-mail address
		return "x!" + p.pickString(LocalNames...) + strconv.Itoa(p.rnd.IntN(1_000_000)) + "@" +
			p.pickString(Domains...) + "!9"
	case 3:
		return strconv.Itoa(100_000 + p.rnd.IntN(900_000))
	case 4:
		return p.pickString(LocalNames...) + p.pickString("", "!", "123", "@2020")
	case 5:
		return p.pickString("Ç", "ã", "é") + base + p.pickString("#", "$", "%", "&")
	case 6:
		return base + p.pickString("),(", "'),('", `"},{"`, "{}", "</a>", "=")
	}
	return strings.ToUpper(base[:1]) + base[1:] + p.pickString("", "!", "#", "@", ".")
}

// randomHash returns a random text in the form of a password hash: bcrypt, SHA-1, Argon2 or MD5.
func (p *people) randomHash() string {
	switch p.rnd.IntN(4) {
	case 0:
		return "$2y$10$" + p.randomHex(53)
	case 1:
		return p.randomHex(40)
	case 2:
		return "$argon2id$v=19$m=65536,t=3,p=4$" + p.randomHex(22) + "$" + p.randomHex(43)
	}
	return p.randomHex(32)
}

// randomDate returns a random date between two years in one of the forms that dumps have.
func (p *people) randomDate(from, to int) string {
	y, m, d := from+p.rnd.IntN(to-from), 1+p.rnd.IntN(12), 1+p.rnd.IntN(28)
	switch p.rnd.IntN(3) {
	case 0:
		return fmt.Sprintf("%02d/%02d/%d", d, m, y)
	case 1:
		return fmt.Sprintf("%d-%02d-%02d 00:00:00", y, m, d)
	}
	return fmt.Sprintf("%d-%02d-%02d", y, m, d)
}

// randomAddress returns a random IPv4 address.
func (p *people) randomAddress() string {
	return fmt.Sprintf("%d.%d.%d.%d", 1+p.rnd.IntN(220), p.rnd.IntN(256), p.rnd.IntN(256), 1+p.rnd.IntN(254))
}

// kind is a kind of column: its class, what it is called in three languages, and how a value is made up.
type kind struct {
	class string
	names []string
	make  func(*people) datum
}

// plainKind returns a kind of column whose values are no identifiers.
func plainKind(class string, names string, text func(*people) string) kind {
	return kind{class, strings.Split(names, ","), func(p *people) datum { return datum{class: class, text: text(p)} }}
}

// columnKinds are what tables of people have. The first four are identifiers.
var columnKinds = []kind{
	{
		"email", strings.Split("email,e-mail,Email,E-MAIL,user_email,correo,correo_electronico,Correo "+
			"Electrónico,mail,emailAddress,email_cliente", ","),
		func(p *people) datum { return p.identifier("email", p.dump.randomEmail) },
	},
	{
		"cpf", strings.Split("cpf,CPF,nr_cpf,cpf_cliente,CPF do titular,num_cpf", ","),
		func(p *people) datum { return p.identifier("cpf", p.dump.randomCPF) },
	},
	{
		"phone", strings.Split("telefone,phone,celular,teléfono,telefono,phone_number,Telefone "+
			"Celular,tel,whatsapp,mobile,móvil,fone", ","),
		func(p *people) datum { return p.identifier("phone", func() { p.dump.randomPhone(unlabelled) }) },
	},
	{
		"card", strings.Split("cartao,card_number,credit_card,numero_cartao,tarjeta,numero_tarjeta", ","),
		func(p *people) datum { return p.identifier("card", p.dump.randomCard) },
	},
	plainKind("password", "senha,password,contraseña,contrasena,clave,passwd,pwd,Senha,PASSWORD,user_password,pass",
		(*people).password),
	plainKind("password_hash", "password_hash,senha_hash,hash_senha,passwordHash,encrypted_password,hash,contrasena_hash", (*people).randomHash),
	plainKind("name", "nome,name,nombre,full_name,Nome "+
		"Completo,nombre_completo,nome_cliente,fullName,apellidos,sobrenome", func(p *people) string {
		return p.pickString(FirstNames...) + " " + p.pickString(LastNames...)
	}),
	plainKind("birth_date", "data_nascimento,nascimento,birth_date,date_of_birth,dob,fecha_nacimiento,Data de "+
		"Nascimento,dt_nasc,birthday", func(p *people) string { return p.randomDate(1940, 2008) }),
	plainKind("address", "endereco,endereço,address,direccion,dirección,logradouro,street_address,rua",
		func(p *people) string {
			return p.pickString("Rua ", "Av. ", "Travessa ") + p.pickString(LastNames...) + " " +
				strconv.Itoa(1+p.rnd.IntN(3000))
		}),
	plainKind("address", "cep,zip_code,codigo_postal,CEP", func(p *people) string {
		return strconv.Itoa(10000+p.rnd.IntN(80000)) + "-" + strconv.Itoa(100+p.rnd.IntN(900))
	}),
	plainKind("document", "rg,RG,passport,pasaporte,dni,cnh,documento_rg", func(p *people) string {
		return p.pickString("MG", "SP", "X", "") + p.randomDigits(8) + p.pickString("", "X")
	}),
	plainKind(
		"ip_address",
		"ip,ip_address,last_ip,endereco_ip,direccion_ip,lastIp,registration_ip",
		(*people).randomAddress,
	),
	plainKind("username", "username,usuario,login,nick,nome_usuario,nombre_usuario,userName", func(p *people) string {
		return p.pickString(LocalNames...) + "_" + p.pickString(LocalNames...) + strconv.Itoa(p.rnd.IntN(1000))
	}),
	plainKind(
		"financial",
		"salario,salary,renda,saldo,balance,renda_mensal,income,sueldo",
		func(p *people) string { return strconv.Itoa(1000+p.rnd.IntN(9000)) + "." + p.randomDigits(2) },
	),
	plainKind("cookies", "cookie,cookies,session_cookie", func(p *people) string { return "sid=" + p.randomHex(24) }),
	plainKind(
		"health",
		"diagnostico,diagnosis,tipo_sanguineo,blood_type",
		func(p *people) string { return p.pickString("asma", "CID J45", "O+", "A-", "diabetes") },
	),
	// What is no class, and must not be taken for one.
	plainKind(
		"",
		"created_at,data_cadastro,fecha_alta,updated_at,last_login,password_changed_at,data_alteracao_senha",
		func(p *people) string { return p.randomDate(2015, 2024) },
	),
	plainKind(
		"",
		"city,cidade,ciudad,estado,uf,country",
		func(p *people) string { return p.pickString("Recife", "Santos", "Lima", "Porto Alegre") },
	),
	plainKind(
		"",
		"status,ativo,active,email_verified,is_admin,senha_expirada,password_reset",
		func(p *people) string { return p.pickString("1", "0", "true", "false", "ativo") },
	),
	plainKind(
		"",
		"token,remember_token,api_token,session_id,reset_token,uuid",
		func(p *people) string { return p.randomHex(32) },
	),
	plainKind("", "company_name,empresa,nome_empresa,product_name,nombre_producto,nome_mae", func(p *people) string {
		return p.pickString(LastNames...) + " " + p.pickString("Ltda", "S.A.", "e Filhos")
	}),
	plainKind(
		"",
		"password_salt,salt,user_agent,obs",
		func(p *people) string { return p.pickString("Mozilla/5.0", "x9f2", "cliente novo", "nao ligar") },
	),
}
