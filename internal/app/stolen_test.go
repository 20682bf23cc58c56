package app_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/subject"
)

// canary is a made-up person whose every value is unique, so that a single hit is a leak.
type canary struct {
	cpf, name, email, phone, card, street, device, note, user string
	hash256                                                   string
}

// values are what must be nowhere in the clear.
func (c canary) values() []string {
	return []string{
		c.cpf,
		c.cpf[:3] + "." + c.cpf[3:6] + "." + c.cpf[6:9] + "-" + c.cpf[9:],
		c.name,
		c.email,
		c.phone,
		c.card,
		c.street,
		c.device,
		c.note,
		c.user,
		c.hash256,
	}
}

// checkDigits completes nine digits to a CPF.
func checkDigits(d string) string {
	for len(d) < 11 {
		sum := 0
		for i, c := range d {
			sum += int(c-'0') * (len(d) + 1 - i)
		}
		d += strconv.Itoa((sum * 10 % 11) % 10)
	}
	return d
}

// luhn completes fifteen digits to a card number.
func luhn(d string) string {
	sum := 0
	for i := range d {
		n := int(d[len(d)-1-i] - '0')
		if i%2 == 0 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return d + strconv.Itoa((10-sum%10)%10)
}

func newCanary(n int, salt string) canary {
	word := fmt.Sprintf("%c%c%c%d", 'k'+rune(n%7), 'q'+rune(n%5), 'w'+rune(n%3), 7000+n)
	c := canary{
		cpf:   checkDigits(fmt.Sprintf("%09d", 371_000_000+n*104_729)),
		name:  "Canária " + strings.ToUpper(word) + " Xavante",
		email: "canario." + word + "@correio-exemplo.com.br",
		phone: fmt.Sprintf(
			"551198%07d",
			3_100_000+n*7919,
		),
		card:   luhn(fmt.Sprintf("4539%011d", 12_345_678_901+n*7_919)),
		street: "Travessa " + word + " do Passarinho",
		device: "Telefone " + word + " amarelo",
		note:   "a pessoa " + word + " contou que perdeu a senha",
	}
	d256, d512 := partner.PersonDigests(c.cpf, salt)
	c.user, c.hash256 = hex.EncodeToString(d512[1:]), hex.EncodeToString(d256[1:])
	return c
}

// world is a service in which canaries live, with all that it writes.
type world struct {
	*app.App
	config   config.Common
	partner  partner.Partner
	salt     string
	canaries []canary
	logs     *lockedBuffer
	metrics  string
	stop     func()
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.b.Bytes())
}

