package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// replicaFolders is an installation on PostgreSQL whose replicas have a data folder each.
type replicaFolders struct {
	room, database, corpora string
}

func newReplicaFolders(t *testing.T, shared bool) replicaFolders {
	t.Helper()
	f := replicaFolders{room: t.TempDir(), database: storetest.NewAddress(t, sqldb.PostgreSQL, "")}
	if shared {
		bucket := filepath.Join(f.room, "bucket")
		if err := os.Mkdir(bucket, 0o700); err != nil {
			t.Fatal(err)
		}
		f.corpora = "file://" + bucket
	}
	return f
}

func (f replicaFolders) common(replica string) config.Common {
	return config.Common{
		Data: filepath.Join(
			f.room,
			replica,
		),
		Database: f.database,
		Corpora:  f.corpora,
		KeyFile:  filepath.Join(f.room, "keys.json"),
	}
}

// run runs a command in the data folder of a replica.
func (f replicaFolders) run(t *testing.T, replica string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	c := f.common(replica)
	args = append(args, "--data", c.Data, "--database", c.Database, "--key-file", c.KeyFile)
	if c.Corpora != "" {
		args = append(args, "--corpora", c.Corpora)
	}
	return vigia(t, args...)
}

// start serves a replica until the test ends and returns the address of its operator's listener.
func (f replicaFolders) start(t *testing.T, replica string) string {
	t.Helper()
	a, err := app.OpenApp(context.Background(), f.common(replica), sqldb.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := app.NewServer(context.Background(), a, config.Serve{
		Listen:         "127.0.0.1:0",
		ConsoleListen:  "127.0.0.1:0",
		Roles:          []string{"api"},
		MaxConnections: 4,
		StopTime:       time.Minute,
		MetricsToken:   "a-token-for-metrics",
	}, slog.New(slog.DiscardHandler), "test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	select {
	case <-srv.Ready:
	case err := <-done:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return "http://" + srv.ConsoleAddr.String()
}

func getPage(t *testing.T, address string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer a-token-for-metrics")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// waitForReadiness asks until the answer has the status and the words.
func waitForReadiness(t *testing.T, address string, status int, words string) {
	t.Helper()
	var got int
	var body string
	for range 200 {
		if got, body = getPage(t, address+"/readyz"); got == status && strings.Contains(body, words) {
			return
		}
		time.Sleep(100 * time.Millisecond) // between two looks
	}
	t.Fatalf("wanted %d with %s, got %d %s", status, words, got, body)
}

// TestPasswordsReachEveryReplica: with a bucket an import on one replica is in force on the others, whether they run
// already or start later.
func TestPasswordsReachEveryReplica(t *testing.T) {
	t.Parallel()
	f := newReplicaFolders(t, true)
	running := f.start(t, "two")
	hashes := write(t, filepath.Join(f.room, "hashes.txt"), strings.Repeat("AB", 20)+":3\n")
	if code, _, errs := f.run(
		t,
		"one",
		"passwords",
		"import",
		"--algorithm",
		"sha1",
		hashes,
	); code != exitOK ||
		strings.Contains(errs, "warning") {
		t.Fatal(code, errs)
	}
	waitForReadiness(t, running, http.StatusOK, `"corpora.sha1":"corpus"`)
	if status, body := getPage(
		t,
		f.start(t, "three")+"/readyz",
	); status != http.StatusOK ||
		!strings.Contains(body, `"corpora.sha1":"corpus"`) {
		t.Error("a replica that starts later:", status, body)
	}
	again := write(
		t,
		filepath.Join(f.room, "again.txt"),
		strings.Repeat("CD", 20)+":3\n"+strings.Repeat("EF", 20)+":3\n",
	)
	if code, _, errs := f.run(t, "three", "passwords", "import", "--algorithm", "sha1", again); code != exitOK {
		t.Fatal(code, errs)
	}
	for range 200 {
		if _, page := getPage(t, running+"/metrics"); strings.Contains(page,
			`vigia_password_entries{algorithm="sha1"} 2`) {
			break
		}
		time.Sleep(100 * time.Millisecond) // between two looks
	}
	if code, out, errs := f.run(t, "two", "passwords", "verify"); code != exitOK {
		t.Error(code, out, errs)
	}
	if _, out, _ := f.run(t, "two", "passwords", "status"); !strings.Contains(out, again) {
		t.Error("the second import did not reach the replica:", out)
	}
	objects, err := os.ReadDir(filepath.Join(f.room, "bucket"))
	if err != nil || len(objects) != 2 {
		t.Error("the bucket holds what is in force and nothing else:", objects, err)
	}
}

// TestPasswordsWithoutBucket: an import without a bucket names the replicas that it does not reach, doctor and metrics
// show that they differ, and a replica that starts without what others have is not ready.
func TestPasswordsWithoutBucket(t *testing.T) {
	t.Parallel()
	f := newReplicaFolders(t, false)
	one, two := f.start(t, "one"), f.start(t, "two")
	hashes := write(t, filepath.Join(f.room, "hashes.txt"), strings.Repeat("AB", 20)+":3\n")
	code, _, errs := f.run(t, "one", "passwords", "import", "--algorithm", "sha1", hashes)
	lacking := filepath.Join(f.room, "two")
	if code != exitOK || !strings.Contains(errs, lacking) || strings.Contains(errs, filepath.Join(f.room, "one")) ||
		!strings.Contains(errs, "--corpora") {
		t.Error("the import does not name the replica that lacks it:", code, errs)
	}
	waitForReadiness(t, one, http.StatusOK, `"corpora.sha1":"corpus"`)
	waitForReadiness(
		t,
		two,
		http.StatusOK,
		`"corpora.sha1":"missing"`,
	) // it served before, and goes on with what it has
	for address, want := range map[string]string{
		one: `vigia_password_entries{algorithm="sha1"} 1`,
		two: `vigia_password_entries{algorithm="sha1"} 0`,
	} {
		if _, page := getPage(t, address+"/metrics"); !strings.Contains(page, want) {
			t.Error("metrics lack", want)
		}
	}
	if _, out, _ := f.run(
		t,
		"one",
		"doctor",
	); !strings.Contains(out, lacking) ||
		!strings.Contains(out, "vigia passwords import") {
		t.Error("doctor does not name the replica and the remedy:", out)
	}
	three := f.start(t, "three")
	if status, body := getPage(
		t,
		three+"/readyz",
	); status != http.StatusServiceUnavailable ||
		!strings.Contains(body, `"corpora.sha1":"missing"`) {
		t.Error("a replica that starts without the passwords of its peers is ready:", status, body)
	}
	if code, _, errs := f.run(t, "three", "passwords", "import", "--algorithm", "sha1", hashes); code != exitOK {
		t.Fatal(code, errs)
	}
	waitForReadiness(t, three, http.StatusOK, `"corpora.sha1":"corpus"`)
}
