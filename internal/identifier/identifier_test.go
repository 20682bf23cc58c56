package identifier_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
)

// parseCase is a row: what was written, the normal form, the rule that refuses it.
type parseCase struct {
	in, want string
	err      error
}

func check(t *testing.T, parse func(string) (string, error), cases []parseCase) {
	t.Helper()
	for _, c := range cases {
		got, err := parse(c.in)
		if got != c.want || !errors.Is(err, c.err) && c.err != nil || (err != nil) != (c.err != nil) {
			t.Errorf("%q: got %q, %v; want %q, %v", c.in, got, err, c.want, c.err)
		}
		if err != nil && len(c.in) > 3 && strings.Contains(err.Error(), c.in) {
			t.Errorf("%q: the error repeats the value: %v", c.in, err)
		}
	}
}

func TestCPF(t *testing.T) {
	check(t, func(s string) (string, error) { return identifier.ParseCPF(s, identifier.Required) }, []parseCase{
		{"529.982.247-25", "52998224725", nil},
		{"529982247-25", "52998224725", nil},
		{"", "", identifier.ErrEmpty},
		{"529..982.24725", "", identifier.ErrCharacter},
		{"-52998224725", "", identifier.ErrCharacter},
		{"529 982 247 25", "", identifier.ErrCharacter},
		{"5299822472", "", identifier.ErrLength},
		{"529.982.247-251", "", identifier.ErrLength},
		{"22222222222", "", identifier.ErrRepeated},
		{"52998224726", "", identifier.ErrCheckDigits},
		{"52998224735", "", identifier.ErrCheckDigits},
	})
	check(t, func(s string) (string, error) { return identifier.ParseCPFDigits(s, identifier.Required) }, []parseCase{
		{"52998224725", "52998224725", nil},
		{"529.982.247-25", "", identifier.ErrCharacter},
		{"٥٢٩٩٨٢٢٤٧٢٥", "", identifier.ErrCharacter},
	})
	check(t, func(s string) (string, error) { return identifier.ParseCPF(s, identifier.Waived) }, []parseCase{
		{"123.456.789-00", "12345678900", nil},
		{"22222222222", "", identifier.ErrRepeated},
		{"1234567890", "", identifier.ErrLength},
	})
}

func TestCNPJ(t *testing.T) {
	check(t, func(s string) (string, error) { return identifier.ParseCNPJ(s, identifier.Required) }, []parseCase{
		{"", "", identifier.ErrEmpty},
		{"12.ABC.345/01DE-35", "", identifier.ErrCharacter},
		{"12abc34501de35", "", identifier.ErrCharacter},
		{"12ABC34501DE3X", "", identifier.ErrCharacter},
		{"12ABC34501DE3", "", identifier.ErrLength},
		{"11111111111111", "", identifier.ErrRepeated},
		{"12ABC34501DE36", "", identifier.ErrCheckDigits},
	})
	check(t, func(s string) (string, error) { return identifier.ParseCNPJ(s, identifier.Waived) }, []parseCase{
		{"12ABC34501DE45", "12ABC34501DE45", nil},
		{"00000000000000", "", identifier.ErrRepeated},
	})
}

func TestWrittenCNPJ(t *testing.T) {
	check(t, func(s string) (string, error) { return identifier.ParseWrittenCNPJ(s, identifier.Required) }, []parseCase{
		{"12.ABC.345/01DE-35", "12ABC34501DE35", nil},
		{"12abc34501de35", "12ABC34501DE35", nil},
		{"", "", identifier.ErrEmpty},
		{"12.ABC.345/01DE-36", "", identifier.ErrCheckDigits},
		{"12 ABC 345/01DE-35", "", identifier.ErrCharacter},
		{"-12.ABC.345/01DE35", "", identifier.ErrCharacter},
		{"12.ABC.345/01DE-35-", "", identifier.ErrLength},
	})
}

