package console

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

// personPage is everything about a person of one partner, masked without a reveal.
type personPage struct {
	subject.Held
	User partner.UserHash
	Ref  string
	Path string
	// Reveal says since when and why the values are open to who looks; nil while they are masked.
	Reveal *operator.Entry
	// Who is the newest subscription's beneficiary; nil when the partner has no subscription for this userHash.
	Who      *subscription.Beneficiary
	Findings []personFinding
	// Leaks are the open findings by leak, the newest first; Resolved are the others.
	Leaks    []personLeak
	Resolved []personFinding
	Cases    []ticket
	Devices  []devicePage
	Cover    []cyber.Entitlement
	// Looks says for which of the person's values past breaches were looked into.
	Looks cyber.PersonLooks
	Score *cyber.ScoreDay
	Line  scoreLine
	// BreachTurn and HabitsTurn are by how much the scores moved in 30 days, in tenths; HasTurn that this is known.
	BreachTurn, HabitsTurn int64
	HasTurn                bool
	Timeline               timeline
	Services               []cyber.Service
}

// lowRisk is below which a score is low, in tenths: the person's own page has a word for it.
const lowRisk = 333

// IsRiskUnknown reports whether the risk from leaks cannot be told yet: it is low so far, but values wait for their
// first look.
func (p personPage) IsRiskUnknown() bool {
	return p.Looks.Waiting > 0 && p.Score != nil && p.Score.Breach <= lowRisk
}

// Shown reports whether the operator has unlocked the personal values.
func (p personPage) Shown() bool { return p.Reveal != nil }

// personFinding is a finding and what stood in the person's own record.
type personFinding struct {
	cyber.Finding
	Value   string
	Classes []string
	Plan    cyber.Plan
}

// personLeak are a person's open findings of one leak.
type personLeak struct {
	Title, Path string
	Severity    cyber.Severity
	FoundAt     time.Time
	Findings    []personFinding
}

// OpenFindings counts the person's findings that are open.
func (p personPage) OpenFindings() int { return len(p.Findings) - len(p.Resolved) }

// groupByLeak parts findings into those that are open, by leak, and the others. They keep their order; a leak is as
// severe as its worst finding.
func (p *personPage) groupByLeak() {
	at := map[string]int{}
	for _, f := range p.Findings {
		if !f.Open() {
			p.Resolved = append(p.Resolved, f)
			continue
		}
		i, known := at[f.Breach.Name]
		if !known {
			i = len(p.Leaks)
			at[f.Breach.Name] = i
			leak := personLeak{Title: f.Breach.Title, FoundAt: f.FoundAt}
			if f.Breach.Name != cyber.SandboxBreach { // that of a sandbox has no page
				leak.Path = joinPath("breaches", f.Breach.Name)
			}
			p.Leaks = append(p.Leaks, leak)
		}
		leak := &p.Leaks[i]
		leak.Findings = append(leak.Findings, f)
		rank, worst := slices.Index(cyber.Severities(), f.Severity), slices.Index(cyber.Severities(), leak.Severity)
		if leak.Severity == "" || rank > worst {
			leak.Severity = f.Severity
		}
	}
}

// newestFirst is how many lines of each kind a person's page shows; their export has all.
const newestFirst = 100

// showPerson shows all that is held about a person, masked unless the operator has given a reason recently. The look is
// recorded.
func showPerson(c *Console, r *request) (answer, error) {
	p, who, err := c.parsePerson(r)
	if err != nil {
		return nil, err
	}
	if err := c.recordAction(r, "person.view", c.Rules.Subjects.Reference(who), ""); err != nil {
		return nil, err
	}
	page, err := c.gatherPerson(r.Context(), r.viewer, p, who, r.URL.Query().Get("linha"))
	return newView("person", "Pessoa de "+p.Name, page, err)
}

// revealPerson unlocks the page of a person for a while, after the operator's reason is in the audit trail.
func revealPerson(c *Console, r *request) (answer, error) {
	p, who, err := c.parsePerson(r)
	if err != nil {
		return nil, err
	}
	return c.recordReveal(r, c.Rules.Subjects.Reference(who), redirect{to: c.personPath(p.ID, who.User)})
}

func (c *Console) gatherPerson(
	ctx context.Context, v viewer, p partner.Partner, who subject.Person, only string,
) (personPage, error) {
	held, looked, err := c.Rules.Subjects.DescribePerson(ctx, p, who)
	if err != nil {
		return personPage{}, err
	}
	page := personPage{
		Held: held,
		User: who.User,
		Ref:  c.Rules.Subjects.Reference(who),
		Path: c.personPath(p.ID, who.User),
		Line: newScoreLine(held.Scores, c.Now()),
	}
	slices.Reverse(page.Subscriptions)
	if len(page.Subscriptions) > 0 {
		page.Who = &page.Subscriptions[0].Beneficiary
	}
	values := map[cyber.AssetID]string{}
	assets := make([]cyber.Asset, len(held.Assets))
	for i, a := range held.Assets {
		values[a.ID] = a.Value
		assets[i] = a.Asset
	}
	page.Looks, err = c.Rules.FirstLooks.EstimateLooks(ctx, p.ID, p.Settings, cyber.CountLooks(assets))
	if err != nil {
		return page, err
	}
	for _, f := range slices.Backward(held.Findings) {
		page.Findings = append(page.Findings, personFinding{
			Finding: f,
			Value:   values[f.Asset],
			Classes: exposedLabels(f.Breach.Exposes),
			Plan:    cyber.NewFindingPlan(f, held.Steps),
		})
	}
	page.groupByLeak()
	page.Services, err = c.Rules.Services.ListServices(ctx)
	if err != nil {
		return page, err
	}
	var cases []cyber.Case
	for _, one := range slices.Backward(held.Cases) {
		cases = append(cases, one.Case)
	}
	page.Cases = c.newTickets(v, cases, page.Services, map[partner.ID]string{p.ID: p.Name})
	for _, d := range slices.Backward(held.Devices) {
		page.Devices = append(page.Devices, devicePage{Device: d, State: d.KeyStateAt(c.Now())})
	}
	page.Cover, _, err = c.Rules.Cover.ListCover(ctx, partner.Caller{Partner: p.ID, Mode: p.Mode}, who.User)
	if err != nil && !errors.Is(err, cyber.ErrCoverageNotFound) {
		return page, err
	}
	if n := len(held.Scores); n > 0 {
		page.Score = &held.Scores[n-1]
	}
	if c.Rules.Persons != nil { // as the person's own page has it: the day's last score may be of this morning
		now, err := c.Rules.Persons.ComputeScore(ctx, p.ID, who.User)
		if err != nil {
			return page, err
		}
		page.Score = &cyber.ScoreDay{
			Breach:     int64(math.Round(now.Breach * 10)),
			Assessment: int64(math.Round(now.Assessment * 10)),
		}
	}
	page.BreachTurn, page.HabitsTurn, page.HasTurn = scoreTurns(held.Scores, page.Score, c.Now())
	page.Timeline, err = c.newTimeline(ctx, page, looked[:min(len(looked), newestFirst)], only)
	if err != nil {
		return page, err
	}
	reveals, err := c.currentReveals(ctx, v.who.ID)
	page.Reveal = reveals[page.Ref]
	return page, err
}
