package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// prefixes are the two places where every route answers.
var prefixes = []string{"", versionPrefix}

// sample fills a route's template with values that belong to nobody.
func sample(rt route) string {
	return strings.NewReplacer("{userhash}", hashOf("ninguem"), "{id}", "id-desconhecido", "{key}", "chave-desconhecida", "{plan_id}", "plano-desconhecido",
		"{beneficiary_cpf}", "52998224725", "{name}", "vazamento-desconhecido").Replace(rt.path)
}

// sampleBody is a body that the route accepts.
func sampleBody(rt route) string {
	user := hashOf("amostra")
	switch rt.op {
	case 1:
		return `{"value":"amostra@exemplo.com.br","type":"email","userHash":"` + user + `"}`
	case 4:
		return `{"serviceId":"sv_ajuda_phishing","userHash":"` + user + `"}`
	case 6:
		return `{"operatingSystem":"android","type":"antivirus","deviceName":"Celular da amostra","userHash":"` + user + `"}`
	case 8:
		return `{"passwordHashPrefix":"5BAA61E4C9"}`
	case 12:
		return `[]`
	}
	switch rt.path { // the extensions have no number
	case "/cyber/monitoring/extra":
		return `{"value":"123e4567-e89b-42d3-a456-426614174000","type":"pix_key","userHash":"` + user + `"}`
	case "/cyber/findings/{id}/resolve":
		return `{"userHash":"` + user + `","reason":"other"}`
	case "/cyber/findings/{id}/steps/{step}":
		return `{"userHash":"` + user + `","state":"done"}`
	case "/cyber/findings/{id}/recheck":
		return `{"userHash":"` + user + `"}`
	case "/cyber/case/{id}/messages":
		return `{"userHash":"` + user + `","text":"oi"}`
	case "/cyber/case/{id}/cancel":
		return `{"userHash":"` + user + `"}`
	case "/cyber/case/{id}/rebook":
		return `{"userHash":"` + user + `","appointments":[{"appointment":"2026-12-01T14:00:00.000Z"}]}`
	case "/cyber/case/{id}/rate":
		return `{"userHash":"` + user + `","rating":5}`
	case "/cyber/portal-session":
		return `{"userHash":"` + user + `"}`
	case "/cyber/epp/{key}/activate", "/cyber/epp/{key}/heartbeat":
		return `{"eppKey":"chave-desconhecida"}`
	case "/cyber/epp/{key}/revoke":
		return `{"userHash":"` + user + `"}`
	case "/cyber/epp/{key}/move":
		return `{"userHash":"` + user + `","operatingSystem":"ios","deviceName":"Celular novo"}`
	case "/cyber/credential-check":
		return `{"userHash":"` + user + `","passwordHashPrefix":"5BAA61E4C9"}`
	case "/cyber/assets":
		return `{"items":[{"value":"amostra@exemplo.com.br","type":"email","userHash":"` + user + `"}]}`
	case "/cyber/scores":
		return `{"userHashes":["` + user + `"]}`
	case movesPath:
		return `{"plan_id":"plano-desconhecido","move":"suspend","cpfs":["52998224725"]}`
	case editsPath:
		return `{"plan_id":"plano-desconhecido","items":[{"cpf":"52998224725","beneficiary":{"email":"amostra@exemplo.com.br"}}]}`
	case "/subscriptions/{plan_id}/{beneficiary_cpf}/changes":
		return `{"move":"suspend"}`
	case "/webhooks":
		return `{"url":"https://127.0.0.1:9/amostra","types":["webhook.test"]}`
	case "/webhooks/{id}/state":
		return `{"state":"paused"}`
	case "/webhooks/{id}/rotate":
		return `{"overlapHours":24}`
	case "/webhooks/{id}/test":
		return `{"type":"webhook.test"}`
	case "/erasures":
		return `{"userHash":"` + user + `","reason":"pedido"}`
	case "/sandbox/clock":
		return `{"days":1}`
	case "/webhooks/{id}/replay":
		return `{"failed":true}`
	case "/keys":
		return `{"label":"amostra","scopes":["manage:read"]}`
	case "/keys/{id}/roll":
		return `{"graceHours":24}`
	case "/cyber/advise/{userhash}/answers":
		return `{"catalogId":"conteudo-desconhecido","value":"sim"}`
	}
	return ""
}

