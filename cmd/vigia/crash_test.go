package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// binaries are the builds of this program that the tests have made, by their build tags.
var binaries struct {
	sync.Mutex
	path map[string]string
}

// binary builds the program once per set of tags. A real one is killed and traced, because a test binary is not what
// runs in production.
func binary(t *testing.T, tags string) string {
	t.Helper()
	gatetest.Needs(t, gatetest.Processes)
	binaries.Lock()
	defer binaries.Unlock()
	if path := binaries.path[tags]; path != "" {
		return path
	}
	folder, err := os.MkdirTemp(
		"",
		"vigia-test",
	) // outlives the first test that asks; its files are removed by the last
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "vigia")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-tags", tags, "-o", path, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	if binaries.path == nil {
		binaries.path = map[string]string{}
	}
	binaries.path[tags] = path
	return path
}

func TestMain(m *testing.M) {
	if os.Getenv(asNextRelease) != "" {
		if err := becomeNextRelease(); err != nil {
			panic(err)
		}
		main()
	}
	code := m.Run()
	for _, path := range binaries.path {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// server is the program serving, in a process of its own.
type server struct {
	binary, address, console string
	args                     []string
	cmd                      *exec.Cmd
	log                      lockedBuffer
}

// lockedBuffer may be read while a process writes it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Reset forgets what was written.
func (l *lockedBuffer) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
}

// freeAddress is one that is the test's own; servers come back to theirs after each kill.
func freeAddress(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", freePort(t))
}

func newServer(t *testing.T, binary, folder, database string, wrap ...string) *server {
	t.Helper()
	s := &server{binary: binary, address: freeAddress(t), console: freeAddress(t)}
	s.args = append(
		wrap,
		binary,
		"serve",
		"--data",
		folder,
		"--listen",
		s.address,
		"--console-listen",
		s.console,
		"--roles",
		"api",
	)
	if database != "" {
		s.args = append(s.args, "--database", database)
	}
	return s
}

func (s *server) start(t *testing.T) {
	t.Helper()
	s.cmd = exec.Command(s.args[0], s.args[1:]...)
	s.cmd.Stderr = &s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		res, err := http.Get("http://" + s.console + "/readyz")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.kill()
	t.Fatal("the server did not become ready:", s.log.String())
}

// kill ends the process and whatever it started, at once.
func (s *server) kill() {
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	_ = s.cmd.Wait()
}

// oracle knows, outside the server, what was sent and what was acknowledged.
type oracle struct {
	key     string
	servers []*server
	next    atomic.Int64 // batches begun
	acked   atomic.Int64
	retried atomic.Int64
	stop    atomic.Bool
}

const crashItems = 50

// betweenBatches is how long a writer rests. What was created is listed and compared in the end, which would otherwise
// be most of a short run.
func betweenBatches() time.Duration {
	if long() {
		return 0
	}
	return 20 * time.Millisecond
}

func crashBody(batch int64) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range int64(crashItems) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.TrimSpace(fmt.Sprintf(itemJSON, madeUpCPF(batch*crashItems+i))))
	}
	return b.String() + "]"
}

// madeUpCPF is the n-th CPF of nobody, with right check digits.
func madeUpCPF(n int64) string {
	s := fmt.Sprintf("%09d", 100_000_000+n)
	for range 2 {
		sum := 0
		for i := range len(s) {
			sum += int(s[i]-'0') * (len(s) + 1 - i)
		}
		check := 11 - sum%11
		if check > 9 {
			check = 0
		}
		s += fmt.Sprint(check)
	}
	return s
}

// write sends batch after batch. One whose answer did not come is sent again with the same key until there is an
// answer, and that answer has to say that all of it was created: by this request or by the one that was cut off.
func (o *oracle) write(t *testing.T) {
	for !o.stop.Load() {
		batch := o.next.Add(1) - 1
		body := crashBody(batch)
		for try := 0; ; try++ {
			address := o.servers[(int(batch)+try)%len(o.servers)].address
			status, answer, err := o.post(address, body, fmt.Sprintf("batch-%d", batch))
			if err == nil && status == http.StatusOK {
				if !strings.Contains(answer, fmt.Sprintf(`"total_created_items":%d,`, crashItems)) {
					t.Errorf("batch %d: %.300s", batch, answer)
				}
				o.acked.Add(1)
				time.Sleep(betweenBatches())
				break
			}
			if err == nil && status < 500 && status != http.StatusConflict {
				t.Errorf("batch %d: %d %.300s", batch, status, answer)
				return
			}
			o.retried.Add(1)
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func (o *oracle) post(address, body, key string) (int, string, error) {
	req, err := http.NewRequest(http.MethodPost, "http://"+address+"/v1/subscriptions", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("x-api-key", o.key)
	req.Header.Set("idempotency-key", key)
	client := http.Client{Timeout: 2 * time.Minute} // of a server that is killed one hears at once
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, string(answer), err
}

// TestKilledServer kills the server again and again while four writers create subscriptions of a plan that watches:
// nothing that was acknowledged may be missing or there twice, what was not is created once by sending it again, and of
// everybody who is enrolled all is watched.
func TestKilledServer(t *testing.T) {
	kills := map[sqldb.Engine]int{sqldb.SQLite: 10, sqldb.PostgreSQL: 4}
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		kills = map[sqldb.Engine]int{sqldb.SQLite: 200, sqldb.PostgreSQL: 60}
	}
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) { killLoop(t, engine, kills[engine]) })
	}
}

