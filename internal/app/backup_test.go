package app_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subject"
)

// item is one item of a bulk request; n tells people apart.
func item(n int) string {
	return fmt.Sprintf(
		`{"start_date":"2026-02-01","expiry_date":"","plan_id":"ouro","is_group_plan":false,"beneficiary":{"primary_card":"1","user_card":"2",`+
			`"name":"Pessoa %d","cpf":"%011d","birth_date":"1990-05-17","gender":"F","email":"p%d@exemplo.com.br","phone_number":"5511987654321",`+
			`"address":{"zipcode":"01001000","street":"Rua A","number":"1","neighborhood":"Centro","city":"Natal","state":"RN"}}}`,
		n,
		n,
		n,
	)
}

// caller is a partner who calls a running service.
type caller struct {
	t    testing.TB
	base string
	key  string
}

// send makes a request and returns its status and answer.
func (c caller) send(method, path, body string, header ...string) (int, string) {
	req, err := http.NewRequestWithContext(context.Background(), method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return 0, ""
	}
	req.Header.Set("X-Api-Key", c.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Error(err)
		return 0, ""
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Error(err)
	}
	return res.StatusCode, string(text)
}

// bulk enrols people first to first+n-1.
func (c caller) bulk(first, n int) bool {
	items := make([]string, n)
	for i := range items {
		items[i] = item(first + i)
	}
	status, body := c.send("POST", "/v1/subscriptions", "["+strings.Join(items, ",")+"]")
	return status == http.StatusOK && strings.Contains(body, fmt.Sprintf(`"total_created_items":%d`, n))
}

// loaded is a service under load: writers enrol people until stop.
type loaded struct {
	mu    sync.Mutex
	acked []int
	stop  func()
}

func (l *loaded) snapshot() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]int(nil), l.acked...)
}

func load(c caller, from int) *loaded {
	l, ctx, wg := &loaded{}, make(chan struct{}), sync.WaitGroup{}
	for w := range 3 {
		wg.Go(func() {
			for n := from + w*1_000_000; ; n += 5 {
				select {
				case <-ctx:
					return
				default:
				}
				if c.bulk(n, 5) {
					l.mu.Lock()
					for i := range 5 {
						l.acked = append(l.acked, n+i)
					}
					l.mu.Unlock()
				}
			}
		})
	}
	l.stop = sync.OnceFunc(func() { close(ctx); wg.Wait() })
	return l
}

// preloaded is how many people there are before a backup under load.
func preloaded() int {
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		return 100_000
	}
	return 1_000
}

