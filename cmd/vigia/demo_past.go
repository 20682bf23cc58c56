package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// pastDays is how far back the made-up past reaches.
const pastDays = 30

// pastFixture is what happened in the made-up past: the leaks that came in, the lives of cases, who worked on them and
// when the partner's second receiver was down. People and days follow from their number, see demo_people.go.
//
//go:embed demo_past.json
var pastFixture []byte

// pastPlan is the fixture as it is read.
type pastPlan struct {
	Staff       []string          `json:"staff"`
	Services    []cyber.ServiceID `json:"services"`
	TargetHours int               `json:"targetHours"`
	Question    string            `json:"question"`
	Options     []string          `json:"options"`
	Answer      string            `json:"answer"`
	// ReadyAnswers are texts that the staff keeps at hand.
	ReadyAnswers []cyber.ReadyAnswer `json:"readyAnswers"`
	Leaks        []pastLeak          `json:"leaks"`
	CaseLives    [][]pastMove        `json:"caseLives"`
	Outages      []pastOutage        `json:"outages"`
}

// past plays the fixture by the same rules as a server, on a clock of its own: people are enrolled and watched, dumps
// are imported and matched, cases are opened and worked on, and alerts are sent to the partner's systems.
type past struct {
	*app.App
	plan    pastPlan
	clock   *pastClock
	today   time.Time
	partner partner.Partner
	salt    string
	persons *cyber.Persons
	outside *pastOutside
	people  int // enrolled so far
	cases   []pastCase
}

// remember makes the past once, and tells when it is there.
func (w *world) remember(ctx context.Context, out io.Writer) error {
	if w.secrets.Past {
		return nil
	}
	w.secrets.Past = true // one that was interrupted stays as it is: people meant to see something else
	if err := w.secrets.writeSecrets(w.app.Config.Data); err != nil {
		return err
	}
	began := time.Now()
	p, err := livePast(ctx, w.app.Config, w.secrets.Live, began)
	if ctx.Err() != nil {
		return nil // the demo was stopped meanwhile
	}
	if err != nil {
		return fmt.Errorf("demo: make the past: %w", err)
	}
	_, err = fmt.Fprintf(
		out,
		"\nThe console now shows %d days of a made-up past: %d people, %d leaks, %d cases (made in %.1f s).\n",
		pastDays,
		p.people,
		len(p.plan.Leaks),
		len(p.cases),
		time.Since(began).Seconds(),
	)
	return err
}

// livePast fills the demo with a past: it lets the service run through pastDays on a clock of its own.
func livePast(ctx context.Context, c config.Common, live demoTenant, today time.Time) (_ *past, err error) {
	var plan pastPlan
	if err := json.Unmarshal(pastFixture, &plan); err != nil {
		return nil, fmt.Errorf("read demo_past.json: %w", err)
	}
	clock := &pastClock{}
	clock.moveTo(today.AddDate(0, 0, -pastDays))
	a, err := app.OpenAppAt(ctx, c, sqldb.Options{}, clock.currentTime)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	p := &past{
		App:     a,
		plan:    plan,
		clock:   clock,
		today:   today,
		salt:    live.Salt,
		persons: a.NewPersons(nil),
		outside: &pastOutside{clock: clock, today: today, outages: plan.Outages},
	}
	if p.partner, err = a.Partners.PartnerByID(ctx, partner.ID(live.PartnerID)); err != nil {
		return nil, err
	}
	if err := p.prepareService(ctx); err != nil {
		return nil, err
	}
	for ago := pastDays; ago > 0; ago-- {
		if err := p.livePastDay(ctx, ago); err != nil {
			return nil, fmt.Errorf("%d days ago: %w", ago, err)
		}
	}
	return p, nil
}

// prepareService makes who works on cases, how soon they should be done and what is asked.
func (p *past) prepareService(ctx context.Context) error {
	for _, email := range p.plan.Staff {
		if _, _, err := p.Operators.CreateOperator(ctx, email, operator.Support); err != nil {
			return err
		}
	}
	for _, ready := range p.plan.ReadyAnswers {
		if err := p.Cases.SaveReadyAnswer(ctx, ready); err != nil {
			return err
		}
	}
	for _, service := range p.plan.Services {
		target := time.Duration(p.plan.TargetHours) * time.Hour
		if err := p.Cases.SetTargetTime(ctx, service, target); err != nil {
			return err
		}
		if _, err := p.Cases.AddQuestion(ctx, service, p.plan.Question, false, p.plan.Options); err != nil {
			return err
		}
	}
	return nil
}

// livePastDay lives through one day: from the hour at which the demo was started, for some hours.
func (p *past) livePastDay(ctx context.Context, ago int) error {
	p.clock.moveTo(p.today.AddDate(0, 0, -ago))
	next := p.today.AddDate(0, 0, 1-ago)
	for _, work := range []func(context.Context, int) error{
		p.enrolPeople,
		p.importLeak,
		p.openCases,
		p.workOnCases,
		p.resolveFindings,
	} {
		if err := work(ctx, ago); err != nil {
			return err
		}
		if err := p.deliverDue(ctx); err != nil {
			return err
		}
		p.clock.passTime(time.Hour)
	}
	// While a receiver is down its deliveries are tried again and again, and never later than an hour ago: what the
	// partners do today is not the past's to deliver.
	const pause = 3 * time.Hour
	for p.outside.isDown(brokenPath) && p.clock.currentTime().Before(next.Add(-pause-time.Hour)) {
		p.clock.passTime(pause)
		if err := p.deliverDue(ctx); err != nil {
			return err
		}
	}
	return p.Store.Overview.CountFigures(ctx, 0)
}

// pastClock stands where the past has come to. It only goes forward.
type pastClock struct{ micros atomic.Int64 }

// currentTime returns the time of the past that is being lived.
func (c *pastClock) currentTime() time.Time { return time.UnixMicro(c.micros.Load()) }

// passTime moves the clock on.
func (c *pastClock) passTime(d time.Duration) { c.micros.Add(d.Microseconds()) }

// moveTo moves the clock to a time.
func (c *pastClock) moveTo(t time.Time) { c.micros.Store(max(c.micros.Load(), t.UnixMicro())) }
