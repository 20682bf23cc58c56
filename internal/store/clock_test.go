package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

// TestClockJumps sets the clock forward and back under everything that waits for a time. Times in the database are of
// the clock on the wall, so the clock may make things late; it never makes them early, loses them, or brings back what
// was over.
func TestClockJumps(t *testing.T) {
	const day = 24 * time.Hour
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		for _, jump := range []time.Duration{time.Hour, -time.Hour, day, -day, 400 * day, -400 * day} {
			t.Run(jump.String(), func(t *testing.T) {
				w := &jumper{Env: e, T: t, jump: jump, ctx: context.Background()}
				p, _ := e.NewPartner(t, partner.Live)
				w.partner = p.ID
				for name, check := range map[string]func(){
					"a try":          w.retry,
					"a claim":        w.claim,
					"a job":          w.job,
					"an answer":      w.answer,
					"a session":      w.session,
					"a key":          w.key,
					"a subscription": w.ended,
				} {
					w.what = name
					check()
				}
			})
		}
	})
}

// jumper is one jump and what it is tried on.
type jumper struct {
	*storetest.Env
	*testing.T
	ctx     context.Context
	partner partner.ID
	jump    time.Duration
	what    string
}

func (w *jumper) need(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(w.what, err)
	}
}

// to moves the clock to a time of before the jump; one that has passed stays passed.
func (w *jumper) to(at time.Time) {
	if d := at.Sub(w.Clock.Now()); d > 0 {
		w.Clock.Advance(d)
	}
}

// until says what is so just before a time, and what from it on.
func (w *jumper) until(at time.Time, due func() bool) {
	w.Helper()
	for _, early := range []time.Time{w.Clock.Now(), at.Add(-time.Millisecond)} {
		if w.to(early); w.Clock.Now().Before(at) && due() {
			w.Errorf("%s came before its time", w.what)
		}
	}
	w.to(at)
	if !due() {
		w.Errorf("%s was lost", w.what)
	}
}

func (w *jumper) endpoint() alert.Endpoint {
	w.Helper()
	endpoints := alert.NewEndpoints(w.Store.Alerts, w.Clock.Now, nil)
	e, err := endpoints.CreateEndpoint(w.ctx, w.partner, "https://127.0.0.1/", nil, loopback)
	w.need(err)
	event := alert.NewEvent(w.partner, alert.LeakDetected, "ana", w.Clock.Now(), map[string]string{})
	w.need(w.Alerts.AddEvents(w.ctx, w.partner, event))
	return e
}

func (w *jumper) claims(e alert.Endpoint) []alert.Delivery {
	w.Helper()
	return claim(w.T, w.Store, w.partner, e.ID, 9)
}

// retry: a delivery that failed is tried again at the time that was named, and not before.
func (w *jumper) retry() {
	e := w.endpoint()
	now, list := w.Clock.Now(), w.claims(e)
	next := now.Add(5 * time.Minute)
	w.need(w.Alerts.RecordResults(w.ctx, "w", []alert.Result{
		{
			Delivery: list[0],
			At:       now,
			Outcome:  &webhook.Outcome{Status: 500},
			State:    alert.Pending,
			Attempts: 1,
			NextAt:   next,
			Now:      now,
		},
	}))
	w.Clock.Advance(w.jump)
	w.until(next, func() bool { return len(w.claims(e)) == 1 })
}

// claim: no dispatcher sends a test before its time is over, and the success of whoever sent it counts all the same.
func (w *jumper) claim() {
	e := w.endpoint()
	arrived := func(d alert.Delivery) {
		w.Helper()
		w.need(w.Alerts.RecordResults(w.ctx, "w", []alert.Result{
			{
				Delivery: d,
				At:       w.Clock.Now(),
				Outcome:  &webhook.Outcome{Status: 200},
				State:    alert.Delivered,
				Attempts: 1,
				Now:      w.Clock.Now(),
			},
		}))
	}
	arrived(w.claims(e)[0])
	test := alert.NewEvent(w.partner, alert.WebhookTest, "", w.Clock.Now(), struct{}{})
	until := w.Clock.Now().Add(time.Minute)
	d, err := w.Alerts.ClaimTest(w.ctx, w.partner, e.ID, until, test)
	w.need(err)
	w.Clock.Advance(w.jump)
	w.until(until, func() bool { return len(w.claims(e)) == 1 })
	arrived(d)
	w.Clock.Advance(w.jump)
	w.to(w.Clock.Now().Add(time.Hour))
	if len(w.claims(e)) != 0 {
		w.Error("what arrived was sent again")
	}
}