func TestPixKey(t *testing.T) {
	check(t, identifier.ParsePixKey, []parseCase{
		{"123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-42d3-a456-426614174000", nil},
		{"123E4567-E89B-42D3-B456-426614174000", "123e4567-e89b-42d3-b456-426614174000", nil},
		{"", "", identifier.ErrEmpty},
		{"123e4567e89b42d3a456426614174000", "", identifier.ErrLength},
		{"123e4567-e89b-12d3-a456-426614174000", "", identifier.ErrPixKey}, // version 1
		{"123e4567-e89b-42d3-c456-426614174000", "", identifier.ErrPixKey}, // another variant
		{"123g4567-e89b-42d3-a456-426614174000", "", identifier.ErrPixKey},
		{"123e4567+e89b-42d3-a456-426614174000", "", identifier.ErrPixKey},
	})
}

func TestCard(t *testing.T) {
	check(t, func(s string) (string, error) { return identifier.ParseCard(s, identifier.Required) }, []parseCase{
		{"4111 1111 1111 1111", "4111111111111111", nil},
		{"3782-822463-10005", "378282246310005", nil},
		{"", "", identifier.ErrEmpty},
		{"4111  1111 1111 1111", "", identifier.ErrCharacter},
		{"4111.1111.1111.1111", "", identifier.ErrCharacter},
		{"41111111111", "", identifier.ErrLength},
		{"41111111111111111111", "", identifier.ErrLength},
		{"4111111111111112", "", identifier.ErrCheckDigits},
	})
	check(t, func(s string) (string, error) { return identifier.ParseCard(s, identifier.Waived) }, []parseCase{
		{"4111111111111112", "4111111111111112", nil},
	})
}

func TestPhone(t *testing.T) {
	check(t, identifier.ParsePhone, []parseCase{
		{"(21) 2345-6789", "+552123456789", nil},
		{"021 98765-4321", "+5521987654321", nil},
		{"55 98765-4321", "+5555987654321", nil},
		{"+1 212 555 2368", "+12125552368", nil},
		{"+351 912 345 678", "+351912345678", nil},
		{"+39 06 6982", "+39066982", nil},
		{"", "", identifier.ErrEmpty},
		{"+", "", identifier.ErrLength},
		{"11 98765-432a", "", identifier.ErrCharacter},
		{"11+987654321", "", identifier.ErrCharacter},
		{"98765-4321", "", identifier.ErrLength},
		{"20 98765-4321", "", identifier.ErrAreaCode},
		{"11 8765-4321", "", identifier.ErrNumber},
		{"11 18765-4321", "", identifier.ErrNumber},
		{"351912345678", "", identifier.ErrCountryCode},
		{"+999 12345678", "", identifier.ErrCountryCode},
		{"+1 212 555 236", "", identifier.ErrNumber},
		{"+1234567890123456", "", identifier.ErrLength},
	})
	check(t, identifier.ParsePhoneWithCountryCode, []parseCase{
		{"5511987654321", "+5511987654321", nil},
		{"+55 (11) 98765-4321", "+5511987654321", nil},
		{"351912345678", "+351912345678", nil},
		{"5", "", identifier.ErrCountryCode},
		{"55", "", identifier.ErrLength},
		{"551187654321", "", identifier.ErrNumber},
		{"11987654321", "+5511987654321", nil},
		{"(51) 98765-4321", "+5551987654321", nil},
		{"+51 987 654 321", "+51987654321", nil},
		{"14155552671", "+14155552671", nil},
		{"1187654321", "", identifier.ErrNumber}, // an old mobile of eight digits is no number of today
	})
	check(t, identifier.ParseLeakedPhone, []parseCase{
		{"+55 11 8765-4321", "+5511987654321", nil},
		{"011 8765-4321", "+5511987654321", nil},
		{"(11) 3456-7890", "+551134567890", nil},
		{"(11) 1456-7890", "", identifier.ErrNumber},
	})
}

