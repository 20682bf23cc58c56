package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// examine runs doctor and returns its findings by state and its exit code.
func examine(t *testing.T, data string, args ...string) (map[string][]string, int) {
	t.Helper()
	full := append(
		[]string{"doctor", "--data", data, "--json", "--listen", "127.0.0.1:0", "--console-listen", "localhost:0"},
		args...,
	)
	code, out, _ := vigia(t, full...)
	states := map[string][]string{}
	list, _ := decode(t, out)["findings"].([]any)
	for _, g := range list {
		f, _ := g.(map[string]any)
		state, _ := f["state"].(string)
		found, _ := f["found"].(string)
		area, _ := f["area"].(string)
		states[state] = append(states[state], area+": "+found)
		if remedy, _ := f["remedy"].(string); state == stateProblem && remedy == "" {
			t.Errorf("no remedy for %s: %s", area, found)
		}
	}
	return states, code
}

func TestDoctorBeforeTheFirstStart(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	states, code := examine(t, data)
	if code != exitOK || len(states[stateProblem]) != 0 || len(states[stateWarning]) < 3 {
		t.Errorf("code %d: %v", code, states)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("doctor made the folder it was to look at")
	}
}

func TestDoctorOnASoundSetUp(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if code, _, errs := vigia(t, "partner", "create", "--name", "Banco", "--people", "1000", "--data", data); code != exitOK {
		t.Fatal(errs)
	}
	states, code := examine(t, data)
	if code != exitOK || len(states[stateProblem]) != 0 {
		t.Errorf("code %d: %v", code, states)
	}
	if sound := strings.Join(
		states[stateOK],
		"\n",
	); !strings.Contains(sound, "a sample of all sealed values has its keys") ||
		!strings.Contains(sound, "sqlite answers") ||
		runtime.GOOS == "linux" && !strings.Contains(sound, "reader of dumps: confined by Landlock") {
		t.Error(sound)
	}
	copied := filepath.Join(t.TempDir(), "copy.json")
	copyRoot(t, filepath.Join(data, "keys.json"), copied)
	if code, _, errs := vigia(t, "keys", "root", "--copy", filepath.Join(data, "keys.json"), "--data", data); code != exitUsage {
		t.Error("the key file passes for its own copy:", code, errs)
	}
	if code, _, errs := vigia(t, "keys", "root", "--copy", copied, "--data", data); code != exitOK {
		t.Error(errs)
	}
	states, _ = examine(t, data)
	if warned := strings.Join(states[stateWarning], "\n"); strings.Contains(warned, "shown a copy") {
		t.Error("a copy was shown:", warned)
	}
	if _, text, _ := vigia(t, "doctor", "--data", data); strings.Contains(text, "\x1b[") {
		t.Error("colours outside of a terminal")
	}
}

// TestDoctorTellsSampleFromCorpus: the built-in list is no corpus for live partners, and one algorithm is half of it.
// TestDoctorOpensPublicAddresses: a balancer that answers, one that does not, and a certificate that ends soon.
// TestDoctorComparesClocks: doctor tells of a clock that was set while a server ran on the embedded database, and
// compares this machine's with that of PostgreSQL's.
func TestDoctorComparesClocks(t *testing.T) {
	ctx := t.Context()
	data := filepath.Join(t.TempDir(), "data")
	a, err := app.OpenApp(ctx, config.Common{Data: data}, sqldb.Options{})
	must(t, err)
	defer func() { _ = a.Close() }()
	clocks := func(states map[string][]string, state string) (found []string) {
		for _, line := range states[state] {
			if strings.HasPrefix(line, "clock: ") {
				found = append(found, line)
			}
		}
		return found
	}
	states, _ := examine(t, data)
	if found := clocks(states, stateWarning); len(found) != 0 {
		t.Error("a clock that was never set:", found)
	}
	must(t, a.Store.Upkeep.NoteClockSkew(ctx, 48*time.Hour))
	states, _ = examine(t, data)
	if found := clocks(states, stateWarning); len(found) != 1 || !strings.Contains(found[0], "48h0m0s ahead of") {
		t.Error("a clock that was set:", found)
	}
	address := storetest.NewAddress(t, sqldb.PostgreSQL, "")
	folder := filepath.Join(t.TempDir(), "data")
	b, err := app.OpenApp(ctx, config.Common{Data: folder, Database: address}, sqldb.Options{MaxConns: 4})
	must(t, err)
	must(t, b.Close())
	states, _ = examine(t, folder, "--database", address)
	if found := clocks(states, stateOK); len(found) != 2 || !strings.Contains(found[0], "agrees with the database's") {
		t.Error("the same machine's clock:", states)
	}
}