// installation is a service with a sandbox partner, so many people, a breach and password corpora.
func installation(t *testing.T, c config.Common, people int) (*app.App, caller, partner.Partner) {
	t.Helper()
	a := open(t, c)
	srv := serve(t, a, nil)
	p, cred, err := a.Partners.CreatePartner(
		context.Background(),
		"Banco",
		partner.Sandbox,
		partner.Settings{RatePerSecond: 100_000, Burst: 100_000},
	)
	if err != nil {
		t.Fatal(err)
	}
	who := caller{t, "http://" + srv.APIAddr.String(), cred.APIKey}
	for n := 0; n < people; n += 1000 {
		if !who.bulk(n+1, min(1000, people-n)) {
			t.Fatal("people are refused")
		}
	}
	dump := filepath.Join(t.TempDir(), "dump.csv")
	if err := os.WriteFile(dump, []byte("ana@exemplo.com.br;senha1\nbia@exemplo.com.br;senha2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	importBreach(t, a, "loja", dump)
	return a, who, p
}

func importBreach(t *testing.T, a *app.App, name, dump string) {
	t.Helper()
	inputs, err := intake.ListInputs(context.Background(), nil, []string{dump})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Leaks.Foreground.ImportBreach(context.Background(), intake.Spec{
		Breach: cyber.Breach{
			Name:    name,
			Title:   name,
			Date:    time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			Kind:    cyber.SourceBreach,
			Exposes: []cyber.Exposed{cyber.ExposedEmail},
		},
		Inputs: inputs,
	})
	if err == nil {
		_, err = a.Leaks.Foreground.MatchBreach(context.Background(), name, func(leak.MatchProgress) {})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copyKeys puts a copy of a key file where a restore finds it.
func copyKeys(t *testing.T, from config.Common) config.Common {
	t.Helper()
	raw, err := os.ReadFile(from.KeyFilePath())
	if err != nil {
		t.Fatal(err)
	}
	c := config.Common{Data: filepath.Join(t.TempDir(), "new"), KeyFile: filepath.Join(t.TempDir(), "keys.json")}
	if err := os.WriteFile(c.KeyFile, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

func noRecord(*app.App) error { return nil }

// holdsAll fails for each acknowledged person who is not there.
func holdsAll(t *testing.T, a *app.App, id partner.ID, people []int) {
	t.Helper()
	missing := 0
	for _, n := range people {
		if _, err := a.Store.Subscriptions.SubscriptionOf(
			context.Background(),
			id,
			plan.ID("ouro"),
			fmt.Sprintf("%011d", n),
		); err != nil {
			missing++
		}
	}
	if missing > 0 {
		t.Errorf("%d of %d acknowledged people are missing", missing, len(people))
	}
}

// TestBackupUnderLoad: what was acknowledged before a backup began is in it, whatever else is being written; it
// restores into an empty folder and has no fault.
func TestBackupUnderLoad(t *testing.T) {
	ctx := context.Background()
	c := common(t, sqldb.SQLite)
	a, who, p := installation(t, c, preloaded())
	keepInLog(t, c)
	writers := load(who, 1_000_000)
	defer writers.stop()
	polltest.Until(t, "200 writes", func() bool { return len(writers.snapshot()) >= 200 })
	before := writers.snapshot()
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	began := time.Now()
	made, err := open(t, c).WriteBackup(ctx, file, app.BackupOptions{}) // as the command does, beside the server
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	writers.stop()
	after := writers.snapshot()
	if len(after) == len(before) {
		t.Error("nothing was written meanwhile")
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); err != nil || len(left) != 1 {
		t.Error("left behind:", left, err)
	}
	if !made.About.Holds(backup.Database) || !made.About.Holds(backup.Leaks) || len(made.Files) < 4 {
		t.Errorf("%+v", made)
	}
	if raw, err := os.ReadFile(file); err != nil || bytes.Contains(raw, []byte("keys.json")) {
		t.Error("the key file is in it", err)
	}
	if _, err := a.WriteBackup(ctx, file, app.BackupOptions{}); !errors.Is(err, backup.ErrExists) {
		t.Error("a backup was overwritten:", err)
	}

	to := copyKeys(t, c)
	began = time.Now()
	done, err := app.RestoreBackup(ctx, to, file, app.RestoreOptions{}, noRecord)
	if err != nil || len(done.Problems) != 0 {
		t.Fatal(done.Problems, err)
	}
	t.Logf(
		"%d people, %.1f MB: backup in %v, restore and check in %v",
		preloaded()+len(before),
		float64(made.TotalBytes())/1e6,
		took.Round(time.Millisecond),
		time.Since(began).Round(time.Millisecond),
	)
	restored := open(t, to)
	everyone := before
	for n := range preloaded() {
		everyone = append(everyone, n+1)
	}
	holdsAll(t, restored, p.ID, everyone)
	if n, err := restored.Leaks.Library.VerifyBreach(ctx, "loja"); err != nil || n == 0 {
		t.Error("the segment:", n, err)
	}
	if list, err := restored.Passwords.ReadStatus(); err != nil || len(list) == 0 {
		t.Error("password corpora:", list, err)
	}
}

// TestBackupAgeOfEachPart: a backup without the corpora makes the database's age young, and no other.
func TestBackupAgeOfEachPart(t *testing.T) {
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	srv := serve(t, a, nil)
	metrics := func() string {
		t.Helper()
		_, page := get(
			t,
			"http://"+srv.ConsoleAddr.String()+"/metrics",
			http.Header{"Authorization": {"Bearer " + metricsToken}},
		)
		return page
	}
	if page := metrics(); strings.Contains(page, "vigia_backup_age_seconds{") {
		t.Error("there is no backup yet, and its age is told")
	}
	options := app.BackupOptions{WithoutCorpora: true}
	if _, err := a.WriteBackup(context.Background(), filepath.Join(t.TempDir(), "b.tar.gz"), options); err != nil {
		t.Fatal(err)
	}
	page := metrics()
	for part, want := range map[string]bool{"database": true, "leaks": false, "passwords": false} {
		if told := strings.Contains(page, `vigia_backup_age_seconds{part="`+part+`"}`); told != want {
			t.Errorf("the age of %s is told: %v", part, told)
		}
	}
}

// keepInLog has all that is written from now on stay in the write-ahead log until the test ends: no checkpoint passes a
// reader who looks at what was there before. A backup that only takes the database's file then lacks every one of those
// rows.
func keepInLog(t *testing.T, c config.Common) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+c.DatabaseAddress())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	reader, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Rollback() })
	var people int
	if err := reader.QueryRowContext(context.Background(), `SELECT count(*) FROM person`).Scan(&people); err != nil || people == 0 {
		t.Fatal(people, err)
	}
}

// TestRestoreRefuses: nothing is put in place unless everything is right.
func TestRestoreRefuses(t *testing.T) {
	ctx := context.Background()
	c := common(t, sqldb.SQLite)
	a := open(t, c)
	if _, _, err := a.Partners.CreatePartner(ctx, "Banco", partner.Live, partner.Settings{}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	if _, err := a.WriteBackup(ctx, file, app.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, to config.Common, file string, want error) {
		t.Helper()
		_, err := app.RestoreBackup(ctx, to, file, app.RestoreOptions{}, noRecord)
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Stat(filepath.Join(to.Data, "vigia.db")); err == nil {
			t.Errorf("%s: the database was put in place", what)
		}
	}
	full := copyKeys(t, c)
	if err := os.MkdirAll(full.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(full.Data, "something"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("a folder that is not empty", full, file, backup.ErrNotEmpty)
	refused("no key file", config.Common{Data: filepath.Join(t.TempDir(), "x")}, file, backup.ErrNoKeyFile)
	stranger := common(t, sqldb.SQLite)
	open(t, stranger)
	refused("a foreign key file", copyKeys(t, stranger), file, backup.ErrForeign)
	server := copyKeys(t, c)
	server.Database = "postgres://nobody@127.0.0.1:1/x"
	refused("the wrong engine", server, file, backup.ErrEngine)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged")
	unharmed := 0
	try := func(what string, content []byte, verdict string) {
		t.Helper()
		if err := os.WriteFile(damaged, content, 0o600); err != nil {
			t.Fatal(err)
		}
		to := copyKeys(t, c)
		refused(what, to, damaged, nil)
		if _, err := app.RestoreBackup(
			ctx,
			to,
			damaged,
			app.RestoreOptions{},
			noRecord,
		); err == nil ||
			!strings.Contains(err.Error(), verdict) {
			t.Errorf("%s is called: %v", what, err)
		}
	}
	// Some bits of a compressed archive say nothing (backup.TestEveryFlippedBit): then the restore is whole.
	flip := func(what string, content []byte) {
		t.Helper()
		if err := os.WriteFile(damaged, content, 0o600); err != nil {
			t.Fatal(err)
		}
		to := copyKeys(t, c)
		done, err := app.RestoreBackup(ctx, to, damaged, app.RestoreOptions{}, noRecord)
		if err != nil {
			if _, err := os.Stat(filepath.Join(to.Data, "vigia.db")); err == nil {
				t.Errorf("%s: the database was put in place", what)
			}
			if !strings.Contains(err.Error(), "altered") {
				t.Errorf("%s is called: %v", what, err)
			}
			return
		}
		unharmed++
		if list, err := open(t, to).Partners.ListPartners(ctx); err != nil || len(list) != 1 || len(done.Problems) != 0 {
			t.Errorf("%s: %v, %v, %v", what, list, done.Problems, err)
		}
	}
	for i := 1; i <= 20; i++ {
		at := len(raw) * i / 21
		flipped := bytes.Clone(raw)
		flipped[at] ^= 0x40
		flip(fmt.Sprintf("a flipped bit at %d of %d", at, len(raw)), flipped)
		try(fmt.Sprintf("cut at %d of %d", at, len(raw)), raw[:at], "cut short")
	}
	if unharmed > 10 {
		t.Errorf("%d of 20 flipped bits made no difference", unharmed)
	}
	try("the last bytes cut off", raw[:len(raw)-4], "cut short")
	try("something else", []byte("not a backup"), "cannot be opened")
	try("something appended", append(bytes.Clone(raw), raw...), "appended")
	try("a line appended", append(bytes.Clone(raw), "a line"...), "appended")
	ok := copyKeys(t, c)
	if done, err := app.RestoreBackup(
		ctx,
		ok,
		file,
		app.RestoreOptions{},
		noRecord,
	); err != nil ||
		len(done.Problems) != 0 {
		t.Error("the sound one:", done.Problems, err)
	}
}

// TestRestoreReplaysErasures: somebody who was erased after the backup is not back after the restore.
func TestRestoreReplaysErasures(t *testing.T) {
	ctx := context.Background()
	c := common(t, sqldb.SQLite)
	a, _, p := installation(t, c, 10)
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	if _, err := a.WriteBackup(ctx, file, app.BackupOptions{WithoutCorpora: true}); err != nil {
		t.Fatal(err)
	}
	gone := subject.Person{CPF: "00000000007"}
	if _, err := a.EraseSubject(ctx, operator.Actor{Name: "cli:test"}, gone, "pedido"); err != nil {
		t.Fatal(err)
	}
	log, err := os.Open(app.ErasureLog(c))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	for name, opts := range map[string]app.RestoreOptions{"with the log": {Erasures: log}, "without": {}} {
		to := copyKeys(t, c)
		done, err := app.RestoreBackup(ctx, to, file, opts, noRecord)
		if err != nil {
			t.Fatal(err)
		}
		held, err := open(t, to).Subjects.ExportPerson(ctx, gone)
		if err != nil || (len(held) == 0) != (name == "with the log") {
			t.Errorf("%s: %d partners hold something, %v", name, len(held), err)
		}
		if name == "with the log" && (done.Replayed.Lines != 1 || done.Replayed.Rows < 2) {
			t.Errorf("%+v", done.Replayed)
		}
		for _, problem := range done.Problems { // the segment was left out on purpose
			if problem.Check != "segments" {
				t.Error(problem)
			}
		}
		holdsAll(t, open(t, to), p.ID, []int{6, 8})
	}
}

// TestBackupPostgres: PostgreSQL's own tools copy the database under load, the archive brings the corpora, and the two
// fit together.
func TestBackupPostgres(t *testing.T) {
	ctx := context.Background()
	c := common(t, sqldb.PostgreSQL)
	a, who, p := installation(t, c, preloaded())
	writers := load(who, 1_000_000)
	defer writers.stop()
	polltest.Until(t, "100 writes", func() bool { return len(writers.snapshot()) >= 100 })
	before := writers.snapshot()
	address, err := url.Parse(c.Database)
	if err != nil {
		t.Fatal(err)
	}
	schema := address.Query().Get("search_path")
	plain := *address
	plain.RawQuery = "sslmode=disable" // the tools know no search_path
	dump := filepath.Join(t.TempDir(), "vigia.dump")
	command(t, "pg_dump", "--format=custom", "--schema="+schema, "--file="+dump, plain.String())
	writers.stop()
	archive := filepath.Join(t.TempDir(), "corpora.tar.gz")
	made, err := a.WriteBackup(ctx, archive, app.BackupOptions{})
	if err != nil || made.About.Holds(backup.Database) || len(made.Files) < 3 {
		t.Fatal(made, err)
	}
	gone := subject.Person{CPF: "00000000009"}
	if _, err := a.EraseSubject(ctx, operator.Actor{Name: "cli:test"}, gone, "pedido"); err != nil {
		t.Fatal(err)
	}

	name := "restored_" + schema
	admin, err := sql.Open("pgx", gatetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close() })
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.ExecContext(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	plain.Path, address.Path = "/"+name, "/"+name
	command(t, "pg_restore", "--exit-on-error", "--no-owner", "--dbname="+plain.String(), dump)

	to := copyKeys(t, c)
	refuse := to
	if _, err := app.RestoreBackup(ctx, refuse, archive, app.RestoreOptions{}, noRecord); !errors.Is(err, backup.ErrEngine) {
		t.Error("corpora without a database:", err)
	}
	to.Database = address.String()
	log, err := os.Open(app.ErasureLog(c))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	done, err := app.RestoreBackup(ctx, to, archive, app.RestoreOptions{Erasures: log}, noRecord)
	if err != nil || len(done.Problems) != 0 || done.Replayed.Rows < 2 {
		t.Fatal(done.Problems, done.Replayed, err)
	}
	restored := open(t, to)
	holdsAll(t, restored, p.ID, before)
	if held, err := restored.Subjects.ExportPerson(ctx, gone); err != nil || len(held) != 0 {
		t.Error("an erased person is back:", held, err)
	}
	if n, err := restored.Leaks.Library.VerifyBreach(ctx, "loja"); err != nil || n == 0 {
		t.Error("the segment:", n, err)
	}
	if err := restored.Close(); err != nil {
		t.Error(err)
	}
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(context.Background(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// TestCheckFiles: damage to the files beside the database is found too, and nothing once it is mended.
func TestCheckFiles(t *testing.T) {
	ctx := context.Background()
	c := common(t, sqldb.SQLite)
	a, _, _ := installation(t, c, 10)
	chmod := func(mode os.FileMode) func() error {
		return func() error { return os.Chmod(filepath.Join(c.Data, "vigia.db"), mode) }
	}
	flipped := func(folder string) func() error {
		return func() error { return flip(filepath.Join(c.CorporaPath(), folder, "*.seg")) }
	}
	for what, change := range map[string]struct{ damage, mend func() error }{
		"segments":  {flipped("leak"), flipped("leak")},
		"passwords": {flipped("password"), flipped("password")},
		"files":     {chmod(0o644), chmod(0o600)},
	} {
		if found, err := a.CheckAll(ctx, nil); err != nil || len(found) != 0 {
			t.Fatal("a sound installation:", found, err)
		}
		if err := change.damage(); err != nil {
			t.Fatal(err)
		}
		found, err := a.CheckAll(ctx, nil)
		if err != nil || len(found) != 1 || found[0].Check != what {
			t.Errorf("%s: %v %v", what, found, err)
		}
		if err := change.mend(); err != nil {
			t.Fatal(err)
		}
	}
}

// flip changes one bit in the middle of the first file that matches, and nothing around it: a server may have the file
// mapped, and would not outlive a look at it while it is cut.
func flip(pattern string) error {
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		return errors.Join(err, fmt.Errorf("no %s", pattern))
	}
	file, err := os.OpenFile(names[0], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		var one [1]byte
		if _, err = file.ReadAt(one[:], info.Size()/2); err == nil {
			one[0] ^= 1
			_, err = file.WriteAt(one[:], info.Size()/2)
		}
	}
	return errors.Join(err, file.Close())
}

// TestRestoreOfAnotherVersion: a backup in the layout of another version is refused as such, by either engine.
func TestRestoreOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for name, about := range map[string]backup.About{
		"no parts":   {Format: backup.Format, Program: "vigia 0.9.0", Engine: string(sqldb.SQLite)},
		"its format": {Format: backup.Format + 1, Program: "vigia 0.9.0", Engine: string(sqldb.SQLite)},
	} {
		file := filepath.Join(t.TempDir(), "backup.tar.gz")
		mac := func([]byte) []byte { return []byte("x") }
		if _, err := backup.WriteArchive(t.Context(), file, about, nil, mac, nil); err != nil {
			t.Fatal(err)
		}
		for _, database := range []string{"", "postgres://nobody@127.0.0.1:1/x"} {
			c := config.Common{Data: filepath.Join(t.TempDir(), "x"), Database: database}
			_, err := app.RestoreBackup(t.Context(), c, file, app.RestoreOptions{}, noRecord)
			if !errors.Is(err, backup.ErrNoBackup) || !strings.Contains(err.Error(), "another version of this program (vigia 0.9.0)") {
				t.Errorf("%s, database %q: %v", name, database, err)
			}
		}
	}
}
