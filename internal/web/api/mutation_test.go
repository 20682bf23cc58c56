package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// mutations are what becomes of a text that was right, each as raw JSON. What they are put into is a secret of the log
// check like any other value, so none may turn up in a log line either.
func mutations(right string) []string {
	text := func(s string) string {
		b, _ := json.Marshal(s) // a string
		return string(b)
	}
	half := right[:len(right)/2]
	list := []string{
		`null`,
		`true`,
		`false`,
		`0`,
		`-1`,
		`1.5`,
		`1e400`,
		`9223372036854775808`,
		`{}`,
		`[]`,
		`[null]`,
		`{"a":{"a":{"a":{}}}}`,
		`""`,
		`" "`,
		`"\t"`,
		`"\u0000"`,
		`"\u202e"`,
		`"\ufeff"`,
		`"\ud800"`,
		"\"\xff\xfe\"",
		`"\ud83d\ude00"`,
		`"１２３"`,
		`"ﬁ"`,
		`"é"`,
		`"../../../etc/passwd"`,
		`"%00%2f"`,
		`"' OR 1=1 --"`,
		`"<script>alert(1)</script>"`,
		`"\r\nx-injected: 1"`,
		`"${jndi:ldap://x}"`,
		`"2026-02-30"`,
		`"99999999999"`,
		`"00000000000"`,
		text(strings.Repeat("a", 257)),
		text(strings.Repeat("9", 5000)),
		text(strings.Repeat("ç", 300)),
		text(half),
		text(right + right),
		text(right + " "),
		text(" " + right),
		text(right + "\x00"),
		text(strings.ToUpper(right)),
		text(strings.ToLower(right)),
		"[" + text(right) + "]",
		`{"value":` + text(right) + "}",
	}
	return list
}

// mutable is a request that is accepted, and the places in it that are changed one at a time.
type mutable struct {
	route string
	who   tenant
	body  string
	// path has values between angle brackets, which are changed like members of the body.
	path string
	// header are names whose values are changed.
	header map[string]string
}

