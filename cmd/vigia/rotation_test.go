package main

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestRotationUnderLoad rotates the keys from the command line while a server is read from and written to: every
// look-up finds its person, and in the end nothing is sealed by the old key.
func TestRotationUnderLoad(t *testing.T) {
	batches := int64(10)
	if long() {
		batches = 2_000 // 100,000 rows
	}
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) { rotateUnderLoad(t, engine, batches) })
	}
}

const lookUpPause = 2 * time.Millisecond

func rotateUnderLoad(t *testing.T, engine sqldb.Engine, batches int64) {
	ctx, database := context.Background(), ""
	if engine == sqldb.PostgreSQL {
		database = storetest.NewAddress(t, engine, "")
	}
	folder := filepath.Join(t.TempDir(), "data")
	key := crashPartner(t, folder, database)
	s := newServer(t, binary(t, ""), folder, database)
	s.args[slices.Index(s.args, "--roles")+1] = "api,worker"
	s.start(t)
	t.Cleanup(s.kill)
	subscriptions := "http://" + s.address + "/v1/subscriptions"
	for batch := range batches {
		if got := ask(
			http.DefaultClient,
			http.MethodPost,
			subscriptions,
			key,
			crashBody(batch),
		); got.status != http.StatusOK {
			t.Fatal(got.status, got.body, got.err)
		}
	}
	a, err := app.OpenApp(ctx, config.Common{Data: folder, Database: database}, sqldb.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })

	var stop atomic.Bool
	var found, created atomic.Int64
	var load sync.WaitGroup
	for n := range int64(3) {
		load.Go(func() {
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: time.Minute}
			for i := n; !stop.Load(); i += 7 {
				cpf := madeUpCPF(i % (batches * crashItems))
				got := ask(client, http.MethodGet, subscriptions+"/ouro/"+cpf, key, "")
				if got.status != http.StatusOK || !strings.Contains(got.body, cpf) {
					t.Errorf("look-up %d: %d %v %.200s", i, got.status, got.err, got.body)
					return
				}
				found.Add(1)
				time.Sleep(lookUpPause) // all that a machine can ask would leave a rotation no room
			}
		})
	}
	load.Go(func() {
		for batch := batches; !stop.Load(); batch++ {
			if got := ask(
				http.DefaultClient,
				http.MethodPost,
				subscriptions,
				key,
				crashBody(batch),
			); got.status != http.StatusOK {
				t.Errorf("batch %d: %d %v %.200s", batch, got.status, got.err, got.body)
				return
			}
			created.Add(1)
			time.Sleep(50 * time.Millisecond)
		}
	})
	polltest.Until(t, "a load, without which it proves nothing", func() bool {
		return found.Load() > 0 && created.Load() > 0 || t.Failed()
	})
	const rotations = 2
	start := time.Now()
	for range rotations {
		args := []string{"keys", "rotate", "--data", folder}
		if database != "" {
			args = append(args, "--database", database)
		}
		if code, _, errs := vigia(t, args...); code != 0 {
			t.Error(errs)
			break
		}
		for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			if _, err := a.Store.Upkeep.FollowRing(ctx); err != nil {
				t.Error(err)
				break
			}
			_, old, err := a.Store.Upkeep.SealedUnder(ctx)
			if err != nil || time.Now().After(deadline) {
				t.Errorf("%d values are sealed by an old key (%v)", old, err)
				break
			}
			if old == 0 {
				break
			}
		}
	}
	took := time.Since(start)
	stop.Store(true)
	load.Wait()
	t.Logf("%d rotations of %d rows in %v; %d look-ups and %d batches meanwhile, none failed",
		rotations, batches*crashItems, took.Round(time.Millisecond), found.Load(), created.Load())
}
