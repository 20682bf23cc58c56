package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// belongings is one of everything that a partner can name in a request: its own, or a stranger's of the same shape that
// belongs to nobody.
type belongings struct {
	// users are the three spellings of one person's hash.
	users [3]string
	cpf, mail, person, device, plan,
	asset, finding, idempotency, pix, extra, kase, hook, key, epp, event, erasure string
	// canaries are what no other partner may ever read, requests it makes itself aside.
	canaries []string
}

// names are what a request may carry of these.
func (b *belongings) names() []string {
	return append(
		b.users[:],
		b.cpf,
		b.mail,
		b.person,
		b.device,
		b.plan,
		b.asset,
		b.finding,
		b.idempotency,
		b.pix,
		b.extra,
		b.kase,
		b.hook,
		b.key,
		b.erasure,
		b.epp,
		b.event,
	)
}

// place is one way of naming somebody else's things in a route. With spelt set it is tried with each spelling of a
// hash.
type place struct {
	name  string
	spelt bool
	fill  func(own, other *belongings, user string) call
}

// tenancy is the row of a route: every place where an id can stand. quiet means that such a request writes nothing at
// all; the rest may write what is the caller's own, and those that are audited a line of the trail.
type tenancy struct {
	quiet, audited bool
	places         []place
}

func body(format string, args ...any) call { return call{body: fmt.Sprintf(format, args...)} }

// inPath fills a template.
func inPath(pairs ...string) call { return call{path: strings.Join(pairs, "\x00")} }