// refused is the exact answer to bad credentials in an area.
func (a *area) refusedBody() string {
	if a == cyberArea {
		return `{"statusCode":403,"message":"Request Proibida."}`
	}
	return `{"message":"Não autorizado"}`
}

func (a *area) invalidBody() string {
	if a == cyberArea {
		return `{"statusCode":400,"message":"Request Inválida. Dados de entrada inválidos."}`
	}
	return `{"message":"Request Inválida. Dados de entrada inválidos."}`
}

// TestCredentials: every route, both prefixes, every way of not being allowed, one answer. Only a valid key is told what
// it lacks.
func TestCredentials(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		bad, tried := badCredentials(t, s), 0
		for i, rt := range routes {
			for j, prefix := range prefixes {
				for k, name := range slices.Sorted(maps.Keys(bad)) {
					header := bad[name]
					if (i+j+k)%sized(2, 1) != 0 {
						continue // under the other prefix
					}
					if name == "only the scope "+strings.TrimSuffix(string(rt.scope), ":read") ||
						strings.HasPrefix(string(rt.scope), "any") && strings.HasPrefix(name, "only the scope ") {
						continue // that one is enough here
					}
					tried++
					// A body that breaks every rule: nothing of it may be looked at before the credentials.
					got := s.do(t, call{method: rt.method, path: prefix + sample(rt), body: `{"broken`, header: header})
					if got.status != rt.area.refused || got.body != rt.area.refusedBody() {
						t.Errorf("%s %s with %s: %d %s", rt.method, prefix+rt.path, name, got.status, got.body)
					}
					code, detail := codeOfBadKey(name), got.header.Get(detailHeader)
					lacks := "x-api-key: the key lacks the scope " + rt.scope.Describe()
					if got.header.Get(codeHeader) != code || detail != "" && detail != lacks ||
						(detail != "") != (code == "key.scope_missing") {
						t.Errorf("%s %s with %s: %v", rt.method, rt.path, name, got.header)
					}
				}
			}
		}
		t.Logf("%d requests, %d kinds of credentials", tried, len(bad))
	})
}

// codeOfBadKey is the code of the refusal of one of badCredentials.
func codeOfBadKey(name string) string {
	switch {
	case name == "no key", name == "an empty key", name == "a foreign bearer":
		return "key.missing"
	case strings.HasPrefix(name, "only the scope "):
		return "key.scope_missing"
	}
	return "key.refused"
}

// badCredentials are headers that open nothing.
func badCredentials(t *testing.T, s *service) map[string]http.Header {
	t.Helper()
	ctx := context.Background()
	reg := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil)
	key := func(scopes []partner.Scope, expires time.Time) (partner.KeyID, string) {
		k, text, err := reg.CreateKey(ctx, s.Live.ID, "test", scopes, expires)
		if err != nil {
			t.Fatal(err)
		}
		secret(text)
		return k.ID, text
	}
	revokedID, revoked := key(partner.ContractScopes(), time.Time{})
	if _, err := reg.RevokeKey(ctx, s.Live.ID, revokedID); err != nil {
		t.Fatal(err)
	}
	_, expired := key(partner.ContractScopes(), s.Clock.Now().Add(time.Second))
	s.Clock.Advance(2 * time.Second)
	suspended := s.tenant(t, partner.Live)
	if _, err := reg.SuspendPartner(ctx, suspended.ID); err != nil {
		t.Fatal(err)
	}
	_, cyberOnly := key([]partner.Scope{partner.ScopeCyber}, time.Time{})
	_, subscriptionsOnly := key([]partner.Scope{partner.ScopeSubscriptions}, time.Time{})
	good := s.Live.APIKey
	flip := []byte(good)
	flip[20] ^= 1
	return map[string]http.Header{
		"no key":                       {},
		"an empty key":                 {"x-api-key": {""}},
		"two keys":                     {"x-api-key": {good, good}},
		"a short key":                  {"x-api-key": {"vg_live_x"}},
		"a cut key":                    {"x-api-key": {good[:len(good)-1]}},
		"a longer key":                 {"x-api-key": {good + "x"}},
		"another case":                 {"x-api-key": {strings.ToUpper(good)}},
		"a flipped character":          {"x-api-key": {string(flip)}},
		"the other prefix":             {"x-api-key": {"vg_test_" + strings.TrimPrefix(good, "vg_live_")}},
		"a foreign bearer":             {"authorization": {"Bearer " + good}},
		"an unknown key":               {"x-api-key": {foreignKey(t)}},
		"a revoked key":                {"x-api-key": {revoked}},
		"an expired key":               {"x-api-key": {expired}},
		"a suspended partner":          {"x-api-key": {suspended.APIKey}},
		"only the scope cyber":         {"x-api-key": {cyberOnly}},
		"only the scope subscriptions": {"x-api-key": {subscriptionsOnly}},
	}
}

