package identifier_test

import (
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
)

func fuzz(f *testing.F, parse func(string) (string, error), seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { stable(t, parse, s) })
}

func FuzzEmail(f *testing.F) {
	fuzz(f, identifier.ParseEmail, "maria@exemplo.com.br", "joão@ação.com", "a@xn--ao-siap.com", "İ@ﬁ.com")
}

func FuzzDomain(f *testing.F) {
	fuzz(f, identifier.ParseDomain, "exemplo.com.br", "ação.com", "xn--ao-siap.com", "a--b.com", "ß.de")
}

func FuzzCPF(f *testing.F) {
	fuzz(
		f,
		func(s string) (string, error) { return identifier.ParseCPF(s, identifier.Required) },
		"529.982.247-25",
		"52998224725",
	)
}

func FuzzCNPJ(f *testing.F) {
	fuzz(
		f,
		func(s string) (string, error) { return identifier.ParseCNPJ(s, identifier.Required) },
		"12ABC34501DE35",
		"00000000000191",
	)
}

func FuzzWrittenCNPJ(f *testing.F) {
	fuzz(
		f,
		func(s string) (string, error) { return identifier.ParseWrittenCNPJ(s, identifier.Required) },
		"12.ABC.345/01DE-35",
	)
}

func FuzzPixKey(f *testing.F) {
	fuzz(f, identifier.ParsePixKey, "123e4567-e89b-42d3-a456-426614174000")
}

func FuzzCard(f *testing.F) {
	fuzz(
		f,
		func(s string) (string, error) { return identifier.ParseCard(s, identifier.Required) },
		"4111 1111 1111 1111",
		"378282246310005",
	)
}

func FuzzPhone(f *testing.F) {
	for _, s := range []string{"+5511987654321", "(11) 8765-4321", "+39 06 6982", "021 98765-4321", "+549111512345678"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		stable(t, identifier.ParsePhone, s)
		stable(t, identifier.ParseLeakedPhone, s)
		stable(t, identifier.ParsePhoneWithCountryCode, s)
		if plain, err := identifier.ParsePhone(s); err == nil {
			if leaked, err := identifier.ParseLeakedPhone(s); err != nil || leaked != plain {
				t.Fatalf("%q: %q, leaked %q, %v", s, plain, leaked, err)
			}
		}
	})
}

func FuzzMask(f *testing.F) {
	f.Add(uint8(1), "maria@exemplo.com")
	f.Add(uint8(2), "52998224725")
	f.Fuzz(func(t *testing.T, kind uint8, s string) {
		if identifier.MaskValue(identifier.Kind(kind), s) == "" {
			t.Fatal("nothing to show")
		}
	})
}