// tenancies has a row for each route by method and template; one that is missing fails the test. serviceId and
// catalogId name catalogues that are the same for every partner.
var tenancies = map[string]tenancy{
	"POST /cyber/monitoring": {places: []place{
		{"another's person", true, func(own, _ *belongings, user string) call {
			return body(`{"value":%q,"type":"email","userHash":%q}`, own.mail, user)
		}},
		{"another's value", false, func(own, other *belongings, _ string) call {
			return body(`{"value":%q,"type":"email","userHash":%q}`, other.mail, own.users[0])
		}},
		{"both", true, func(_, other *belongings, user string) call {
			return body(`{"value":%q,"type":"email","userHash":%q}`, other.mail, user)
		}},
		{"another's CPF as one's own", true, func(_, other *belongings, user string) call {
			return body(`{"value":%q,"type":"cpf","userHash":%q}`, other.cpf, user)
		}},
		{"another's idempotency key", false, func(own, other *belongings, _ string) call {
			c := body(`{"value":%q,"type":"email","userHash":%q}`, other.mail, own.users[0])
			c.header = http.Header{"idempotency-key": {other.idempotency}}
			return c
		}},
	}},
	"GET /cyber/monitoring/{userhash}": {quiet: true, places: []place{byUser}},
	"DELETE /cyber/monitoring/{id}/{userhash}": {quiet: true, places: []place{
		{"another's value of another's person", true, func(_, other *belongings, user string) call {
			return inPath("{id}", other.asset, "{userhash}", user)
		}},
		{"another's value of one's own person", false, func(own, other *belongings, _ string) call {
			return inPath("{id}", other.asset, "{userhash}", own.users[0])
		}},
		{"one's own value of another's person", true, func(own, _ *belongings, user string) call {
			return inPath("{id}", own.asset, "{userhash}", user)
		}},
	}},
	"POST /cyber/case": {places: []place{
		{"another's person", true, func(_, _ *belongings, user string) call {
			return body(`{"serviceId":"sv_ajuda_phishing","userHash":%q}`, user)
		}},
		{"another's idempotency key", false, func(own, other *belongings, _ string) call {
			c := body(`{"serviceId":"sv_ajuda_phishing","userHash":%q}`, own.users[0])
			c.header = http.Header{"idempotency-key": {other.idempotency}}
			return c
		}},
	}},
	"GET /cyber/services": {quiet: true, places: []place{nothingToName}},
	"POST /cyber/epp": {places: []place{
		{"another's person and device", true, func(_, other *belongings, user string) call {
			return body(
				`{"operatingSystem":"android","type":"antivirus","deviceName":%q,"userHash":%q}`,
				other.device,
				user,
			)
		}},
		{"another's device", false, func(own, other *belongings, _ string) call {
			return body(
				`{"operatingSystem":"android","type":"antivirus","deviceName":%q,"userHash":%q}`,
				other.device,
				own.users[0],
			)
		}},
	}},
	"GET /cyber/epp": {quiet: true, places: []place{
		{
			"another's person in the query",
			true,
			func(_, _ *belongings, user string) call { return call{path: "?userHash=" + user} },
		},
		{"another's person in the header", true, func(_, _ *belongings, user string) call {
			return call{header: http.Header{"x-user-hash": {user}}}
		}},
		nothingToName,
	}},
	"POST /cyber/password-check": {quiet: true, places: []place{
		{
			"nothing to name",
			false,
			func(_, _ *belongings, _ string) call { return body(`{"passwordHashPrefix":"5BAA61E4C9"}`) },
		},
	}},
	"POST /cyber/credential-check": {quiet: true, places: []place{
		{"another's person", true, func(_, _ *belongings, user string) call {
			return body(`{"userHash":%q,"passwordHashPrefix":"5BAA61E4C9"}`, user)
		}},
	}},
	"GET /cyber/advise/{userhash}":    {quiet: true, places: []place{byUser}},
	"GET /cyber/score/{userhash}":     {places: []place{byUser}},
	"GET /cyber/insurance/{userhash}": {quiet: true, places: []place{byUser}},
	"POST /subscriptions": {places: []place{
		{
			"another's plan",
			false,
			func(own, other *belongings, _ string) call { return body(`[%s]`, subscriptionOf(own, other.plan, "")) },
		},
		{"another's person", false, func(own, other *belongings, _ string) call {
			return body(`[%s]`, subscriptionOf(other, own.plan, ""))
		}},
		{"another's person as the holder", false, func(own, other *belongings, _ string) call {
			return body(`[%s]`, subscriptionOf(own, own.plan, `"benefit_holder":"`+other.cpf+`",`))
		}},
		{"another's idempotency key", false, func(own, other *belongings, _ string) call {
			c := body(`[%s]`, subscriptionOf(own, own.plan, ""))
			c.header = http.Header{"idempotency-key": {other.idempotency}}
			return c
		}},
	}},
	"GET /subscriptions": {quiet: true, places: []place{
		{"the first page", false, func(_, _ *belongings, _ string) call { return call{path: "?page=1&page_size=100"} }},
		{
			"a page past one's own",
			false,
			func(_, _ *belongings, _ string) call { return call{path: "?page=2&page_size=100"} },
		},
	}},
	"GET /subscriptions/{plan_id}/{beneficiary_cpf}": {quiet: true, places: []place{
		{"another's plan and person", false, func(_, other *belongings, _ string) call {
			return inPath("{plan_id}", other.plan, "{beneficiary_cpf}", other.cpf)
		}},
		{"another's plan", false, func(own, other *belongings, _ string) call {
			return inPath("{plan_id}", other.plan, "{beneficiary_cpf}", own.cpf)
		}},
		{"another's person", false, func(own, other *belongings, _ string) call {
			return inPath("{plan_id}", own.plan, "{beneficiary_cpf}", other.cpf)
		}},
	}},
	"GET /events": {quiet: true, places: []place{
		nothingToName,
		{"all there are", false, func(_, _ *belongings, _ string) call { return call{path: "?limit=1000"} }},
	}},
	"POST /cyber/advise/{userhash}/answers": {places: []place{
		{"another's person", true, func(_, _ *belongings, user string) call {
			c := inPath("{userhash}", user)
			c.body = `{"catalogId":"duas-etapas-email","value":"sms"}`
			return c
		}},
	}},
	"POST /cyber/monitoring/extra": {places: []place{
		{"another's person", true, func(own, _ *belongings, user string) call {
			return body(`{"value":%q,"type":"pix_key","userHash":%q}`, own.pix, user)
		}},
		{"another's value", false, func(own, other *belongings, _ string) call {
			return body(`{"value":%q,"type":"pix_key","userHash":%q}`, other.pix, own.users[0])
		}},
		{"another's idempotency key", false, func(own, other *belongings, _ string) call {
			c := body(`{"value":%q,"type":"pix_key","userHash":%q}`, other.pix, own.users[0])
			c.header = http.Header{"idempotency-key": {other.idempotency}}
			return c
		}},
	}},
	"GET /cyber/monitoring/extra/{userhash}": {quiet: true, places: []place{byUser}},
	"DELETE /cyber/monitoring/extra/{id}/{userhash}": {quiet: true, places: []place{
		{"another's value of another's person", true, func(_, other *belongings, user string) call {
			return inPath("{id}", other.extra, "{userhash}", user)
		}},
		{"another's value of one's own person", false, func(own, other *belongings, _ string) call {
			return inPath("{id}", other.extra, "{userhash}", own.users[0])
		}},
		{"one's own value of another's person", true, func(own, _ *belongings, user string) call {
			return inPath("{id}", own.extra, "{userhash}", user)
		}},
	}},
	"GET /cyber/findings/{userhash}": {quiet: true, places: []place{byUser}},
	"GET /cyber/cover/{userhash}":    {quiet: true, places: []place{byUser}},
	"GET /cyber/breaches":            {quiet: true, places: []place{nothingToName}},
	"GET /cyber/breaches/{name}": {quiet: true, places: []place{
		{"nothing to name", false, func(_, _ *belongings, _ string) call { return inPath("{name}", "loja") }},
	}},
	"POST /cyber/assets": {places: []place{
		{"another's person", true, func(own, _ *belongings, user string) call {
			return body(`{"items":[{"value":%q,"type":"email","userHash":%q}]}`, own.mail, user)
		}},
		{"another's value", false, func(own, other *belongings, _ string) call {
			return body(`{"items":[{"value":%q,"type":"email","userHash":%q}]}`, other.mail, own.users[0])
		}},
		{"another's CPF as one's own", true, func(_, other *belongings, user string) call {
			return body(`{"items":[{"value":%q,"type":"cpf","userHash":%q}]}`, other.cpf, user)
		}},
	}},
	"POST /cyber/scores": {places: []place{
		{
			"another's person",
			true,
			func(_, _ *belongings, user string) call { return body(`{"userHashes":[%q]}`, user) },
		},
	}},
	"POST /subscription-moves": {quiet: true, places: []place{
		{"another's plan and person", false, func(_, other *belongings, _ string) call {
			return body(`{"plan_id":%q,"move":"end","cpfs":[%q]}`, other.plan, other.cpf)
		}},
		{"another's person", false, func(own, other *belongings, _ string) call {
			return body(`{"plan_id":%q,"move":"suspend","cpfs":[%q]}`, own.plan, other.cpf)
		}},
	}},
	"POST /subscription-changes": {quiet: true, places: []place{
		{"another's plan and person", false, func(_, other *belongings, _ string) call {
			return body(
				`{"plan_id":%q,"items":[{"cpf":%q,"beneficiary":{"email":"eu@exemplo.com.br"}}]}`,
				other.plan,
				other.cpf,
			)
		}},
		{"another's person", false, func(own, other *belongings, _ string) call {
			return body(
				`{"plan_id":%q,"items":[{"cpf":%q,"beneficiary":{"phone_number":"5511987654321"}}]}`,
				own.plan,
				other.cpf,
			)
		}},
	}},
	"POST /subscriptions/{plan_id}/{beneficiary_cpf}/changes": {quiet: true, places: []place{
		{"another's plan and person", false, func(_, other *belongings, _ string) call {
			c := inPath("{plan_id}", other.plan, "{beneficiary_cpf}", other.cpf)
			c.body = `{"expiry_date":"2031-01-31"}`
			return c
		}},
		{"another's person", false, func(own, other *belongings, _ string) call {
			c := inPath("{plan_id}", own.plan, "{beneficiary_cpf}", other.cpf)
			c.body = `{"move":"end"}`
			return c
		}},
	}},
	"GET /statistics": {quiet: true, places: []place{nothingToName}},
	"GET /webhooks":   {quiet: true, places: []place{nothingToName}},
	"POST /webhooks": {
		quiet: true,
		places: []place{
			{
				"nothing to name",
				false,
				func(_, _ *belongings, _ string) call { return body(`{"url":"ftp://127.0.0.1"}`) },
			},
		},
	},
	"GET /webhooks/{id}":         {quiet: true, places: ofHook("")},
	"DELETE /webhooks/{id}":      {quiet: true, places: ofHook("")},
	"POST /webhooks/{id}/state":  {quiet: true, places: ofHook(`{"state":"paused"}`)},
	"POST /webhooks/{id}/rotate": {quiet: true, places: ofHook(`{"overlapHours":1}`)},
	"POST /webhooks/{id}/test":   {quiet: true, places: ofHook(`{"type":"webhook.test"}`)},
	"POST /webhooks/{id}/replay": {quiet: true, places: ofHook(`{"failed":true}`)},
	"POST /sandbox/clock": {
		quiet: true,
		places: []place{
			{"nothing to name", false, func(_, _ *belongings, _ string) call { return body(`{"days":0}`) }},
		},
	},
	"GET /keys": {quiet: true, places: []place{nothingToName}},
	"POST /keys": {
		quiet: true,
		places: []place{
			{"nothing to name", false, func(_, _ *belongings, _ string) call { return body(`{"scopes":[]}`) }},
		},
	},
	"POST /keys/{id}/roll": {quiet: true, places: ofKey(`{"graceHours":1}`)},
	"DELETE /keys/{id}":    {quiet: true, places: ofKey("")},
	"GET /erasures":        {quiet: true, places: []place{nothingToName}},
	"POST /erasures": {audited: true, places: []place{
		{"another's person", true, func(_, _ *belongings, user string) call {
			return body(`{"userHash":%q,"reason":"pedido"}`, user)
		}},
	}},
	"GET /erasures/{id}":    {quiet: true, places: ofErasure},
	"DELETE /erasures/{id}": {quiet: true, places: ofErasure},
	"GET /usage":            {quiet: true, places: []place{nothingToName}},
	"GET /cyber/services/{id}": {quiet: true, places: []place{
		{
			"nothing to name",
			false,
			func(_, _ *belongings, _ string) call { return inPath("{id}", "sv_ajuda_phishing") },
		},
	}},
	"GET /cyber/cases/{userhash}": {quiet: true, places: []place{byUser}},
	"GET /cyber/case/{id}/history/{userhash}": {quiet: true, places: []place{
		{"another's case of another's person", true, func(_, other *belongings, user string) call {
			return inPath("{id}", other.kase, "{userhash}", user)
		}},
		{"another's case of one's own person", false, func(own, other *belongings, _ string) call {
			return inPath("{id}", other.kase, "{userhash}", own.users[0])
		}},
		{"one's own case of another's person", true, func(own, _ *belongings, user string) call {
			return inPath("{id}", own.kase, "{userhash}", user)
		}},
	}},
	"POST /cyber/case/{id}/messages": {quiet: true, places: onCase(`"text":"oi"`)},
	"POST /cyber/case/{id}/cancel":   {quiet: true, places: onCase(`"reason":"não preciso"`)},
	"POST /cyber/case/{id}/rebook": {
		quiet:  true,
		places: onCase(`"appointments":[{"appointment":"2026-12-01T14:00:00.000Z"}]`),
	},
	"POST /cyber/case/{id}/rate":          {quiet: true, places: onCase(`"rating":5`)},
	"GET /cyber/score/{userhash}/history": {quiet: true, places: []place{byUser}},
	"GET /cyber/epp/{key}": {quiet: true, places: []place{
		{"another's key", false, func(_, other *belongings, _ string) call { return inPath("{key}", other.epp) }},
	}},
	"GET /events/{id}/message": {quiet: true, places: []place{
		{"another's event", false, func(_, other *belongings, _ string) call {
			return inPath("{id}", other.event, "/message", "/message?channel=sms")
		}},
	}},
	"POST /cyber/epp/{key}/activate":    {quiet: true, places: reportsKey},
	"POST /cyber/epp/{key}/heartbeat":   {quiet: true, places: reportsKey},
	"POST /cyber/epp/{key}/revoke":      {quiet: true, places: onKey("")},
	"POST /cyber/epp/{key}/move":        {quiet: true, places: onKey(`,"operatingSystem":"ios","deviceName":"novo"`)},
	"POST /cyber/findings/{id}/resolve": {quiet: true, places: onFinding(`,"reason":"other"`)},
	"POST /cyber/portal-session": {quiet: true, places: []place{
		{"another's person", true, func(_, _ *belongings, user string) call { return body(`{"userHash":%q}`, user) }},
	}},
	"GET /cyber/findings/{id}/plan/{userhash}": {quiet: true, places: []place{
		{"another's finding of another's person", true, func(_, other *belongings, user string) call {
			return inPath("{id}", other.finding, "{userhash}", user)
		}},
		{"another's finding of one's own person", false, func(own, other *belongings, _ string) call {
			return inPath("{id}", other.finding, "{userhash}", own.users[0])
		}},
		{"one's own finding of another's person", true, func(own, _ *belongings, user string) call {
			return inPath("{id}", own.finding, "{userhash}", user)
		}},
	}},
	"POST /cyber/findings/{id}/steps/{step}": {
		quiet:  true,
		places: onFinding(`,"state":"done"`, "{step}", "expect-scams"),
	},
	"POST /cyber/findings/{id}/recheck": {quiet: true, places: onFinding("")},
}

