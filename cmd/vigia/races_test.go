package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// raceRun is everything that may meet on one PostgreSQL: bulk enrolments of people who were left over two days ago,
// sweeps that look for such people, breaches imported while values are deleted, and kills of servers all along.
type raceRun struct {
	*fleet
	db     *sqldb.DB
	salt   string
	until  time.Time
	client http.Client
	// enrolled counts the people whose enrolment was acknowledged.
	enrolled, deleted, imported, kills atomic.Int64
}

// TestRaces runs for a few seconds, or for as long as RACES says (`make races`), and then lets 'vigia check' look at
// everything: nothing that was acknowledged may have lost what it relies on.
func TestRaces(t *testing.T) {
	length := 8 * time.Second
	if text := os.Getenv("RACES"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	database := storetest.NewAddress(t, sqldb.PostgreSQL, folder)
	r := &raceRun{fleet: newFleet(t, database, 2), until: time.Now().Add(length)}
	r.client.Timeout = time.Minute
	var err error
	if r.db, err = sqldb.OpenDatabase(t.Context(), database, sqldb.Options{MaxConns: 4}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.db.Close() })
	if r.salt, err = r.admin.Store.Partners.OpenSalt(t.Context(), r.partner.ID); err != nil {
		t.Fatal(err)
	}
	batches := make(chan int64)
	var working sync.WaitGroup
	working.Go(func() { r.leaveOver(t, batches) })
	for range 3 {
		working.Go(func() { r.enrol(t, batches) })
	}
	for n := range 2 {
		working.Go(func() { r.watchAndDelete(t, n) })
	}
	working.Go(func() { r.sweep(t) })
	working.Go(func() { r.importBreaches(t) })
	for n := 0; time.Now().Before(r.until) && !t.Failed(); n++ {
		time.Sleep(time.Duration(500+rand.IntN(2500)) * time.Millisecond)
		victim := r.servers[n%len(r.servers)]
		victim.kill()
		victim.start(t)
		r.kills.Add(1)
	}
	working.Wait()
	t.Logf("%v: %d people enrolled, %d values deleted, %d breaches imported, %d kills",
		length, r.enrolled.Load(), r.deleted.Load(), r.imported.Load(), r.kills.Load())
	if r.enrolled.Load() == 0 || r.deleted.Load() == 0 || r.imported.Load() == 0 || r.kills.Load() == 0 {
		t.Error("something never happened")
	}
	code, out, errs := vigia(t, "check", "--data", r.folder, "--database", r.database)
	if code != 0 {
		t.Errorf("check: %d %.2000s %.2000s", code, out, errs)
	}
}

// isOver reports whether the run is to end.
func (r *raceRun) isOver(t *testing.T) bool { return time.Now().After(r.until) || t.Failed() }

