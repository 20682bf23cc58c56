package api

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// shown is what a partner sees of a difference: a status and a part of the answer.
type shown struct {
	status int
	text   string
}

// TestSandboxDiffers shows each point in which a sandbox is treated otherwise: the same request of both partners, and
// what each of them gets. A point without a proof here fails, and so does a proof of something that is no point.
func TestSandboxDiffers(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		_, err := cyber.NewCases(s.Store.Cases, s.Clock.Now).AddFreeSlots(t.Context(), "sv_ajuda_phishing", "", []time.Time{s.Clock.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		// A service with the built-in passwords only, without a public address, that is asked from another machine.
		server, lib, reload := withLibrary(t, s)
		if err := lib.EnsureDefault(t.Context()); err != nil {
			t.Fatal(err)
		}
		reload()
		server.PageURL = ""
		s.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			outside := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8080}
			server.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, outside)))
		})
		monitor := func(kind, value string) func(who tenant) shown {
			return func(who tenant) shown {
				got := s.as(
					t,
					who,
					http.MethodPost,
					"/v1/cyber/monitoring",
					fmt.Sprintf(`{"type":%q,"value":%q,"userHash":"pessoa-%s"}`, kind, value, kind),
				)
				return shown{got.status, ""}
			}
		}
		proofs := map[partner.Difference]struct {
			ask           func(who tenant) shown
			live, sandbox shown
		}{
			partner.TestKeys: {
				func(who tenant) shown { return shown{0, who.APIKey[:8]} },
				shown{0, "vg_live_"},
				shown{0, "vg_test_"},
			},
			partner.AnyCheckDigits: {monitor("credit_card", "4111111111111112"), shown{400, ""}, shown{200, ""}},
			partner.NewPlans: {func(who tenant) shown {
				got := s.as(
					t,
					who,
					http.MethodPost,
					"/v1/subscriptions",
					"["+strings.Replace(itemOf(1, ""), `"plan_id":"p"`, `"plan_id":"nunca-visto"`, 1)+"]",
				)
				return shown{got.status, got.body[:strings.Index(got.body, ",")]}
			}, shown{200, `{"result":"failure"`}, shown{200, `{"result":"success"`}},
			partner.DemoCover: {func(who tenant) shown {
				return shown{s.as(t, who, http.MethodGet, "/v1/cyber/insurance/sem-plano", "").status, ""}
			}, shown{404, ""}, shown{200, ""}},
			partner.SamplePasswords: {func(who tenant) shown {
				got := s.as(t, who, http.MethodPost, passwordPath, prefixOf("password"))
				return shown{got.status, ""}
			}, shown{503, ""}, shown{200, ""}},
			partner.Unpaced: {monitor("cpf", "52998224725"), shown{400, ""}, shown{200, ""}},
			partner.MadeUpStock: {func(who tenant) shown {
				var service struct{ Slots []string }
				got := s.as(t, who, http.MethodGet, "/v1/cyber/services/sv_ajuda_phishing", "")
				mustDecode(t, got, &service)
				return shown{len(service.Slots), ""}
			}, shown{1, ""}, shown{len(cyber.SandboxTimes(s.Clock.Now())), ""}},
			partner.MagicValues: {func(who tenant) shown {
				monitor("email", "ana@vazamento.test")(who)
				var list []struct{ Status string }
				mustDecode(t, s.as(t, who, http.MethodGet, "/v1/cyber/monitoring/pessoa-email", ""), &list)
				return shown{0, list[0].Status}
			}, shown{0, "monitorado"}, shown{0, "comprometido"}},
			partner.LocalLinks: {func(who tenant) shown {
				monitor("email", "elo@exemplo.com.br")(who)
				return shown{
					s.as(t, who, http.MethodPost, "/v1/cyber/portal-session", `{"userHash":"pessoa-email"}`).status,
					"",
				}
			}, shown{503, ""}, shown{200, ""}},
			partner.MovableClock: {func(who tenant) shown {
				return shown{s.as(t, who, http.MethodPost, "/v1/sandbox/clock", `{"days":1}`).status, ""}
			}, shown{404, ""}, shown{200, ""}},
		}
		for _, d := range partner.Differences {
			p, ok := proofs[d]
			if !ok {
				t.Errorf("nothing shows %q", d)
				continue
			}
			if got := p.ask(s.Live); got != p.live {
				t.Errorf("%s: a live partner gets %v, want %v", d, got, p.live)
			}
			if got := p.ask(s.Sandbox); got != p.sandbox {
				t.Errorf("%s: a sandbox gets %v, want %v", d, got, p.sandbox)
			}
			delete(proofs, d)
		}
		if len(proofs) > 0 {
			t.Errorf("these are no differences: %v", proofs)
		}
	})
}

// TestSandboxClock: days pass for one sandbox alone. What it has becomes older, its API keys end in time, and a live
// partner is untouched.
func TestSandboxClock(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.plan(t, s.Live, "p")
		for _, who := range []tenant{s.Live, s.Sandbox} {
			if got := s.as(t, who, http.MethodPost, "/v1/subscriptions", "["+itemOf(1, "")+"]"); !strings.Contains(got.body, `"total_created_items":1`) {
				t.Fatal(got.body)
			}
		}
		start := func(who tenant) string {
			var sub struct {
				Start string `json:"start_date"`
			}
			mustDecode(t, s.as(t, who, http.MethodGet, "/v1/subscriptions/p/"+cpfOf(1), ""), &sub)
			return sub.Start
		}
		live, before := start(s.Live), start(s.Sandbox)
		key := s.eppKeyOf(t, s.Sandbox, hashOf("relogio"))
		var made struct{ APIKey string }
		expires := s.Clock.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)
		s.as(t, s.Sandbox, http.MethodPost, "/v1/keys", `{"scopes":["cyber:read"],"expiresAt":"`+expires+`"}`).into(t, &made)
		secret(made.APIKey)
		ends := s.Sandbox.holding(made.APIKey)
		valid := func() time.Time {
			var detail struct{ ValidUntil time.Time }
			mustDecode(t, s.as(t, s.Sandbox, http.MethodGet, "/v1/cyber/epp/"+key, ""), &detail)
			return detail.ValidUntil
		}
		until := valid()
		for body, want := range map[string]int{`{"days":0}`: 400, `{"days":-1}`: 400, `{"days":401}`: 400, `{}`: 400, `{"days":3}`: 200} {
			if got := s.as(t, s.Sandbox, http.MethodPost, "/v1/sandbox/clock", body); got.status != want {
				t.Errorf("%s: %d %s", body, got.status, got.header.Get(detailHeader))
			}
		}
		earlier := func(text string) string {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				t.Fatal(err)
			}
			return at.AddDate(0, 0, -3).UTC().Format("2006-01-02T15:04:05.000Z")
		}
		if got := start(s.Sandbox); got != earlier(before) {
			t.Errorf("the sandbox's subscription began at %s, before the clock moved at %s", got, before)
		}
		if got := valid(); !got.Equal(until.Add(-72 * time.Hour)) {
			t.Errorf("the key ends at %s, before at %s", got, until)
		}
		if got := start(s.Live); got != live {
			t.Errorf("a live partner's subscription moved from %s to %s", live, got)
		}
		if got := s.as(t, ends, http.MethodGet, "/v1/cyber/services", ""); got.status != http.StatusForbidden {
			t.Errorf("an API key whose end has come: %d", got.status)
		}
	})
}
