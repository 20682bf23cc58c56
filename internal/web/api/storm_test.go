package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// stormSize is how many mutated requests one run sends, half of them from each of two seeds. In the usual run these are
// always the same, so that nobody's change fails by what nobody had met before; the long run looks for that, with a
// second seed that is new.
var (
	stormSize = sized(10_000, 30_000)
	stormSeed = uint64(sized(2, int(time.Now().UnixNano())))
)

// stormMark is in the values that the storm starts from; no log line may hold it.
const stormMark = "tempestade"

// storm sends random mutations of requests that are right, straight to the handler.
type storm struct {
	*service
	handler http.Handler
	log     *syncBuffer
	seeds   []seedling

	mu       sync.Mutex
	statuses map[int]int
}

// seedling is a request that is right.
type seedling struct {
	method, path, body, key string
	header                  http.Header
}

// TestStorm: 30,000 requests (10,000 in the usual run) that are broken in every way at hand get no 5xx and no answer
// that the document does not describe; nor do the events that came of it. VIGIA_TEST_SEED names the second seed.
func TestStorm(t *testing.T) {
	s := newStorm(t)
	second := stormSeed
	if given := os.Getenv("VIGIA_TEST_SEED"); given != "" {
		var err error
		if second, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("second seed %d", second)
	fmt.Printf("storm: %d mutated requests, seeds 1 and %d\n", stormSize, second)
	const workers = 4
	var wait sync.WaitGroup
	for worker := range workers {
		wait.Go(func() {
			for _, seed := range []uint64{1, second} {
				luck := rand.New(rand.NewPCG(seed, uint64(worker)))
				for range stormSize / 2 / workers {
					s.strike(t, luck)
				}
			}
		})
	}
	wait.Wait()
	t.Logf("answers by status: %v", s.statuses)
	for _, status := range []int{200, 400, 401, 403, 404, 405, 413, 415, 422} {
		if s.statuses[status] == 0 {
			t.Errorf("no answer was a %d: the storm does not reach that far", status)
		}
	}
	s.events(t)
	if strings.Contains(s.log.String(), stormMark) {
		t.Error("a log line holds what a partner sent")
	}
}

func newStorm(t *testing.T) *storm {
	t.Helper()
	if _, err := os.Stat("/dev/shm"); err == nil {
		t.Setenv("TMPDIR", "/dev/shm") // what the disk does is for other tests
	}
	s := &storm{
		service: newService(t, sqldb.SQLite), log: &syncBuffer{},
		statuses: map[int]int{},
	}
	handler := newHandlerLogging(t, s.Env, s.log)
	handler.PageURL = "https://paginas.exemplo.com.br"
	s.handler = handler
	s.plan(t, s.Live, "p")
	for _, who := range []tenant{s.Live, s.Sandbox, s.Other} {
		s.unlimited(t, who)
	}
	user := spellings(cpfOf(9700), s.Live.Salt)[0]
	s.post(t, s.server.URL, s.Live.APIKey, itemsOf(9700, 9705))
	leaked := spellings(cpfOf(9701), s.Sandbox.Salt)[1]
	s.as(t, s.Sandbox, "POST", "/cyber/monitoring",
		`{"value":"`+stormMark+`@vazamento.test","type":"email","userHash":"`+leaked+`"}`)
	var found []struct{ ID string }
	var assets []struct{ ID string }
	for path, into := range map[string]any{"findings": &found, "monitoring": &assets} {
		if err := json.Unmarshal([]byte(s.as(t, s.Sandbox, "GET", "/cyber/"+path+"/"+leaked, "").body),
			into); err != nil {
			t.Fatal(err)
		}
	}
	live, sandbox := s.Live.APIKey, s.Sandbox.APIKey
	kase, hook, key, epp := s.caseOf(t, s.Live, user), s.webhookOf(t, s.Live), s.keyOf(t, s.Live), s.eppKeyOf(t, s.Live, user)
	group := strings.Replace(itemOf(9706,
		`"group_size":"50","benefit_holder":"12ABC34501DE35","partner_metadata":"{}","partner_internal_id":"`+stormMark+`",`), `"is_group_plan":false`, `"is_group_plan":true`, 1)
	s.seeds = []seedling{
		{
			"POST", "/cyber/monitoring",
			`{"value":"` + stormMark + `@exemplo.com.br","type":"email","userHash":"` + user + `"}`, live, nil,
		},
		{
			"POST", "/cyber/monitoring",
			`{"value":"x` + stormMark + `@vazamento.test","type":"email","userHash":"` + leaked + `"}`, sandbox, nil,
		},
		{"GET", "/cyber/monitoring/" + leaked, "", sandbox, nil},
		{"DELETE", "/cyber/monitoring/" + assets[0].ID + "x/" + leaked, "", sandbox, nil},
		{
			"POST",
			"/cyber/case",
			`{"serviceId":"sv_ajuda_phishing","userHash":"` + user + `","appointments":[{"appointment":"2026-12-01T14:00:00.000Z"}],"questions":[{"question":"` + stormMark + `","answer":"Sim"}]}`,
			live,
			nil,
		},
		{"GET", "/cyber/services", "", live, nil},
		{
			"POST",
			"/cyber/epp",
			`{"operatingSystem":"android","type":"antivirus","deviceName":"` + stormMark + `","userHash":"` + user + `"}`,
			live,
			nil,
		},
		{"GET", "/cyber/epp?userHash=" + user, "", live, http.Header{"X-User-Hash": {user}}},
		{
			"POST",
			"/cyber/credential-check",
			`{"userHash":"` + user + `","passwordHashPrefix":"5BAA61E4C9"}`,
			sandbox,
			nil,
		},
		{"POST", "/cyber/password-check", `{"passwordHashPrefix":"5BAA61E4C9"}`, sandbox, nil},
		{"GET", "/cyber/advise/" + leaked, "", sandbox, nil},
		{"GET", "/cyber/score/" + leaked, "", sandbox, nil},
		{"GET", "/cyber/insurance/" + user, "", live, nil},
		{
			"POST", "/cyber/monitoring/extra",
			`{"value":"123e4567-e89b-42d3-a456-426614174000","type":"pix_key","userHash":"` + user + `"}`, live, nil,
		},
		{"GET", "/cyber/monitoring/extra/" + user, "", live, nil},
		{"DELETE", "/cyber/monitoring/extra/" + assets[0].ID + "x/" + user, "", live, nil},
		{"GET", "/cyber/services/sv_ajuda_phishing", "", live, nil},
		{"GET", "/cyber/cases/" + user, "", live, nil},
		{"GET", "/cyber/case/" + kase + "/history/" + user, "", live, nil},
		{
			"POST",
			"/cyber/case/" + kase + "/messages",
			`{"userHash":"` + user + `","text":"` + stormMark + `","attachment":{"name":"` + stormMark + `","text":"x"}}`,
			live,
			nil,
		},
		{
			"POST",
			"/cyber/case/" + kase + "x/cancel",
			`{"userHash":"` + user + `","reason":"` + stormMark + `"}`,
			live,
			nil,
		},
		{
			"POST", "/cyber/case/" + kase + "/rebook",
			`{"userHash":"` + user + `","appointments":[{"appointment":"2026-12-01T14:00:00.000Z"}]}`, live, nil,
		},
		{
			"POST",
			"/cyber/case/" + kase + "/rate",
			`{"userHash":"` + user + `","rating":5,"comment":"` + stormMark + `"}`,
			live,
			nil,
		},
		{
			"POST",
			"/cyber/portal-session",
			`{"userHash":"` + user + `","lang":"en","returnUrl":"https://` + stormMark + `.exemplo.com.br/"}`,
			live,
			nil,
		},
		{"GET", "/cyber/breaches?page=1&page_size=3", "", live, nil},
		{"GET", "/cyber/breaches/sandbox", "", sandbox, nil},
		{
			"POST",
			"/cyber/assets",
			`{"items":[{"value":"` + stormMark + `2@exemplo.com.br","type":"email","userHash":"` + user + `"},7]}`,
			live,
			nil,
		},
		{"POST", "/cyber/scores", `{"userHashes":["` + user + `","` + leaked + `"]}`, live, nil},
		{"POST", "/subscription-moves", `{"plan_id":"p","move":"suspend","cpfs":["` + cpfOf(9702) + `","1"]}`, live, nil},
		{"POST", "/subscriptions/p/" + cpfOf(9703) + "/changes", `{"expiry_date":"2031-01-31","partner_internal_id":"` + stormMark + `","partner_metadata":"{}"}`, live, nil},
		{"POST", "/subscription-changes", `{"plan_id":"p","items":[{"cpf":"` + cpfOf(9702) + `","beneficiary":{"name":"` + stormMark + `"}},{"cpf":"1"}]}`, live, nil},
		{"POST", "/subscriptions/p/" + cpfOf(9703) + "/changes", `{"move":"resume"}`, live, nil},
		{"GET", "/statistics?days=3", "", live, nil},
		{"POST", "/sandbox/clock", `{"days":1}`, sandbox, nil},
		{"GET", "/webhooks", "", live, nil},
		{"POST", "/webhooks", `{"url":"https://127.0.0.1:9/` + stormMark + `","types":["webhook.test"]}`, live, nil},
		{"GET", "/webhooks/" + hook, "", live, nil},
		{"DELETE", "/webhooks/" + hook + "x", "", live, nil},
		{"POST", "/webhooks/" + hook + "/state", `{"state":"paused"}`, live, nil},
		{"POST", "/webhooks/" + hook + "/rotate", `{"overlapHours":0}`, live, nil},
		{"POST", "/webhooks/" + hook + "x/test", `{"type":"webhook.test"}`, live, nil},
		{"POST", "/webhooks/" + hook + "/replay", `{"failed":true}`, live, nil},
		{"GET", "/keys", "", live, nil},
		{"POST", "/keys", `{"label":"` + stormMark + `","scopes":["cyber:read"]}`, live, nil},
		{"POST", "/keys/" + key + "/roll", `{"graceHours":1}`, live, nil},
		{"DELETE", "/keys/" + key + "x?self=true", "", live, nil},
		{"GET", "/erasures?page=1&page_size=2", "", live, nil},
		{"POST", "/erasures", `{"userHash":"` + user + `","reason":"` + stormMark + `"}`, live, nil},
		{"GET", "/erasures/er_x", "", live, nil},
		{"DELETE", "/erasures/er_x", "", live, nil},
		{"GET", "/usage?days=3", "", live, nil},
		{"GET", "/events/evt_01a1dd9e-dcb7-74d2-98c4-a1bb9e411280/message?channel=sms&lang=es", "", live, nil},
		{"GET", "/cyber/epp/" + epp, "", live, nil},
		{"POST", "/cyber/epp/" + epp + "/activate", `{"eppKey":"` + epp + `","report":"activated"}`, live, nil},
		{"POST", "/cyber/epp/" + epp + "/heartbeat", `{}`, live, nil},
		{"POST", "/cyber/epp/" + epp + "x/revoke", `{"userHash":"` + user + `"}`, live, nil},
		{
			"POST", "/cyber/epp/" + epp + "x/move",
			`{"userHash":"` + user + `","operatingSystem":"ios","deviceName":"` + stormMark + `"}`, live, nil,
		},
		{"GET", "/cyber/cover/" + user, "", live, nil},
		{"GET", "/cyber/score/" + leaked + "/history", "", sandbox, nil},
		{"POST", "/subscriptions", "[" + group + "," + itemOf(9707, "") + "]", live, nil},
		{"POST", "/subscriptions?dry_run=true", "[" + group + "]", live, nil},
		{"GET", "/subscriptions?page=1&page_size=3", "", live, nil},
		{"GET", "/subscriptions/p/" + cpfOf(9700), "", live, nil},
		{"GET", "/events?limit=2", "", sandbox, nil},
		{"POST", "/cyber/advise/" + user + "/answers", `{"catalogId":"senhas-repetidas","value":"nunca"}`, live, nil},
		{"GET", "/cyber/findings/" + leaked, "", sandbox, nil},
		{"GET", "/cyber/findings/" + found[0].ID + "/plan/" + leaked + "?lang=es", "", sandbox, nil},
		{
			"POST",
			"/cyber/findings/" + found[0].ID + "/steps/change-password",
			`{"userHash":"` + leaked + `","state":"done"}`,
			sandbox,
			nil,
		},
		{"POST", "/cyber/findings/" + found[0].ID + "/recheck", `{"userHash":"` + leaked + `"}`, sandbox, nil},
		{
			"POST", "/cyber/findings/" + found[0].ID + "/resolve", `{"userHash":"` + leaked + `","reason":"other"}`,
			sandbox, nil,
		},
	}
	for _, op := range s.contract.operations() {
		if !slices.ContainsFunc(s.seeds, func(x seedling) bool {
			found, _, err := s.contract.find(httptest.NewRequest(x.method, x.path, nil))
			return err == nil && found.Operation.OperationID == op.id
		}) {
			t.Errorf("%s has no request in the storm: add one that is right", op.id)
		}
	}
	return s
}

// strike sends one mutated request and holds the answer against the document.
func (s *storm) strike(t *testing.T, luck *rand.Rand) {
	seed := s.seeds[luck.IntN(len(s.seeds))]
	seed.header = maps.Clone(seed.header)
	if seed.header == nil {
		seed.header = http.Header{}
	}
	for range 1 + luck.IntN(3) {
		seed.mutate(luck)
	}
	prefix := []string{"", "/v1"}[luck.IntN(2)]
	if _, err := url.ParseRequestURI(prefix + seed.path); err != nil {
		seed.path = "/cyber/services" // such a line never reaches the handler
	}
	req, res, body := s.send(seed, prefix)
	if res.StatusCode >= 500 && !(res.StatusCode == 503 && strings.Contains(seed.path,
		"password-check")) { // a live key: no corpus
		t.Errorf("%d to %s", res.StatusCode, seed)
	}
	if err := s.document(req, res, body); err != nil {
		t.Errorf("%v\n%s\nanswer: %d %.500s", err, seed, res.StatusCode, body)
	}
	s.mu.Lock()
	s.statuses[res.StatusCode]++
	s.mu.Unlock()
}

func (x seedling) String() string {
	return fmt.Sprintf("%s %q header %q body %.2000q", x.method, x.path, x.header, x.body)
}

func (s *storm) send(x seedling, prefix string) (*http.Request, *http.Response, []byte) {
	req := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(x.body))
	req.Method, req.RequestURI = x.method, prefix+x.path
	req.URL, _ = url.ParseRequestURI(req.RequestURI) // was parsed before
	if x.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("X-Api-Key", x.key)
	maps.Copy(req.Header, x.header)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, req)
	res, body := w.Result(), w.Body.Bytes()
	if res.Header.Get("Content-Encoding") == "gzip" {
		body = unpacked(body)
	}
	return req, res, body
}