// ofHook are the places of a route about a webhook, with a body or none; ofKey those about a key.
func ofHook(body string) []place {
	return []place{{"another's webhook", false, func(_, other *belongings, _ string) call {
		c := inPath("{id}", other.hook)
		c.body = body
		return c
	}}}
}

func ofKey(body string) []place {
	return []place{{"another's key", false, func(_, other *belongings, _ string) call {
		c := inPath("{id}", other.key)
		c.body = body
		return c
	}}}
}

var (
	byUser = place{
		"another's person",
		true,
		func(_, _ *belongings, user string) call { return inPath("{userhash}", user) },
	}
	ofErasure = []place{{"another's erasure", false, func(_, other *belongings, _ string) call {
		return inPath("{id}", other.erasure)
	}}}
	nothingToName = place{"nothing to name", false, func(_, _ *belongings, _ string) call { return call{} }}
)

// onCase are the places of a body about a case; rest are its other members.
func onCase(rest string) []place {
	with := func(id, user string) call {
		c := inPath("{id}", id)
		c.body = fmt.Sprintf(`{"userHash":%q,%s}`, user, rest)
		return c
	}
	return []place{
		{
			"another's case of another's person",
			true,
			func(_, other *belongings, user string) call { return with(other.kase, user) },
		},
		{
			"another's case of one's own person",
			false,
			func(own, other *belongings, _ string) call { return with(other.kase, own.users[0]) },
		},
		{
			"one's own case of another's person",
			true,
			func(own, _ *belongings, user string) call { return with(own.kase, user) },
		},
	}
}

