package app_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// common is the configuration of a fresh installation on either engine.
func common(t *testing.T, engine sqldb.Engine) config.Common {
	t.Helper()
	c := config.Common{Data: filepath.Join(t.TempDir(), "data")}
	if engine == sqldb.PostgreSQL {
		c.Database = storetest.NewAddress(t, engine, "")
	}
	return c
}

func eachEngine(t *testing.T, fn func(t *testing.T, c config.Common)) {
	t.Helper()
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) { fn(t, common(t, engine)) })
	}
}

func open(t *testing.T, c config.Common) *app.App {
	t.Helper()
	a, err := app.OpenApp(context.Background(), c, sqldb.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// running is a server that the test stops.
type running struct {
	*app.Server
	stop func() error
}

func serve(t *testing.T, a *app.App, change func(*config.Serve)) running {
	t.Helper()
	cfg := config.Serve{
		MetricsToken:   metricsToken,
		Listen:         "127.0.0.1:0",
		ConsoleListen:  "127.0.0.1:0",
		Roles:          []string{"api", "worker", "console"},
		MaxConnections: 8,
		StopTime:       time.Minute,
	}
	if change != nil {
		change(&cfg)
	}
	srv, err := app.NewServer(context.Background(), a, cfg, slog.New(slog.DiscardHandler), "test")
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
	stop := sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = stop() })
	return running{srv, stop}
}

const metricsToken = "made-up token of some length"

var withMetricsToken = http.Header{"Authorization": {"Bearer " + metricsToken}}

func get(t *testing.T, url string, header http.Header) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
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

// TestEmptyFolder: everything is made on first start, readable by nobody else.
func TestEmptyFolder(t *testing.T) {
	eachEngine(t, func(t *testing.T, c config.Common) {
		a := open(t, c)
		srv := serve(t, a, nil)
		_, cred, err := a.Partners.CreatePartner(context.Background(), "Banco", partner.Live, partner.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		base := "http://" + srv.APIAddr.String()
		if status, body := get(
			t,
			base+"/v1/cyber/services",
			http.Header{"X-Api-Key": {cred.APIKey}},
		); status != 200 ||
			!strings.Contains(body, "_id") {
			t.Error(status, body)
		}
		for _, listener := range []net.Addr{srv.APIAddr, srv.ConsoleAddr} {
			for _, path := range []string{"/healthz", "/readyz"} {
				if status, body := get(t, "http://"+listener.String()+path, nil); status != 200 {
					t.Error(path, status, body)
				}
			}
		}
		polltest.Until(t, "the request in the metrics", func() bool { // it is counted after its answer
			status, body := get(t, "http://"+srv.ConsoleAddr.String()+"/metrics", withMetricsToken)
			for _, name := range []string{
				"vigia_deliveries_pending 0",
				"vigia_jobs_due",
				"vigia_disk_free_bytes",
				"vigia_breach_newest_age_seconds",
				"vigia_password_corpus_age_seconds 0", // the sample is no corpus
				"go_sql_wait_count_total",
			} {
				if !strings.Contains(body, name) {
					t.Errorf("no %s in the metrics", name)
				}
			}
			return status == 200 &&
				strings.Contains(body, `vigia_http_requests_total{route="GET /cyber/services",status="200"} 1`)
		})
		if status, _ := get(t, base+"/metrics", nil); status != 404 {
			t.Error("metrics must not be on the partners' listener:", status)
		}
		for _, path := range []string{"/openapi.yaml", "/docs/"} {
			if status, _ := get(t, base+path, nil); status != 200 {
				t.Error(path, status)
			}
		}
		if err := srv.stop(); err != nil {
			t.Error(err)
		}
		modes := map[string]os.FileMode{"": 0o700, "keys.json": 0o600}
		if c.Database == "" {
			modes["vigia.db"] = 0o600
		}
		for name, want := range modes {
			info, err := os.Stat(filepath.Join(c.Data, name))
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("%q: mode %v, want %v (%v)", name, info.Mode().Perm(), want, err)
			}
		}
	})
}