// Eleven and ten digits with an area code are Brazilian, however much they look like another country's number.
func TestEveryAreaCodeIsBrazilian(t *testing.T) {
	codes := 0
	for code := 11; code <= 99; code++ {
		area := strconv.Itoa(code)
		if !identifier.IsAreaCode(area[0], area[1]) {
			continue
		}
		codes++
		for _, subscriber := range []string{"912345678", "987654321", "999999999", "912300000", "23456789", "34567890", "45678901", "51234567"} {
			want := "+55" + area + subscriber
			for _, written := range []string{area + subscriber, "(" + area + ") " + subscriber, "55" + area + subscriber, want} {
				for name, parse := range map[string]func(string) (string, error){
					"plain": identifier.ParsePhone, "leaked": identifier.ParseLeakedPhone, "with country code": identifier.ParsePhoneWithCountryCode,
				} {
					if got, err := parse(written); got != want || err != nil {
						t.Errorf("%s: %s is %s, %v; want %s", name, written, got, err, want)
					}
				}
			}
		}
	}
	if codes != 67 {
		t.Errorf("%d area codes, not 67", codes)
	}
}

func TestEmail(t *testing.T) {
	check(t, identifier.ParseEmail, []parseCase{
		{"Maria.Silva+banco@Exemplo.COM.br", "maria.silva+banco@exemplo.com.br", nil},
		{"o'brien@exemplo.ie", "o'brien@exemplo.ie", nil},
		{"joão@ação.com.br", "joão@xn--ao-siap.com.br", nil},
		{"joa\u0303o@exemplo.com", "joão@exemplo.com", nil},
		{"a@r3---sn.exemplo.com", "a@r3---sn.exemplo.com", nil},
		{"a@XN--AO-SIAP.com.br", "a@xn--ao-siap.com.br", nil},
		{"", "", identifier.ErrEmpty},
		{"maria", "", identifier.ErrAddress},
		{"@exemplo.com", "", identifier.ErrAddress},
		{"a@b@exemplo.com", "", identifier.ErrAddress},
		{".a@exemplo.com", "", identifier.ErrAddress},
		{"a..b@exemplo.com", "", identifier.ErrAddress},
		{`"a b"@exemplo.com`, "", identifier.ErrCharacter},
		{"Maria <maria@exemplo.com>", "", identifier.ErrCharacter},
		{" maria@exemplo.com", "", identifier.ErrCharacter},
		{"mar\u200bia@exemplo.com", "", identifier.ErrCharacter},
		{"mar\u202eia@exemplo.com", "", identifier.ErrCharacter},
		{"mar\u3164ia@exemplo.com", "", identifier.ErrCharacter},
		{"mar\xffia@exemplo.com", "", identifier.ErrCharacter},
		{"maria@exem\u200bplo.com", "", identifier.ErrCharacter},
		{"maria@exemplo", "", identifier.ErrDomain},
		{"maria@[127.0.0.1]", "", identifier.ErrDomain},
		{"maria@127.0.0.1", "", identifier.ErrDomain},
		{"maria@exemplo.com.", "", identifier.ErrDomain},
		{"maria@-exemplo.com", "", identifier.ErrDomain},
		{"maria@exe_mplo.com", "", identifier.ErrDomain},
		{"maria@", "", identifier.ErrEmpty},
		{strings.Repeat("a", 65) + "@exemplo.com", "", identifier.ErrLength},
		{"a@" + strings.Repeat("exemplo.", 32) + "com", "", identifier.ErrLength},
	})
}