func killLoop(t *testing.T, engine sqldb.Engine, kills int) {
	folder := filepath.Join(t.TempDir(), "data")
	databases := []string{""}
	if engine == sqldb.PostgreSQL { // two replicas of one database; on Citus, one by each node and one more
		database := storetest.NewAddress(t, engine, folder)
		databases = append(storetest.Nodes(t, database), database)
	}
	o := &oracle{key: crashPartner(t, folder, databases[0], "--watch", "email,cpf,phone")}
	for _, database := range databases {
		s := newServer(t, binary(t, ""), folder, database)
		s.start(t)
		t.Cleanup(func() { s.kill() })
		o.servers = append(o.servers, s)
	}
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() { o.write(t) })
	}
	for n := 0; n < kills || o.retried.Load() == 0; n++ { // a kill in which nobody waits for an answer shows nothing
		time.Sleep(time.Duration(20+rand.IntN(180)) * time.Millisecond)
		victim := o.servers[n%len(o.servers)]
		victim.kill()
		victim.start(t)
	}
	o.stop.Store(true)
	writers.Wait()
	verifyAfterCrashes(t, o, engine, folder, kills)
	verifyWatches(t, o, folder, databases[0])
}

// verifyWatches fails unless exactly three values are watched for each person, and the whole database is in order.
func verifyWatches(t *testing.T, o *oracle, folder, database string) {
	t.Helper()
	for _, s := range o.servers {
		s.kill()
	}
	args := []string{"check", "--data", folder}
	address := filepath.Join(folder, "vigia.db")
	if database != "" {
		args = append(args, "--database", database)
		address = database
	}
	if code, out, errs := vigia(t, args...); code != 0 {
		t.Errorf("check: %d %s%s", code, out, errs)
	}
	db, err := sqldb.OpenDatabase(t.Context(), address, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // only read
	var n int64
	if err := db.ReadPool().QueryRow(`SELECT count(*) FROM asset WHERE source = 2`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if want := 3 * o.next.Load() * crashItems; n != want {
		t.Errorf("%d values are watched, want %d", n, want)
	}
}

// crashPartner makes a partner with a plan through the command line, and returns its key.
func crashPartner(t *testing.T, folder, database string, planFlags ...string) string {
	t.Helper()
	at := func(args ...string) []string {
		args = append(args, "--data", folder, "--json")
		if database != "" {
			args = append(args, "--database", database)
		}
		return args
	}
	code, out, errs := vigia(t, at("partner", "create", "--name", "Banco", "--people", "1000", "--rate", "100000")...)
	if code != 0 {
		t.Fatal(errs)
	}
	made := decode(t, out)
	create := []string{"plan", "create", "--partner", fmt.Sprint(made["partner_id"]), "--id", "ouro", "--name", "Ouro"}
	if code, _, errs := vigia(t, at(append(create, planFlags...)...)...); code != 0 {
		t.Fatal(errs)
	}
	return fmt.Sprint(made["api_key"])
}

// listed pages through everything that is there: how often each CPF, and the total that the list itself tells.
func (o *oracle) listed(t *testing.T) (seen map[string]int, total int64) {
	t.Helper()
	seen = map[string]int{}
	for page := 1; ; page++ {
		req, err := http.NewRequest(http.MethodGet, "http://"+o.servers[0].address+"/v1/subscriptions?"+
			url.Values{"page": {fmt.Sprint(page)}, "page_size": {"100"}}.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("x-api-key", o.key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Data []struct {
				Beneficiary struct {
					CPF string `json:"cpf"`
				} `json:"beneficiary"`
			} `json:"data"`
			Pagination struct {
				Total int64 `json:"total_items"`
			} `json:"pagination"`
		}
		err = json.NewDecoder(res.Body).Decode(&list)
		_ = res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Data {
			seen[item.Beneficiary.CPF]++
		}
		if total = list.Pagination.Total; len(list.Data) == 0 {
			return seen, total
		}
	}
}

func verifyAfterCrashes(t *testing.T, o *oracle, engine sqldb.Engine, folder string, kills int) {
	t.Helper()
	seen, total := o.listed(t)
	want := o.next.Load() * crashItems
	for n := range want {
		if got := seen[madeUpCPF(n)]; got != 1 {
			t.Fatalf("item %d of batch %d is there %d times", n%crashItems, n/crashItems, got)
		}
	}
	if total != want || int64(len(seen)) != want {
		t.Errorf("%d subscriptions by the total, %d by the list, want %d", total, len(seen), want)
	}
	if o.retried.Load() == 0 || o.acked.Load() != o.next.Load() {
		t.Errorf(
			"%d kills met nothing: %d batches, %d acknowledged, %d tries again",
			kills,
			o.next.Load(),
			o.acked.Load(),
			o.retried.Load(),
		)
	}
	t.Logf("%d kills, %d batches of %d, %d sent again", kills, o.next.Load(), crashItems, o.retried.Load())
	if engine == sqldb.SQLite {
		checkIntegrity(t, folder)
	}
}

func checkIntegrity(t *testing.T, folder string) {
	t.Helper()
	db, err := sqldb.OpenDatabase(context.Background(), filepath.Join(folder, "vigia.db"), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var verdict string
	if err := db.ReadPool().QueryRowContext(context.Background(), `PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Error("integrity check:", verdict, err)
	}
}
