package scan

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/identifier"
)

// cellText is a value with the name of its column.
type cellText struct{ Name, Text string }

// spelling is a way to write an identifier down. Write also says what it is to be found as, which is told from the
// value that was made up, never from the text.
type spelling struct {
	Kind identifier.Kind
	Name string
	// Named spellings can be told only where a column or a label says what they are.
	Named bool
	Write func(r *rand.Rand) (cells []cellText, normal string)
	// Lost says why it is known not to be found.
	Lost string
}

// randomDigits are n digits by chance, the first of them not zero.
func randomDigits(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + r.IntN(10))
	}
	b[0] = byte('1' + r.IntN(9))
	return string(b)
}

// cpfWithZeros makes up a CPF that begins with so many zeros and no more.
func cpfWithZeros(r *rand.Rand, zeros int) string {
	for {
		start := strings.Repeat("0", zeros) + randomDigits(r, 9-zeros)
		for check := range 100 {
			if n := fmt.Sprintf("%s%02d", start, check); identifier.IsValidCPF(n) {
				return n
			}
		}
	}
}

func cpfText(name string, named bool, zeros int, write func(n string) string) spelling {
	return spelling{identifier.CPF, name, named, func(r *rand.Rand) ([]cellText, string) {
		n := cpfWithZeros(r, zeros)
		return []cellText{{"cpf", write(n)}}, n
	}, ""}
}

var cpfSpellings = []spelling{
	cpfText("bare", false, 0, func(n string) string { return n }),
	cpfText(
		"dots and hyphen",
		false,
		0,
		func(n string) string { return n[:3] + "." + n[3:6] + "." + n[6:9] + "-" + n[9:] },
	),
	cpfText(
		"blank before the hyphen",
		false,
		0,
		func(n string) string { return n[:3] + "." + n[3:6] + "." + n[6:9] + " -" + n[9:] },
	),
	cpfText("hyphen alone", false, 0, func(n string) string { return n[:9] + "-" + n[9:] }),
	cpfText("spaces", false, 0, func(n string) string { return n[:3] + " " + n[3:6] + " " + n[6:9] + " " + n[9:] }),
	cpfText("hyphens", false, 0, func(n string) string { return n[:3] + "-" + n[3:6] + "-" + n[6:9] + "-" + n[9:] }),
	cpfText("dots alone", true, 0, func(n string) string { return n[:3] + "." + n[3:6] + "." + n[6:9] + "." + n[9:] }),
	cpfText(
		"dots, slash",
		false,
		0,
		func(n string) string { return n[:3] + "." + n[3:6] + "." + n[6:9] + "/" + n[9:] },
	),
	cpfText(
		"dots, space",
		false,
		0,
		func(n string) string { return n[:3] + "." + n[3:6] + "." + n[6:9] + " " + n[9:] },
	),
	cpfText("slash before the last two", false, 0, func(n string) string { return n[:9] + "/" + n[9:] }),
	cpfText("space before the last two", true, 0, func(n string) string { return n[:9] + " " + n[9:] }),
	cpfText("with .0", false, 0, func(n string) string { return n + ".0" }),
	cpfText("exponent, comma", false, 0, func(n string) string { return n[:1] + "," + n[1:] + "E+10" }),
	cpfText("exponent, point", false, 0, func(n string) string { return n[:1] + "." + n[1:] + "e10" }),
	cpfText("state behind it", false, 0, func(n string) string { return n + "SP" }),
	cpfText("one zero lost", true, 1, func(n string) string { return n[1:] }),
	cpfText("two zeros lost", true, 2, func(n string) string { return n[2:] }),
	cpfText("one zero lost, .0", true, 1, func(n string) string { return n[1:] + ".0" }),
	cpfText("padded to 12", true, 0, func(n string) string { return "0" + n }),
	cpfText("padded to 14", true, 0, func(n string) string { return "000" + n }),
	cpfText("padded to 15", true, 0, func(n string) string { return "0000" + n }),
	cpfText("full-width digits", false, 0, wide),
	cpfText(
		"hyphen U+2011",
		false,
		0,
		func(n string) string { return n[:3] + "." + n[3:6] + "." + n[6:9] + "\u2011" + n[9:] },
	),
	cpfText(
		"en dash",
		false,
		0,
		func(n string) string { return n[:3] + "." + n[3:6] + "." + n[6:9] + "\u2013" + n[9:] },
	),
	cpfText(
		"zero width inside",
		false,
		0,
		func(n string) string { return n[:3] + ".\u200b" + n[3:6] + "." + n[6:9] + "-" + n[9:] },
	),
	cpfText(
		"no-break spaces",
		false,
		0,
		func(n string) string { return n[:3] + "\u00a0" + n[3:6] + "\u00a0" + n[6:9] + "\u00a0" + n[9:] },
	),
	cpfText("entities", false, 0, entitiesOf),
	cpfText(
		"quoted-printable hyphen",
		false,
		0,
		func(n string) string { return n[:3] + "=2E" + n[3:6] + "=2E" + n[6:9] + "=2D" + n[9:] },
	),
}

