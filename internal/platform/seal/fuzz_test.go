package seal

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Whatever the file holds, reading it ends in keys that work or in a fault of this package.
func FuzzKeyFile(f *testing.F) {
	memory()
	f.Add([]byte(golden))
	f.Add([]byte(strings.Replace(golden, `"version": 1`, `"version": 2`, 1)))
	f.Add([]byte(`{"version":1,"kms_uri":"memkms://fuzz","wrapped":"AAAAIA=="}`))
	f.Add([]byte(`{"version":1,"kms_uri":"nokms://fuzz","wrapped":""}`))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, uri, err := decodeFile("keys.json", raw)
		if err != nil {
			if !strings.HasPrefix(fault.CodeOf(err), "seal.") {
				t.Fatalf("not a fault of ours: %v", err)
			}
			return
		}
		r, err := m.buildRing()
		if err != nil {
			return
		}
		if !r.holdsKey(r.primary) {
			t.Fatal("the primary key is not in the ring")
		}
		sealed, err := r.aead.Encrypt([]byte("x"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := SealedWith(sealed); !ok || id != r.primary {
			t.Fatalf("sealed under %08x, want %08x", id, r.primary)
		}
		again, err := encodeFile(m, uri)
		if err != nil {
			t.Fatal(err)
		}
		m2, _, err := decodeFile("keys.json", again)
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		if m.bindingKey() != m2.bindingKey() {
			t.Fatal("writing changed a secret")
		}
	})
}

// Only the value itself opens, and only at its place.
func FuzzUnseal(f *testing.F) {
	k := fresh(f)
	mustRotate(f, k)
	sealed := mustSeal(f, k, home, "maria@exemplo.com.br")
	f.Add(sealed, home.Table, home.Column, home.Partner, home.Row)
	f.Add(sealed, home.Table+home.Column, "", home.Partner, home.Row)
	f.Add(sealed[:Overhead], "", "", "", "")
	f.Add(
		append(SealedPrefix(k.ListKeyIDs()[0]), sealed[PrefixSize:]...),
		home.Table,
		home.Column,
		home.Partner,
		home.Row,
	)
	f.Add([]byte{}, "", "", "", "")
	f.Fuzz(func(t *testing.T, value []byte, table, column, partner, row string) {
		at := Place{table, column, partner, row}
		plain, err := k.Unseal(at, value)
		if at == home && bytes.Equal(value, sealed) {
			if err != nil || string(plain) != "maria@exemplo.com.br" {
				t.Fatalf("the value itself does not open: %v", err)
			}
			return
		}
		if !errors.Is(err, ErrSealBroken) || plain != nil {
			t.Fatalf("a forgery opened at %+v: %v", at, err)
		}
	})
}