// TestMutations changes every field of requests that are right, one at a time and in every way above (every other way,
// by turns, in the usual run). No answer is a
// 5xx, each has the contract's shape, nothing that the contract forbids is accepted, and no refusal repeats what was
// sent.
func TestMutations(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.plan(t, s.Live, "p")
	s.unlimited(t, s.Live)
	user := spellings(cpfOf(9500), s.Live.Salt)[0]
	s.post(t, s.server.URL, s.Live.APIKey, itemsOf(9500, 9501))
	kase, key := s.caseOf(t, s.Live, user), s.eppKeyOf(t, s.Live, user)
	list := []mutable{
		{
			route: "POST /cyber/monitoring",
			path:  "/cyber/monitoring",
			body:  `{"value":"mutante@exemplo.com.br","type":"email","userHash":"` + user + `"}`,
		},
		{route: "GET /cyber/monitoring/{userhash}", path: "/cyber/monitoring/<" + user + ">"},
		{
			route: "DELETE /cyber/monitoring/{id}/{userhash}",
			path:  "/cyber/monitoring/<as_01a1dd9e-dcb7-74d2-98c4-a1bb9e411280>/<" + user + ">",
		},
		{
			route: "POST /cyber/case",
			path:  "/cyber/case",
			body:  `{"serviceId":"sv_ajuda_phishing","userHash":"` + user + `","appointments":[{"appointment":"2026-12-01T14:00:00.000Z"}],"questions":[{"question":"Qual?","answer":"Sim"}]}`,
		},
		{
			route: "POST /cyber/epp",
			path:  "/cyber/epp",
			body:  `{"operatingSystem":"android","type":"antivirus","deviceName":"Aparelho mutante","userHash":"` + user + `"}`,
		},
		{
			route:  "GET /cyber/epp",
			path:   "/cyber/epp?userHash=<" + user + ">",
			header: map[string]string{"x-user-hash": user},
		},
		{
			route: "POST /cyber/password-check",
			path:  "/cyber/password-check",
			body:  `{"passwordHashPrefix":"5BAA61E4C9"}`,
		},
		{
			route: "POST /cyber/credential-check",
			path:  "/cyber/credential-check",
			body:  `{"userHash":"` + user + `","passwordHashPrefix":"5BAA61E4C9"}`,
		},
		{route: "GET /cyber/advise/{userhash}", path: "/cyber/advise/<" + user + ">"},
		{route: "GET /cyber/score/{userhash}", path: "/cyber/score/<" + user + ">"},
		{route: "GET /cyber/insurance/{userhash}", path: "/cyber/insurance/<" + user + ">"},
		{route: "GET /cyber/services", path: "/cyber/services"},
		{
			route: "POST /subscriptions", path: "/subscriptions?dry_run=<true>", body: "[" + strings.Replace(itemOf(9501, `"group_size":"50","benefit_holder":"12ABC34501DE35",`), `"is_group_plan":false`, `"is_group_plan":true`, 1) + "]",
			header: map[string]string{"idempotency-key": "mutante"},
		},
		{route: "GET /subscriptions", path: "/subscriptions?page=<1>&page_size=<10>"},
		{route: "GET /subscriptions/{plan_id}/{beneficiary_cpf}", path: "/subscriptions/<p>/<" + cpfOf(9500) + ">"},
		{route: "GET /events", path: "/events?limit=<10>"},
		{
			route: "POST /cyber/advise/{userhash}/answers",
			path:  "/cyber/advise/<" + user + ">/answers",
			body:  `{"catalogId":"senhas-repetidas","value":"nunca"}`,
		},
		{
			route: "POST /cyber/monitoring/extra",
			path:  "/cyber/monitoring/extra",
			body:  `{"value":"12.ABC.345/01DE-35","type":"cnpj","userHash":"` + user + `"}`,
		},
		{route: "GET /cyber/monitoring/extra/{userhash}", path: "/cyber/monitoring/extra/<" + user + ">"},
		{
			route: "DELETE /cyber/monitoring/extra/{id}/{userhash}",
			path:  "/cyber/monitoring/extra/<as_01a1dd9e-dcb7-74d2-98c4-a1bb9e411280>/<" + user + ">",
		},
		{route: "GET /cyber/cover/{userhash}", path: "/cyber/cover/<" + user + ">"},
		{route: "GET /cyber/score/{userhash}/history", path: "/cyber/score/<" + user + ">/history"},
		{route: "GET /cyber/services/{id}", path: "/cyber/services/<sv_ajuda_phishing>"},
		{route: "GET /cyber/cases/{userhash}", path: "/cyber/cases/<" + user + ">"},
		{route: "GET /cyber/case/{id}/history/{userhash}", path: "/cyber/case/<" + kase + ">/history/<" + user + ">"},
		{
			route: "POST /cyber/case/{id}/messages",
			path:  "/cyber/case/<" + kase + ">/messages",
			body:  `{"userHash":"` + user + `","text":"oi","attachment":{"name":"a.txt","text":"b"}}`,
		},
		{
			route: "POST /cyber/case/{id}/cancel",
			path:  "/cyber/case/<" + kase + "x>/cancel",
			body:  `{"userHash":"` + user + `","reason":"mudei de ideia"}`,
		},
		{
			route: "POST /cyber/case/{id}/rebook",
			path:  "/cyber/case/<" + kase + "x>/rebook",
			body:  `{"userHash":"` + user + `","appointments":[{"appointment":"2026-12-01T14:00:00.000Z"}]}`,
		},
		{
			route: "POST /cyber/case/{id}/rate",
			path:  "/cyber/case/<" + kase + "x>/rate",
			body:  `{"userHash":"` + user + `","rating":5,"comment":"obrigada"}`,
		},
		{
			route: "POST /cyber/portal-session",
			path:  "/cyber/portal-session",
			body:  `{"userHash":"` + user + `","lang":"es","returnUrl":"https://app.exemplo.com.br/conta"}`,
		},
		{
			route: "GET /events/{id}/message",
			path:  "/events/<evt_01a1dd9e-dcb7-74d2-98c4-a1bb9e411280>/message?channel=<sms>&lang=<es>",
		},
		{route: "GET /cyber/epp/{key}", path: "/cyber/epp/<" + key + ">"},
		{route: "POST /cyber/epp/{key}/activate", path: "/cyber/epp/<" + key + ">/activate", body: `{}`},
		{route: "POST /cyber/epp/{key}/heartbeat", path: "/cyber/epp/<" + key + ">/heartbeat", body: `{}`},
		{
			route: "POST /cyber/epp/{key}/revoke",
			path:  "/cyber/epp/<" + key + "x>/revoke",
			body:  `{"userHash":"` + user + `"}`,
		},
		{
			route: "POST /cyber/epp/{key}/move",
			path:  "/cyber/epp/<" + key + "x>/move",
			body:  `{"userHash":"` + user + `","operatingSystem":"ios","deviceName":"Aparelho novo"}`,
		},
		{route: "GET /cyber/findings/{userhash}", path: "/cyber/findings/<" + user + ">"},
		{
			route: "POST /cyber/findings/{id}/resolve",
			path:  "/cyber/findings/<fd_01a1dd9e-dcb7-74d2-98c4-a1bb9e411280>/resolve",
			body:  `{"userHash":"` + user + `","reason":"other"}`,
		},
		{
			route: "GET /cyber/findings/{id}/plan/{userhash}",
			path:  "/cyber/findings/<fd_01a1dd9e-dcb7-74d2-98c4-a1bb9e411280>/plan/<" + user + ">",
		},
		{
			route: "POST /cyber/findings/{id}/steps/{step}",
			path:  "/cyber/findings/<fd_01a1dd9e-dcb7-74d2-98c4-a1bb9e411280>/steps/<change-password>",
			body:  `{"userHash":"` + user + `","state":"done"}`,
		},
		{
			route: "POST /cyber/findings/{id}/recheck",
			path:  "/cyber/findings/<fd_01a1dd9e-dcb7-74d2-98c4-a1bb9e411280>/recheck",
			body:  `{"userHash":"` + user + `"}`,
		},
	}
	list = append(list, s.ownMutables(t, user)...)
	for _, rt := range routes {
		if !slices.ContainsFunc(list, func(m mutable) bool { return m.route == rt.method+" "+rt.path }) {
			t.Errorf("%s %s has no row in the table of mutations: add a request that is accepted", rt.method, rt.path)
		}
	}
	sent, rounds := 0, 1
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		rounds = 32 // each changes two fields at once, which two being the luck of the draw
	}
	for round := range rounds {
		luck := rand.New(rand.NewPCG(uint64(round), 9))
		for turn, m := range list {
			m.who = s.Live
			sent += s.mutate(t, m, turn, round, luck)
		}
	}
	t.Logf("%d requests", sent)
}