// wide writes digits and signs as the full-width ones.
func wide(s string) string {
	var b strings.Builder
	for _, c := range s {
		if c > ' ' && c < 0x7f {
			c += 0xfee0
		}
		b.WriteRune(c)
	}
	return b.String()
}

// entitiesOf writes each character as a decimal entity of HTML.
func entitiesOf(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "&#%d;", c)
	}
	return b.String()
}

func mobile(r *rand.Rand) (area, first, last string) {
	return Areas[r.IntN(len(Areas))], "9" + strconv.Itoa(1000+r.IntN(9000)), strconv.Itoa(1000 + r.IntN(9000))
}

func landline(r *rand.Rand) (area, first, last string) {
	return Areas[r.IntN(len(Areas))], strconv.Itoa(2+r.IntN(4)) +
		strconv.Itoa(100+r.IntN(900)), strconv.Itoa(1000 + r.IntN(9000))
}

func phoneText(
	name string,
	named bool,
	of func(*rand.Rand) (string, string, string),
	write func(area, first, last string) string,
) spelling {
	return spelling{identifier.Phone, name, named, func(r *rand.Rand) ([]cellText, string) {
		area, first, last := of(r)
		return []cellText{{"telefone", write(area, first, last)}}, "+55" + area + first + last
	}, ""}
}

