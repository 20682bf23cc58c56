package scantest

import (
	"strconv"

	"github.com/vigiahq/vigia/internal/identifier"
)

// Words that made-up people and their identifiers are made of.
var (
	FirstNames = []string{"Maria", "João", "Ana", "Pedro", "Beatriz", "Carlos", "Débora", "Eduardo", "Flávia", "Gustavo", "Helena", "Ígor"}
	LastNames  = []string{"Silva", "Souza", "Oliveira", "Lima", "Araújo", "Barros", "Conceição", "Dias", "Esteves", "Freitas"}
	LocalNames = []string{"maria", "joao", "ana", "pedro", "bia", "carlos", "debora", "edu", "flavia", "guto", "helena", "igor", "silva", "souza", "lima"}
	Domains    = []string{"exemplo.com.br", "exemplo.com", "correio.test", "caixa-postal.example", "empresa.example.org", "loja.exemplo.net.br", "uni.example.edu"}
	words      = []string{"casa", "livro", "mesa", "verde", "promoção", "entrega", "frete", "garantia", "novo", "para", "com", "sem", "juros", "oferta",
		"página", "serviço", "cliente", "atendimento", "carrinho", "desconto", "tamanho", "cor", "azul", "branco", "loja", "pedido", "nota"}
	Areas = []string{"11", "12", "15", "18", "19", "21", "24", "27", "31", "35", "41", "47", "51", "55", "61", "62", "67", "71", "75", "81", "85", "91", "98"}
)

// pick returns one of the texts at random; a text given twice is twice as likely.
func (d *Dump) pick(from ...string) string { return from[d.rnd.IntN(len(from))] }

// text appends a text as it is.
func (d *Dump) text(s string) { d.out = append(d.out, s...) }

// number appends a number that is no identifier.
func (d *Dump) number(n int) { d.out = strconv.AppendInt(d.out, int64(n), 10) }

// hex appends n random hexadecimal digits.
func (d *Dump) hex(n int) {
	for range n {
		d.out = append(d.out, "0123456789abcdef"[d.rnd.IntN(16)])
	}
}

// uuid appends a random UUID.
func (d *Dump) uuid() {
	for i, n := range [...]int{8, 4, 4, 4, 12} {
		if i > 0 {
			d.text("-")
		}
		d.hex(n)
	}
}

// ip appends a random IPv4 address.
func (d *Dump) ip() {
	for i := range 4 {
		if i > 0 {
			d.text(".")
		}
		d.number(d.rnd.IntN(256))
	}
}

// password appends a password such as people choose.
func (d *Dump) password() {
	d.text(d.pick(words...))
	d.number(d.rnd.IntN(10_000))
	d.text(d.pick("", "!", "#", "$"))
}

// cnpj writes a company number, formatted or bare. Bare ones are found where the rows around say what they are.
func (d *Dump) cnpj() {
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
	d.text(string(n[:2]) + "." + string(n[2:5]) + "." + string(n[5:8]) + "/" + string(n[8:12]) + "-" + string(n[12:]))
}

// email appends an address, one in ten in capitals, and reports it in normal form.
func (d *Dump) email() {
	start := len(d.out)
	d.text(d.pick(LocalNames...))
	d.text(d.pick("", ".", "_", "-"))
	d.text(d.pick(LocalNames...))
	d.number(d.rnd.IntN(100_000))
	d.text(d.pick("", "", "", "", "", "", "+loja"))
	d.text("@")
	d.text(d.pick(Domains...))
	d.truth(identifier.Email, d.out[start:], true)
	if d.rnd.IntN(10) == 0 {
		for i := start; i < len(d.out); i++ {
			if c := d.out[i]; c >= 'a' && c <= 'z' {
				d.out[i] = c - 'a' + 'A'
			}
		}
	}
}

// cpf appends a valid CPF.
func (d *Dump) cpf() {
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
		d.text(string(n[:3]) + "." + string(n[3:6]) + "." + string(n[6:9]) + "-" + string(n[9:]))
	default:
		d.text(string(n[:9]) + "-" + string(n[9:]))
	}
}

const (
	unlabelled = false
	labelled   = true
)

// phone writes a mobile, an old mobile or a landline. Ten bare digits of the area codes 12 to 17 without a label are
// left out: those are times.
func (d *Dump) phone(label bool) {
	area, mid, last := d.pick(Areas...), strconv.Itoa(1000+d.rnd.IntN(9000)), strconv.Itoa(1000+d.rnd.IntN(9000))
	kind := d.rnd.IntN(10)
	switch {
	case kind < 7: // a mobile of today
		d.meant(identifier.Phone, "+55"+area+"9"+mid+last)
		d.writeMobile(area, mid, last)
		return
	case kind == 7: // an old mobile
		mid = d.pick("6", "7", "8", "9") + mid[1:]
		d.meant(identifier.Phone, "+55"+area+"9"+mid+last)
	default:
		mid = d.pick("2", "3", "4", "5") + mid[1:]
		d.meant(identifier.Phone, "+55"+area+mid+last)
	}
	switch form := d.rnd.IntN(4); {
	case form == 0 && (label || area[0] != '1' || area[1] < '2' || area[1] > '7'):
		d.text(area + mid + last)
	case form == 1:
		d.text("+55" + area + mid + last)
	case form == 2:
		d.text("+55 " + area + " " + mid + "-" + last)
	default:
		d.text("(" + area + ") " + mid + "-" + last)
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
		d.text(n)
	case 1:
		d.text("+55" + area + "9" + mid + last)
	case 2:
		d.text("55" + area + "9" + mid + last)
	case 3:
		d.text("(" + area + ") 9" + mid + "-" + last)
	case 4:
		d.text(area + " 9" + mid + "-" + last)
	default:
		d.text("+55 (" + area + ") 9 " + mid + "-" + last)
	}
}

// meant reports an identifier that was written on purpose.
func (d *Dump) meant(kind identifier.Kind, normal string) {
	d.truth(kind, append(d.normal[:0], normal...), true)
}

// card appends a card number with a valid check digit, plain or in groups.
func (d *Dump) card() {
	prefix := d.pick("4111", "5412", "2720", "6062", "6500", "3714", "4532")
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
	sep := d.pick("", "", " ", "-")
	switch {
	case sep == "":
		d.out = append(d.out, n...)
	case length == 15:
		d.text(string(n[:4]) + sep + string(n[4:10]) + sep + string(n[10:]))
	default:
		d.text(string(n[:4]) + sep + string(n[4:8]) + sep + string(n[8:12]) + sep + string(n[12:]))
	}
}