func TestDoctorOpensPublicAddresses(t *testing.T) {
	balancer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer balancer.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	states, _ := examine(t, t.TempDir(), "--public-url", balancer.URL, "--page-url", closed.URL)
	if sound := strings.Join(states[stateOK], "\n"); !strings.Contains(sound, "--public-url "+balancer.URL+" answers") {
		t.Error(sound)
	}
	warned := strings.Join(states[stateWarning], "\n")
	for _, part := range []string{"public addresses: --page-url", "balancer: --public-url leads through a balancer, and none is trusted"} {
		if !strings.Contains(warned, part) {
			t.Errorf("%q is missing:\n%s", part, warned)
		}
	}
	if states, _ := examine(t, t.TempDir(), "--public-url", balancer.URL, "--trusted-proxies", "127.0.0.1/32"); strings.Contains(strings.Join(states[stateWarning], "\n"), "balancer:") {
		t.Error("a balancer that is trusted is warned of")
	}

	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for days, want := range map[int]string{5: "warning", 90: "ok"} {
		writeCertificate(t, cert, key, time.Now().Add(time.Duration(days)*24*time.Hour))
		states, _ := examine(t, t.TempDir(), "--tls-cert", cert, "--tls-key", key)
		if !strings.Contains(strings.Join(states[want], "\n"), "TLS: the certificate of --tls-cert") {
			t.Errorf("%d days: %v", days, states)
		}
	}
}

// writeCertificate makes a certificate of its own authority, good until a day.
func writeCertificate(t *testing.T, cert, key string, until time.Time) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: until},
		&x509.Certificate{SerialNumber: big.NewInt(1)}, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})))
	writeFile(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
}

func TestDoctorTellsSampleFromCorpus(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if code, _, errs := vigia(t, "migrate", "--data", data); code != exitOK {
		t.Fatal(errs)
	}
	lib, err := password.OpenLibrary(filepath.Join(data, "corpora"), time.Now)
	must(t, err)
	must(t, lib.EnsureDefault(t.Context()))
	expect := func(state, want string) {
		t.Helper()
		states, code := examine(t, data)
		if found := strings.Join(states[state], "\n"); code != exitOK || !strings.Contains(found, want) {
			t.Errorf("code %d, expected %q as a %s: %v", code, want, state, states)
		}
	}
	expect(stateOK, "corpora: passwords: sha1, built-in sample of 7")
	expect(stateWarning, "password checks of live partners are answered 503")
	hashes := filepath.Join(t.TempDir(), "hashes.txt")
	load := func(algorithm string, digits int) {
		must(t, os.WriteFile(hashes, []byte(strings.Repeat("A", digits)+":3\n"), 0o600))
		if code, _, errs := vigia(
			t,
			"passwords",
			"import",
			"--data",
			data,
			"--algorithm",
			algorithm,
			hashes,
		); code != exitOK {
			t.Fatal(errs)
		}
		expect(stateOK, "corpora: passwords: "+algorithm+", corpus of 1 entries from "+hashes)
	}
	load("sha1", 40)
	expect(stateWarning, "know one algorithm only")
	load("ntlm", 32)
	if states, _ := examine(t, data); strings.Contains(strings.Join(states[stateWarning], "\n"), "corpora: ") {
		t.Error(states[stateWarning])
	}
	if code, _, _ := vigia(
		t,
		"passwords",
		"import",
		"--data",
		data,
		"--algorithm",
		"sha1",
		"--source",
		password.SourceDefault,
		hashes,
	); code == exitOK {
		t.Error("an import may not call itself the sample")
	}
}