// unpacked is what a client reads of an answer in gzip; nothing when it is none.
func unpacked(body []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	return plain
}

// document holds an answer against the document.
func (s *storm) document(req *http.Request, res *http.Response, body []byte) error {
	found, params, err := s.contract.find(plainly(req))
	if err != nil {
		return s.contract.verifyUnrouted(plainly(req), res, body)
	}
	return s.contract.verifyOnce(&openapi3filter.RequestValidationInput{
		Request: req, PathParams: params, Route: found, Options: &openapi3filter.Options{SkipSettingDefaults: true},
	}, req.Method, res, body)
}

// plainly is the request with its path as the check can read it, which means the same: letters and digits unescaped,
// all else escaped.
func plainly(req *http.Request) *http.Request {
	sent, _, _ := strings.Cut(req.RequestURI, "?")
	path := needlessEscape.ReplaceAllStringFunc(sent, func(escaped string) string {
		plain, _ := url.PathUnescape(escaped)
		return plain
	})
	path = notASCII.ReplaceAllStringFunc(path, url.PathEscape)
	again := *req
	again.URL, _ = url.ParseRequestURI(path) // was parsed before
	return &again
}

var needlessEscape = regexp.MustCompile(`%(3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa]|2[Dd]|5[Ff]|7[Ee])`)