var reportsKey = []place{
	{"another's key", false, func(_, other *belongings, _ string) call {
		c := inPath("{key}", other.epp)
		c.body = `{}`
		return c
	}},
}

// onKey are the places of a body about a key of a person; rest are its other members.
func onKey(rest string) []place {
	with := func(key, user string) call {
		c := inPath("{key}", key)
		c.body = fmt.Sprintf(`{"userHash":%q%s}`, user, rest)
		return c
	}
	return []place{
		{
			"another's key of another's person",
			true,
			func(_, other *belongings, user string) call { return with(other.epp, user) },
		},
		{
			"another's key of one's own person",
			false,
			func(own, other *belongings, _ string) call { return with(other.epp, own.users[0]) },
		},
		{
			"one's own key of another's person",
			true,
			func(own, _ *belongings, user string) call { return with(own.epp, user) },
		},
	}
}

// onFinding are the places of a body about a finding; rest are its other members, and more is what else stands in the
// path.
func onFinding(rest string, more ...string) []place {
	with := func(id, user string) call {
		c := inPath(append([]string{"{id}", id}, more...)...)
		c.body = fmt.Sprintf(`{"userHash":%q%s}`, user, rest)
		return c
	}
	return []place{
		{
			"another's finding of another's person",
			true,
			func(_, other *belongings, user string) call { return with(other.finding, user) },
		},
		{
			"another's finding of one's own person",
			false,
			func(own, other *belongings, _ string) call { return with(other.finding, own.users[0]) },
		},
		{
			"one's own finding of another's person",
			true,
			func(own, _ *belongings, user string) call { return with(own.finding, user) },
		},
	}
}