var phoneSpellings = []spelling{
	phoneText("mobile, bare", false, mobile, func(a, f, l string) string { return a + f + l }),
	phoneText("mobile, 55", false, mobile, func(a, f, l string) string { return "55" + a + f + l }),
	phoneText("mobile, +55", false, mobile, func(a, f, l string) string { return "+55" + a + f + l }),
	phoneText(
		"mobile, parentheses",
		false,
		mobile,
		func(a, f, l string) string { return "(" + a + ") " + f + "-" + l },
	),
	phoneText(
		"mobile, ninth digit apart",
		false,
		mobile,
		func(a, f, l string) string { return "(" + a + ") 9 " + f[1:] + "-" + l },
	),
	phoneText("mobile, brackets", false, mobile, func(a, f, l string) string { return "[" + a + "] " + f + "-" + l }),
	phoneText("mobile, slash", false, mobile, func(a, f, l string) string { return a + "/" + f + "-" + l }),
	phoneText("mobile, dots", false, mobile, func(a, f, l string) string { return a + "." + f + "." + l }),
	phoneText("mobile, spaces", false, mobile, func(a, f, l string) string { return a + " " + f + " " + l }),
	phoneText("mobile, hyphens", false, mobile, func(a, f, l string) string { return a + "-" + f + "-" + l }),
	phoneText("mobile, 0xx", false, mobile, func(a, f, l string) string { return "0xx" + a + " " + f + "-" + l }),
	phoneText("mobile, (0xx11)", false, mobile, func(a, f, l string) string { return "(0XX" + a + ") " + f + "-" + l }),
	phoneText("mobile, 0055", false, mobile, func(a, f, l string) string { return "0055 " + a + " " + f + "-" + l }),
	phoneText("mobile, 0055 bare", true, mobile, func(a, f, l string) string { return "0055" + a + f + l }),
	phoneText("mobile, carrier", false, mobile, func(a, f, l string) string { return "015 " + a + " " + f + "-" + l }),
	phoneText(
		"mobile, carrier in parentheses",
		false,
		mobile,
		func(a, f, l string) string { return "(015" + a + ") " + f + "-" + l },
	),
	phoneText("mobile, carrier bare", true, mobile, func(a, f, l string) string { return "021" + a + f + l }),
	phoneText("mobile, trunk 0", false, mobile, func(a, f, l string) string { return "0" + a + f + l }),
	phoneText("mobile, .0", false, mobile, func(a, f, l string) string { return a + f + l + ".0" }),
	phoneText(
		"mobile, hyphen U+2011",
		false,
		mobile,
		func(a, f, l string) string { return "+55 " + a + " " + f + "\u2011" + l },
	),
	phoneText(
		"mobile, bidi marks",
		false,
		mobile,
		func(a, f, l string) string { return "\u202a+55\u00a0" + a + "\u00a0" + f + "\u2011" + l + "\u202c" },
	),
	phoneText(
		"mobile, full-width",
		false,
		mobile,
		func(a, f, l string) string { return wide("(" + a + ")" + f + "-" + l) },
	),
	phoneText("landline, bare", true, landline, func(a, f, l string) string { return a + f + l }),
	phoneText(
		"landline, parentheses",
		false,
		landline,
		func(a, f, l string) string { return "(" + a + ") " + f + "-" + l },
	),
	phoneText(
		"landline, parentheses, in one",
		false,
		landline,
		func(a, f, l string) string { return "(" + a + ")" + f + l },
	),
	phoneText("landline, spaces", true, landline, func(a, f, l string) string { return a + " " + f + " " + l }),
	phoneText("landline, one space", true, landline, func(a, f, l string) string { return a + " " + f + l }),
	phoneText("landline, hyphens", true, landline, func(a, f, l string) string { return a + "-" + f + "-" + l }),
	phoneText("landline, dots", true, landline, func(a, f, l string) string { return a + "." + f + "." + l }),
	phoneText("landline, slash", true, landline, func(a, f, l string) string { return a + "/" + f + "-" + l }),
	phoneText("landline, +55", false, landline, func(a, f, l string) string { return "+55 " + a + " " + f + "-" + l }),
	{identifier.Phone, "area code in a column of its own", true, func(r *rand.Rand) ([]cellText, string) {
		a, f, l := mobile(r)
		return []cellText{{"ddd", a}, {"telefone", f + l}}, "+55" + a + f + l
	}, ""},
	{identifier.Phone, "area code apart, hyphen", true, func(r *rand.Rand) ([]cellText, string) {
		a, f, l := mobile(r)
		return []cellText{{"ddd", a}, {"celular", f + "-" + l}}, "+55" + a + f + l
	}, ""},
	{identifier.Phone, "area code apart, landline", true, func(r *rand.Rand) ([]cellText, string) {
		a, f, l := landline(r)
		return []cellText{{"DDD", a}, {"fone", f + l}}, "+55" + a + f + l
	}, ""},
	foreignText("foreign, +", false, "", func(code, n string) string { return "+" + code + n }),
	foreignText(
		"foreign, spaces",
		false,
		"",
		func(code, n string) string { return "+" + code + " " + n[:3] + " " + n[3:6] + " " + n[6:] },
	),
	foreignText("foreign, 00", true, "", func(code, n string) string { return "00" + code + n }),
	foreignText(
		"foreign, 00 and spaces",
		true,
		"",
		func(code, n string) string { return "00" + code + " " + n[:3] + " " + n[3:6] + " " + n[6:] },
	),
}

