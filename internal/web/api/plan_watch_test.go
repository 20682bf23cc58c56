package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subscription"
)

// watchingPlan makes a plan that watches what its subscriptions name.
func (s *service) watchingPlan(t *testing.T, who tenant, id string, kinds ...identifier.Kind) {
	t.Helper()
	_, err := plan.NewCatalogue(s.Store.Plans, s.Clock.Now).CreatePlan(context.Background(), plan.Plan{
		ID:       plan.ID(id),
		Partner:  who.ID,
		Name:     "Plano " + id,
		Coverage: plan.DemoCoverage(),
		Watch:    plan.NewWatch(kinds...),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// enrolment is an item of a bulk request.
type enrolment struct {
	plan   string
	person int
	email  string
	phone  string
	expiry string
}

// enrol enrols people and returns what the answer says.
func (s *service) enrol(t *testing.T, who tenant, query string, list ...enrolment) (bulkAnswer, answered) {
	t.Helper()
	items := make([]string, len(list))
	for i, e := range list {
		text := itemOf(e.person, "")
		text = strings.Replace(text, `"plan_id":"p"`, fmt.Sprintf(`"plan_id":%q`, e.plan), 1)
		text = strings.Replace(text, `"expiry_date":""`, fmt.Sprintf(`"expiry_date":%q`, e.expiry), 1)
		text = strings.Replace(text, `a@exemplo.com.br`, e.email, 1)
		items[i] = strings.Replace(text, `5511987654321`, e.phone, 1)
	}
	got := s.as(t, who, http.MethodPost, "/v1/subscriptions"+query, "["+strings.Join(items, ",")+"]")
	var answer bulkAnswer
	got.into(t, &answer)
	return answer, got
}

// watchedWire is a value as the contract lists it.
type watchedWire struct {
	ID    string `json:"id"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

// watched returns what is watched for a person, sorted, and the ids of it.
func (s *service) watched(t *testing.T, who tenant, person int) (values []string, ids map[string]string) {
	t.Helper()
	var list []watchedWire
	s.as(t, who, http.MethodGet, "/v1/cyber/monitoring/"+hashMadeOf(cpfOf(person), who), "").into(t, &list)
	ids = map[string]string{}
	for _, w := range list {
		text := w.Type + " " + w.Value
		values = append(values, text)
		ids[text] = w.ID
	}
	slices.Sort(values)
	return values, ids
}

// expectWatched fails unless exactly these values are watched for a person, and the whole database is in order.
func (s *service) expectWatched(t *testing.T, who tenant, when string, person int, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got, _ := s.watched(t, who, person); !slices.Equal(got, want) {
		t.Errorf("%s: %q is watched, want %q", when, got, want)
	}
	for _, check := range s.Store.Upkeep.ListChecks() {
		found := func(p store.Problem) { t.Errorf("%s: %s: %s %s", when, p.Check, p.Where, p.What) }
		if err := check.Run(t.Context(), found, func(int64) {}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPlanWatches: an enrolment in a plan that watches has the values of the person watched, like those that were added
// one by one; an edit replaces them; and they go with the last subscription that names them, unless the partner added
// them by itself.
func TestPlanWatches(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		live := s.Live
		s.unlimited(t, live)
		s.watchingPlan(t, live, "ouro", plan.WatchedKinds...)
		s.watchingPlan(t, live, "prata", identifier.Email)
		s.plan(t, live, "bronze")
		const mail, phone = "ana@exemplo.com.br", "+5511987650001"
		ana := cpfOf(1)
		s.enrol(t, live, "", enrolment{"bronze", 1, mail, phone, ""})
		s.expectWatched(t, live, "a plan that does not watch", 1)
		s.enrol(t, live, "",
			enrolment{"ouro", 1, mail, "5511987650001", ""}, // without the plus
			enrolment{"prata", 1, mail, phone, ""},
			enrolment{"ouro", 2, "bia@exemplo.com.br", phone, ""},
		)
		s.expectWatched(t, live, "enrolled", 1, "cpf "+ana, "email "+mail, "phone "+phone)
		s.expectWatched(t, live, "enrolled", 2, "cpf "+cpfOf(2), "email bia@exemplo.com.br", "phone "+phone)
		waiting, err := s.Store.Monitoring.WaitingLooks(t.Context(), live.ID, time.Time{}, s.Clock.Now())
		if err != nil || waiting != 6 {
			t.Errorf("%d first looks are paced: %v", waiting, err)
		}

		change := func(plan, body string) {
			t.Helper()
			path := "/v1/subscriptions/" + plan + "/" + ana + "/changes"
			if got := s.as(t, live, http.MethodPost, path, body); got.status != http.StatusOK {
				t.Errorf("%s: %d %s", body, got.status, got.body)
			}
		}
		change("ouro", `{"beneficiary":{"email":"nova@exemplo.com.br"}}`)
		s.expectWatched(t, live, "edited, but the other plan names the old address", 1,
			"cpf "+ana, "email "+mail, "email nova@exemplo.com.br", "phone "+phone)
		change("prata", `{"beneficiary":{"email":"NOVA@exemplo.com.br"}}`)
		s.expectWatched(t, live, "edited in both", 1, "cpf "+ana, "email nova@exemplo.com.br", "phone "+phone)
		change("ouro", `{"move":"suspend"}`)
		s.expectWatched(t, live, "suspended", 1, "cpf "+ana, "email nova@exemplo.com.br", "phone "+phone)

		_, ids := s.watched(t, live, 1)
		path := "/v1/cyber/monitoring/" + ids["phone "+phone] + "/" + hashMadeOf(ana, live)
		if got := s.as(t, live, http.MethodDelete, path, ""); got.status != http.StatusOK {
			t.Errorf("delete: %d %s", got.status, got.body)
		}
		s.expectWatched(t, live, "deleted by the partner", 1, "cpf "+ana, "email nova@exemplo.com.br")
		s.expectWatched(t, live, "the other person", 2, "cpf "+cpfOf(2), "email bia@exemplo.com.br", "phone "+phone)
		change("ouro", `{"beneficiary":{"name":"Ana Nova"}}`)
		s.expectWatched(t, live, "an edit of something else", 1, "cpf "+ana, "email nova@exemplo.com.br")
		change("ouro", `{"beneficiary":{"phone_number":"+5521987650002"}}`)
		s.expectWatched(t, live, "a new number", 1, "cpf "+ana, "email nova@exemplo.com.br", "phone +5521987650002")

		s.as(t, live, http.MethodPost, "/v1/cyber/monitoring", addAsset("cpf", ana, hashMadeOf(ana, live)))
		change("ouro", `{"move":"end"}`)
		s.expectWatched(t, live, "one of two ended", 1, "cpf "+ana, "email nova@exemplo.com.br")
		change("prata", `{"move":"end"}`)
		s.expectWatched(t, live, "what was added by itself stays", 1, "cpf "+ana)
		s.enrol(t, live, "", enrolment{"ouro", 1, mail, phone, ""})
		s.expectWatched(t, live, "enrolled again", 1, "cpf "+ana, "email "+mail, "phone "+phone)
	})
}

// TestWatchEndsByDate: the sweep ends the watch; an enrolment in the place of a subscription that is over, but not
// swept yet, keeps what was known of its values; one that is over when it comes watches nothing.
func TestWatchEndsByDate(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		live := s.Live
		s.watchingPlan(t, live, "ouro", plan.WatchedKinds...)
		tomorrow := s.Clock.Now().Add(24 * time.Hour).Format(time.DateOnly)
		const mail, phone = "ana@exemplo.com.br", "+5511987650001"
		s.enrol(t, live, "",
			enrolment{"ouro", 1, mail, phone, tomorrow},
			enrolment{"ouro", 2, mail, phone, tomorrow},
			enrolment{"ouro", 3, mail, phone, "2026-02-02"},
		)
		s.expectWatched(t, live, "over from the beginning", 3)
		_, before := s.watched(t, live, 1)
		s.Clock.Advance(72 * time.Hour)
		if got, _ := s.enrol(t, live, "", enrolment{"ouro", 1, mail, "+5511987650009", ""}); got.Created != 1 {
			t.Errorf("%+v", got)
		}
		s.expectWatched(t, live, "renewed", 1, "cpf "+cpfOf(1), "email "+mail, "phone +5511987650009")
		if _, now := s.watched(t, live, 1); now["email "+mail] != before["email "+mail] {
			t.Error("the value was made anew: what was found of it is lost")
		}
		registry := subscription.NewRegistry(s.Store.Subscriptions, s.Store.Plans, s.Store.Partners, s.Clock.Now)
		if n, err := registry.SweepExpired(t.Context()); err != nil || n != 2 {
			t.Fatal(n, err)
		}
		s.expectWatched(t, live, "swept", 2)
		s.expectWatched(t, live, "in force", 1, "cpf "+cpfOf(1), "email "+mail, "phone +5511987650009")
	})
}

// TestWatchJoinsWhatIsThere: what the partner added before is taken over, under either digest of the person; a person
// with as many values as may be added is watched all the same.
func TestWatchJoinsWhatIsThere(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		live := s.Live
		s.unlimited(t, live)
		s.watchingPlan(t, live, "ouro", plan.WatchedKinds...)
		const mail, phone = "ana@exemplo.com.br", "+5511987650001"
		short := hashMadeOf(cpfOf(1), live)
		s.as(t, live, http.MethodPost, "/v1/cyber/monitoring", addAsset("email", mail, short))
		var many []string
		want := []string{"email " + mail, "cpf " + cpfOf(1), "phone " + phone}
		for i := range 99 {
			value := fmt.Sprintf("a%d@exemplo.com.br", i)
			many = append(many, fmt.Sprintf(`{"type":"email","value":%q,"userHash":%q}`, value, short))
			want = append(want, "email "+value)
		}
		s.as(t, live, http.MethodPost, "/v1/cyber/assets", `{"items":[`+strings.Join(many, ",")+`]}`)
		s.enrol(t, live, "", enrolment{"ouro", 1, mail, phone, ""})
		s.expectWatched(t, live, "enrolled", 1, want...)
		s.as(t, live, http.MethodPost, "/v1/subscriptions/ouro/"+cpfOf(1)+"/changes", `{"move":"end"}`)
		s.expectWatched(t, live, "ended", 1, slices.DeleteFunc(want, func(v string) bool {
			return v == "cpf "+cpfOf(1) || v == "phone "+phone
		})...)
		var n int
		if err := s.DB.ReadPool().QueryRowContext(t.Context(),
			`SELECT count(*) FROM asset WHERE source <> 1`).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d values are left to a subscription: %v", n, err)
		}
	})
}

// TestSandboxPlanFinds: a sandbox partner sees what a plan that watches does: the documented values are found at once.
func TestSandboxPlanFinds(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		who := s.Sandbox
		s.watchingPlan(t, who, "ouro", plan.WatchedKinds...)
		s.enrol(t, who, "", enrolment{"ouro", 1, "ana@vazamento.test", "+5511999990000", ""})
		got := s.as(t, who, http.MethodGet, "/v1/cyber/findings/"+hashMadeOf(cpfOf(1), who), "")
		if n := strings.Count(got.body, `"assetId"`); n != 2 {
			t.Errorf("%d findings: %s", n, got.body)
		}
		long := string(partner.LongUserHash(cpfOf(1), who.Salt))
		if events := s.as(t, who, http.MethodGet, "/v1/events", ""); !strings.Contains(events.body, long) {
			t.Errorf("no event names the person: %s", events.body)
		}
		s.expectWatched(t, who, "found", 1, "cpf "+cpfOf(1), "email ana@vazamento.test", "phone +5511999990000")
	})
}

// TestEnrolmentCountsWatches: the answer says in a header how many values are watched, a dry run how many would be and
// changes nothing, and a repeated request what the first one was told. The body stays that of the contract.
func TestEnrolmentCountsWatches(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		live := s.Live
		s.unlimited(t, live)
		s.watchingPlan(t, live, "ouro", plan.WatchedKinds...)
		s.watchingPlan(t, live, "prata", identifier.Email)
		s.plan(t, live, "bronze")
		list := []enrolment{
			{"ouro", 1, "ana@exemplo.com.br", "+5511987650001", ""},
			{"ouro", 2, "bia@exemplo.com.br", "+5511987650002", ""},
			{"ouro", 2, "bia@exemplo.com.br", "+5511987650002", ""}, // there by then
			{"prata", 3, "eva@exemplo.com.br", "+5511987650003", ""},
			{"bronze", 4, "ivo@exemplo.com.br", "+5511987650004", ""},
		}
		const counted = "email=3, cpf=2, phone=2"
		dry, got := s.enrol(t, live, "?dry_run=true", list...)
		if got.header.Get(watchedHeader) != counted || dry.Created != 4 {
			t.Errorf("dry run: %q %+v", got.header.Get(watchedHeader), dry)
		}
		s.expectWatched(t, live, "dry run", 1)
		real, done := s.enrol(t, live, "", list...)
		if done.header.Get(watchedHeader) != counted || real.Created != 4 || done.body != got.body {
			t.Errorf("%q %s", done.header.Get(watchedHeader), done.body)
		}
		s.expectWatched(t, live, "enrolled", 3, "email eva@exemplo.com.br")
		if _, got := s.enrol(t, live, "", enrolment{"bronze", 5, "u@exemplo.com.br", "+5511987650005", ""}); got.header.
			Values(watchedHeader) != nil {
			t.Error("a plan that watches nothing has the header")
		}
		send := func() answered {
			body := strings.Replace(itemsOf(6, 7), `"plan_id":"p"`, `"plan_id":"ouro"`, 1)
			header := http.Header{"x-api-key": {live.APIKey}, "idempotency-key": {"watch"}}
			return s.do(t, call{method: "POST", path: "/v1/subscriptions", body: body, header: header})
		}
		first, second := send(), send()
		if second.header.Get("idempotency-replayed") != "true" || second.header.Get(watchedHeader) !=
			"email=1, cpf=1, phone=1" || first.header.Get(watchedHeader) != second.header.Get(watchedHeader) {
			t.Errorf("%v, then %v", first.header, second.header)
		}
		s.expectWatched(t, live, "under a key", 6, "cpf "+cpfOf(6), "email a@exemplo.com.br", "phone +5511987654321")
	})
}

// TestWatchesOfOnePartner: what a plan watches belongs to its partner alone: the same person at another partner is
// neither watched by it nor loses anything when it ends.
func TestWatchesOfOnePartner(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		other := s.tenant(t, partner.Live)
		s.watchingPlan(t, s.Live, "ouro", plan.WatchedKinds...)
		s.watchingPlan(t, other, "ouro", identifier.CPF)
		const mail, phone = "ana@exemplo.com.br", "+5511987650001"
		s.enrol(t, s.Live, "", enrolment{"ouro", 1, mail, phone, ""})
		s.expectWatched(t, other, "enrolled elsewhere", 1)
		s.enrol(t, other, "", enrolment{"ouro", 1, mail, phone, ""})
		s.expectWatched(t, other, "enrolled", 1, "cpf "+cpfOf(1))
		_, ids := s.watched(t, s.Live, 1)
		path := "/v1/cyber/monitoring/" + ids["email "+mail] + "/" + hashMadeOf(cpfOf(1), other)
		if got := s.as(t, other, http.MethodDelete, path, ""); got.status != http.StatusNotFound {
			t.Errorf("another partner's value: %d %s", got.status, got.body)
		}
		s.as(t, other, http.MethodPost, "/v1/subscriptions/ouro/"+cpfOf(1)+"/changes", `{"move":"end"}`)
		s.expectWatched(t, other, "ended", 1)
		s.expectWatched(t, s.Live, "ended elsewhere", 1, "cpf "+cpfOf(1), "email "+mail, "phone "+phone)
	})
}
