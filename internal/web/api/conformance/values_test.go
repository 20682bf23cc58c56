package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
)

// watched is a row of adding a value, for a person of its own so that no limit is met.
func (w *world) watched(rule, kind, value string, status int) check {
	c := check{
		"1 POST monitoring", fmt.Sprintf("%s: %s %q", rule, kind, value),
		request{method: "POST", path: "/v1/cyber/monitoring", body: watch(kind, value,
			w.fresh())},
		expect{status: status},
	}
	if status == http.StatusOK {
		c.holds = is(added)
	}
	return c
}

func emailRows(w *world) (rows []check) {
	long := strings.Repeat("a", 64) + "@" + strings.Repeat(strings.Repeat("b", 61)+".", 3) + "com"
	for _, good := range []string{
		"ana@exemplo.com.br", "ANA@EXEMPLO.COM.BR", "a@b.co", "ana.souza@exemplo.com", "ana+loja@exemplo.com",
		"a_b-c@exemplo.com", "1@exemplo.com", "o'neil@exemplo.com",
		"joão@exemplo.com.br", "ana@açaí.com.br", "ana@xn--aa-tka5i.com.br", "a!#$%&'*+-/=?^_`{|}~b@exemplo.com",
		"ana@sub.sub.exemplo.com", "ana@exemplo-teste.com",
		"ana@1exemplo.com", long,
	} {
		rows = append(rows, w.watched("an address", "email", good, 200))
	}
	for _, bad := range []string{
		"ana", "ana@", "@exemplo.com", "ana@@exemplo.com", "ana@exemplo", "a b@exemplo.com", "ana@exemplo..com",
		".ana@exemplo.com", "ana.@exemplo.com", "a..b@exemplo.com",
		"ana@exemplo.com,bia@exemplo.com", "ana@exemplo.com;bia@exemplo.com", "Ana <ana@exemplo.com>",
		"ana@exem plo.com", "ana@-exemplo.com", "ana@exemplo-.com", "ana@[127.0.0.1]",
		`"a b"@exemplo.com`, "ana@exemplo.com\n", " ana@exemplo.com", "ana@exemplo.com ", "ana\x00@exemplo.com", "ana@exemplo.com@exemplo.com", "ana(comentário)@exemplo.com", "mailto:ana@exemplo.com",
		"a" + long, strings.Repeat("a",
			300) + "@exemplo.com", "ana@.exemplo.com", "ana@exemplo_x.com", "ana\u202e@exemplo.com",
	} {
		rows = append(rows, w.watched("no address", "email", bad, 400))
	}
	return rows
}

// cpfOf is a row of adding a CPF under a hash of that very person, for the live partner.
func (w *world) ownCPF(rule, number, as string, status int) check {
	c := check{"1 POST monitoring", rule + ": " + as, request{"POST", "/v1/cyber/monitoring", watch("cpf", as,
		digest(512, number, w.live.salt)), w.live.key, nil}, expect{status: status}}
	if status == http.StatusOK {
		c.holds = is(added)
	}
	return c
}

func cpfRows(w *world) (rows []check) {
	for n := 100; n < 160; n++ {
		rows = append(rows, w.ownCPF("a CPF", cpf(n), cpf(n), 200), w.ownCPF("a CPF with dots", cpf(n),
			dotted(cpf(n)), 200),
			w.ownCPF("check digits", badCPF(n), badCPF(n), 400), w.watched("check digits are waived in the sandbox",
				"cpf", badCPF(n), 200))
	}
	for d := range 10 {
		same := strings.Repeat(fmt.Sprint(d), 11)
		rows = append(rows, w.ownCPF("eleven equal digits", same, same, 400), w.watched("eleven equal digits", "cpf",
			same, 400))
	}
	c := cpf(99)
	for _, bad := range []string{
		c[:10], c + "1", c[:10] + "a", "", " " + c, c + " ", c[:3] + " " + c[3:],
		dotted(c) + "-", "-" + c, "１" + c[1:], c + "\x00", strings.ReplaceAll(dotted(c), ".", ","), "a.b.c-d",
	} {
		rows = append(rows, w.ownCPF("not a CPF", c, bad, 400), w.watched("not a CPF", "cpf", bad, 400))
	}
	return rows
}

// areaCodes are the 67 in use.
var areaCodes = strings.Fields(
	`11 12 13 14 15 16 17 18 19 21 22 24 27 28 31 32 33 34 35 37 38 41 42 43 44 45 46 47 48 49 51 53 54 55 61 62 63 64 65 66 67 68 69
	71 73 74 75 77 79 81 82 83 84 85 86 87 88 89 91 92 93 94 95 96 97 98 99`,
)

func phoneRows(w *world) (rows []check) {
	if len(areaCodes) != 67 {
		panic(len(areaCodes))
	}
	for _, area := range areaCodes {
		for _, good := range []string{
			"+55" + area + "987654321", area + "987654321", "55" + area + "987654321",
			"(" + area + ") 98765-4321", "+55 " + area + " 3456-7890", area + "34567890",
		} {
			rows = append(rows, w.watched("a phone", "phone", good, 200))
		}
		rows = append(rows, w.watched("a mobile has nine digits", "phone", "+55"+area+"87654321", 400))
	}
	for n := range 100 {
		if area := fmt.Sprintf("%02d", n); !contains(areaCodes, area) {
			rows = append(rows, w.watched("no area code", "phone", "+55"+area+"987654321", 400))
		}
	}
	for _, good := range []string{
		"+1 212 555 2368", "+351912345678", "+5491123456789", "+442079460958",
		"+4930123456",
	} {
		rows = append(rows, w.watched("another country, with +", "phone", good, 200))
	}
	for _, bad := range []string{
		"", "12", "+", "+5500987654321", "+5511187654321", "+552098765432100", "987654321", "34567890", "abcdefghijk",
		"+55119876543210", "++5511987654321", "5511987654321x",
		"+999123456789", "11 98765 4321 ramal 3", "+5511987654321\n", "１１987654321",
	} {
		rows = append(rows, w.watched("no phone", "phone", bad, 400))
	}
	return rows
}

func cardRows(w *world) (rows []check) {
	for length := 12; length <= 19; length++ {
		number := card(("4539" + "578763621486" + "123")[:length-1])
		off := number[:length-1] + fmt.Sprint((int(number[length-1]-'0')+1)%10)
		live := func(rule, value string, status int) check {
			c := w.watched(rule, "credit_card", value, status)
			c.key = w.live.key
			return c
		}
		rows = append(rows, live("a card", number, 200), live("a card with spaces",
			number[:4]+" "+number[4:8]+" "+number[8:], 200),
			live("a card with hyphens", number[:4]+"-"+number[4:8]+"-"+number[8:], 200), live("Luhn's digit", off,
				400), w.watched("Luhn is waived in the sandbox", "credit_card", off, 200),
			live("a letter", number[:length-1]+"a", 400), live("dots", number[:4]+"."+number[4:],
				400), live("a control character", number+"\n", 400))
	}
	for _, bad := range []string{
		"", "4", card("4539578763"), card("4539578763621486123"), strings.Repeat("4", 40),
		"-" + card("453957876362148"), "四五三九",
	} {
		rows = append(rows, w.watched("no card", "credit_card", bad, 400))
	}
	return rows
}