// foreignKey is well formed, but another installation made it.
func foreignKey(t *testing.T) string {
	t.Helper()
	e := storetest.Open(t, sqldb.SQLite)
	_, cred := e.NewPartner(t, partner.Live)
	secret(cred.APIKey)
	return cred.APIKey
}

// TestReadOnlyScope: a read-only key reads and changes nothing.
func TestReadOnlyScope(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	reg := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil)
	_, text, err := reg.CreateKey(
		context.Background(),
		s.Live.ID,
		"",
		[]partner.Scope{partner.ScopeCyberRead, partner.ScopeSubscriptionsRead, partner.ScopeManageRead},
		time.Time{},
	)
	if err != nil {
		t.Fatal(err)
	}
	reader := tenant{s.Live.Partner, partner.Credentials{APIKey: text}}
	for _, rt := range routes {
		got := s.as(t, reader, rt.method, sample(rt), sampleBody(rt))
		mayRead := strings.HasSuffix(string(rt.scope), ":read") || rt.scope == partner.ScopeAny
		if mayRead == (got.status == rt.area.refused && got.body == rt.area.refusedBody()) {
			t.Errorf("%s %s with a read-only key: %d", rt.method, rt.path, got.status)
		}
	}
}

// TestMethods: a wrong method is 405 in the area's shape and names the right ones.
func TestMethods(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.unlimited(t, s.Live)
	right := map[string]map[string]bool{}
	for _, rt := range routes {
		if right[rt.path] == nil {
			right[rt.path] = map[string]bool{}
		}
		right[rt.path][rt.method] = true
	}
	for _, rt := range routes {
		for _, prefix := range prefixes {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions} {
				if right[rt.path][method] {
					continue
				}
				got := s.as(t, s.Live, method, prefix+sample(rt), "")
				if got.status == http.StatusNotFound && strings.Count(rt.path, "/") == 3 {
					continue // the template also fits another route's path with other values
				}
				if got.status != http.StatusMethodNotAllowed {
					t.Errorf("%s %s: %d", method, rt.path, got.status)
				}
				for m := range right[rt.path] {
					if !strings.Contains(got.header.Get("allow"), m) {
						t.Errorf("%s %s: Allow is %q", method, rt.path, got.header.Get("allow"))
					}
				}
			}
		}
	}
}

