package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
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

// pastLeak is a dump that came in so many days ago. Two leaks that share strangers know each other's lines.
type pastLeak struct {
	DaysAgo          int              `json:"daysAgo"`
	Name             string           `json:"name"`
	Title            string           `json:"title"`
	Kind             cyber.SourceKind `json:"kind"`
	Verified         bool             `json:"verified"`
	Columns          []string         `json:"columns"`
	EveryNthCustomer int              `json:"everyNthCustomer"`
	FirstStranger    int              `json:"firstStranger"`
	LastStranger     int              `json:"lastStranger"`
}

// pastMove is what happens to a case so many days after it was opened: take, wait, resolve or cancel.
type pastMove struct {
	Day   int    `json:"day"`
	Do    string `json:"do"`
	Stars int    `json:"stars"`
}

// pastOutage is a time in which the partner's second receiver does not work.
type pastOutage struct {
	FromHoursAgo int `json:"fromHoursAgo"`
	ToHoursAgo   int `json:"toHoursAgo"`
}

// pastClock stands where the past has come to. It only goes forward.
type pastClock struct{ micros atomic.Int64 }

// currentTime returns the time of the past that is being lived.
func (c *pastClock) currentTime() time.Time { return time.UnixMicro(c.micros.Load()) }

// passTime moves the clock on.
func (c *pastClock) passTime(d time.Duration) { c.micros.Add(d.Microseconds()) }

// moveTo moves the clock to a time.
func (c *pastClock) moveTo(t time.Time) { c.micros.Store(max(c.micros.Load(), t.UnixMicro())) }

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