// TestKeyFileBelongs: start is refused with a foreign, missing or readable key file, and nothing is made in its place.
func TestKeyFileBelongs(t *testing.T) {
	eachEngine(t, func(t *testing.T, c config.Common) {
		open(t, c)
		path := c.KeyFilePath()
		own, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string) error {
			t.Helper()
			a, err := app.OpenApp(context.Background(), c, sqldb.Options{})
			if err == nil {
				_ = a.Close()
				t.Errorf("%s: accepted", what)
			}
			return err
		}
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		_ = refused("a key file that the group can read")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		_ = refused("a missing key file")
		if _, err := os.Stat(path); err == nil {
			t.Fatal("a lost key file was replaced by a new one")
		}
		stranger := common(t, sqldb.SQLite)
		open(t, stranger)
		foreign, err := os.ReadFile(stranger.KeyFilePath())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, foreign, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := refused("a foreign key file"); !errors.Is(err, seal.ErrWrongRoot) {
			t.Error(err)
		}
		if err := os.WriteFile(path, own, 0o600); err != nil {
			t.Fatal(err)
		}
		open(t, c)
	})
}

func TestDataFolder(t *testing.T) {
	ctx := context.Background()
	base := t.TempDir()
	empty := filepath.Join(base, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	a, err := app.OpenApp(ctx, config.Common{Data: empty}, sqldb.Options{})
	if err != nil {
		t.Fatal("an empty folder is ours to tighten:", err)
	}
	_ = a.Close()
	if info, _ := os.Stat(empty); info.Mode().Perm() != 0o700 {
		t.Error(info.Mode())
	}
	shared := filepath.Join(base, "shared")
	if err := os.Mkdir(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shared, "letter.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := app.OpenApp(
		ctx,
		config.Common{Data: shared},
		sqldb.Options{},
	); err == nil ||
		!strings.Contains(err.Error(), "chmod") {
		t.Error("a folder of somebody else's must be refused with the remedy:", err)
	}
	if info, _ := os.Stat(shared); info.Mode().Perm() != 0o755 {
		t.Error("its mode was changed:", info.Mode())
	}
	if _, err := app.OpenApp(
		ctx,
		config.Common{Data: filepath.Join(shared, "letter.txt")},
		sqldb.Options{},
	); err == nil {
		t.Error("a file is no folder")
	}
}

// TestReplicasStartTogether: many processes on one empty database.
func TestReplicasStartTogether(t *testing.T) {
	eachEngine(t, func(t *testing.T, c config.Common) {
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				a, err := app.OpenApp(context.Background(), c, sqldb.Options{MaxConns: 2})
				if err != nil {
					t.Error(err)
					return
				}
				all, err := a.Services.ListServices(context.Background())
				if err != nil || len(all) < 8 {
					t.Error(len(all), err)
				}
				_ = a.Close()
			})
		}
		wg.Wait()
		a := open(t, c)
		all, err := a.Services.ListServices(context.Background())
		names := map[string]bool{}
		for _, s := range all {
			names[s.Name] = true
		}
		if err != nil || len(names) != len(all) {
			t.Errorf("%d services, %d names, %v", len(all), len(names), err)
		}
	})
}