// job: the same for a job's lease.
func (w *jumper) job() {
	kind := fmt.Sprint("clock", w.jump)
	_, err := w.Jobs.EnqueueJob(w.ctx, kind, "one", nil)
	w.need(err)
	first, err := w.Jobs.ClaimJobs(w.ctx, "w", []string{kind}, 1)
	w.need(err)
	held := w.Clock.Now().Add(job.Lease)
	w.Clock.Advance(w.jump)
	w.until(held, func() bool {
		jobs, err := w.Jobs.ClaimJobs(w.ctx, "x", []string{kind}, 1)
		w.need(err)
		return len(jobs) == 1 && jobs[0].ID == first[0].ID
	})
}

// answer: a repeat within a day of the clock gets the first answer, and the sweep leaves it alone.
func (w *jumper) answer() {
	ran := false
	ask := func() bool {
		ran = false
		_, err := w.Answers.SweepAnswers(w.ctx)
		w.need(err)
		_, _, err = w.Answers.AnswerOnce(
			w.ctx,
			w.partner,
			claimOf("clock", ""),
			func(tx store.Tx) (partner.Answer, error) {
				ran = true
				return partner.Answer{Status: 200}, nil
			},
		)
		w.need(err)
		return ran
	}
	kept := w.Clock.Now().Add(partner.KeepAnswers)
	if !ask() {
		w.Error("the first request did nothing")
	}
	w.Clock.Advance(w.jump)
	w.until(kept, ask)
}

// session: one that was refused stays refused when the clock is set right again, and a clock that was set back does not
// make one live for a day more.
func (w *jumper) session() {
	reg := operator.NewRegistry(w.Store.Operators, noneExposed, w.Clock.Now)
	_, link, err := reg.CreateOperator(w.ctx, fmt.Sprintf("ana%d@exemplo.com.br", w.jump), operator.Admin)
	if err != nil {
		w.Fatal(err)
	}
	_, token, err := reg.AcceptInvitation(w.ctx, link, "girafa amarela no telhado", "192.0.2.7")
	if err != nil {
		w.Fatal(err)
	}
	if _, _, err := reg.ResumeSession(w.ctx, token); err != nil {
		w.Error(err)
	}
	for _, jump := range []time.Duration{w.jump, -w.jump} {
		w.Clock.Advance(jump)
		if _, _, err := reg.ResumeSession(w.ctx, token); !errors.Is(err, operator.ErrNoSession) {
			w.Errorf("after a jump by %v a session lives on: %v", jump, err)
		}
	}
}

// key: one that was revoked stays revoked.
func (w *jumper) key() {
	reg := partner.NewRegistry(w.Store.Partners, w.Clock.Now, nil)
	k, text, err := reg.CreateKey(w.ctx, w.partner, "teste", partner.ContractScopes(), time.Time{})
	w.need(err)
	gate := partner.NewKeyGate(w.Store.Partners, w.Clock.Now)
	_, err = gate.Authenticate(w.ctx, text, partner.ScopeCyberRead)
	w.need(err)
	_, err = reg.RevokeKey(w.ctx, w.partner, k.ID)
	w.need(err)
	for _, jump := range []time.Duration{0, w.jump, -2 * w.jump, w.jump} {
		w.Clock.Advance(jump)
		if _, err := gate.Authenticate(w.ctx, text, partner.ScopeCyberRead); !errors.Is(err, partner.ErrUnauthorised) {
			w.Errorf("after a jump by %v a revoked key works: %v", jump, err)
		}
	}
}

// ended: a subscription that has ended is not brought back.
func (w *jumper) ended() {
	active := func() int64 {
		page, err := w.Subscriptions.ActivePage(w.ctx, w.partner, 0, 1)
		w.need(err)
		return page.Total
	}
	now := w.Clock.Now()
	enrolAll(w.T, w.Env, w.partner, person(1, "ouro", "", subscription.DayInBrazil(now.AddDate(0, 0, 1))))
	if active() != 1 {
		w.Error("the subscription is not there")
	}
	reg := subscription.NewRegistry(w.Store.Subscriptions, w.Store.Plans, w.Store.Partners, w.Clock.Now)
	w.to(now.AddDate(0, 0, 3))
	_, err := reg.SweepExpired(w.ctx)
	w.need(err)
	for _, jump := range []time.Duration{0, w.jump, -2 * w.jump, w.jump} {
		w.Clock.Advance(jump)
		_, err := reg.SweepExpired(w.ctx)
		w.need(err)
		if active() != 0 {
			w.Errorf("after a jump by %v a subscription lives again", jump)
		}
	}
}
