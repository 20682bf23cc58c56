package store_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func TestPartnersAndKeys(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
		p, cred, err := reg.CreatePartner(ctx, "  Banco Exemplo ", partner.Live, partner.Settings{RatePerSecond: 7})
		if err != nil {
			t.Fatal(err)
		}
		if salt, err := e.Partners.OpenSalt(ctx, p.ID); err != nil || salt != cred.Salt {
			t.Fatalf("salt %q, %v", salt, err)
		}
		got, err := reg.PartnerByID(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		want := got
		want.Name, want.Settings.RatePerSecond, want.CreatedAt = "Banco Exemplo", 7, storetest.Start
		difftest.Must(t, "the partner", got, want)
		if _, err := reg.PartnerByID(ctx, "pt_unknown"); !errors.Is(err, partner.ErrNotFound) {
			t.Fatal(err)
		}
		other, _ := e.NewPartner(t, partner.Sandbox)
		k, text, err := reg.CreateKey(ctx, p.ID, "second", []partner.Scope{partner.ScopeCyberRead}, time.Time{})
		if err != nil || len(text) != len(cred.APIKey) {
			t.Fatal(k, err)
		}
		if _, err := reg.RevokeKey(ctx, other.ID, k.ID); !errors.Is(err, partner.ErrKeyNotFound) {
			t.Fatal("a key of another partner must look unknown:", err)
		}
		keys, err := reg.ListKeys(ctx, p.ID)
		if err != nil || len(keys) != 2 {
			t.Fatal(keys, err)
		}
		second := keys[1]
		second.ID, second.Label = k.ID, "second"
		difftest.Must(t, "the second key", keys[1], second)
		before, _ := e.Partners.AccessEpoch(ctx)
		if _, err := reg.RevokeKey(ctx, p.ID, k.ID); err != nil {
			t.Fatal(err)
		}
		if after, _ := e.Partners.AccessEpoch(ctx); after == before {
			t.Error("a revocation must move the access epoch")
		}
		if all, err := reg.ListPartners(ctx); err != nil || len(all) != 2 {
			t.Fatal(all, err)
		}
	})
}

// TestNoSecretAtRest: neither key nor salt is in the database's files.
func TestNoSecretAtRest(t *testing.T) {
	e := storetest.Open(t, sqldb.SQLite)
	_, cred := e.NewPartner(t, partner.Live)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(e.Folder, "vigia.db*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(raw, []byte("Parceiro live")) && filepath.Ext(f) == ".db" {
			t.Error("the scan does not even see the partner's name: it proves nothing")
		}
		for _, s := range []string{cred.Salt, cred.APIKey, cred.APIKey[20:40]} {
			if bytes.Contains(raw, []byte(s)) {
				t.Errorf("%s holds a secret", filepath.Base(f))
			}
		}
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v %v", filepath.Base(f), info.Mode(), err)
		}
	}
}
