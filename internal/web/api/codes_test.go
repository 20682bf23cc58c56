package api

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestErrorCodesAreListed: the document lists the codes that the service knows, requires one in every refusal and in no
// other answer, and every fault has one of them, also a fault that nobody listed.
func TestErrorCodesAreListed(t *testing.T) {
	c := loadContract(t)
	var listed []string
	for _, code := range c.doc.Components.Schemas["ErrorCode"].Value.Enum {
		listed = append(listed, code.(string))
	}
	if !slices.Equal(listed, publicCodes) {
		t.Errorf("the document lists\n%q, not\n%q", listed, publicCodes)
	}
	if all := slices.Compact(slices.Sorted(slices.Values(publicCodes))); len(all) != len(publicCodes) {
		t.Error("a code is listed twice")
	}
	for _, op := range c.operations() {
		for status, answer := range c.doc.Paths.Value(op.path).GetOperation(op.method).Responses.Map() {
			header := answer.Value.Headers[codeHeader]
			if has := header != nil && header.Value.Required; has != (status >= "400") {
				t.Errorf("%s %s: a code is required: %v", op.id, status, has)
			}
		}
	}
	for kind := fault.Internal; kind <= fault.Unavailable; kind++ {
		if code := publicCode(fault.New(kind, "made.up")); !slices.Contains(publicCodes, code) {
			t.Errorf("a fault that is %s has the code %q", kind, code)
		}
	}
	for _, public := range publicNames {
		if !slices.Contains(publicCodes, public) {
			t.Errorf("%s is not listed", public)
		}
	}
	if code := publicCode(errors.New("no fault")); code != "server.failed" {
		t.Error(code)
	}
	if code := publicCode(fault.New(fault.Internal, "asset.invalid")); code != "server.failed" {
		t.Error("a fault of ours tells", code)
	}
}

// TestEveryRefusalHasItsCode: every operation, every way of being refused before its own rules. The harness holds all
// other refusals of this package's tests to a listed code.
func TestEveryRefusalHasItsCode(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.unlimited(t, s.Live)
	slow := s.tenant(t, partner.Live)
	reg := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil)
	_, err := reg.UpdatePartner(t.Context(), slow.ID, func(p *partner.Partner) {
		p.Settings.RatePerSecond, p.Settings.Burst = 1, 1
	})
	if err != nil {
		t.Fatal(err)
	}
	s.as(t, slow, http.MethodGet, "/v1/cyber/services", "")
	lacking := map[partner.Scope]string{}
	for _, rt := range routes {
		if rt.scope == partner.ScopeAny {
			continue
		}
		others := []partner.Scope{partner.ScopeManage, partner.ScopeCyber, partner.ScopeCredentials}
		others = slices.DeleteFunc(others, func(s partner.Scope) bool {
			return partner.Key{Scopes: []partner.Scope{s}}.HasScope(rt.scope)
		})
		_, text, err := reg.CreateKey(context.Background(), s.Live.ID, "", others[:1], time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		secret(text)
		lacking[rt.scope] = text
	}
	key := func(text string) http.Header { return http.Header{"x-api-key": {text}} }
	good := func(more ...string) http.Header {
		h := key(s.Live.APIKey)
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = []string{more[i+1]}
		}
		return h
	}
	for _, rt := range routes {
		refuse := func(code, body string, header http.Header) {
			t.Helper()
			got := s.do(t, call{method: rt.method, path: "/v1" + sample(rt), body: body, header: header})
			if got.header.Get(codeHeader) != code || got.status < 400 {
				t.Errorf("%s %s: %d %q, want %s", rt.method, rt.path, got.status, got.header.Get(codeHeader), code)
			}
		}
		refuse("key.missing", "", nil)
		refuse("key.refused", "", key("vg_live_x"))
		refuse("key.refused", "", http.Header{"x-api-key": {s.Live.APIKey, s.Live.APIKey}})
		if rt.scope != partner.ScopeAny {
			refuse("key.scope_missing", "", key(lacking[rt.scope]))
		}
		refuse("rate.limited", "", key(slow.APIKey))
		got := s.as(t, s.Live, http.MethodPatch, "/v1"+sample(rt), "")
		if got.header.Get(codeHeader) != "method.not_allowed" {
			t.Errorf("PATCH %s: %q", rt.path, got.header.Get(codeHeader))
		}
		if rt.body == noBody {
			continue
		}
		refuse("body.invalid", `{"cut`, good())
		refuse("header.invalid", sampleBody(rt), good("idempotency-key", strings.Repeat("k", maxIdempotencyKey+1)))
		refuse("body.unsupported_type", sampleBody(rt), good("content-type", "text/plain"))
		refuse("body.not_gzip", sampleBody(rt), good("content-encoding", "gzip"))
		if rt.body != streamBody {
			refuse("body.too_large", strings.Repeat(" ", int(rt.body.maxBodyLength())+1), good())
		}
		again := good("idempotency-key", "chave de "+rt.method+rt.path)
		s.do(t, call{method: rt.method, path: "/v1" + sample(rt), body: sampleBody(rt), header: again})
		refuse("idempotency.other_body", sampleBody(rt)+" ", again)
	}
	for _, path := range []string{"/caminho-sem-rota", "/v1/cyber/caminho-sem-rota", "/subscriptions/a/b/c"} {
		if got := s.as(t, s.Live, http.MethodGet, path, ""); got.header.Get(codeHeader) != "path.not_found" {
			t.Errorf("%s: %q", path, got.header.Get(codeHeader))
		}
	}
	if err := s.Env.Close(); err != nil {
		t.Fatal(err)
	}
	for _, rt := range routes {
		got := s.as(t, s.Live, rt.method, sample(rt), sampleBody(rt))
		if code := got.header.Get(codeHeader); !strings.HasPrefix(code, "server.") {
			t.Errorf("%s without a database: %d %q", rt.path, got.status, code)
		}
	}
}