// TestStrictJSON: what is no clean JSON object of the right types is refused on every route that takes a small body.
func TestStrictJSON(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.unlimited(t, s.Live)
	deep := strings.Repeat(`{"a":`, maxDepth) + `1` + strings.Repeat(`}`, maxDepth)
	for _, rt := range routes {
		if rt.body != smallBody && rt.body != listBody {
			continue
		}
		good := sampleBody(rt)
		if good == "" {
			t.Fatalf("%s has no sample body: add one", rt.path)
		}
		member, _, _ := strings.Cut(good[1:len(good)-1], ",")
		first := member + ","
		bad := map[string]string{
			"nothing":            "",
			"white space":        "  \n",
			"an array":           "[" + good + "]",
			"null":               "null",
			"a string":           `"x"`,
			"cut":                good[:len(good)-1],
			"trailing data":      good + "{}",
			"trailing text":      good + " x",
			"a duplicate member": "{" + first + good[1:],
			"bad UTF-8":          good[:len(good)-1] + ",\"z\":\"\xff\"}",
			"a lone surrogate":   good[:len(good)-1] + `,"z":"\ud800"}`,
			"a byte order mark":  "\ufeff" + good,
			"a comment":          good + "//",
			"a trailing comma":   good[:len(good)-1] + ",}",
			"NaN":                good[:len(good)-1] + `,"z":NaN}`,
			"too deep":           good[:len(good)-1] + `,"z":` + deep + `}`,
			"numbers for text":   wrongTypes(good, "7"),
			"objects for text":   wrongTypes(good, "{}"),
			"arrays for text":    wrongTypes(good, "[]"),
			"null for text":      wrongTypes(good, "null"),
			"no members":         "{}",
		}
		if !strings.Contains(good, `":"`) && !strings.Contains(good, `["`) {
			delete(bad, "numbers for text") // it has none
		}
		if strings.HasPrefix(rt.path, "/cyber/epp/{key}/") &&
			(strings.HasSuffix(rt.path, "/activate") || strings.HasSuffix(rt.path, "/heartbeat")) {
			delete(bad, "no members") // a partner need say nothing
			delete(bad, "null for text")
		}
		for name, body := range bad {
			got := s.do(
				t,
				call{
					method: rt.method,
					path:   versionPrefix + sample(rt),
					body:   body,
					header: http.Header{"x-api-key": {s.Live.APIKey}, "content-type": {"application/json"}},
				},
			)
			if got.status != http.StatusBadRequest || got.body != rt.area.invalidBody() {
				t.Errorf("%s with %s: %d %s", rt.path, name, got.status, got.body)
			}
			if d := got.header.Get("x-error-detail"); d == "" || strings.ContainsAny(d, "\r\n") {
				t.Errorf("%s with %s: x-error-detail is %q", rt.path, name, d)
			}
		}
		unknown := good[:len(good)-1] + `,"membro_desconhecido":{"a":[1,2]}}`
		got := s.do(
			t,
			call{method: rt.method, path: sample(rt), body: unknown, header: http.Header{"x-api-key": {s.Live.APIKey}}},
		)
		detail := got.header.Get("x-error-detail")
		isRefused := got.status == http.StatusBadRequest && strings.HasPrefix(detail, "membro_desconhecido: ")
		if isRefused != refusesMembers(rt.method+" "+rt.path) {
			t.Errorf("%s with an unknown member: %d %s", rt.path, got.status, detail)
		}
	}
}

// wrongTypes replaces every text of a flat JSON object.
func wrongTypes(object, with string) string {
	var out []string
	for _, member := range strings.Split(strings.Trim(object, "{}"), ",") {
		name, _, _ := strings.Cut(member, ":")
		out = append(out, name+":"+with)
	}
	return "{" + strings.Join(out, ",") + "}"
}

// TestBodyHeaders: content types, encodings and sizes.
func TestBodyHeaders(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.unlimited(t, s.Live)
	for _, rt := range routes {
		if rt.body == noBody {
			continue
		}
		send := func(body string, header ...string) answered {
			h := http.Header{"x-api-key": {s.Live.APIKey}}
			for i := 0; i < len(header); i += 2 {
				h.Add(header[i], header[i+1])
			}
			return s.do(t, call{method: rt.method, path: sample(rt), body: body, header: h, unchecked: true})
		}
		good := sampleBody(rt)
		for _, ct := range []string{"text/plain", "application/xml", "multipart/form-data", "application/json; charset=latin1", "json", "application/jsonx", ";"} {
			if got := send(good, "Content-Type", ct); got.status != http.StatusUnsupportedMediaType {
				t.Errorf("%s as %q: %d", rt.path, ct, got.status)
			}
		}
		for _, enc := range []string{"br", "zstd", "deflate", "gzip, gzip", "gzip, identity", "x", "gzip;q=1"} {
			if got := send(
				good,
				"Content-Type",
				"application/json",
				"Content-Encoding",
				enc,
			); got.status != http.StatusUnsupportedMediaType {
				t.Errorf("%s with the content encoding %s: %d", rt.path, enc, got.status)
			}
		}
		for _, ct := range []string{"application/json", "application/json; charset=UTF-8", "application/vnd.x+json"} {
			if got := send(
				good,
				"Content-Type",
				ct,
			); got.status == http.StatusUnsupportedMediaType ||
				got.status == http.StatusBadRequest {
				t.Errorf("%s as %q: %d", rt.path, ct, got.status)
			}
		}
		limit := int(rt.body.maxBodyLength())
		open, end := good[:len(good)-1], good[len(good)-1:]
		if got := send(
			open + strings.Repeat(" ", limit+1-len(good)) + end,
		); got.status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s one byte over %d: %d", rt.path, limit, got.status)
		}
		if got := send(
			open + strings.Repeat(" ", limit-len(good)) + end,
		); got.status == http.StatusRequestEntityTooLarge ||
			got.status == http.StatusBadRequest {
			t.Errorf("%s with exactly %d bytes: %d", rt.path, limit, got.status)
		}
	}
}