// TestNewerDatabase: an older program refuses a database that a newer one has migrated.
func TestNewerDatabase(t *testing.T) {
	eachEngine(t, func(t *testing.T, c config.Common) {
		open(t, c)
		db, err := sqldb.OpenDatabase(context.Background(), c.DatabaseAddress(), sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		err = db.InTransaction(context.Background(), func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(
				context.Background(),
				`INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES (9999, 'future', 'x', 0)`,
			)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := app.OpenApp(context.Background(), c, sqldb.Options{}); !errors.Is(err, sqldb.ErrNewerDatabase) {
			t.Error(err)
		}
	})
}

// TestKeyRotationWhileRunning: the command line rotates, the running server reads on and rewrites in the background.
func TestKeyRotationWhileRunning(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, c config.Common) {
		ctx := context.Background()
		a := open(t, c)
		serve(t, a, nil)
		p, cred, err := a.Partners.CreatePartner(ctx, "Banco", partner.Live, partner.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		cli := open(t, c)
		before := cli.Keys.PrimaryID()
		if n, _, err := cli.Store.Upkeep.SealedUnder(ctx); err != nil || n == 0 {
			t.Fatal("there is nothing to rewrite:", n, err)
		}
		if err := cli.Store.Upkeep.RotateKeys(ctx); err != nil {
			t.Fatal(err)
		}
		if cli.Keys.PrimaryID() == before {
			t.Fatal("the key is the old one")
		}
		if _, _, err := cli.Partners.CreatePartner(ctx, "Outro", partner.Live, partner.Settings{}); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(2 * time.Minute)
		for {
			_, old, err := cli.Store.Upkeep.SealedUnder(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if old == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d values are still sealed by an old key", old)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if salt, err := a.Store.Partners.OpenSalt(ctx, p.ID); err != nil || salt != cred.Salt {
			t.Error(err)
		}
	})
}

// TestGracefulStop: what is in flight when the signal comes is answered, and readiness goes first.
func TestGracefulStop(t *testing.T) {
	whileDraining(t, 300*time.Millisecond, gracefulStop)
}

// whileDraining runs what has to happen between the signal and the closing of the listeners, with a longer drain each
// time a starved machine did not get there.
func whileDraining(t *testing.T, drain time.Duration, try func(t *testing.T, drain time.Duration) (inTime bool)) {
	t.Helper()
	for ; drain < 2*time.Minute; drain *= 5 {
		if try(t, drain) || t.Failed() {
			return
		}
		t.Logf("a drain of %v was over too early", drain)
	}
	t.Fatal("the listeners are closed long before the end of the drain")
}

func gracefulStop(t *testing.T, drain time.Duration) (inTime bool) {
	t.Helper()
	c := common(t, sqldb.SQLite)
	a := open(t, c)
	srv := serve(t, a, func(s *config.Serve) { s.DrainTime = drain })
	_, cred, err := a.Partners.CreatePartner(context.Background(), "Banco", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	// A request whose body is still on its way.
	body, more := io.Pipe()
	req, err := http.NewRequestWithContext(
		context.Background(),
		http.MethodPost,
		"http://"+srv.APIAddr.String()+"/v1/cyber/password-check",
		body,
	)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", cred.APIKey)
	answered := make(chan error, 1)
	begin := time.Now()
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		answered <- err
	}()
	if _, err := io.WriteString(more, `{"passwordHashPrefix":`); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	signal := time.Now()
	go func() { stopped <- srv.stop() }()
	// Readiness goes while the listeners are open, then these are closed under the request.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	off := false
	for {
		res, err := client.Get("http://" + srv.APIAddr.String() + "/readyz")
		if err != nil {
			break
		}
		_ = res.Body.Close()
		off = off || res.StatusCode == http.StatusServiceUnavailable
		if time.Since(signal) > drain+time.Minute {
			t.Fatalf("a minute after the drain the listener is open; readiness off: %v", off)
		}
		time.Sleep(5 * time.Millisecond)
	}
	_, err = io.WriteString(more, `"5BAA61E4C9"}`)
	_ = more.Close()
	// The server waits 15 s for a body; and where readiness was not seen off, nobody may have come to accept the
	// request.
	inTime = off && time.Since(begin) < 10*time.Second
	if answer := errors.Join(err, <-answered); answer != nil && inTime {
		t.Error("a request in flight was dropped:", answer)
	}
	if err := <-stopped; err != nil && inTime {
		t.Error(err)
	}
	return inTime
}

// TestSlowClients: a client that never finishes its headers is let go and disturbs nobody. The limits are the server's
// own, so this only shows that they are set.
func TestSlowClients(t *testing.T) {
	srv := serve(t, open(t, common(t, sqldb.SQLite)), nil)
	for range 50 {
		conn, err := net.Dial("tcp", srv.APIAddr.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := conn.Write([]byte("GET /v1/cyber/services HTTP/1.1\r\nHost: x\r\n")); err != nil {
			t.Fatal(err)
		}
	}
	if status, _ := get(t, "http://"+srv.APIAddr.String()+"/healthz", nil); status != 200 {
		t.Error(status)
	}
	conn, err := net.Dial("tcp", srv.APIAddr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	// The server may have answered and hung up before the last of it.
	_, _ = conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("a", 64<<10) + "\r\n\r\n"))
	answer := make([]byte, 64)
	n, _ := conn.Read(answer)
	if !strings.Contains(string(answer[:n]), "431") {
		t.Errorf("64 KiB of headers: %q", answer[:n])
	}
}
