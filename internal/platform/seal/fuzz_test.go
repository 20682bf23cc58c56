package seal

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Whatever the file holds, reading it ends in a root that works or in a fault of this package.
func FuzzKeyFile(f *testing.F) {
	f.Add([]byte(goldenRoot))
	f.Add([]byte(strings.Replace(goldenRoot, `"version": 2`, `"version": 3`, 1)))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		read, err := decodeFile("keys.json", raw)
		if err != nil {
			if !strings.HasPrefix(fault.CodeOf(err), "seal.") {
				t.Fatalf("not a fault of ours: %v", err)
			}
			return
		}
		root, err := newFileRoot("keys.json", read.Key)
		if err != nil {
			t.Fatal(err)
		}
		w, err := NewRing(root, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenRing(root, w); err != nil {
			t.Fatal(err)
		}
	})
}

// Whatever the body of a ring holds, reading it ends in keys that work or in a fault of this package.
func FuzzRingBody(f *testing.F) {
	f.Add([]byte(golden))
	f.Add([]byte(strings.Replace(golden, `"index"`, `"closed": [439041101], "index"`, 1)))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := decodeMaterial(raw)
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
		if !r.holdsKey(r.primary) || !r.mayWrite(r.primary) {
			t.Fatal("nothing may be written under the primary key")
		}
		sealed, err := r.aead.Encrypt([]byte("x"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := SealedWith(sealed); !ok || id != r.primary {
			t.Fatalf("sealed under %08x, want %08x", id, r.primary)
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