// TestScopeRefusalIsTold: a valid key is told which scope it lacks, its request counts against the rate of its partner,
// and the partner's developers find the request with the missing scope in their log.
func TestScopeRefusalIsTold(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		h := newHandler(t, s.Env)
		s.server.Config.Handler = h
		reader := s.keyWith(t, s.Live, partner.ScopeCyberRead)
		for path, scope := range map[string]string{
			"/v1/webhooks":      "manage:read",
			"/v1/subscriptions": "subscriptions:read",
		} {
			got := s.as(t, reader, http.MethodGet, path, "")
			want := "x-api-key: the key lacks the scope " + scope
			if got.header.Get(codeHeader) != "key.scope_missing" || got.header.Get(detailHeader) != want {
				t.Errorf("%s: %d %v", path, got.status, got.header)
			}
		}
		manager := s.keyWith(t, s.Live, partner.ScopeManage)
		got := s.as(t, manager, http.MethodGet, "/v1/events", "")
		if d := got.header.Get(detailHeader); !strings.HasSuffix(d, "the scope cyber:read or subscriptions:read") {
			t.Error(d)
		}
		meter := partner.NewMeter(s.Store.Partners, s.Clock.Now)
		if err := h.Counted.FlushCounts(t.Context(), meter.AddRequests); err != nil {
			t.Fatal(err)
		}
		lines, err := meter.LatestRequests(t.Context(), s.Live.ID, true)
		if err != nil {
			t.Fatal(err)
		}
		logged := map[string]string{}
		for _, line := range lines {
			logged[line.Operation] = line.Fault
		}
		if !maps.Equal(logged, map[string]string{
			"GET /webhooks":      "key.scope_missing: manage:read",
			"GET /subscriptions": "key.scope_missing: subscriptions:read",
			"GET /events":        "key.scope_missing: cyber:read or subscriptions:read",
		}) {
			t.Error("the log of requests:", logged)
		}
	})
}

