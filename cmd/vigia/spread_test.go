package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// spreadDump writes a made-up list of addresses of about that many megabytes.
func spreadDump(t *testing.T, megabytes int) string {
	t.Helper()
	var text strings.Builder
	for i := 0; text.Len() < megabytes<<20; i++ {
		fmt.Fprintf(&text, "pessoa%d@empresa%d.com.br;senha%d;(11) 9%04d-%04d\n", i, i%977, i*7919, i%10000, i*31%10000)
	}
	path := filepath.Join(t.TempDir(), "dump.txt")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSpreadCommand: `vigia breach import --spread` beside workers finds what an import in one process finds: on SQLite
// with the one server there is, on PostgreSQL with two workers, of which, at full size, one is killed while both are at
// a part.
func TestSpreadCommand(t *testing.T) {
	for engine, workers := range map[sqldb.Engine]int{sqldb.SQLite: 1, sqldb.PostgreSQL: 2} {
		t.Run(fmt.Sprint(engine), func(t *testing.T) {
			database, megabytes := "", 3
			if engine == sqldb.PostgreSQL {
				database = storetest.NewAddress(t, engine, "")
				if long() {
					megabytes = 400
				}
			}
			folder, bucket, dump := filepath.Join(t.TempDir(), "data"), t.TempDir(), spreadDump(t, megabytes)
			common := []string{"--data", folder, "--corpora", "file://" + bucket, "--json"}
			if database != "" {
				common = append(common, "--database", database)
			}
			load := func(name string, args ...string) map[string]any {
				args = append(
					[]string{
						"breach",
						"import",
						"--name",
						name,
						"--title",
						"Loja",
						"--date",
						"2026-01-02",
						"--exposes",
						"email",
						dump,
					},
					args...,
				)
				code, out, errs := vigia(t, append(args, common...)...)
				if code != exitOK {
					t.Errorf("%s: exit %d, %s", name, code, errs)
					return nil
				}
				return decode(t, out)
			}
			whole := load("inteiro")
			servers := make([]*server, workers)
			for i := range servers {
				s := newServer(t, binary(t, ""), folder, database)
				s.args[slices.Index(s.args, "--roles")+1] = "worker"
				s.args = append(s.args, "--corpora", common[3])
				s.start(t)
				t.Cleanup(s.kill)
				servers[i] = s
			}
			done := make(chan struct{})
			if long() && workers == 2 {
				go func() { defer close(done); killOneAtWork(t, folder, database, servers) }()
			} else {
				close(done)
			}
			spread := load("partes", "--spread", "--part-size", "1MiB")
			<-done
			for _, field := range []string{"found", "distinct", "bytes", "scanned", "streams", "problems", "state"} {
				if !reflect.DeepEqual(whole[field], spread[field]) {
					t.Errorf("%s: %v, in one process %v", field, spread[field], whole[field])
				}
			}
			if left, err := filepath.Glob(filepath.Join(bucket, "*.part-*")); err != nil || len(left) > 0 {
				t.Error("parts left:", left, err)
			}
		})
	}
}

// killOneAtWork kills a worker while each of two holds a part.
func killOneAtWork(t *testing.T, folder, database string, servers []*server) {
	ctx := context.Background()
	a, err := app.OpenApp(ctx, config.Common{Data: folder, Database: database}, sqldb.Options{MaxConns: 2})
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = a.Close() }()
	for {
		parts, err := a.Store.Breaches.ListParts(ctx, "partes")
		if err != nil {
			t.Error(err)
			return
		}
		running, left := 0, 0
		for _, p := range parts {
			switch p.State {
			case job.Running:
				running++
				left++
			case job.Ready:
				left++
			case job.Done, job.Failed, job.Cancelled:
			}
		}
		if running == 2 {
			servers[0].kill()
			t.Logf("killed with %d of %d parts left", left, len(parts))
			return
		}
		if r, err := a.Store.Breaches.BreachByName(ctx, "partes"); err == nil && r.State == leak.Published {
			t.Error("the import was over before both workers were at it: give it more to do")
			return
		}
		time.Sleep(time.Millisecond)
	}
}