// newWorld takes n canaries through the whole service over HTTP, good requests and bad ones, with logs at their most
// talkative.
func newWorld(t *testing.T, engine sqldb.Engine, n int) *world {
	t.Helper()
	ctx := context.Background()
	w := &world{config: common(t, engine), logs: &lockedBuffer{}}
	w.App = open(t, w.config)
	p, cred, err := w.Partners.CreatePartner(
		ctx,
		"Banco",
		partner.Live,
		partner.Settings{RatePerSecond: 100_000, Burst: 100_000},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Store.Plans.InsertPlan(
		ctx,
		p.ID,
		plan.Plan{ID: "ouro", Partner: p.ID, Name: "Ouro", Coverage: plan.DemoCoverage(), CreatedAt: time.Now()},
	); err != nil {
		t.Fatal(err)
	}
	w.partner, w.salt = p, cred.Salt
	cfg := config.Serve{
		MetricsToken:   metricsToken,
		Listen:         "127.0.0.1:0",
		ConsoleListen:  "127.0.0.1:0",
		Roles:          []string{"api", "worker", "console"},
		MaxConnections: 8,
		StopTime:       time.Minute,
		WebhookAllow:   []string{"127.0.0.0/8"},
	}
	srv, err := app.NewServer(
		ctx,
		w.App,
		cfg,
		slog.New(slog.NewJSONHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		"test",
	)
	if err != nil {
		t.Fatal(err)
	}
	running, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- srv.Run(running) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.stop)
	<-srv.Ready
	who := caller{t, "http://" + srv.APIAddr.String(), cred.APIKey}
	var dump strings.Builder
	for i := range n {
		c := newCanary(i, w.salt)
		w.canaries = append(w.canaries, c)
		fmt.Fprintf(&dump, "%s;%s;%s;%s\n", c.email, c.cpf, c.phone, c.card)
		w.live(t, who, c, i)
	}
	file := filepath.Join(t.TempDir(), "dump.csv")
	if err := os.WriteFile(file, []byte(dump.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	importBreach(t, w.App, "canarios", file)
	w.fail(t, who)
	_, w.metrics = get(t, "http://"+srv.ConsoleAddr.String()+"/metrics", withMetricsToken)
	return w
}

// live is one canary's life.
func (w *world) live(t *testing.T, who caller, c canary, i int) {
	t.Helper()
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	expect := func(want int, method, path, body string, header ...string) string {
		t.Helper()
		status, text := who.send(method, path, body, header...)
		if status != want {
			t.Fatalf("%s %s: %d %s", method, path, status, text)
		}
		return text
	}
	sub := `[{"start_date":"2026-02-01","expiry_date":"","plan_id":"ouro","is_group_plan":false,"beneficiary":{"primary_card":` + quoted(c.card) +
		`,"user_card":"2","name":` + quoted(c.name) + `,"cpf":` + quoted(c.cpf) + `,"birth_date":"1990-05-17","gender":"F","email":` + quoted(c.email) +
		`,"phone_number":` + quoted(c.phone) + `,"address":{"zipcode":"01001000","street":` + quoted(c.street) + `,"number":"1","neighborhood":"Centro","city":"Natal","state":"RN"}}}]`
	key := fmt.Sprintf("chave-%d", i)
	expect(200, "POST", "/v1/subscriptions", sub, "Idempotency-Key", key)
	expect(200, "POST", "/v1/subscriptions", sub, "Idempotency-Key", key) // replayed
	expect(
		200,
		"POST",
		"/v1/subscriptions",
		sub,
		"Idempotency-Key",
		key+"-2",
	) // refused item by item: the answer repeats the CPF
	for kind, value := range map[string]string{"email": c.email, "cpf": c.cpf, "phone": c.phone, "credit_card": c.card} {
		expect(
			200,
			"POST",
			"/v1/cyber/monitoring",
			`{"value":`+quoted(value)+`,"type":"`+kind+`","userHash":"`+c.user+`"}`,
			"Idempotency-Key",
			key+kind,
		)
	}
	expect(
		200,
		"POST",
		"/v1/cyber/epp",
		`{"operatingSystem":"android","type":"antivirus","deviceName":`+quoted(c.device)+`,"userHash":"`+c.hash256+`"}`,
		"Idempotency-Key",
		key+"e",
	)
	expect(
		200,
		"POST",
		"/v1/cyber/case",
		`{"serviceId":"sv_ajuda_phishing","userHash":"`+c.user+`","answers":[{"question":"o que houve?","answer":`+quoted(
			c.note,
		)+`}]}`,
	)
	expect(200, "POST", "/v1/cyber/advise/"+c.user+"/answers", `{"catalogId":"duas-etapas-email","value":"sms"}`)
	for _, path := range []string{
		"/v1/cyber/monitoring/" + c.user, "/v1/cyber/advise/" + c.user, "/v1/cyber/score/" + c.user, "/v1/cyber/insurance/" + c.user, "/v1/cyber/cover/" + c.user, "/v1/cyber/score/" + c.user + "/history",
		"/v1/cyber/findings/" + c.user, "/v1/subscriptions/ouro/" + c.cpf,
	} {
		expect(200, "GET", path, "")
	}
	if i%5 == 0 { // some take a value back
		var assets []struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(
			[]byte(expect(200, "GET", "/v1/cyber/monitoring/"+c.user, "")),
			&assets,
		); err != nil || len(assets) == 0 ||
			assets[0].ID == "" {
			t.Fatal("monitoring list:", assets, err)
		}
		expect(200, "DELETE", "/v1/cyber/monitoring/"+assets[0].ID+"/"+c.user, "")
	}
}

// fail makes the service complain: bad requests full of values, a webhook that nobody answers, jobs that fail, cases
// with notes, commands in the audit trail.
func (w *world) fail(t *testing.T, who caller) {
	t.Helper()
	ctx := context.Background()
	for _, c := range w.canaries {
		who.send("POST", "/v1/cyber/monitoring", `{"value":"`+c.email+`","type":"`+c.cpf+`","userHash":"`+c.user+`"}`)
		who.send("POST", "/v1/cyber/monitoring", `{"value":"`+c.email+`","type":`)
		who.send("POST", "/v1/subscriptions", `[{"beneficiary":{"cpf":"`+c.cpf+`","email":"`+c.email+` "}}]`)
		who.send("GET", "/v1/subscriptions/"+c.cpf+"/"+c.phone+"?name="+c.street, "")
		who.send("GET", "/"+c.email+"/"+c.cpf, "")
		caller{t, who.base, c.cpf + c.user}.send("GET", "/v1/subscriptions", "")
	}
	if _, err := w.Webhooks.CreateEndpoint(ctx, w.partner.ID, "http://127.0.0.1:9/", nil, loopbackOnly{}); err != nil {
		t.Fatal(err)
	}
	cases, err := w.Cases.ListCases(ctx, cyber.CaseFilter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i, cs := range cases {
		if _, err := w.Cases.MoveCase(
			ctx,
			cs.ID,
			cyber.CaseInProgress,
			"op_1",
			w.canaries[i%len(w.canaries)].note,
		); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Store.Jobs.EnqueueJob(ctx, "breach.match", "no-such-breach", struct{}{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Audit.RecordAction(
		ctx,
		operator.Actor{Name: "cli:test"},
		"subject.export",
		w.Subjects.Reference(subject.Person{CPF: w.canaries[0].cpf}),
		"porque "+w.canaries[0].name,
	); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		logs := string(w.logs.bytes())
		j, err := w.Store.Jobs.NewestJobOf(ctx, "breach.match", "no-such-breach")
		if err == nil && j.Error != "" && strings.Contains(logs, "job failed") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the job did not fail")
		}
	}
}

// loopbackOnly lets the test's webhook be registered.
type loopbackOnly struct{}

func (loopbackOnly) CheckTargetURL(context.Context, string) error { return nil }

// loot is everything that a thief could carry away, but for the key file.
func (w *world) loot(t *testing.T) map[string][]byte {
	t.Helper()
	loot := map[string][]byte{"logs": w.logs.bytes(), "metrics": []byte(w.metrics)}
	if w.Engine == sqldb.PostgreSQL {
		loot["dump"] = pgDump(t, w.config.Database)
	}
	file, unpacked := filepath.Join(t.TempDir(), "b.tar.gz"), t.TempDir()
	if _, err := w.WriteBackup(context.Background(), file, app.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.ExtractArchive(
		context.Background(),
		file,
		unpacked,
		func([]byte, []byte) bool { return true },
		nil,
	); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{w.config.Data, unpacked} {
		err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || filepath.Base(name) == "keys.json" {
				return err
			}
			raw, err := os.ReadFile(name)
			loot[name] = raw
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return loot
}

// pgDump is what a stolen dump of the database looks like; bytea columns stand in it in hexadecimal.
func pgDump(t *testing.T, database string) []byte {
	t.Helper()
	at := strings.Index(database, "search_path=")
	schema := strings.SplitN(database[at+len("search_path="):], "&", 2)[0]
	file := filepath.Join(t.TempDir(), "dump.sql")
	command(t, "pg_dump", "--schema="+schema, "--file="+file, strings.SplitN(database, "?", 2)[0]+"?sslmode=disable")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// encodings are the twelve ways in which a value may be written.
var encodings = []struct {
	name   string
	encode func(s string) [][]byte
}{
	{"plain", func(s string) [][]byte { return [][]byte{[]byte(s)} }},
	{"lower case", func(s string) [][]byte { return [][]byte{[]byte(strings.ToLower(s))} }},
	{"upper case", func(s string) [][]byte { return [][]byte{[]byte(strings.ToUpper(s))} }},
	{"reversed", func(s string) [][]byte { b := []byte(s); slices.Reverse(b); return [][]byte{b} }},
	{"hex", func(s string) [][]byte { return [][]byte{[]byte(hex.EncodeToString([]byte(s)))} }},
	{"HEX", func(s string) [][]byte { return [][]byte{[]byte(strings.ToUpper(hex.EncodeToString([]byte(s))))} }},
	{"base64", func(s string) [][]byte { return inBase64(base64.RawStdEncoding, s) }},
	{"base64url", func(s string) [][]byte { return inBase64(base64.RawURLEncoding, s) }},
	{"UTF-16LE", func(s string) [][]byte { return [][]byte{inUTF16(s, binary.LittleEndian)} }},
	{"UTF-16BE", func(s string) [][]byte { return [][]byte{inUTF16(s, binary.BigEndian)} }},
	{"percent", func(s string) [][]byte {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
		return [][]byte{[]byte(b.String())}
	}},
	{"escapes", func(s string) [][]byte {
		var b strings.Builder
		for _, r := range s {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		return [][]byte{[]byte(b.String())}
	}},
}

// inBase64 gives what is certain of a value's base64 at each of the three places it may begin.
func inBase64(enc *base64.Encoding, s string) (list [][]byte) {
	for shift := range 3 {
		text := enc.EncodeToString(append(make([]byte, shift), s...))
		from, to := []int{0, 2, 3}[shift], len(text)-1
		list = append(list, []byte(text[from:to]))
	}
	return list
}

func inUTF16(s string, order binary.AppendByteOrder) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

func (w *world) clearTexts() sieve {
	s := newSieve()
	for i, c := range w.canaries {
		for j, v := range c.values() {
			for _, e := range encodings {
				for _, text := range e.encode(v) {
					s.add(fmt.Sprintf("canary %d value %d in %s", i, j, e.name), text)
				}
			}
		}
	}
	s.add("the salt", []byte(w.salt))
	return s
}

func canaries() int {
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		return 500
	}
	return 20
}

// TestStolen: whoever carries everything away but the key file has no value of anybody in any of twelve encodings, and
// no unkeyed hash of one. A planted value is found in each.
func TestStolen(t *testing.T) {
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) {
			w := newWorld(t, engine, canaries())
			clear, hashes := w.clearTexts(), w.hashes()
			var total int
			for name, raw := range w.loot(t) {
				total += len(raw)
				for what, s := range map[string]sieve{"in clear": clear, "as a hash": hashes} {
					if found := s.hits(raw); len(found) > 0 {
						t.Errorf(
							"%s %s: %d hits, such as %v",
							filepath.Base(name),
							what,
							len(found),
							found[:min(3, len(found))],
						)
					}
				}
			}
			w.plant(t, clear)
			for _, c := range w.canaries { // and a thief's digest is known when it is there
				if sum := sha256.Sum256([]byte(c.cpf)); len(hashes.hits(append([]byte("noise"), sum[:]...))) == 0 {
					t.Fatal("a planted hash was not found")
				}
			}
			t.Logf(
				"%d canaries, %d needles in clear, %d hashes, %.1f MB searched",
				len(w.canaries),
				size(clear),
				size(hashes),
				float64(total)/1e6,
			)
		})
	}
}

// plant is the negative control: every value in every encoding is found when it is there.
func (w *world) plant(t *testing.T, s sieve) {
	t.Helper()
	for i, c := range w.canaries {
		for j, v := range c.values() {
			for _, e := range encodings {
				for _, text := range e.encode(v) {
					if len(s.hits(append(append([]byte("noise before"), text...), "noise after"...))) == 0 {
						t.Fatalf("value %d of canary %d in %s was planted and not found", j, i, e.name)
					}
				}
			}
		}
	}
	if err := w.Audit.RecordAction(
		context.Background(),
		operator.Actor{Name: w.canaries[0].email},
		"partner.show",
		"",
		"",
	); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, raw := range w.loot(t) {
		found += len(s.hits(raw))
	}
	if found == 0 {
		t.Error("a value written to a clear column was not found")
	}
}

// digests are what a thief computes of a guess: fourteen functions without a key.
var digests = map[string]func([]byte) []byte{
	"md5":         func(b []byte) []byte { s := md5.Sum(b); return s[:] },
	"sha1":        func(b []byte) []byte { s := sha1.Sum(b); return s[:] },
	"sha224":      func(b []byte) []byte { s := sha256.Sum224(b); return s[:] },
	"sha256":      func(b []byte) []byte { s := sha256.Sum256(b); return s[:] },
	"sha384":      func(b []byte) []byte { s := sha512.Sum384(b); return s[:] },
	"sha512":      func(b []byte) []byte { s := sha512.Sum512(b); return s[:] },
	"sha512/256":  func(b []byte) []byte { s := sha512.Sum512_256(b); return s[:] },
	"sha3-256":    func(b []byte) []byte { s := sha3.Sum256(b); return s[:] },
	"sha3-384":    func(b []byte) []byte { s := sha3.Sum384(b); return s[:] },
	"sha3-512":    func(b []byte) []byte { s := sha3.Sum512(b); return s[:] },
	"blake2b-256": func(b []byte) []byte { s := blake2b.Sum256(b); return s[:] },
	"blake2b-384": func(b []byte) []byte { s := blake2b.Sum384(b); return s[:] },
	"blake2b-512": func(b []byte) []byte { s := blake2b.Sum512(b); return s[:] },
	"blake2s-256": func(b []byte) []byte { s := blake2s.Sum256(b); return s[:] },
}

// hashes are all digests of all guesses about the canaries, raw, in hexadecimal and in base64.
func (w *world) hashes() sieve {
	s := newSieve()
	for i, c := range w.canaries {
		for _, v := range []string{c.cpf, c.email, c.phone, c.card, c.name} {
			for _, guess := range []string{v, strings.ToUpper(v), v + "\n", v + w.salt, w.salt + v, string(inUTF16(v, binary.LittleEndian))} {
				for name, digest := range digests {
					sum := digest([]byte(guess))
					what := fmt.Sprintf("%s of canary %d", name, i)
					s.add(what, sum[:8])
					s.add(what, []byte(hex.EncodeToString(sum[:8])))
					s.add(what, []byte(strings.ToUpper(hex.EncodeToString(sum[:8]))))
					s.add(what, []byte(base64.StdEncoding.EncodeToString(sum)[:12]))
				}
			}
		}
	}
	return s
}

// TestErasedEverywhere: after an erasure over the whole service nothing of the person opens any more, even with the
// keys, and others are whole.
func TestErasedEverywhere(t *testing.T) {
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) {
			ctx := context.Background()
			w := newWorld(t, engine, 10)
			began := time.Now()
			for _, c := range w.canaries[:5] {
				out, err := w.EraseSubject(ctx, operator.Actor{Name: "cli:test"}, subject.Person{CPF: c.cpf}, "pedido")
				if err != nil || !out.Scrubbed || out.Partners[0].Total() < 15 {
					t.Fatal(out, err)
				}
			}
			t.Logf("5 erasures beside a running server in %v", time.Since(began).Round(time.Millisecond))
			for i, c := range w.canaries {
				held, err := w.Subjects.ExportPerson(ctx, subject.Person{CPF: c.cpf})
				if err != nil || (len(held) == 0) != (i < 5) {
					t.Error(i, held, err)
				}
			}
			w.stop()
			if found, err := w.CheckAll(ctx, nil); err != nil || len(found) != 0 {
				t.Error(found, err)
			}
		})
	}
}
