package app_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/backup"
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

// TestRestoreOfAnOlderBackup: a backup carries the keys of its time, and opens by the root of its time, whatever was
// rotated, dropped and replaced since.
func TestRestoreOfAnOlderBackup(t *testing.T) {
	ctx := context.Background()
	c := common(t, sqldb.SQLite)
	a := open(t, c)
	p, cred, err := a.Partners.CreatePartner(ctx, "Banco", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	if _, err := a.WriteBackup(ctx, file, app.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	former := copyKeys(t, c)
	if err := a.Store.Upkeep.RotateKeys(ctx); err != nil {
		t.Fatal(err)
	}
	for progress := (store.RewriteProgress{}); ; {
		done, err := a.Store.Upkeep.RewriteSealed(ctx, &progress, 100)
		if err != nil {
			t.Fatal(err)
		}
		if done {
			break
		}
	}
	if dropped, err := a.DropOldKeys(ctx); err != nil || len(dropped) != 1 {
		t.Fatal(dropped, err)
	}
	next := c
	next.KeyFile = filepath.Join(t.TempDir(), "next.json")
	root, err := seal.CreateRootFile(next.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Store.Upkeep.AddRoot(ctx, root); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, next).Store.Upkeep.DropOtherRoots(ctx, app.KeyHolderGone); err != nil {
		t.Fatal(err)
	}
	_, err = app.RestoreBackup(ctx, copyKeys(t, next), file, app.RestoreOptions{}, noRecord)
	if !errors.Is(err, backup.ErrForeign) || !strings.Contains(err.Error(), a.Keys.Root().ID()) {
		t.Error("the root of today:", err)
	}
	done, err := app.RestoreBackup(ctx, former, file, app.RestoreOptions{}, noRecord)
	if err != nil || len(done.Problems) > 0 {
		t.Fatal(done.Problems, err)
	}
	if salt, err := open(t, former).Store.Partners.OpenSalt(ctx, p.ID); err != nil || salt != cred.Salt {
		t.Error("what was in the backup:", err)
	}
}

// TestNotReadyWithoutItsKeys: a server in whose database a value is sealed under a key that nobody has gets no traffic.
func TestNotReadyWithoutItsKeys(t *testing.T) {
	eachEngine(t, func(t *testing.T, c config.Common) {
		ctx := context.Background()
		a := open(t, c)
		if _, _, err := a.Partners.CreatePartner(ctx, "Banco", partner.Live, partner.Settings{}); err != nil {
			t.Fatal(err)
		}
		db, err := sqldb.OpenDatabase(ctx, c.DatabaseAddress(), sqldb.Options{MaxConns: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		err = db.InTransaction(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE partner SET salt = $1`, append(seal.SealedPrefix(7), make([]byte, 60)...))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		srv := serve(t, a, nil)
		status, body := get(t, "http://"+srv.APIAddr.String()+"/readyz", nil)
		if status != http.StatusServiceUnavailable || !strings.Contains(body, `"keys":"failing"`) {
			t.Error(status, body)
		}
	})
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