// TestNoContentType: a missing type is taken as JSON.
func TestNoContentType(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	req, err := http.NewRequestWithContext(
		context.Background(),
		http.MethodPost,
		s.server.URL+"/cyber/password-check",
		strings.NewReader("{"),
	)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", s.Live.APIKey)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode == http.StatusUnsupportedMediaType {
		t.Error("a missing content type was refused")
	}
}

// TestRequestID: a safe one comes back, anything else is replaced, and every answer has one.
func TestRequestID(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	for sent, kept := range map[string]bool{
		"abc-123_x.y:z": true, strings.Repeat("a", 128): true, strings.Repeat("a", 129): false, "with space": false, "ação": false, "": false,
	} {
		for _, path := range []string{"/cyber/services", "/v1/subscriptions", "/v1/cyber/inexistente", "/elsewhere"} {
			h := http.Header{"x-api-key": {s.Live.APIKey}}
			if sent != "" {
				h.Set("x-request-id", sent)
			}
			got := s.do(t, call{method: http.MethodGet, path: path, header: h}).header.Get("x-request-id")
			if got == "" || (got == sent) != kept {
				t.Errorf("%s: sent %q, got %q", path, sent, got)
			}
			if kept && path != "/elsewhere" && !strings.Contains(suiteLog.String(), `"request_id":"`+sent+`"`) {
				t.Errorf("%s: the log line lacks the request id", path)
			}
		}
	}
}

// TestCallerWhoLeft: a request that fails because its caller hung up is no failure of ours, in the log and the metrics.
func TestCallerWhoLeft(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	var log bytes.Buffer
	server := newHandlerLogging(t, s.Env, &log)
	send := func(ctx context.Context) {
		req := httptest.NewRequest(http.MethodGet, "/v1/subscriptions?page=1", nil).WithContext(ctx)
		req.Header.Set("x-api-key", s.Live.APIKey)
		server.ServeHTTP(httptest.NewRecorder(), req)
	}
	send(t.Context()) // the key is known from now on
	left, leave := context.WithCancel(t.Context())
	leave()
	log.Reset()
	send(left)
	if line := log.String(); !strings.Contains(line, `"status":499`) ||
		!strings.Contains(line, `"code":"request.gone"`) ||
		!strings.Contains(line, `"level":"INFO"`) {
		t.Error(line)
	}
}

// TestRateLimit: the burst passes, the next is 429 with its headers, and time refills the bucket; another partner is
// not touched.
func TestRateLimit(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	_, err := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil).UpdatePartner(context.Background(), s.Live.ID, func(p *partner.Partner) {
		p.Settings.RatePerSecond, p.Settings.Burst = 2, 5
	})
	if err != nil {
		t.Fatal(err)
	}
	get := func(who tenant) answered { return s.as(t, who, http.MethodGet, "/cyber/services", "") }
	for i := range 5 {
		if got := get(s.Live); got.status != http.StatusOK ||
			got.header.Get("ratelimit") != fmt.Sprintf(`"partner";r=%d;t=1`, 4-i) {
			t.Fatalf("request %d of the burst: %d %v", i+1, got.status, got.header)
		}
	}
	got := get(s.Live)
	difftest.Check(t, "past the burst, the status", got.status, http.StatusTooManyRequests)
	header := got.header.Clone()
	header.Set("retry-after", "1")
	header.Set("ratelimit", `"partner";r=0;t=1`)
	header.Set("ratelimit-policy", `"partner";q=2;w=1`)
	difftest.Check(t, "past the burst, the header", got.header, header)
	if got := get(s.Other); got.status != http.StatusOK {
		t.Errorf("the other partner: %d", got.status)
	}
	s.Clock.Advance(time.Second)
	if got := get(s.Live); got.status != http.StatusOK {
		t.Errorf("a second later: %d", got.status)
	}
}