// TestDoctorFindsWhatIsWrong breaks one thing at a time.
func TestDoctorFindsWhatIsWrong(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, data string)
		args  []string
		state string
		want  string
	}{
		"folder open to others": {func(t *testing.T, data string) { must(t, os.Chmod(data, 0o755)) }, nil, stateWarning, "data folder: others can look"},
		"key file open":         {func(t *testing.T, data string) { must(t, os.Chmod(filepath.Join(data, "keys.json"), 0o644)) }, nil, stateProblem, "root key: "},
		"key file lost":         {func(t *testing.T, data string) { must(t, os.Remove(filepath.Join(data, "keys.json"))) }, nil, stateProblem, "keys: the database has sealed data"},
		"key file of another": {func(t *testing.T, data string) {
			other := filepath.Join(t.TempDir(), "other")
			if code, _, errs := vigia(t, "migrate", "--data", other); code != exitOK {
				t.Fatal(errs)
			}
			must(t, os.Rename(filepath.Join(other, "keys.json"), filepath.Join(data, "keys.json")))
		}, nil, stateProblem, "keys: seal.wrong_root: the keys of this database open under the root file:"},
		"root never copied": {nil, nil, stateWarning, "nobody has shown a copy of it"},
		"value without a key": {func(t *testing.T, data string) {
			if code, _, errs := vigia(t, "partner", "create", "Banco", "--people", "1000", "--data", data); code != exitOK {
				t.Fatal(errs)
			}
			db, err := sqldb.OpenDatabase(t.Context(), filepath.Join(data, "vigia.db"), sqldb.Options{})
			must(t, err)
			defer func() { _ = db.Close() }()
			must(t, db.InTransaction(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.ExecContext(t.Context(), `UPDATE partner SET salt = $1`, append(seal.SealedPrefix(7), make([]byte, 60)...))
				return err
			}))
		}, nil, stateProblem, "keys: nobody can open 1 values of partner.salt under key 00000007"},
		"database damaged": {func(t *testing.T, data string) {
			must(t, os.WriteFile(filepath.Join(data, "vigia.db"), []byte(strings.Repeat("not a database ", 1000)), 0o600))
		}, nil, stateProblem, "database: "},
		"clock set back": {func(t *testing.T, data string) {
			later := time.Now().Add(time.Hour)
			must(t, os.Chtimes(filepath.Join(data, "vigia.db"), later, later))
		}, nil, stateProblem, "clock: "},
		"address taken":         {nil, []string{"--listen", taken.Addr().String()}, stateProblem, "addresses: --listen " + taken.Addr().String() + " is taken"},
		"address of a stranger": {nil, []string{"--listen", "192.0.2.1:8080"}, stateProblem, "addresses: --listen 192.0.2.1:8080"},
		"console for everybody": {nil, []string{"--console-listen", ":0"}, stateWarning, "addresses: the operator's listener"},
		"no TLS":                {nil, []string{"--listen", "0.0.0.0:0"}, stateWarning, "addresses: the partner API is offered without TLS"},
		"metadata opened":       {nil, []string{"--webhook-allow", "169.254.0.0/16"}, stateProblem, "webhooks: 169.254.0.0/16 opens the cloud's metadata"},
		"everything opened":     {nil, []string{"--webhook-allow", "128.0.0.0/4"}, stateWarning, "webhooks: 128.0.0.0/4 opens almost everything"},
		"bad flags":             {nil, []string{"--roles", "cook", "--webhook-allow", "x"}, stateProblem, "configuration: --roles"},
		"database unreachable":  {nil, []string{"--database", "postgres://nobody@127.0.0.1:1/none"}, stateProblem, "database: "},
	} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			if code, _, errs := vigia(t, "migrate", "--data", data); code != exitOK {
				t.Fatal(errs)
			}
			if c.spoil != nil {
				c.spoil(t, data)
			}
			states, code := examine(t, data, c.args...)
			if found := strings.Join(states[c.state], "\n"); !strings.Contains(found, c.want) {
				t.Errorf("expected %q as a %s: %v", c.want, c.state, states)
			}
			if (code == exitFailure) != (c.state == stateProblem) {
				t.Errorf("code %d", code)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestDoctorTellsOfPoolers: one that keeps sessions apart is fine, one that shares them is a problem with a remedy.
func TestDoctorTellsOfPoolers(t *testing.T) {
	data, address := filepath.Join(t.TempDir(), "data"), storetest.NewAddress(t, sqldb.PostgreSQL, "")
	pooler := sqldbtest.NewPooler(t, address, "session")
	if code, _, errs := vigia(
		t,
		"partner",
		"create",
		"--name",
		"Banco",
		"--people",
		"1000",
		"--data",
		data,
		"--database",
		pooler.Address(),
	); code != exitOK {
		t.Fatal(errs)
	}
	states, code := examine(t, data, "--database", pooler.Address())
	if sound := strings.Join(
		states[stateOK],
		"\n",
	); code != exitOK ||
		!strings.Contains(sound, "a session of its own") {
		t.Errorf("code %d: %v", code, states)
	}
	pooler.Stop()
	pooler.Start(t, "transaction")
	states, code = examine(t, data, "--database", pooler.Address())
	if found := strings.Join(
		states[stateProblem],
		"\n",
	); code == exitOK ||
		!strings.Contains(found, "pool_mode = transaction") {
		t.Errorf("code %d: %v", code, states)
	}
	if code, _, errs := vigia(
		t,
		"serve",
		"--data",
		data,
		"--database",
		pooler.Address(),
	); code == exitOK ||
		!strings.Contains(errs, "pool_mode = session") {
		t.Errorf("serve: %d %s", code, errs)
	}
}