func subscriptionOf(b *belongings, plan, more string) string {
	return fmt.Sprintf(
		`{"start_date":"2026-02-01","expiry_date":"","plan_id":%q,"is_group_plan":false,%s"beneficiary":{"primary_card":"4111111111111111",`+
			`"user_card":"5555555555554444","name":%q,"cpf":%q,"birth_date":"1990-05-17","gender":"F","email":%q,`+
			`"phone_number":"5511987654321","address":{"zipcode":"01001000","street":"R","number":"1","neighborhood":"C","city":"S","state":"SP"}}}`,
		plan,
		more,
		b.person,
		b.cpf,
		b.mail,
	)
}

// TestTenancy: three partners with one of everything. Whatever id of another's a partner names, wherever it can stand,
// the answer is the one that an id of nobody's gets, holds nothing of the other's, and leaves the other's rows alone.
func TestTenancy(t *testing.T) {
	for _, rt := range routes {
		if _, there := tenancies[rt.method+" "+rt.path]; !there {
			t.Errorf("%s %s has no row in the table of tenancies: say where ids can stand in it", rt.method, rt.path)
		}
	}
	eachEngine(t, func(t *testing.T, s *service) {
		who := []tenant{s.Live, s.Other, s.Sandbox}
		own := make([]*belongings, len(who))
		for i, p := range who {
			own[i] = s.furnish(t, p, i)
		}
		s.breach(t, own)
		for i, p := range who {
			s.learn(t, p, own[i])
		}
		// Reading comes first: what a partner writes under another's names is its own, and its lists would show it.
		sorted := slices.Clone(routes)
		slices.SortStableFunc(sorted, func(a, b route) int { return rank(a) - rank(b) })
		cases := 0
		before := s.snapshot(t)
		for _, rt := range sorted {
			row := tenancies[rt.method+" "+rt.path]
			for a := range who {
				for v := range who {
					if v != a {
						cases += s.cross(t, rt, row, who[a], own[a], own[v], stranger(own[v], a))
					}
				}
				if row.quiet && a < len(who)-1 {
					continue // nothing at all may change, whoever asked: it is enough to look once
				}
				after := s.snapshot(t)
				for table, owner := range before.changed(after) {
					if row.audited && (table == "audit" || table == "audit_head") {
						continue
					}
					if row.quiet || !ownedBy(who[a], owner) {
						t.Errorf(
							"%s %s: rows of %s in %s were changed, which are not the caller's",
							rt.method,
							rt.path,
							owner,
							table,
						)
					}
				}
				before = after
			}
		}
		t.Logf("%d cases", cases)
	})
}