// TestUsageEqualsHeaders: the rate that /usage tells is the one that the headers of its own answer tell and count down.
func TestUsageEqualsHeaders(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		_, err := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil).UpdatePartner(t.Context(), s.Other.ID, func(p *partner.Partner) {
			p.Settings.RatePerSecond, p.Settings.Burst = 7, 30
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, who := range map[string]tenant{"by default": s.Live, "as set": s.Other} {
			for sent := 1; sent <= 3; sent++ {
				got := s.as(t, who, http.MethodGet, "/v1/usage", "")
				var told usage
				got.into(t, &told)
				policy, left := fmt.Sprintf(`"partner";q=%d;w=1`, told.Rate.PerSecond), fmt.Sprintf(`"partner";r=%d;t=1`, told.Rate.Burst-sent)
				if got.header.Get("ratelimit-policy") != policy || got.header.Get("ratelimit") != left || told.Rate.BulkPerSecond != 100*told.Rate.PerSecond {
					t.Errorf("%s: request %d was told %+v and %v", name, sent, told.Rate, got.header)
				}
			}
		}
	})
}

// adapted serves one made-up route, to show what the adapter does with an endpoint's outcome.
func adapted(t *testing.T, s *service, rt route) (*httptest.Server, *Server) {
	t.Helper()
	server := newHandler(t, s.Env)
	srv := httptest.NewServer(
		http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) { server.serveRequest(w, r, &rt, server.newObserved(&rt)) },
		),
	)
	t.Cleanup(srv.Close)
	return srv, server
}

// TestPanic: 500 in shape, a log line, and the value of the panic nowhere.
func TestPanic(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	srv, _ := adapted(
		t,
		s,
		route{
			method: "GET",
			path:   "/cyber/panic",
			area:   cyberArea,
			scope:  partner.ScopeCyberRead,
			run: func(*Server, *request) (any, error) {
				panic(fmt.Errorf("cannot use 52998224725"))
			},
		},
	)
	secret("52998224725")
	req, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, srv.URL+"/cyber/panic", nil)
	req.Header.Set("x-api-key", s.Live.APIKey)
	got := send(t, req)
	if got.status != 500 || got.body != `{"statusCode":500,"message":"Erro de Aplicação"}` {
		t.Errorf("%d %s", got.status, got.body)
	}
	if !strings.Contains(suiteLog.String(), `"msg":"panic"`) {
		t.Error("no log line about the panic")
	}
}

func send(t testing.TB, req *http.Request) answered {
	t.Helper()
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{res.StatusCode, res.Header, string(body)}
}

// TestBrokenDatabase: a store that cannot answer is a 500 or 503 in shape that leaks nothing of its cause.
func TestBrokenDatabase(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	if err := s.Env.Close(); err != nil {
		t.Fatal(err)
	}
	for _, rt := range routes {
		got := s.as(t, s.Live, rt.method, sample(rt), sampleBody(rt))
		want := `{"message":"Erro de Aplicação"}`
		if rt.area == cyberArea {
			want = fmt.Sprintf(`{"statusCode":%d,"message":"Erro de Aplicação"}`, got.status)
		}
		if got.status < 500 || got.body != want {
			t.Errorf("%s: %d %s", rt.path, got.status, got.body)
		}
		if d := got.header.Get("x-error-detail"); strings.Contains(d, "sql") {
			t.Errorf("%s: x-error-detail tells the cause: %s", rt.path, d)
		}
	}
}