// pastCase is a case, the day on which it was opened and what happens to it.
type pastCase struct {
	cyber.CaseKey
	openedDaysAgo int
	life          []pastMove
	attendant     string
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
	if p.partner, err = a.Partners.GetPartner(ctx, partner.ID(live.PartnerID)); err != nil {
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

// userHash returns the user hash of a person.
func (p *past) userHash(n int) partner.UserHash {
	return partner.UserHash(client.UserHash(makePerson(n).CPF, p.salt))
}

// enrolPeople takes some people in and watches what is theirs.
func (p *past) enrolPeople(ctx context.Context, ago int) error {
	first := p.people
	p.people += 2 + ago*3%5
	var lines strings.Builder
	for n := first; n < p.people; n++ {
		lines.WriteString(subscriptionItem(makePerson(n), p.clock.currentTime().Format("2006-01-02")) + "\n")
	}
	report, err := p.Subscriptions.ImportFile(
		ctx,
		p.partner,
		subscription.NewJSONLines(strings.NewReader(lines.String())),
		false,
		func(r subscription.Reject) error { return fmt.Errorf("line %d is refused: %v", r.Line, r.Problems) },
		func(subscription.ImportReport) {},
	)
	if err != nil {
		return err
	}
	if report.Created != p.people-first {
		return fmt.Errorf("enrolled %d of %d", report.Created, p.people-first)
	}
	for n := first; n < p.people; n++ {
		if err := p.protectPerson(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// protectPerson watches the values of a person; every third person has an antivirus key, too.
func (p *past) protectPerson(ctx context.Context, n int) error {
	who, owner := makePerson(n), cyber.Owner{Partner: p.partner.ID, Mode: p.partner.Mode}
	wanted := []cyber.AssetRequest{
		{Owner: owner, User: p.userHash(n), Type: "email", Value: who.Email},
		{Owner: owner, User: p.userHash(n), Type: "cpf", Value: who.CPF},
	}
	if n%2 == 1 {
		wanted = append(wanted, cyber.AssetRequest{
			Owner: owner,
			User:  p.userHash(n),
			Type:  "phone",
			Value: who.Phone,
		})
	}
	for _, request := range wanted {
		if _, err := p.Monitoring.AddAsset(ctx, request); err != nil {
			return err
		}
	}
	if n%3 == 0 {
		_, err := p.Endpoints.IssueKey(ctx, p.partner.ID, cyber.DeviceRequest{
			User:   p.userHash(n),
			System: cyber.ListSystems()[n%4],
			Name:   "Aparelho de " + who.Name,
		})
		if err != nil {
			return err
		}
	}
	return p.keepScores(ctx, n)
}

// keepScores has the scores of people kept for the day.
func (p *past) keepScores(ctx context.Context, people ...int) error {
	for _, n := range people {
		if _, err := p.persons.ComputeScore(ctx, p.partner.ID, p.userHash(n)); err != nil {
			return err
		}
	}
	return nil
}

// customers returns the enrolled people who are in a leak.
func (l pastLeak) customers(enrolled int) (list []int) {
	for n := l.DaysAgo % l.EveryNthCustomer; n < enrolled; n += l.EveryNthCustomer {
		list = append(list, n)
	}
	return list
}

// leakOf returns the index of the leak that came in so many days ago; -1 when none did.
func (p *past) leakOf(ago int) int {
	return slices.IndexFunc(p.plan.Leaks, func(l pastLeak) bool { return l.DaysAgo == ago })
}

// importLeak imports and matches the day's dump.
func (p *past) importLeak(ctx context.Context, ago int) error {
	i := p.leakOf(ago)
	if i < 0 {
		return nil
	}
	l := p.plan.Leaks[i]
	customers := l.customers(p.people)
	list := slices.Clone(customers)
	for n := l.FirstStranger; n < l.LastStranger; n++ {
		list = append(list, strangers+n)
	}
	path := filepath.Join(p.Config.Data, l.Name+".csv")
	if err := writeTable(path, l.Columns, list); err != nil {
		return err
	}
	defer func() { _ = os.Remove(path) }() // as an upload goes after its import
	inputs, err := intake.ListInputs(ctx, nil, []string{path})
	if err != nil {
		return err
	}
	breach := cyber.Breach{
		Name:     l.Name,
		Title:    l.Title,
		Kind:     l.Kind,
		Verified: l.Verified,
		Source:   "demonstração",
		Exposes:  []cyber.Exposed{leak.Auto},
		Date:     p.clock.currentTime().AddDate(0, 0, -20-5*i).Truncate(24 * time.Hour),
	}
	if _, err := p.Leaks.Foreground.ImportBreach(ctx, intake.Spec{Inputs: inputs, Breach: breach}); err != nil {
		return err
	}
	if _, err := p.Leaks.Foreground.MatchBreach(ctx, breach.Name, func(leak.MatchProgress) {}); err != nil {
		return err
	}
	if err := p.Leaks.Library.LoadPublished(ctx); err != nil { // what is watched from now on is looked up in it at once
		return err
	}
	return p.keepScores(ctx, customers...)
}

// resolveFindings has some people deal with a leak two days after it came in.
func (p *past) resolveFindings(ctx context.Context, ago int) error {
	i := p.leakOf(ago + 2)
	if i < 0 {
		return nil
	}
	for k, n := range p.plan.Leaks[i].customers(p.people) {
		if k%3 != 0 {
			continue
		}
		user := p.userHash(n)
		found, err := p.Monitoring.ListFindings(ctx, p.partner.ID, user)
		if err != nil {
			return err
		}
		for _, f := range found {
			done := string(cyber.ResolvedPasswordChanged)
			if err := p.Monitoring.ResolveFinding(ctx, p.partner.ID, user, f.ID, done); err != nil {
				return err
			}
		}
		if err := p.keepScores(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// openCases opens those of the day.
func (p *past) openCases(ctx context.Context, ago int) error {
	answer := cyber.TriageAnswer{
		Question: p.plan.Question,
		Answer:   p.plan.Answer,
		JSON:     fmt.Sprintf(`{"question":%q,"answer":%q}`, p.plan.Question, p.plan.Answer),
	}
	for range 1 + ago%3 {
		i := len(p.cases)
		user := p.userHash(i * 3 % p.people)
		opened, err := p.Cases.OpenCase(ctx, p.partner.ID, cyber.CaseRequest{
			Service: p.plan.Services[i%len(p.plan.Services)],
			User:    user,
			Answers: []cyber.TriageAnswer{answer},
		})
		if err != nil {
			return err
		}
		p.cases = append(p.cases, pastCase{
			CaseKey:       cyber.CaseKey{ID: opened.ID, Partner: p.partner.ID, User: user},
			openedDaysAgo: ago,
			life:          p.plan.CaseLives[i%len(p.plan.CaseLives)],
			attendant:     p.plan.Staff[i%len(p.plan.Staff)],
		})
		if err := p.deliverDue(ctx); err != nil {
			return err
		}
		p.clock.passTime(7 * time.Minute)
	}
	return nil
}

// workOnCases makes the moves of all cases that are due at their age in days.
func (p *past) workOnCases(ctx context.Context, ago int) error {
	for _, c := range p.cases {
		for _, move := range c.life {
			if move.Day != c.openedDaysAgo-ago {
				continue
			}
			if err := p.moveCase(ctx, c, move); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *past) moveCase(ctx context.Context, c pastCase, move pastMove) error {
	switch move.Do {
	case "take":
		if _, err := p.Cases.AssignCase(ctx, c.ID, c.attendant); err != nil {
			return err
		}
		note := "Primeiro contato feito."
		if _, err := p.Cases.MoveCase(ctx, c.ID, cyber.CaseInProgress, c.attendant, note); err != nil {
			return err
		}
		reply := "Olá! Já estamos olhando o seu caso. Não clique em links da mensagem que recebeu."
		_, err := p.Cases.AddReply(ctx, c.ID, c.attendant, reply)
		return err
	case "wait":
		_, err := p.Cases.MoveCase(ctx, c.ID, cyber.CaseWaiting, c.attendant, "Pedi os cabeçalhos da mensagem.")
		return err
	case "resolve":
		note := "Senhas trocadas e segunda etapa ligada."
		if _, err := p.Cases.MoveCase(ctx, c.ID, cyber.CaseResolved, c.attendant, note); err != nil {
			return err
		}
		if move.Stars == 0 {
			return nil
		}
		_, err := p.Cases.RateCase(ctx, c.CaseKey, move.Stars, "Obrigada!")
		return err
	case "cancel":
		_, err := p.Cases.CancelCase(ctx, c.CaseKey, "Já resolvi com o banco.")
		return err
	default:
		return fmt.Errorf("demo_past.json: a case cannot %q", move.Do)
	}
}

// pastOutside stands for the partner's systems as they answered then.
type pastOutside struct {
	clock   *pastClock
	today   time.Time
	outages []pastOutage
	asked   atomic.Int64
}

// isDown reports whether a system does not work.
func (o *pastOutside) isDown(path string) bool {
	ago := o.today.Sub(o.clock.currentTime())
	return path == brokenPath && slices.ContainsFunc(o.outages, func(out pastOutage) bool {
		return ago < time.Duration(out.FromHoursAgo)*time.Hour && ago > time.Duration(out.ToHoursAgo)*time.Hour
	})
}

// RoundTrip answers after the time that a server takes.
func (o *pastOutside) RoundTrip(req *http.Request) (*http.Response, error) {
	_ = req.Body.Close() // what it says is of no interest here
	n := o.asked.Add(1)
	o.clock.passTime(time.Duration(80+n*37%240) * time.Millisecond)
	status, answer := http.StatusOK, "ok"
	if o.isDown(req.URL.Path) {
		status, answer = http.StatusServiceUnavailable, "em manutenção"
	}
	return &http.Response{
		StatusCode: status,
		Header:     http.Header{},
		Body:       io.NopCloser(strings.NewReader(answer)),
		Request:    req,
	}, nil
}

// pastPatience is how long deliveries are waited for that do not come: those of a receiver that failed too often wait
// for an hour that the past may not reach.
const pastPatience = 40 * time.Millisecond

// deliverDue sends what is due, as a worker does.
func (p *past) deliverDue(ctx context.Context) error {
	due, err := p.Store.Alerts.DueEndpoints(ctx)
	if err != nil || len(due) == 0 {
		return err
	}
	d := alert.NewDispatcher(
		p.Store.Alerts,
		&http.Client{Transport: p.outside},
		p.clock.currentTime,
		slog.New(slog.DiscardHandler),
		alert.DispatcherOptions{
			Poll:    5 * time.Millisecond,
			NextTry: webhook.NewSchedule(func() float64 { return 0.5 }).NextAttempt,
		},
	)
	running, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		d.Run(running)
		close(over)
	}()
	defer func() {
		stop()
		<-over
	}()
	asked, quiet := p.outside.asked.Load(), time.Now()
	for len(due) > 0 && ctx.Err() == nil && time.Since(quiet) < pastPatience {
		time.Sleep(2 * time.Millisecond)
		p.clock.passTime(20 * time.Millisecond) // the dispatcher looks at its own clock to look again
		if n := p.outside.asked.Load(); n != asked {
			asked, quiet = n, time.Now()
		}
		if due, err = p.Store.Alerts.DueEndpoints(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}