// foreignText makes up mobiles of Portugal.
func foreignText(name string, named bool, lost string, write func(code, n string) string) spelling {
	return spelling{identifier.Phone, name, named, func(r *rand.Rand) ([]cellText, string) {
		n := "91" + randomDigits(r, 7)
		return []cellText{{"telefone", write("351", n)}}, "+351" + n
	}, lost}
}

// makeCard makes up a card of sixteen digits.
func makeCard(r *rand.Rand) string {
	n := []byte([]string{"4532", "5412", "4916", "5234"}[r.IntN(4)] + randomDigits(r, 12))
	for !identifier.IsLuhnValid(n) {
		n[15] = '0' + (n[15]-'0'+1)%10
	}
	return string(n)
}

func cardText(name string, named bool, write func(n string) string) spelling {
	return spelling{identifier.Card, name, named, func(r *rand.Rand) ([]cellText, string) {
		n := makeCard(r)
		return []cellText{{"cartao", write(n)}}, n
	}, ""}
}

func fours(n, sep string) string { return strings.Join([]string{n[:4], n[4:8], n[8:12], n[12:]}, sep) }

var cardSpellings = []spelling{
	cardText("bare", false, func(n string) string { return n }),
	cardText("spaces", false, func(n string) string { return fours(n, " ") }),
	cardText("hyphens", false, func(n string) string { return fours(n, "-") }),
	cardText("dots", false, func(n string) string { return fours(n, ".") }),
	cardText("double spaces", false, func(n string) string { return fours(n, "  ") }),
	cardText("padded to 19", true, func(n string) string { return "000" + n }),
	cardText("with .0", false, func(n string) string { return n + ".0" }),
	cardText("date and code, hyphens", false, func(n string) string { return n + "-12-2029-123" }),
	cardText("date, hyphens", false, func(n string) string { return n + "-07-28" }),
	cardText("date, slash", false, func(n string) string { return n + "/07/28" }),
	cardText("track 1", false, func(n string) string { return "%B" + n + "^SILVA/ANA^29121010000000000000?" }),
	cardText("track 2", false, func(n string) string { return ";" + n + "=29121010000012345678?" }),
	cardText("track 2, D", false, func(n string) string { return n + "D29121010000012345678" }),
	cardText("full-width", false, wide),
	cardText("no-break spaces", false, func(n string) string { return fours(n, "\u00a0") }),
}

func address(r *rand.Rand) string {
	return LocalNames[r.IntN(len(LocalNames))] + "." + LocalNames[r.IntN(len(LocalNames))] +
		strconv.Itoa(r.IntN(100_000)) + "@" + Domains[r.IntN(len(Domains))]
}

func mailText(name string, write func(s string) string) spelling {
	return spelling{identifier.Email, name, false, func(r *rand.Rand) ([]cellText, string) {
		s := address(r)
		return []cellText{{"email", write(s)}}, s
	}, ""}
}

func lostMail(name, why string, write func(s string) string) spelling {
	s := mailText(name, write)
	s.Lost = why
	return s
}

func at(with string) func(string) string {
	return func(s string) string { return strings.Replace(s, "@", with, 1) }
}