// TestUnknownMembersAreNamed: the operations of the contract ignore members that they do not know, all others refuse
// them, and a body that is refused for another reason is told of them, nested ones too. What looks like data is not
// repeated.
func TestUnknownMembersAreNamed(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	user := hashOf("ana")
	const rule = "scopes: name at least one"
	for body, want := range map[string]string{
		`{"name":"relatórios","scopes":[]}`: "name: the operation has no such member",
		`{"scopes":[],"label":"x"}`:         rule,
		`{"scope":[],"nome":"x"}`:           "scope: the operation has no such member; unknown members: nome",
		`{"scopes":7,"nome":"x"}`:           "scopes: wrong JSON type; unknown members: nome",

		`{"scopes":[],"52998224725":"x","ana@exemplo.com.br":1}`: "body: the operation has no such member",
	} {
		got := s.as(t, s.Live, http.MethodPost, "/v1/keys", body)
		if d := got.header.Get(detailHeader); got.status != http.StatusBadRequest || d != want {
			t.Errorf("%s: %d %q", body, got.status, d)
		}
	}
	got := s.as(t, s.Live, http.MethodPost, "/v1/cyber/case", `{"serviceID":"sv_ajuda_phishing","userHash":"`+user+`"}`)
	if d := got.header.Get(detailHeader); !strings.HasSuffix(d, "; unknown members: serviceID") {
		t.Errorf("%d %q", got.status, d)
	}
	got = s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring",
		`{"value":"ana@exemplo.com.br","type":"email","kind":"x","userHash":"`+user+`"}`)
	if got.status != http.StatusOK || got.header.Get(detailHeader) != "" {
		t.Error("an unknown member of a good body:", got)
	}
	const unknown = ": the operation has no such member"
	for _, c := range []struct{ path, body, want string }{
		{"/keys", `{"scopes":["manage"],"expires":"2027-01-01T00:00:00Z"}`, "expires" + unknown},
		{"/keys", `{"scopes":["manage"],"52998224725":1}`, "body" + unknown},
		{"/webhooks", `{"url":"https://127.0.0.1:9/a","severities":["high"],"x":1}`, "severities" + unknown + "; unknown members: x"},
		{"/erasures", `{"userHash":"` + user + `","reason":"a","reazon":"b"}`, "reazon" + unknown},
		{
			"/subscription-changes", `{"plan_id":"p","items":[{"cpf":"52998224725"},{"kind":1},{"kind":2,"tipo":1}]}`,
			"items.1.kind" + unknown + "; unknown members: items.2.tipo",
		},
		{
			"/subscriptions/p/52998224725/changes", `{"beneficiary":{"emai":"a@exemplo.com.br","address":{"cep":"1"}}}`,
			"beneficiary.emai" + unknown + "; unknown members: beneficiary.address.cep",
		},
		{
			"/subscriptions/p/52998224725/changes", `{"move":7,"beneficiary":{"emai":"a@exemplo.com.br"}}`,
			"move: wrong JSON type; unknown members: beneficiary.emai",
		},
	} {
		got := s.as(t, s.Live, http.MethodPost, "/v1"+c.path, c.body)
		if d := got.header.Get(detailHeader); got.status != http.StatusBadRequest || d != c.want {
			t.Errorf("%s %s: %d %q", c.path, c.body, got.status, d)
		}
	}
	var added assetsAdded // what is wrong with an item is the item's own affair
	s.as(t, s.Live, http.MethodPost, "/v1/cyber/assets", `{"items":[
		{"value":"bia@exemplo.com.br","type":"email","userHash":"`+user+`"},
		{"value":"eva@exemplo.com.br","type":"email","userHash":"`+user+`","usrHash":1}]}`).into(t, &added)
	if added.Added != 1 || len(added.Refused) != 1 {
		t.Fatalf("%+v", added)
	}
	refused := added.Refused[0]
	refused.Item, refused.Detail = 1, "usrHash"+unknown
	difftest.Check(t, "the refused item", added.Refused[0], refused)
	var keys []keyItem
	s.as(t, s.Live, http.MethodGet, "/v1/keys", "").into(t, &keys)
	for _, k := range keys {
		if k.MadeBy != "" {
			t.Errorf("a refused body made a key: %+v", k)
		}
	}
}

// logCode finds the code of a refusal in a log line.
var logCode = regexp.MustCompile(`"status":4[0-9][0-9],.*"code":"([a-z_.]+)"`)

// unlistedCodes returns the faults of a log that partners were told by their kind alone.
func unlistedCodes(log string) []string {
	unlisted := map[string]bool{}
	for _, found := range logCode.FindAllStringSubmatch(log, -1) {
		if code := found[1]; publicNames[code] == "" && !slices.Contains(publicCodes, code) {
			unlisted[code] = true
		}
	}
	return slices.Sorted(maps.Keys(unlisted))
}
