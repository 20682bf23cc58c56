package app_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

// TestDropKeys: an old key is dropped when nothing is sealed under it and every server has seen the new one; until then
// it is refused, with what still needs it.
func TestDropKeys(t *testing.T) {
	ctx := context.Background()
	a := open(t, common(t, sqldb.SQLite))
	if _, _, err := a.Operators.CreateOperator(ctx, "ana@exemplo.com.br", operator.Admin); err != nil {
		t.Fatal(err)
	}
	if err := a.Store.Upkeep.RotateKeys(ctx); err != nil {
		t.Fatal(err)
	}
	if dropped, err := a.DropOldKeys(ctx); !errors.Is(err, seal.ErrKeyNeeded) ||
		!strings.Contains(err.Error(), "operator.email 1") || len(dropped) != 0 {
		t.Errorf("dropped %v, %v", dropped, err)
	}
	var p store.RewriteProgress
	for done := false; !done; {
		var err error
		if done, err = a.Store.Upkeep.RewriteSealed(ctx, &p, 100); err != nil {
			t.Fatal(err)
		}
	}
	dropped, err := a.DropOldKeys(ctx)
	if err != nil || len(dropped) != 1 || len(a.Keys.ListKeyIDs()) != 1 {
		t.Fatal(dropped, a.Keys.ListKeyIDs(), err)
	}
	if o, err := a.Operators.FindByEmail(ctx, "ana@exemplo.com.br"); err != nil || o.Email == "" {
		t.Error("what was sealed before is lost:", err)
	}
	if dropped, err = a.DropOldKeys(ctx); err != nil || len(dropped) != 0 {
		t.Error("nothing to drop:", dropped, err)
	}
}

// TestWarnOfCustody: a start says that the key file lies beside the data, and nothing when it does not.
func TestWarnOfCustody(t *testing.T) {
	ctx := context.Background()
	for _, beside := range []bool{true, false} {
		c := config.Common{Data: filepath.Join(t.TempDir(), "data")}
		if !beside {
			c.KeyFile = filepath.Join(t.TempDir(), "keys.json")
		}
		a, err := app.OpenApp(ctx, c, sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		a.WarnOfCustody(slog.New(slog.NewTextHandler(&log, nil)), "")
		if got := strings.Contains(
			log.String(),
			"whoever copies the folder",
		); got != beside ||
			!beside && log.Len() > 0 {
			t.Errorf("beside %v: %s", beside, &log)
		}
		_ = a.Close()
	}
}