var mailSpellings = []spelling{
	mailText("plain", func(s string) string { return s }),
	mailText("upper case", strings.ToUpper),
	mailText(
		`\u0040`,
		at(`\u0040`),
	),
	mailText(`\x40`, at(`\x40`)),
	mailText("&#64;", at("&#64;")),
	mailText("&#x40;", at("&#x40;")),
	mailText("&commat;", at("&commat;")),
	mailText("entities", entitiesOf),
	mailText("%40", at("%40")),
	mailText("%2540", at("%2540")),
	{identifier.Email, "plus tag as %2B", false, func(r *rand.Rand) ([]cellText, string) {
		s := strings.Replace(address(r), "@", "+loja@", 1)
		return []cellText{{"email", strings.NewReplacer("+", "%2B", "@", "%40").Replace(s)}}, s
	}, ""},
	mailText("=40", at("=40")),
	mailText(
		"RFC 2047, base64",
		func(s string) string { return "=?utf-8?B?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" },
	),
	mailText("RFC 2047, Q", func(s string) string { return "=?utf-8?Q?" + strings.Replace(s, "@", "=40", 1) + "?=" }),
	mailText(
		"zero width space",
		at("\u200b@"),
	),
	mailText("zero width joiner", at("@\u200d")),
	mailText("soft hyphen", at("@\u00ad")),
	mailText("byte order mark inside", at("\ufeff@")),
	mailText(
		"full-width @",
		at("\uff20"),
	),
	mailText("bidi marks", func(s string) string { return "\u202a" + s + "\u202c" }),
	mailText("full-width", wide),
	mailText(
		"[at]",
		at("[at]"),
	),
	mailText("(at)", at("(at)")),
	mailText(" [at] ", at(" [at] ")),
	mailText("(arroba)", at("(arroba)")),
	mailText(" @ ", at(" @ ")),
	mailText(
		"{at}",
		at("{at}"),
	),
	mailText(" {at} ", at(" {at} ")),
	mailText("{ arroba }", at("{ arroba }")),
	mailText("[@]", at("[@]")),
	mailText("(@)", at("(@)")),
	mailText("{@}", at("{@}")),
	mailText(
		"{at} and {dot}",
		func(s string) string { return strings.NewReplacer("@", "{at}", ".", "{dot}").Replace(s) },
	),
	mailText(
		"{AT} and {PONTO}",
		func(s string) string { return strings.NewReplacer("@", "{AT}", ".", "{PONTO}").Replace(s) },
	),
	lostMail(
		" at , dot ",
		"words of a sentence",
		func(s string) string { return strings.NewReplacer("@", " at ", ".", " dot ").Replace(s) },
	),
	mailText(
		"[at] and [dot]",
		func(s string) string { return strings.NewReplacer("@", "[at]", ".", "[dot]").Replace(s) },
	),
	mailText(
		"<wbr>",
		at("<wbr>@"),
	),
	mailText("<wbr> in the domain", func(s string) string { return strings.Replace(s, "exe", "exe<wbr>", 1) + " " }),
	mailText("tags around @", at("<b>@</b>")),
	mailText("comment before @", at("<!-- x -->@")),
	mailText("data-cfemail", cloudflare),
	mailText("quotes around the local part", func(s string) string { return `"` + strings.Replace(s, "@", `"@`, 1) }),
	mailText("user----mail----password", func(s string) string { return "fulano----" + s + "----senha123" }),
	mailText("behind .txt", func(s string) string { return s + ".txt" }),
	mailText(
		"before an accent",
		func(s string) string { return s + "é" },
	),
	mailText("before ---- and an accent", func(s string) string { return s + "----Página1" }),
	mailText("behind an accent", func(s string) string { return "é" + s }),
	mailText("base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
	mailText("base64 for addresses", func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }),
	mailText("hex", func(s string) string { return hex.EncodeToString([]byte(s)) }),
	mailText("hex, 0x", func(s string) string { return "0x" + strings.ToUpper(hex.EncodeToString([]byte(s))) }),
	mailText(`hex, \x`, func(s string) string { return `\x` + hex.EncodeToString([]byte(s)) }),
}

// cloudflare hides an address as pages do that a well-known network serves.
func cloudflare(s string) string {
	key := byte(0x5a)
	hidden := []byte{key}
	for _, c := range []byte(s) {
		hidden = append(hidden, c^key)
	}
	return `<a class="__cf_email__" data-cfemail="` + hex.EncodeToString(hidden) + `">[email&#160;protected]</a>`
}

// spellings are all of them.
var spellings = func() (all []spelling) {
	for _, s := range [][]spelling{mailSpellings, cpfSpellings, phoneSpellings, cardSpellings} {
		all = append(all, s...)
	}
	return all
}()
