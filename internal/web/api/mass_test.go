package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// owned are members that only the server may set, as the columns, the answers and other APIs call them.
var owned = []string{
	"id",
	"_id",
	"ID",
	"seq",
	"partner_id",
	"partnerId",
	"partner",
	"tenant",
	"tenantId",
	"status_",
	"state",
	"created_at",
	"createdAt",
	"updatedAt",
	"ended_at",
	"validUntil",
	"eppKey",
	"key",
	"score",
	"severity",
	"salt",
	"role",
	"isAdmin",
	"resolvedAt",
	"user_index",
	"__proto__",
}

// load puts the owned members into every object of a JSON text, behind the members that are there.
func load(t *testing.T, text, value string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(text, err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, inner := range v {
				walk(inner)
			}
			for i, name := range owned {
				if _, there := v[name]; there {
					continue
				}
				v[name] = []any{value, true, 7, map[string]any{"id": value}, []any{value}}[i%5]
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(v)
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestMassAssignment lets two people of one partner live the same life, one of them with members that only the server
// may set in every object of every body: operations of the contract ignore them, others refuse the body, both lives look the
// same afterwards, and no other partner has got anything.
func TestMassAssignment(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.plan(t, s.Sandbox, "plano-massa")
	for n := 1; n <= 2; n++ {
		if _, err := cyber.NewCases(s.Store.Cases, s.Clock.Now).AddFreeSlots(t.Context(), "sv_recuperacao_conta", "", []time.Time{s.slotOf(n)}); err != nil {
			t.Fatal(err)
		}
	}
	before := s.snapshot(t)
	plain := s.life(t, 1, func(body string) string { return body })
	loaded := s.life(t, 2, func(body string) string { return load(t, body, string(s.Other.ID)) })
	for i := range plain {
		if plain[i] != loaded[i] {
			t.Errorf("with members of the server's own:\n%s\nwithout:\n%s", loaded[i], plain[i])
		}
	}
	for table, owner := range before.changed(s.snapshot(t)) {
		// What is changed of keys and webhooks is audited, and caches are told to forget keys.
		if !ownedBy(s.Sandbox, owner) && !slices.Contains([]string{"audit", "audit_head", "epoch"}, table) {
			t.Errorf("rows of %s that belong to no one or to others were changed", table)
		}
	}
	for _, rt := range routes {
		if rt.body != noBody && rt.op != 8 &&
			!strings.Contains(strings.Join(plain, "\n"), rt.method+" "+rt.path) { // 8 keeps nothing
			t.Errorf("%s %s takes a body and is in nobody's life here: add it", rt.method, rt.path)
		}
	}
}

// refusesMembers reports whether a route refuses members that it does not know.
func refusesMembers(template string) bool {
	return slices.ContainsFunc(routes, func(rt route) bool {
		return rt.method+" "+rt.path == template && rt.op == 0 && !rt.vendor
	})
}

// life has one person do everything that takes a body, and reads it all back; the lines are the same for everybody.
func (s *service) life(t *testing.T, n int, change func(string) string) []string {
	t.Helper()
	b := &belongings{
		cpf:    cpfOf(9000 + n),
		mail:   fmt.Sprintf("massa-%d@vazamento.test", n),
		person: fmt.Sprintf("Pessoa Massa %d", n),
		device: fmt.Sprintf("Aparelho massa %d", n),
		plan:   "plano-massa",
		pix:    "123e4567-e89b-42d3-a456-426614174000",
	}
	b.users = spellings(b.cpf, s.Sandbox.Salt)
	common := &belongings{
		users:  [3]string{"HASH", "HASH", "HASH"},
		cpf:    "CPF",
		mail:   "MAIL",
		person: "PERSON",
		device: "DEVICE",
		plan:   "PLAN",
		pix:    "PIX",
	}
	var lines []string
	ask := func(template, path, body string) string {
		method, _, _ := strings.Cut(template, " ")
		send := func(body string) answered {
			return s.do(
				t,
				call{
					method:    method,
					path:      path,
					body:      body,
					header:    http.Header{"x-api-key": {s.Sandbox.APIKey}},
					unchecked: true,
				},
			)
		}
		if body != "" {
			if changed := change(body); changed != body && refusesMembers(template) {
				if got := send(changed); got.status != http.StatusBadRequest {
					t.Errorf("%s: %d %s", template, got.status, got.body)
				}
			} else {
				body = changed
			}
		}
		got := send(body)
		if got.status != http.StatusOK {
			t.Errorf("%s: %d %s", template, got.status, got.body)
		}
		lines = append(lines, template+" "+comparable(got, b, common))
		return got.body
	}
	user := b.users[0]
	ask(
		"POST /cyber/monitoring",
		"/cyber/monitoring",
		fmt.Sprintf(`{"value":%q,"type":"email","userHash":%q}`, b.mail, user),
	)
	ask(
		"POST /cyber/monitoring/extra",
		"/cyber/monitoring/extra",
		fmt.Sprintf(`{"value":%q,"type":"pix_key","userHash":%q}`, b.pix, user),
	)
	ask(
		"POST /cyber/credential-check",
		"/cyber/credential-check",
		fmt.Sprintf(`{"userHash":%q,"passwordHashPrefix":"5BAA61E4C9"}`, user),
	)
	var opened struct{ Task struct{ ID string } }
	if err := json.Unmarshal(
		[]byte(
			ask(
				"POST /cyber/case",
				"/cyber/case",
				fmt.Sprintf(
					`{"serviceId":"sv_ajuda_phishing","userHash":%q,"appointments":[{"appointment":"2026-12-01T14:00:00.000Z"}],"questions":[{"question":"Qual?","answer":"Sim"}]}`,
					user,
				),
			),
		),
		&opened,
	); err != nil {
		t.Fatal(err)
	}
	kase := "/cyber/case/" + opened.Task.ID
	ask(
		"POST /cyber/case/{id}/messages",
		kase+"/messages",
		fmt.Sprintf(`{"userHash":%q,"text":"oi","attachment":{"name":"a","text":"b"}}`, user),
	)
	ask("POST /cyber/case/{id}/cancel", kase+"/cancel", fmt.Sprintf(`{"userHash":%q,"reason":"resolvi"}`, user))
	s.settle(t, ask, n, user)
	s.manage(t, ask)
	var key struct{ EppKey string }
	keyed := func(answer string) string {
		if err := json.Unmarshal([]byte(answer), &key); err != nil || key.EppKey == "" {
			t.Fatal(answer, err)
		}
		return "/cyber/epp/" + key.EppKey
	}
	device := fmt.Sprintf(`"deviceName":%q,"userHash":%q`, b.device, user)
	epp := keyed(ask("POST /cyber/epp", "/cyber/epp", `{"operatingSystem":"android","type":"antivirus",`+device+`}`))
	ask("POST /cyber/epp/{key}/activate", epp+"/activate", `{"eppKey":"x"}`)
	ask("POST /cyber/epp/{key}/heartbeat", epp+"/heartbeat", `{"eppKey":"x"}`)
	epp = keyed(ask("POST /cyber/epp/{key}/move", epp+"/move", `{"operatingSystem":"ios",`+device+`}`))
	ask("POST /cyber/epp/{key}/revoke", epp+"/revoke", fmt.Sprintf(`{"userHash":%q}`, user))
	ask("GET /cyber/epp/{key}", epp, "")
	ask("POST /cyber/epp", "/cyber/epp", `{"operatingSystem":"android","type":"antivirus",`+device+`}`)
	ask("POST /cyber/portal-session", "/cyber/portal-session", fmt.Sprintf(`{"userHash":%q,"lang":"pt-BR"}`, user))
	ask(
		"POST /cyber/advise/{userhash}/answers",
		"/cyber/advise/"+user+"/answers",
		`{"catalogId":"senhas-repetidas","value":"nunca"}`,
	)
	ask("POST /subscriptions", "/subscriptions", "["+subscriptionOf(b, b.plan, "")+"]")
	ask(
		"POST /subscription-moves",
		"/subscription-moves",
		fmt.Sprintf(`{"plan_id":%q,"move":"suspend","cpfs":[%q]}`, b.plan, b.cpf),
	)
	ask(
		"POST /subscription-changes",
		"/subscription-changes",
		fmt.Sprintf(`{"plan_id":%q,"items":[{"cpf":%q,"beneficiary":{"gender":"F"}}]}`, b.plan, b.cpf),
	)
	ask(
		"POST /subscriptions/{plan_id}/{beneficiary_cpf}/changes",
		"/subscriptions/"+b.plan+"/"+b.cpf+"/changes",
		`{"partner_internal_id":"massa"}`,
	)
	ask(
		"POST /cyber/assets",
		"/cyber/assets",
		fmt.Sprintf(`{"items":[{"value":%q,"type":"email","userHash":%q}]}`, b.mail, user),
	)
	ask("POST /cyber/scores", "/cyber/scores", fmt.Sprintf(`{"userHashes":[%q]}`, user))
	var findings []struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(
		[]byte(ask("GET /cyber/findings/{userhash}", "/cyber/findings/"+user, "")),
		&findings,
	); err != nil ||
		len(findings) == 0 {
		t.Fatal(findings, err)
	}
	finding := "/cyber/findings/" + findings[0].ID
	ask(
		"POST /cyber/findings/{id}/steps/{step}",
		finding+"/steps/change-password",
		fmt.Sprintf(`{"userHash":%q,"state":"done"}`, user),
	)
	ask("POST /cyber/findings/{id}/recheck", finding+"/recheck", fmt.Sprintf(`{"userHash":%q}`, user))
	ask("GET /cyber/findings/{id}/plan/{userhash}", finding+"/plan/"+user, "")
	ask("POST /cyber/findings/{id}/resolve", finding+"/resolve", fmt.Sprintf(`{"userHash":%q,"reason":"other"}`, user))
	for _, template := range []string{
		"GET /cyber/monitoring/{userhash}", "GET /cyber/monitoring/extra/{userhash}", "GET /cyber/findings/{userhash}", "GET /cyber/cases/{userhash}", "GET /cyber/advise/{userhash}",
		"GET /cyber/score/{userhash}", "GET /cyber/insurance/{userhash}", "GET /cyber/cover/{userhash}", "GET /cyber/score/{userhash}/history",
	} {
		ask(template, strings.Replace(strings.TrimPrefix(template, "GET "), "{userhash}", user, 1), "")
	}
	ask("GET /cyber/epp", "/cyber/epp?userHash="+user, "")
	ask("GET /subscriptions/{plan_id}/{beneficiary_cpf}", "/subscriptions/"+b.plan+"/"+b.cpf, "")
	return lines
}

// manage does everything to a webhook and a key of the partner's own.
func (s *service) manage(t *testing.T, ask func(template, path, body string) string) {
	t.Helper()
	idOf := func(answer string) string {
		var made struct{ ID, Secret, APIKey string }
		if err := json.Unmarshal([]byte(answer), &made); err != nil {
			t.Fatal(answer, err)
		}
		secret(made.Secret, made.APIKey)
		return made.ID
	}
	hook := "/webhooks/" + idOf(
		ask("POST /webhooks", "/webhooks", `{"url":"https://127.0.0.1:9/massa","types":["webhook.test"]}`),
	)
	ask("POST /webhooks/{id}/test", hook+"/test", `{"type":"webhook.test"}`)
	ask("POST /webhooks/{id}/state", hook+"/state", `{"state":"paused"}`)
	idOf(ask("POST /webhooks/{id}/rotate", hook+"/rotate", `{"overlapHours":1}`))
	ask("POST /webhooks/{id}/replay", hook+"/replay", `{"failed":true}`)
	ask("GET /webhooks/{id}", hook, "")
	erasure := idOf(ask("POST /erasures", "/erasures", `{"userHash":"massa","reason":"pedido"}`))
	ask("DELETE /erasures/{id}", "/erasures/"+erasure, "")
	ask("POST /sandbox/clock", "/sandbox/clock", `{"days":1}`)
	key := "/keys/" + idOf(ask("POST /keys", "/keys", `{"label":"massa","scopes":["cyber:read"]}`))
	idOf(ask("POST /keys/{id}/roll", key+"/roll", `{"graceHours":1}`))
}

// settle takes a case with an appointment to its end, the operator helping.
func (s *service) settle(t *testing.T, ask func(template, path, body string) string, n int, user string) {
	t.Helper()
	ctx := t.Context()
	cases := cyber.NewCases(s.Store.Cases, s.Clock.Now)
	var opened struct{ Task struct{ ID string } }
	if err := json.Unmarshal(
		[]byte(
			ask(
				"POST /cyber/case",
				"/cyber/case",
				fmt.Sprintf(`{"serviceId":"sv_recuperacao_conta","userHash":%q}`, user),
			),
		),
		&opened,
	); err != nil {
		t.Fatal(err)
	}
	kase := "/cyber/case/" + opened.Task.ID
	ask(
		"POST /cyber/case/{id}/rebook",
		kase+"/rebook",
		fmt.Sprintf(`{"userHash":%q,"appointments":[{"appointment":%q}]}`, user, s.slotOf(n).Format(time.RFC3339)),
	)
	for _, to := range []cyber.CaseStatus{cyber.CaseInProgress, cyber.CaseResolved} {
		if _, err := cases.MoveCase(ctx, cyber.CaseID(opened.Task.ID), to, "bruna", ""); err != nil {
			t.Fatal(err)
		}
	}
	ask(
		"POST /cyber/case/{id}/rate",
		kase+"/rate",
		fmt.Sprintf(`{"userHash":%q,"rating":5,"comment":"obrigada"}`, user),
	)
}

// slotOf is the time that one of the two gets.
func (s *service) slotOf(n int) time.Time {
	return cyber.SandboxTimes(s.Clock.Now())[n]
}