var anyNumber = regexp.MustCompile(`[0-9]+`)

var notASCII = regexp.MustCompile(`[^!-~]+|["<>\\^{|}]+`)

// events reads everything that was told during the storm and holds each body against the document's own schema of its
// type.
func (s *storm) events(t *testing.T) {
	t.Helper()
	types := map[string]int{}
	for _, who := range []tenant{s.Live, s.Sandbox} {
		for next := ""; ; {
			path := "/v1/events?limit=1000"
			if next != "" {
				path += "&after=" + url.QueryEscape(next)
			}
			var page struct {
				Events []struct {
					Body json.RawMessage
				}
				Next    string
				HasMore bool
			}
			if err := json.Unmarshal([]byte(s.as(t, who, "GET", path, "").body),
				&page); err != nil { // as checks the page
				t.Fatal(err)
			}
			for _, e := range page.Events {
				var event struct{ Type string }
				if err := json.Unmarshal(e.Body, &event); err != nil {
					t.Fatal(err)
				}
				kind := event.Type
				types[kind]++
				described := s.contract.doc.Webhooks[kind]
				if described == nil {
					t.Fatalf("the document knows no event %s", kind)
				}
				schema := described.Post.RequestBody.Value.Content["application/json"].Schema.Value
				if err := s.contract.schemas.check(schema, e.Body); err != nil {
					t.Errorf("%s: %v", kind, err)
				}
			}
			if next = page.Next; !page.HasMore {
				break
			}
		}
	}
	t.Logf("events: %v", types)
	if types["monitoring.leak_detected"] == 0 || types["monitoring.status_changed"] == 0 {
		t.Error("the storm caused no leak, or no change of status")
	}
}
