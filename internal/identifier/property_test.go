package identifier_test

import (
	"testing"

	"github.com/nyaruka/phonenumbers"
	"pgregory.net/rapid"

	"github.com/vigiahq/vigia/internal/identifier"
)

// closing finds the check characters that complete body, by trying all of them: a second way to the same answer.
func closing(t *rapid.T, body string, valid func(string) bool) string {
	found := ""
	for n := range 100 {
		s := body + string(rune('0'+n/10)) + string(rune('0'+n%10))
		if valid(s) {
			if found != "" {
				t.Fatalf("%s can be closed in two ways", body)
			}
			found = s
		}
	}
	return found
}

func TestOneChangedDigitIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		body  string
		valid func(string) bool
	}{
		"cpf":  {`[0-9]{9}`, identifier.IsValidCPF[string]},
		"cnpj": {`[0-9]{12}`, identifier.ValidCNPJ[string]},
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			body := rapid.StringMatching(c.body).Filter(func(s string) bool { return s != repeat(s[0], len(s)) }).Draw(t, "body")
			good := closing(t, body, c.valid)
			if good == "" {
				t.Fatalf("%s has no check digits", body)
			}
			at := rapid.IntRange(0, len(good)-1).Draw(t, "at")
			digit := rapid.ByteRange('0', '9').Filter(func(b byte) bool { return b != good[at] }).Draw(t, "digit")
			bad := good[:at] + string(rune(digit)) + good[at+1:]
			// The scheme itself is not perfect: the remainders 0 and 1 share the digit 0, so a change that moves the
			// first sum from one to the other can go unseen (44902900203 and 34902900203 are both right). Everything
			// else must be caught.
			if c.valid(bad) && (at >= len(body) || good[len(body)] != '0') {
				t.Fatalf("%s and %s both pass", good, bad)
			}
		}))
	}
}

func TestEveryCNPJBodyHasOneClosing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.StringMatching(`[0-9A-Z]{11}[A-Z]`).Draw(t, "body")
		if closing(t, body, identifier.ValidCNPJ[string]) == "" {
			t.Fatalf("%s has no check digits", body)
		}
	})
}

func TestCardLuhn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.StringMatching(`[0-9]{11,18}`).Draw(t, "body")
		passed := 0
		for d := byte('0'); d <= '9'; d++ {
			s := body + string(rune(d))
			got, err := identifier.ParseCard(s, identifier.Required)
			if err == nil {
				passed++
				if got != s {
					t.Fatalf("%s became %s", s, got)
				}
			}
		}
		if passed != 1 {
			t.Fatalf("%d of ten check digits pass for %s", passed, body)
		}
	})
}

// The fast way for Brazil must agree with the phone library, apart from eight-digit trunk radio numbers, which the
// contract leaves out.
func TestBrazilAgreesWithThePhoneLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := "+55" + rapid.StringMatching(`[0-9]{2}(9[0-9]{8}|[0-9]{7,9})`).Draw(t, "national")
		number, err := phonenumbers.Parse(s, "ZZ")
		want := err == nil && phonenumbers.IsValidNumber(number)
		if len(s) == len("+551178765432") && s[5] == '7' {
			want = false
		}
		// The library reads a trunk 0 and numbers of no area (0800, 4004); after +55 an area code is required here.
		if s[3] == '0' || err == nil && phonenumbers.GetNumberType(number) > phonenumbers.FIXED_LINE_OR_MOBILE {
			want = false
		}
		if _, err := identifier.ParsePhone(s); (err == nil) != want {
			t.Fatalf("%s: ours %v, library %v", s, err, want)
		}
	})
}

func TestNormalFormsAreStable(t *testing.T) {
	email := rapid.StringMatching(
		`[A-Za-z0-9!#$%&'*+/=?^_{|}~.çÇãÉÜİß-]{1,20}@[A-Za-z0-9çÃüß.-]{1,20}\.[A-Za-zçã]{2,5}`,
	)
	phone := rapid.StringMatching(`\+?[0-9() .-]{4,20}`)
	rapid.Check(t, func(t *rapid.T) {
		stable(t, identifier.ParseEmail, rapid.OneOf(email, rapid.String()).Draw(t, "email"))
		stable(
			t,
			identifier.ParseDomain,
			rapid.StringMatching(`([A-Za-z0-9çÃüß-]{1,8}\.){1,3}[A-Za-zçã]{2,5}`).Draw(t, "domain"),
		)
		p := phone.Draw(t, "phone")
		stable(t, identifier.ParsePhone, p)
		stable(t, identifier.ParseLeakedPhone, p)
		stable(t, identifier.ParsePhoneWithCountryCode, p)
		for _, k := range identifier.ListKinds() {
			stable(t, func(s string) (string, error) { return identifier.ParseValue(k, s, identifier.Waived) }, p)
		}
	})
}

type failer interface{ Fatalf(string, ...any) }

// stable fails when a normal form is not its own normal form.
func stable(t failer, parse func(string) (string, error), s string) {
	once, err := parse(s)
	if err != nil {
		if once != "" {
			t.Fatalf("%q: a refused value came back as %q", s, once)
		}
		return
	}
	if twice, err := parse(once); err != nil || twice != once {
		t.Fatalf("%q: normal form %q becomes %q, %v", s, once, twice, err)
	}
}

func repeat(c byte, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = c
	}
	return string(b)
}
