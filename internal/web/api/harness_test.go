package api

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

var update = flag.Bool("update", false, "record the transcripts anew")

// suiteLog gathers every log line of this package's tests, and secrets everything that must not be in one: TestMain
// compares them at the end.
var (
	suiteLog syncBuffer
	secrets  = struct {
		sync.Mutex
		seen map[string]bool
	}{seen: map[string]bool{}}
)

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// secret remembers a value that no log line may hold. Very short ones would be found by chance.
func secret(values ...string) {
	secrets.Lock()
	defer secrets.Unlock()
	for _, v := range values {
		if len(strings.TrimSpace(v)) >= 6 {
			secrets.seen[v] = true
		}
	}
}

// ofTheServer are the parts of a log line that hold nothing of a caller's, told by their exact form: times, durations
// and ids that the server drew itself, and the names of columns in the statement that failed. A short secret would now
// and then be found in them by chance.
var ofTheServer = regexp.MustCompile(`"time":"[0-9T:.Z+-]+"|"us":[0-9]+|` +
	`"partner":"pt_[0-9a-f-]{36}"|"key":"key_[0-9a-f-]{36}"|"request_id":"[0-9a-f]{32}"|(SELECT|UPDATE|INSERT INTO|DELETE FROM) [a-z_., ]+`)

func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(400) // the tests make much garbage and hold little
	code := m.Run()
	log := differentLines(ofTheServer.ReplaceAllString(suiteLog.String(), ""))
	for v := range secrets.seen {
		if strings.Contains(log, v) {
			_, behind, _ := strings.Cut(log, v)
			line, _, _ := strings.Cut(behind, "\n")
			fmt.Printf("FAIL: a log line holds %q, which a partner sent or must keep secret, before %q\n", v, line)
			code = 1
		}
	}
	if codes := unlistedCodes(log); len(codes) > 0 {
		fmt.Printf("FAIL: refusals without a code of their own, which publicCodes must list: %q\n", codes)
		code = 1
	}
	if code == 0 && log != "" && len(secrets.seen) == 0 {
		fmt.Println("FAIL: requests were logged but the log check knows no secret; is the harness still used?")
		code = 1
	}
	os.Exit(code)
}

