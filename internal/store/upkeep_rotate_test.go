package store_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func TestRewriteSealed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		type made struct {
			id   partner.ID
			salt string
		}
		var all []made
		for range 7 {
			p, cred := e.NewPartner(t, partner.Live)
			all = append(all, made{p.ID, cred.Salt})
		}
		e.RotateKey(t)
		p, cred := e.NewPartner(t, partner.Live)
		all = append(all, made{p.ID, cred.Salt})
		current, old, err := e.Upkeep.SealedUnder(ctx)
		if err != nil || current != 1 || old != 7 {
			t.Fatalf("%d current, %d old, %v", current, old, err)
		}
		var progress store.RewriteProgress
		for done := false; !done; {
			if done, err = e.Upkeep.RewriteSealed(ctx, &progress, 3); err != nil {
				t.Fatal(err)
			}
		}
		if current, old, err = e.Upkeep.SealedUnder(ctx); err != nil {
			t.Fatal(err)
		}
		type values struct{ current, old, rewritten int64 }
		difftest.Must(t, "after the rewrite", values{current, old, progress.Rewritten}, values{8, 0, 7})
		for _, m := range all {
			if salt, err := e.Partners.OpenSalt(ctx, m.id); err != nil || salt != m.salt {
				t.Errorf("salt of %s after the rewrite: %v", m.id, err)
			}
		}
		if _, err := e.Upkeep.RewriteSealed(ctx, &store.RewriteProgress{}, 3); err != nil {
			t.Error("a rewrite may run again from the start:", err)
		}
	})
}

// TestEverySealedColumnIsRewritten reads the migrations: a column whose comment says "sealed" must be in the list.
func TestEverySealedColumnIsRewritten(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?m)^CREATE TABLE (\w+) \(`)
	column := regexp.MustCompile(`^\s*(\w+)\s+BYTEA[^-]*--.*\bsealed\b`)
	added := regexp.MustCompile(`^ALTER TABLE (\w+) ADD COLUMN (\w+)\s+BYTEA[^-]*--.*\bsealed\b`)
	var want []string
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		current := ""
		for _, line := range strings.Split(string(raw), "\n") {
			if m := table.FindStringSubmatch(line); m != nil {
				current = m[1]
			}
			if m := column.FindStringSubmatch(line); m != nil {
				want = append(want, current+"."+m[1])
			}
			if m := added.FindStringSubmatch(line); m != nil {
				want = append(want, m[1]+"."+m[2])
			}
		}
	}
	got := store.SealedColumnNames()
	sort.Strings(want)
	sort.Strings(got)
	if strings.Join(got, " ") != strings.Join(want, " ") || len(want) < 3 {
		t.Errorf("sealed in the schema: %v\nrewritten:            %v", want, got)
	}
}