func TestDomainCEPState(t *testing.T) {
	check(t, identifier.ParseDomain, []parseCase{
		{"Exemplo.COM.BR", "exemplo.com.br", nil},
		{"exemplo", "", identifier.ErrDomain},
		{"exemplo.c", "", identifier.ErrDomain},
		{"exemplo.c0m", "", identifier.ErrDomain},
		{"a." + strings.Repeat("b", 64) + ".com", "", identifier.ErrDomain},
	})
	check(t, identifier.ParseCEP, []parseCase{
		{"01310100", "01310100", nil},
		{"01310-100", "", identifier.ErrCharacter},
		{"0131010", "", identifier.ErrLength},
		{"", "", identifier.ErrEmpty},
	})
	check(t, identifier.ParseState, []parseCase{
		{"SP", "SP", nil},
		{"TO", "TO", nil},
		{"sp", "", identifier.ErrState},
		{"XX", "", identifier.ErrState},
		{"", "", identifier.ErrEmpty},
	})
}

func TestMask(t *testing.T) {
	for _, c := range []struct {
		kind     identifier.Kind
		in, want string
	}{
		{identifier.Email, "maria@exemplo.com.br", "m***@e***.br"},
		{identifier.Email, "água@exemplo.com", "á***@e***.com"},
		{identifier.Email, "maria", "***"},
		{identifier.CPF, "52998224725", "***.***.247-**"},
		{identifier.CPF, "529.982.247-25", "***.***.247-**"},
		{identifier.CPF, "5299822472", "***"},
		{identifier.Phone, "+5511987654321", "****4321"},
		{identifier.Phone, "4321", "***"},
		{identifier.Card, "4111 1111 1111 1234", "****1234"},
		{identifier.Card, "1234", "***"},
		{identifier.Domain, "exemplo.com", "e***.com"},
		{identifier.PixKey, "123e4567-e89b-42d3-a456-426614174abc", "***-4abc"},
		{identifier.PixKey, "123e4567", "***"},
		{identifier.CNPJ, "12.abc.345/01DE-35", "**.ABC.345/****-**"},
		{identifier.CNPJ, "12ABC34501DE35", "**.ABC.345/****-**"},
		{identifier.CNPJ, "12ABC", "***"},
		{0, "52998224725", "***"},
	} {
		if got := identifier.MaskValue(c.kind, c.in); got != c.want {
			t.Errorf("%v %q: got %q, want %q", c.kind, c.in, got, c.want)
		}
	}
}

func TestKindWords(t *testing.T) {
	want := map[identifier.Kind]string{
		identifier.Email:  "email",
		identifier.CPF:    "cpf",
		identifier.Phone:  "phone",
		identifier.Card:   "credit_card",
		identifier.Domain: "domain",
		identifier.PixKey: "pix_key",
		identifier.CNPJ:   "cnpj",
	}
	if len(identifier.ListKinds()) != len(want) {
		t.Fatalf("%d kinds", len(identifier.ListKinds()))
	}
	for _, k := range identifier.ListKinds() {
		if k.String() != want[k] {
			t.Errorf("kind %d is called %q", k, k)
		}
		if got, err := identifier.ParseKind(want[k]); err != nil || got != k {
			t.Errorf("%q: got %v, %v", want[k], got, err)
		}
	}
	for _, s := range []string{"", "unknown", "EMAIL"} {
		if _, err := identifier.ParseKind(s); !errors.Is(err, identifier.ErrKind) {
			t.Errorf("%q: %v", s, err)
		}
	}
	if got := identifier.Kind(200).String(); got != "unknown" {
		t.Errorf("kind 200 is called %q", got)
	}
}

func TestChecksOnBytesDoNotAllocate(t *testing.T) {
	cpf, cnpj, card, national := []byte("52998224725"), []byte("12ABC34501DE35"), []byte("4111111111111111"), []byte("1187654321")
	dst := make([]byte, 0, 16)
	if n := testing.AllocsPerRun(100, func() {
		if !identifier.IsValidCPF(cpf) || !identifier.ValidCNPJ(cnpj) || !identifier.IsLuhnValid(card) {
			t.Error("a valid number is refused")
		}
		if out, ok := identifier.AppendBrazilianPhone(dst, national); !ok || string(out) != "+5511987654321" {
			t.Error("the old mobile is not found")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