// differentLines is a text with each of its lines once: without what the server says of itself most are the same.
func differentLines(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

// service is the whole partner API on a real store.
type service struct {
	*storetest.Env
	server   *httptest.Server
	contract *contract
	// Live and Sandbox are ready-made partners.
	Live, Sandbox, Other tenant
}

type tenant struct {
	partner.Partner
	partner.Credentials
}

// newService starts the API on an empty database of that engine.
func newService(t testing.TB, engine sqldb.Engine) *service {
	t.Helper()
	e := storetest.Open(t, engine)
	s := &service{Env: e, contract: loadContract(t)}
	s.Live, s.Sandbox, s.Other = s.tenant(t, partner.Live), s.tenant(t, partner.Sandbox), s.tenant(t, partner.Live)
	s.server = httptest.NewServer(newHandler(t, e))
	t.Cleanup(s.server.Close)
	return s
}

func (s *service) tenant(t testing.TB, mode partner.Mode) tenant {
	t.Helper()
	p, cred := s.NewPartner(t, mode)
	secret(cred.APIKey, cred.Salt)
	return tenant{p, cred}
}

// newHandler builds the server the way package app does, with the test's clock.
func newHandler(t testing.TB, e *storetest.Env) *Server {
	t.Helper()
	return newHandlerLogging(t, e, &suiteLog)
}

func newHandlerLogging(t testing.TB, e *storetest.Env, log io.Writer) *Server {
	t.Helper()
	services := cyber.NewServices(e.Store.Services, e.Clock.Now)
	if err := services.SeedServices(context.Background()); err != nil {
		t.Fatal(err)
	}
	passwords := newPasswords(t, e.Folder, e.Clock.Now)
	books := &bookkeeper{
		e:         e,
		services:  services,
		passwords: passwords,
		content:   cyber.NewCatalogue(e.Store.Advice, e.Clock.Now),
	}
	guard := webhook.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	return NewServer(Options{
		DueWork:  func(context.Context) error { return nil },
		PageURL:  "https://minha.exemplo.com.br",
		Guard:    guard,
		Outgoing: guard.NewClient(webhook.ClientOptions{}),
		Counted:  NewCounter(),
		Gate:     partner.NewKeyGate(e.Store.Partners, e.Clock.Now),
		Ledger:   books,
		Rules:    books.rules(e.Store.Areas),
		Log: telemetry.NewLogger(
			log,
			telemetry.LogOptions{},
		),
		Metrics:       telemetry.NewMetrics(),
		Now:           e.Clock.Now,
		VendorSecrets: []webhook.Secret{vendorSecret},
	})
}

// bookkeeper binds the rules to the store, or to a transaction of it.
type bookkeeper struct {
	e         *storetest.Env
	services  *cyber.Services
	passwords *password.Checker
	content   *cyber.Catalogue
}

func (b *bookkeeper) rules(in store.Areas) Rules {
	now := b.e.Clock.Now
	return Rules{
		Events:        alert.NewEventFeed(in.Alerts),
		Messages:      message.NewCatalogue(in.Alerts),
		Webhooks:      alert.NewEndpoints(in.Alerts, now, nil),
		Passwords:     b.passwords,
		Services:      b.services,
		Subscriptions: subscription.NewRegistry(in.Subscriptions, in.Plans, in.Partners, now),
		Monitoring:    cyber.NewMonitoring(in.Monitoring, in.Partners, oneCredential{}, b.e.Keys.Fingerprint, now),
		Cases: cyber.NewCases(
			in.Cases,
			now,
		),
		Endpoints: cyber.NewEndpoints(in.Devices, now, nil),
		Cover:     cyber.NewCover(in.Cover),
		Persons: cyber.NewPersons(
			in.Advice,
			b.content,
			now,
			nil,
		),
		Sessions: cyber.NewPortalSessions(in.Subjects, in.Partners, b.e.Keys, now, nil),
		Breaches: cyber.NewBreaches(in.Breaches),
		History: alert.NewHistory(
			in.Alerts,
			in.Partners,
		),
		Keys:       partner.NewRegistry(in.Partners, now, nil),
		FirstLooks: cyber.NewFirstLooks(in.Monitoring, in.Partners, now),
		Meter:      partner.NewMeter(in.Partners, now),
		Figures:    in.Overview,
		Audit:      operator.NewTrail(in.Audit, now),
		Erasures:   subject.NewErasures(in.Subjects, now),
	}
}

func (b *bookkeeper) Once(
	ctx context.Context,
	id partner.ID,
	c partner.RequestClaim,
	work func(in *Rules) (partner.Answer, error),
) (partner.Answer, bool, error) {
	return b.e.Store.Answers.AnswerOnce(ctx, id, c, func(tx store.Tx) (partner.Answer, error) {
		in := b.rules(tx.Areas)
		return work(&in)
	})
}

// newPasswords imports a corpus for each algorithm: "password", "123456" and "senha123" as SHA-1, "password" as NTLM.
func newPasswords(t testing.TB, folder string, now func() time.Time) *password.Checker {
	t.Helper()
	lib, err := password.OpenLibrary(folder, now)
	if err != nil {
		t.Fatal(err)
	}
	var hashes []string
	for _, p := range []string{"password", "123456", "senha123"} {
		hashes = append(hashes, fmt.Sprintf("%X:5000", sha1.Sum([]byte(p))))
	}
	importPasswords(t, lib, password.SHA1, hashes...)
	importPasswords(t, lib, password.NTLM, "8846F7EAEE8FB117AD06BDD830B7586C:5000")
	return checkerOf(t, lib)
}

func importPasswords(t testing.TB, lib *password.Library, a password.Algorithm, lines ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hashes.txt")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	inputs, err := password.ListInputs(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lib.ImportCorpus(
		context.Background(),
		password.Import{Algorithm: a, Inputs: inputs, Source: "made up"},
	); err != nil {
		t.Fatal(err)
	}
}