func rank(rt route) int {
	if tenancies[rt.method+" "+rt.path].quiet {
		return 0
	}
	return 1
}

// cross runs every case of one route for one pair of partners, each beside its twin with a stranger's ids.
func (s *service) cross(t *testing.T, rt route, row tenancy, who tenant, own, victim, nobody *belongings) (cases int) {
	t.Helper()
	turn := 0
	for _, pl := range row.places {
		spellings := 1
		if pl.spelt {
			spellings = len(victim.users)
		}
		for spelling := range spellings {
			turn++
			for i, prefix := range prefixes {
				if (turn+i)%sized(2, 1) != 0 {
					continue // under the other prefix
				}
				got := s.name(t, rt, prefix, who, pl.fill(own, victim, victim.users[spelling]))
				want := s.name(t, rt, prefix, who, pl.fill(own, nobody, nobody.users[spelling]))
				where := fmt.Sprintf("%s %s, %s, spelling %d", rt.method, prefix+rt.path, pl.name, spelling)
				if got.status >= http.StatusInternalServerError {
					t.Errorf("%s: %d", where, got.status)
				}
				if g, w := comparable(got, victim, nobody), comparable(want, nobody, nobody); g != w {
					t.Errorf("%s: the answer tells that it is another's\n%.400s\ninstead of\n%.400s", where, g, w)
				}
				for _, canary := range victim.canaries {
					sent := pl.fill(own, victim, victim.users[spelling])
					if strings.Contains(got.body+fmt.Sprint(got.header), canary) &&
						!strings.Contains(sent.path+sent.body+fmt.Sprint(sent.header), canary) {
						t.Errorf("%s: the answer holds %q of another partner", where, canary)
					}
				}
				cases++
			}
		}
	}
	return cases
}

// name sends a filled place.
func (s *service) name(t *testing.T, rt route, prefix string, who tenant, c call) answered {
	t.Helper()
	c.method = rt.method
	if strings.HasPrefix(c.path, "?") || c.path == "" {
		c.path = prefix + rt.path + c.path
	} else {
		c.path = prefix + strings.NewReplacer(strings.Split(c.path, "\x00")...).Replace(rt.path)
	}
	if c.header == nil {
		c.header = http.Header{}
	}
	c.header["x-api-key"] = []string{who.APIKey}
	// Sent as it is: the transcripts hold such exchanges against the contract, and here that would take most of the
	// time.
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
	noteSecrets(c)
	return send(t, req)
}

// made are members that are new at each call.
var made = regexp.MustCompile(
	`"(eppKey|keyId|id|assetId|findingId|appointment|secret|apiKey|starts|eventId|publicKeys|tookMs|subscription_id)":("[^"]*"|\[[^\]]*\]|[0-9]+)|/p/enter/[A-Za-z0-9_-]+`,
)

// comparable is all of an answer that may not differ, with the names that were sent replaced by the twin's.
func comparable(a answered, sent, twin *belongings) string {
	header := a.header.Clone()
	for _, own := range []string{"Date", "X-Request-Id", "Content-Length", "Ratelimit"} {
		header.Del(own)
	}
	text := fmt.Sprintf("%d %v %s", a.status, header, a.body)
	from, to := sent.names(), twin.names()
	pairs := make([]string, 0, 2*len(from))
	for i := range from {
		pairs = append(pairs, from[i], to[i])
	}
	return made.ReplaceAllString(strings.NewReplacer(pairs...).Replace(text), `"$1":"*"`)
}