// ownMutables are requests about the partner's own set-up.
func (s *service) ownMutables(t *testing.T, user string) []mutable {
	t.Helper()
	hook, key, erasure := s.webhookOf(t, s.Live), s.keyOf(t, s.Live), s.erasureOf(t, s.Live, "mutante-1")
	return []mutable{
		{route: "GET /cyber/breaches", path: "/cyber/breaches?page=<1>&page_size=<10>"},
		{route: "GET /cyber/breaches/{name}", path: "/cyber/breaches/<loja>"},
		{
			route: "POST /cyber/assets",
			path:  "/cyber/assets",
			body:  `{"items":[{"value":"varios@exemplo.com.br","type":"email","userHash":"` + user + `"}]}`,
		},
		{route: "POST /cyber/scores", path: "/cyber/scores", body: `{"userHashes":["` + user + `"]}`},
		{route: "POST /subscription-moves", path: "/subscription-moves", body: `{"plan_id":"p","move":"suspend","cpfs":["` + cpfOf(9500) + `"]}`},
		{route: "POST /subscription-changes", path: "/subscription-changes", body: `{"plan_id":"p","items":[{"cpf":"` + cpfOf(9500) + `","expiry_date":"2031-01-31","beneficiary":{"name":"Ana Mutante","address":{"city":"Recife"}}}]}`},
		{route: "POST /subscriptions/{plan_id}/{beneficiary_cpf}/changes", path: "/subscriptions/<p>/<" + cpfOf(9500) + ">/changes", body: `{"expiry_date":"2031-01-31","partner_internal_id":"mutante","partner_metadata":"{}","beneficiary":{"email":"mutante@exemplo.com.br"}}`},
		{route: "GET /statistics", path: "/statistics?days=<30>"},
		{route: "GET /webhooks", path: "/webhooks"},
		{
			route: "POST /webhooks",
			path:  "/webhooks",
			body:  `{"url":"https://127.0.0.1:9/mutante","types":["webhook.test"]}`,
		},
		{route: "GET /webhooks/{id}", path: "/webhooks/<" + hook + ">"},
		{route: "DELETE /webhooks/{id}", path: "/webhooks/<" + hook + "x>"},
		{route: "POST /webhooks/{id}/state", path: "/webhooks/<" + hook + ">/state", body: `{"state":"paused"}`},
		{route: "POST /webhooks/{id}/rotate", path: "/webhooks/<" + hook + ">/rotate", body: `{"overlapHours":0}`},
		{route: "POST /webhooks/{id}/test", path: "/webhooks/<" + hook + ">/test", body: `{"type":"webhook.test"}`},
		{
			route: "POST /webhooks/{id}/replay",
			path:  "/webhooks/<" + hook + ">/replay",
			body:  `{"from":"2026-01-31T03:00:00Z","to":"2026-02-01T03:00:00Z"}`,
		},
		{route: "POST /sandbox/clock", path: "/sandbox/clock", body: `{"days":1}`},
		{route: "GET /keys", path: "/keys"},
		{
			route: "POST /keys",
			path:  "/keys",
			body:  `{"label":"mutante","scopes":["cyber:read"],"expiresAt":"2027-01-31T03:00:00Z"}`,
		},
		{route: "POST /keys/{id}/roll", path: "/keys/<" + key + ">/roll", body: `{"graceHours":1}`},
		{route: "DELETE /keys/{id}", path: "/keys/<" + key + "x>?self=<true>"},
		{route: "GET /erasures", path: "/erasures?page=<1>&page_size=<10>"},
		{route: "POST /erasures", path: "/erasures", body: `{"userHash":"mutante-2","reason":"pedido"}`},
		{route: "GET /erasures/{id}", path: "/erasures/<" + erasure + ">"},
		{route: "DELETE /erasures/{id}", path: "/erasures/<" + erasure + "x>"},
		{route: "GET /usage", path: "/usage?days=<30>"},
	}
}