func checkerOf(t testing.TB, lib *password.Library) *password.Checker {
	t.Helper()
	c, err := password.NewChecker(lib, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// call is a request in the making.
type call struct {
	method, path string
	body         string
	header       http.Header
	// unchecked leaves the request itself out of the contract check, for oddities that are accepted on purpose.
	unchecked bool
}

// answered is a response read whole.
type answered struct {
	status int
	header http.Header
	body   string
}

// do sends a request and holds the exchange against the contract.
func (s *service) do(t testing.TB, c call) answered {
	t.Helper()
	req, err := http.NewRequestWithContext(
		context.Background(),
		c.method,
		s.server.URL+c.path,
		strings.NewReader(c.body),
	)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range c.header {
		req.Header[http.CanonicalHeaderKey(k)] = v
	}
	if c.body != "" && req.Header.Get("content-type") == "" {
		req.Header.Set("content-type", "application/json")
	}
	noteSecrets(c)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatalf("%s %s: %v", c.method, c.path, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var sent []byte
	if c.body != "" && !c.unchecked {
		sent = []byte(c.body)
	}
	s.contract.check(t, req, sent, res, body)
	checkDetail(t, c, res)
	checkRate(t, c, res)
	return answered{res.StatusCode, res.Header, string(body)}
}

// fieldAndRule is the form of x-error-detail.
var fieldAndRule = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*(, [A-Za-z_][A-Za-z0-9_.-]*)*: [ -~]+$`)

// checkDetail holds every refusal to a code that is listed, and to saying field and rule; only one of a key that opens
// nothing does not say them.
func checkDetail(t testing.TB, c call, res *http.Response) {
	t.Helper()
	code, detail := res.Header.Get(codeHeader), res.Header.Get(detailHeader)
	if refused := res.StatusCode >= 400; refused != slices.Contains(publicCodes, code) {
		t.Errorf("%s %s answered %d with x-error-code %q", c.method, c.path, res.StatusCode, code)
	}
	about := res.StatusCode >= 400 && res.StatusCode < 500 && !isStranger(res)
	if about && !fieldAndRule.MatchString(detail) || !about && res.StatusCode < 500 && detail != "" {
		t.Errorf("%s %s answered %d with x-error-detail %q", c.method, c.path, res.StatusCode, detail)
	}
}

// isStranger reports whether an answer refuses a request whose key belongs to no partner.
func isStranger(res *http.Response) bool {
	refused := res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden
	return refused && res.Header.Get(codeHeader) != partner.ErrScopeMissing.Code
}

var rateForm = regexp.MustCompile(`^"partner";r=[0-9]+;t=[1-9][0-9]*$`)

// checkRate holds every answer to a caller who was recognised to saying how many requests are left, and no other.
func checkRate(t testing.TB, c call, res *http.Response) {
	t.Helper()
	refused := isStranger(res)
	path, _, _ := strings.Cut(c.path, "?")
	area, _ := areaOfPath(pathSegments(&url.URL{RawPath: path}))
	known := !refused && area != nil && res.StatusCode < 500
	left, policy := res.Header.Get("RateLimit"), res.Header.Get("RateLimit-Policy")
	if known && (!rateForm.MatchString(left) || policy == "") || refused && left+policy != "" {
		t.Errorf("%s %s answered %d with RateLimit %q of %q", c.method, c.path, res.StatusCode, left, policy)
	}
}

// as sends with a partner's key.
func (s *service) as(t testing.TB, who tenant, method, path, body string) answered {
	t.Helper()
	return s.do(t, call{method: method, path: path, body: body, header: http.Header{"x-api-key": {who.APIKey}}})
}

// noteSecrets remembers the path values and the strings of the body: none may reach a log.
func noteSecrets(c call) {
	known := map[string]bool{}
	for _, rt := range routes {
		for _, part := range strings.Split(rt.path, "/") {
			known[part] = true
		}
	}
	path, _, _ := strings.Cut(c.path, "?")
	for _, part := range strings.Split(path, "/") {
		if !known[part] {
			secret(part)
		}
	}
	var v any
	if json.Unmarshal([]byte(c.body), &v) == nil {
		noteStrings(v)
	}
}

func noteStrings(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			noteStrings(x)
		}
	case []any:
		for _, x := range v {
			noteStrings(x)
		}
	case string:
		// Every line of the log names a template.
		template := slices.ContainsFunc(routes, func(rt route) bool { return strings.Contains(rt.path, v) })
		if !template && !strings.HasPrefix(v, "sv_") && v != "antivirus" && v != "credit_card" && v != "android" &&
			v != "windows" {
			secret(v)
		}
	}
}

// eachEngine runs fn on both engines.
func eachEngine(t *testing.T, fn func(t *testing.T, s *service)) {
	t.Helper()
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) { fn(t, newService(t, engine)) })
	}
}

// hashOf is a made-up user hash.
func hashOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return fmt.Sprintf("%x", sum)
}

// oneCredential stands for breaches that know one password, of everybody, and no value by itself.
type oneCredential struct{ cyber.Unasked }

const knownCredential = 0x7c4a8d09ca

func (oneCredential) HoldsPair(_ context.Context, _ []uint64, password uint64) (bool, error) {
	return password == knownCredential, nil
}

// sized is how much of a trial runs: a part of it in the usual run, all of it in the long one.
func sized(usual, long int) int {
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		return long
	}
	return usual
}

// webhookOf registers a webhook that wants everything, and returns its id.
func (s *service) webhookOf(t *testing.T, who tenant) string {
	t.Helper()
	got := s.as(t, who, http.MethodPost, "/webhooks", `{"url":"https://127.0.0.1:9/gancho"}`)
	return madeID(t, got)
}

// keyOf makes a key that reads the cyber area, and returns its id.
func (s *service) keyOf(t *testing.T, who tenant) string {
	t.Helper()
	return madeID(t, s.as(t, who, http.MethodPost, "/keys", `{"label":"leitura","scopes":["cyber:read"]}`))
}

// erasureOf asks for the erasure of a person and returns the request's id.
func (s *service) erasureOf(t *testing.T, who tenant, user string) string {
	t.Helper()
	return madeID(t, s.as(t, who, http.MethodPost, "/erasures", `{"userHash":"`+user+`","reason":"pedido"}`))
}

func madeID(t *testing.T, got answered) string {
	t.Helper()
	var made struct{ ID, Secret, APIKey string }
	if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != http.StatusOK || made.ID == "" {
		t.Fatal(got.status, got.body, err)
	}
	secret(made.Secret, made.APIKey)
	return made.ID
}

// eppKeyOf asks for a key of a phone and returns it.
func (s *service) eppKeyOf(t *testing.T, who tenant, user string) string {
	t.Helper()
	got := s.as(
		t,
		who,
		http.MethodPost,
		"/cyber/epp",
		`{"operatingSystem":"android","type":"antivirus","deviceName":"Celular","userHash":"`+user+`"}`,
	)
	var issued struct{ EppKey string }
	if err := json.Unmarshal([]byte(got.body), &issued); err != nil || issued.EppKey == "" {
		t.Fatal(got.status, got.body, err)
	}
	return issued.EppKey
}

// caseOf opens a case and returns its id.
func (s *service) caseOf(t *testing.T, who tenant, user string) string {
	t.Helper()
	got := s.as(t, who, http.MethodPost, "/cyber/case", `{"serviceId":"sv_ajuda_phishing","userHash":"`+user+`"}`)
	var opened struct{ Task struct{ ID string } }
	if err := json.Unmarshal([]byte(got.body), &opened); err != nil || opened.Task.ID == "" {
		t.Fatal(got.status, got.body, err)
	}
	return opened.Task.ID
}