// furnish gives a partner its things through its own requests.
func (s *service) furnish(t *testing.T, who tenant, n int) *belongings {
	t.Helper()
	_, err := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil).UpdatePartner(context.Background(), who.ID, func(p *partner.Partner) {
		p.Settings.RatePerSecond, p.Settings.Burst = 100_000, 100_000 // the clock stands still
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &belongings{
		cpf:    cpfOf(7000 + n),
		mail:   fmt.Sprintf("canario-%d@vazamento.test", n),
		person: fmt.Sprintf("Canário Número %d", n),
		device: fmt.Sprintf(
			"Aparelho canário %d",
			n,
		),
		plan:        fmt.Sprintf("plano-canario-%d", n),
		idempotency: fmt.Sprintf("chave-canario-%d", n),
		pix:         fmt.Sprintf("%08x-e89b-42d3-a456-426614174000", 7000+n),
	}
	b.users = spellings(b.cpf, who.Salt)
	s.plan(t, who, b.plan)
	for _, c := range []call{
		{path: "/cyber/monitoring", body: fmt.Sprintf(`{"value":%q,"type":"email","userHash":%q}`, b.mail, b.users[0])},
		{path: "/cyber/monitoring", body: fmt.Sprintf(`{"value":%q,"type":"cpf","userHash":%q}`, b.cpf, b.users[0]), header: http.Header{"idempotency-key": {b.idempotency}}},
		{path: "/cyber/monitoring/extra", body: fmt.Sprintf(`{"value":%q,"type":"pix_key","userHash":%q}`, b.pix, b.users[0]), header: http.Header{"idempotency-key": {b.idempotency}}},
		{path: "/cyber/case", body: fmt.Sprintf(`{"serviceId":"sv_ajuda_phishing","userHash":%q}`, b.users[0]), header: http.Header{"idempotency-key": {b.idempotency}}},
		{path: "/cyber/epp", body: fmt.Sprintf(`{"operatingSystem":"android","type":"antivirus","deviceName":%q,"userHash":%q}`, b.device, b.users[0])},
		{path: "/subscriptions", body: "[" + subscriptionOf(b, b.plan, "") + "]", header: http.Header{"idempotency-key": {b.idempotency}}},
		{path: "/cyber/advise/" + b.users[0] + "/answers", body: `{"catalogId":"senhas-repetidas","value":"nunca"}`},
	} {
		c.method = http.MethodPost
		if c.header == nil {
			c.header = http.Header{}
		}
		c.header["x-api-key"] = []string{who.APIKey}
		if got := s.do(t, c); got.status != http.StatusOK || strings.Contains(got.body, "failure") {
			t.Fatal(c.path, got.status, got.body)
		}
	}
	return b
}

// spellings are the ways in which one person's hash may be written.
func spellings(cpf, salt string) [3]string {
	d256, d512 := partner.PersonDigests(cpf, salt)
	return [3]string{
		hex.EncodeToString(d256[1:]),
		strings.ToUpper(hex.EncodeToString(d512[1:])),
		base64.RawURLEncoding.EncodeToString(d512[1:]),
	}
}

// breach publishes a breach that holds everybody's address.
func (s *service) breach(t *testing.T, all []*belongings) {
	t.Helper()
	ctx, now := context.Background(), s.Clock.Now()
	err := s.Breaches.InsertBreach(ctx, leak.Record{State: leak.Published, PublishedAt: now, Breach: cyber.Breach{
		Name:     "loja",
		Title:    "Vazamento loja",
		Date:     now.Add(-240 * time.Hour),
		Exposes:  []cyber.Exposed{"email", "password"},
		Kind:     cyber.SourceBreach,
		Verified: true,
		AddedAt:  now,
	}})
	if err != nil {
		t.Fatal(err)
	}
	var prints []leak.Probes
	partners, err := s.Partners.ListPartners(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		for _, p := range partners {
			prints = append(
				prints,
				leak.Probes{
					Partner:      p.ID,
					Fingerprints: []uint64{s.Keys.Fingerprint(byte(identifier.Email), []byte(b.mail))},
				},
			)
		}
	}
	if _, err := s.TellMatched(ctx, "loja", 100, prints...); err != nil {
		t.Fatal(err)
	}
}

// learn asks as the owner for the ids that the service made; all of them and what is personal become canaries.
func (s *service) learn(t *testing.T, who tenant, b *belongings) {
	t.Helper()
	read := func(path string, into any) {
		got := s.as(t, who, http.MethodGet, path, "")
		if err := json.Unmarshal([]byte(got.body), into); err != nil || got.status != http.StatusOK {
			t.Fatal(path, got.status, got.body, err)
		}
	}
	var assets, extras, findings, cases []struct {
		ID string `json:"id"`
	}
	var devices struct {
		List []struct {
			Key  string `json:"eppKey"`
			Name string `json:"deviceName"`
		} `json:"protectedDevices"`
	}
	var events struct {
		List []struct {
			ID string `json:"id"`
		} `json:"events"`
	}
	read("/cyber/monitoring/"+b.users[0], &assets)
	read("/cyber/monitoring/extra/"+b.users[0], &extras)
	read("/cyber/findings/"+b.users[0], &findings)
	read("/cyber/cases/"+b.users[0], &cases)
	read("/cyber/epp", &devices)
	read("/events", &events)
	if len(assets) < 2 || len(extras) == 0 || len(findings) == 0 || len(cases) == 0 || len(devices.List) == 0 ||
		len(events.List) == 0 {
		t.Fatalf(
			"%d values, %d findings, %d devices, %d events: the matrix would compare nothing with nothing",
			len(assets),
			len(findings),
			len(devices.List),
			len(events.List),
		)
	}
	b.asset, b.extra, b.finding, b.kase = assets[0].ID, extras[0].ID, findings[0].ID, cases[0].ID
	b.hook, b.key = s.webhookOf(t, who), s.keyOf(t, who)
	b.erasure = s.erasureOf(t, who, "canario-apagado-"+string(who.ID))
	b.canaries = append(b.names(), string(who.ID), assets[1].ID)
	for _, d := range devices.List {
		if d.Name == b.device {
			b.epp = d.Key
			b.canaries = append(b.canaries, d.Key)
		}
	}
	b.event = events.List[0].ID
	for _, e := range events.List {
		b.canaries = append(b.canaries, e.ID)
	}
}

// stranger has the shape of a partner's things and exists nowhere; each caller meets one of its own, so that what one
// has written under such a name does not change what the next one reads.
func stranger(of *belongings, caller int) *belongings {
	n := 8000 + 10*caller + int(of.mail[len("canario-")]-'0')
	change := func(id string) string { return id[:len(id)-4] + fmt.Sprintf("%04x", n) }
	return &belongings{
		users: spellings(cpfOf(n), "sal de ninguem"),
		cpf:   cpfOf(n),
		mail:  fmt.Sprintf("ninguem-%d@vazamento.test", n),
		person: fmt.Sprintf(
			"Ninguém Número %d",
			n,
		),
		device: fmt.Sprintf("Aparelho ninguem %d", n),
		plan:   fmt.Sprintf("plano-ninguem-%d", n),
		idempotency: fmt.Sprintf(
			"chave-ninguem-%d",
			n,
		),
		asset:   change(of.asset),
		finding: change(of.finding),
		kase:    change(of.kase),
		hook:    change(of.hook),
		key:     change(of.key),
		erasure: change(of.erasure),
		pix: fmt.Sprintf(
			"%08x-e89b-42d3-a456-426614174000",
			n,
		),
		extra: change(of.extra),
		epp:   change(of.epp),
		event: change(of.event),
	}
}

// digests are what the rows of each table are, by whom they belong to; rows of nobody are under "".
type digests map[[2]string]string

// changed yields the tables that are not the same in both, and whose rows differ.
func (d digests) changed(after digests) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for place, was := range d {
			if after[place] != was && !yield(place[0], place[1]) {
				return
			}
		}
		for place := range after {
			if _, before := d[place]; !before && !yield(place[0], place[1]) {
				return
			}
		}
	}
}