func (s *service) unlimited(t *testing.T, who tenant) {
	t.Helper()
	_, err := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil).UpdatePartner(t.Context(), who.ID, func(p *partner.Partner) {
		p.Settings.RatePerSecond, p.Settings.Burst = 1_000_000, 1_000_000 // the clock stands still
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mutate sends every mutation of one request; in the usual run every other one, by turns over requests and fields.
func (s *service) mutate(t *testing.T, m mutable, turn, round int, luck *rand.Rand) (sent int) {
	t.Helper()
	method, _, _ := strings.Cut(m.route, " ")
	try := func(c call, what string) {
		c.method = method
		if c.header == nil {
			c.header = http.Header{}
		}
		c.header["x-api-key"] = []string{m.who.APIKey}
		got := s.do(t, c)
		sent++
		if got.status >= http.StatusInternalServerError {
			t.Errorf("%s with %s: %d", m.route, what, got.status)
		}
	}
	fields := stringsOf(m.body)
	for i, right := range fields {
		for j, wrong := range mutations(right) {
			if (turn+i+j)%sized(2, 1) != 0 {
				continue
			}
			body := strings.Replace(m.body, quoted(right), wrong, 1)
			if round > 0 { // a second field with it
				second := fields[luck.IntN(len(fields))]
				all := mutations(second)
				body = strings.Replace(body, quoted(second), all[luck.IntN(len(all))], 1)
			}
			// Texts of a bulk item are trimmed, which no pattern of the contract can say; and its check cannot read
			// every number.
			trimmed := m.route == "POST /subscriptions" && strings.Trim(wrong, `" `) == right
			try(
				call{path: plainPath(m.path), body: body, unchecked: trimmed || strings.Contains(body, "1e400")},
				fmt.Sprintf("%.60s for %s", wrong, right),
			)
		}
	}
	if round > 0 {
		return sent
	}
	for _, wrong := range dropped(m.body) {
		try(call{path: plainPath(m.path), body: wrong}, "a member missing")
	}
	for i := range strings.Count(m.path, "<") {
		for j, wrong := range mutations(valueAt(m.path, i)) {
			if (turn+i+j)%sized(2, 1) != 0 {
				continue
			}
			if !strings.Contains(m.path, "?") && strings.Contains(wrong, "/") {
				continue // another path, and one that no route has
			}
			if strings.Contains(m.path, "?") && strings.Contains(wrong, "9223372036854775808") ||
				strings.Contains(wrong, "99999999999") {
				continue // the contract's check cannot read such numbers; TestBulkLimits sends them
			}
			try(call{path: replaceAt(m.path, i, wrong), body: m.body}, fmt.Sprintf("%.60s in the path", wrong))
		}
	}
	for name, right := range m.header {
		for _, wrong := range mutations(right) {
			var text string
			if json.Unmarshal([]byte(wrong), &text) != nil ||
				strings.ContainsAny(text, "\x00\r\n") { // cannot be sent in a header
				continue
			}
			try(
				call{path: plainPath(m.path), body: m.body, header: http.Header{name: {text}}},
				fmt.Sprintf("%.60s in the header %s", wrong, name),
			)
		}
	}
	return sent
}

func quoted(s string) string { return `"` + s + `"` }

// stringsOf are the values of a body that are texts, each once.
func stringsOf(body string) []string {
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return nil
	}
	var list []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case string:
			if v != "" {
				list = append(list, v)
			}
		}
	}
	walk(v)
	slices.Sort(list)
	return slices.Compact(list)
}

// dropped are the bodies that lack one member of the outermost object.
func dropped(body string) []string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &object) != nil {
		return nil
	}
	var list []string
	for name := range object {
		rest := map[string]json.RawMessage{}
		for n, v := range object {
			if n != name {
				rest[n] = v
			}
		}
		text, _ := json.Marshal(rest) // came from JSON
		list = append(list, string(text))
	}
	return list
}

func plainPath(p string) string { return strings.NewReplacer("<", "", ">", "").Replace(p) }

func valueAt(p string, n int) string {
	part := strings.Split(p, "<")[n+1]
	value, _, _ := strings.Cut(part, ">")
	return value
}

// replaceAt puts a mutation in place of the n-th value: a text as it is, anything else as JSON writes it.
func replaceAt(p string, n int, wrong string) string {
	var text string
	if json.Unmarshal([]byte(wrong), &text) != nil {
		text = wrong
	}
	escaped := url.PathEscape(text)
	if strings.Contains(p, "?") {
		escaped = url.QueryEscape(text)
	}
	return plainPath(strings.Replace(p, "<"+valueAt(p, n)+">", escaped, 1))
}
