package scan

import (
	"bytes"
	"context"
	"io"
	"testing"
	"testing/iotest"

	"github.com/vigiahq/vigia/internal/identifier"
)

// Whatever the bytes: no panic, the same result in whatever pieces they come, and every value in normal form.
func FuzzScan(f *testing.F) {
	for _, c := range extractCases {
		f.Add([]byte(c.text))
	}
	f.Add([]byte("\xff\xfem\x00@\x00"))
	f.Add([]byte("From a\nContent-Transfer-Encoding: quoted-printable\n\na=40b.com\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var whole, pieces []string
		scan := func(to *[]string, r io.Reader) {
			s := NewScanner(func(kind identifier.Kind, normal []byte) {
				*to = append(*to, kind.String()+" "+string(normal))
				checkNormal(t, kind, string(normal))
			})
			if _, err := s.Scan(context.Background(), r); err != nil {
				t.Fatal(err)
			}
		}
		scan(&whole, bytes.NewReader(text))
		scan(&pieces, iotest.OneByteReader(bytes.NewReader(text)))
		if len(whole) != len(pieces) {
			t.Fatalf("%q in one read, %q byte by byte", whole, pieces)
		}
	})
}

func checkNormal(t *testing.T, kind identifier.Kind, value string) {
	if kind == identifier.Phone && value[:3] != "+55" {
		return // other countries' numbers are only looked at from outside
	}
	if normal, err := identifier.ParseValue(kind, value, identifier.Required); err != nil || normal != value {
		t.Fatalf("%v %q is no normal form: %q, %v", kind, value, normal, err)
	}
}