// ownedBy tells whether a row's owner, as it stands in the table, is this partner.
func ownedBy(who tenant, owner string) bool {
	return owner == fmt.Sprint(who.ID.Number()) || owner == string(who.ID)
}

// snapshot digests every table.
func (s *service) snapshot(t *testing.T) digests {
	t.Helper()
	tables := `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`
	if s.DB.EngineName() == sqldb.PostgreSQL {
		tables = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`
	}
	all := digests{}
	for _, table := range s.texts(t, tables) {
		rows, err := s.DB.ReadPool().QueryContext(context.Background(), `SELECT * FROM `+table)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		owner := slices.IndexFunc(
			columns,
			func(c string) bool { return c == "partner_id" || table == "tally" && c == "part" },
		)
		lines := map[string][]string{}
		for rows.Next() {
			values := make([]any, len(columns))
			dest := make([]any, len(columns))
			for i := range values {
				dest[i] = &values[i]
			}
			if err := rows.Scan(dest...); err != nil {
				t.Fatal(err)
			}
			if table == "counter" && fmt.Sprint(values[0]) == "cases" {
				continue // one count numbers the cases of all partners, and says nothing of any of them
			}
			whose := ""
			if owner >= 0 {
				whose = fmt.Sprint(values[owner])
			}
			lines[whose] = append(lines[whose], fmt.Sprintf("%x", values))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		for whose, of := range lines {
			slices.Sort(of)
			all[[2]string{table, whose}] = fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(of, "\n"))))
		}
	}
	return all
}

func (s *service) texts(t *testing.T, query string) []string {
	t.Helper()
	rows, err := s.DB.ReadPool().QueryContext(context.Background(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var list []string
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