// ask sends a request until a server answers it: one is always alive.
func (r *raceRun) ask(t *testing.T, method, path, body string, header ...string) outcome {
	for try := 0; ; try++ {
		server := r.servers[(try+rand.IntN(2))%len(r.servers)]
		got := ask(&r.client, method, "http://"+server.address+path, r.key, body, header...)
		if got.err == nil && got.status < 500 && got.status != http.StatusConflict &&
			got.status != http.StatusTooManyRequests {
			return got
		}
		if try > 3000 {
			t.Errorf("%s %s: %d %v %.300s", method, path, got.status, got.err, got.body)
			return got
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// leaveOver makes people who are known by their CPF and of whom nothing else is kept, as of two days ago, and hands out
// the batches that enrol them.
func (r *raceRun) leaveOver(t *testing.T, batches chan<- int64) {
	defer close(batches)
	const ahead = 8
	for first := int64(0); !r.isOver(t); first += ahead {
		var items []string
		for n := first * crashItems; n < (first+ahead)*crashItems; n++ {
			cpf := madeUpCPF(n)
			items = append(
				items,
				fmt.Sprintf(`{"type":"cpf","value":%q,"userHash":%q}`, cpf, partner.LongUserHash(cpf, r.salt)),
			)
		}
		got := r.ask(t, http.MethodPost, "/v1/cyber/assets", `{"items":[`+strings.Join(items, ",")+`]}`)
		if got.status != http.StatusOK || !strings.Contains(got.body, `"success"`) {
			t.Errorf("people to leave over: %d %.300s", got.status, got.body)
			return
		}
		for _, statement := range []string{
			`DELETE FROM asset WHERE kind = 2`,
			`UPDATE person SET created_at = created_at - 172800000000 WHERE NOT EXISTS
				(SELECT 1 FROM subscription s WHERE s.partner_id = person.partner_id AND s.cpf = person.cpf)`,
		} {
			err := r.db.InTransaction(context.Background(), func(tx *sqldb.Tx) error {
				_, err := tx.ExecContext(context.Background(), statement)
				return err
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
		for batch := first; batch < first+ahead; batch++ {
			batches <- batch
		}
	}
}

// enrol sends batches until each is acknowledged as created.
func (r *raceRun) enrol(t *testing.T, batches <-chan int64) {
	for batch := range batches {
		got := r.ask(
			t,
			http.MethodPost,
			"/v1/subscriptions",
			crashBody(batch),
			"idempotency-key",
			fmt.Sprint("batch-", batch),
		)
		if got.status != http.StatusOK ||
			!strings.Contains(got.body, fmt.Sprintf(`"total_created_items":%d,`, crashItems)) {
			t.Errorf("batch %d: %d %.300s", batch, got.status, got.body)
		}
		r.enrolled.Add(crashItems)
	}
}

// sweep removes what is past its time, again and again.
func (r *raceRun) sweep(t *testing.T) {
	for !r.isOver(t) {
		if _, err := r.admin.Store.Upkeep.SweepExpired(
			context.Background(),
			store.Retention{Subscriptions: 24 * time.Hour},
		); err != nil {
			t.Error("sweep:", err)
			return
		}
	}
}

// watchAndDelete adds addresses that breaches hold and deletes them again.
func (r *raceRun) watchAndDelete(t *testing.T, worker int) {
	for round := 0; !r.isOver(t); round++ {
		user := fmt.Sprintf("apagada-%d-%d", worker, round)
		for i := range 5 {
			body := fmt.Sprintf(`{"type":"email","value":"p%d-%d@exemplo.com.br","userHash":%q}`, worker, i, user)
			r.ask(t, http.MethodPost, "/v1/cyber/monitoring", body)
		}
		list := r.ask(t, http.MethodGet, "/v1/cyber/monitoring/"+user, "")
		for _, item := range decodeList(t, list.body) {
			got := r.ask(t, http.MethodDelete, fmt.Sprintf("/v1/cyber/monitoring/%v/%s", item["id"], user), "")
			if got.status == http.StatusOK || got.status == http.StatusNotFound { // a killed server may have deleted it
				r.deleted.Add(1)
			} else {
				t.Errorf("delete: %d %.300s", got.status, got.body)
			}
		}
	}
}

// importBreaches imports dumps that hold what is being added and deleted.
func (r *raceRun) importBreaches(t *testing.T) {
	var lines strings.Builder
	for worker := range 2 {
		for i := range 5 {
			_, _ = fmt.Fprintf(&lines, "p%d-%d@exemplo.com.br;senha%d\n", worker, i, i)
		}
	}
	dump := filepath.Join(t.TempDir(), "dump.csv")
	if err := os.WriteFile(dump, []byte(lines.String()), 0o600); err != nil {
		t.Error(err)
		return
	}
	for n := 0; !r.isOver(t); n++ {
		code, _, errs := vigia(t, "breach", "import", dump, "--name", fmt.Sprint("corrida-", n), "--title", "Corrida",
			"--date", "2026-01-02", "--data", r.folder, "--database", r.database)
		if code != 0 {
			t.Errorf("import %d: %d %.600s", n, code, errs)
			return
		}
		r.imported.Add(1)
		if time.Until(r.until) > time.Minute {
			time.Sleep(5 * time.Second) // a long run is about meetings, not about thousands of open breaches
		}
	}
}
