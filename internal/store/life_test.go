package store_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
)

// everywhere finds every value in one breach.
type everywhere struct{ cyber.Unasked }

func (everywhere) ProbeFingerprint(uint64) cyber.Sighting {
	return cyber.Sighting{Epoch: 1 << 40, Breaches: []cyber.Seen{{Breach: "sandbox"}}}
}

// human is a made-up person who uses everything.
type human struct {
	n    int
	cpf  string
	user partner.UserHash
}

// cpfOf gives a person's number two right check digits.
func cpfOf(n int) string {
	d := fmt.Sprintf("%09d", 100_000_000+n*7919%800_000_000)
	for len(d) < 11 {
		sum := 0
		for i, c := range d {
			sum += int(c-'0') * (len(d) + 1 - i)
		}
		d += fmt.Sprint((sum * 10 % 11) % 10)
	}
	return d
}

// lives is a partner with people who have done everything that the service offers.
type lives struct {
	*storetest.Env
	partner partner.Partner
	salt    string
	people  []human
}

const livesPlan = plan.ID("ouro")

func newLives(t *testing.T, e *storetest.Env, people int) *lives {
	t.Helper()
	ctx := context.Background()
	p, cred := e.NewPartner(t, partner.Live)
	w := &lives{Env: e, partner: p, salt: cred.Salt}
	if err := e.Plans.InsertPlan(
		ctx,
		p.ID,
		plan.Plan{ID: livesPlan, Partner: p.ID, Name: "Ouro", Coverage: plan.DemoCoverage(), CreatedAt: e.Clock.Now()},
	); err != nil {
		t.Fatal(err)
	}
	if err := cyber.NewServices(e.Store.Services, e.Clock.Now).SeedServices(ctx); err != nil {
		t.Fatal(err)
	}
	endpoints := alert.NewEndpoints(e.Store.Alerts, e.Clock.Now, nil)
	_, err := endpoints.CreateEndpoint(ctx, p.ID, "http://127.0.0.1:9/", nil, loopback)
	if err != nil {
		t.Fatal(err)
	}
	for n := range people {
		w.people = append(w.people, w.live(t, n))
	}
	if people > 0 {
		w.deliver(t)
	}
	return w
}

// live takes a person through the service.
func (w *lives) live(t *testing.T, n int) human {
	t.Helper()
	ctx, id := context.Background(), w.partner.ID
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	h := human{n: n, cpf: cpfOf(n)}
	_, d512 := partner.PersonDigests(h.cpf, w.salt)
	h.user = partner.UserHash(hex.EncodeToString(d512[1:]))
	sub := person(n, livesPlan, "", 0)
	sub.Beneficiary.CPF = h.cpf
	enrolAll(t, w.Env, id, sub)
	watch := cyber.NewMonitoring(w.Store.Monitoring, w.Store.Partners, everywhere{}, w.Keys.Fingerprint, w.Clock.Now)
	owner := cyber.Owner{Partner: id, Mode: partner.Live}
	for _, v := range [][2]string{{"email", fmt.Sprintf("p%d@exemplo.com.br", n)}, {"cpf", h.cpf}} {
		_, err := watch.AddAsset(ctx, cyber.AssetRequest{Owner: owner, User: h.user, Type: v[0], Value: v[1]})
		must(err)
	}
	found, err := watch.ListFindings(ctx, id, h.user)
	must(err)
	_, err = watch.MarkPlanStep(ctx, id, h.user, found[0].ID, "expect-scams", cyber.StepDone)
	must(err)
	device, err := cyber.NewEndpoints(w.Store.Devices, w.Clock.Now, nil).IssueKey(ctx, id, cyber.DeviceRequest{
		User:   h.user,
		System: cyber.Android,
		Name:   fmt.Sprint("Celular ", n),
	})
	must(err)
	cases := cyber.NewCases(w.Store.Cases, w.Clock.Now)
	opened, err := cases.OpenCase(ctx, id, cyber.CaseRequest{Service: "sv_ajuda_phishing", User: h.user})
	must(err)
	_, err = cases.MoveCase(ctx, opened.ID, cyber.CaseInProgress, "op_1", fmt.Sprint("ligar para a pessoa ", n))
	must(err)
	must(w.Advice.KeepAnswer(ctx, id, h.user, "q", "sim"))
	must(w.Advice.KeepScore(ctx, id, h.user, cyber.ScoreDay{
		Day:        partner.DayNumber(w.Clock.Now()),
		Breach:     50,
		Assessment: 40,
	}))
	_, _, err = w.Answers.AnswerOnce(ctx, id, partner.RequestClaim{
		Path:   "/subscriptions",
		Key:    fmt.Sprint("k", n),
		Digest: []byte{byte(n)},
		About:  h.user,
	}, func(tx store.Tx) (partner.Answer, error) {
		const body = `{"not_created_items":[{"cpf":%q,"message":"x"}],"key":%q,"n":%d}`
		return partner.Answer{
			Status: 200,
			Body:   fmt.Appendf(nil, body, h.cpf, device.Key, n),
		}, nil
	})
	must(err)
	return h
}

// deliver tries every pending delivery once.
func (w *lives) deliver(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	endpoints, err := w.Alerts.ListEndpoints(ctx, w.partner.ID)
	if err != nil {
		t.Fatal(err)
	}
	var results []alert.Result
	for i, d := range claim(t, w.Store, w.partner.ID, endpoints[0].ID, 10_000) {
		outcome := &webhook.Outcome{Status: 200, Answer: "recebi " + string(d.Body)}
		if i%3 == 2 { // its try is kept in another place
			outcome.Answer = ""
		}
		results = append(results, alert.Result{
			Delivery: d, At: w.Clock.Now(), Outcome: outcome, State: alert.Delivered, Attempts: 1, Now: w.Clock.Now(),
		})
	}
	if len(results) == 0 {
		t.Fatal("nothing to deliver")
	}
	if err := w.Alerts.RecordResults(ctx, "w", results); err != nil {
		t.Fatal(err)
	}
}

func (h human) who() subject.Person { return subject.Person{CPF: h.cpf} }

// count reads one number.
func (w *lives) count(t *testing.T, query string, args ...any) (n int64) {
	t.Helper()
	if err := w.DB.ReadPool().QueryRowContext(context.Background(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// rows counts all tables that hold something of people.
func (w *lives) rows(t *testing.T) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	for _, table := range strings.Fields(`
		subscription person asset asset_history finding finding_step support_case case_move epp_key
		epp_holder
		content_answer score_day event delivery attempt idempotency`) {
		counts[table] = w.count(t, `SELECT count(*) FROM `+table)
	}
	return counts
}
