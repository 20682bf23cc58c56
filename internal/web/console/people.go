package console

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
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
		if leak.Severity == "" || slices.Index(cyber.Severities(), f.Severity) > slices.Index(
			cyber.Severities(), leak.Severity) {
			leak.Severity = f.Severity
		}
	}
}

// newestFirst is how many lines of each kind a person's page shows; their export has all.
const newestFirst = 100

// parsePerson returns the partner and the person that the address refers to.
func (c *Console) parsePerson(r *request) (partner.Partner, subject.Person, error) {
	p, err := c.Rules.Partners.GetPartner(r.Context(), partnerOf(r))
	if err != nil {
		return partner.Partner{}, subject.Person{}, err
	}
	who, err := c.Rules.Subjects.FindReferred(r.Context(), p.ID, r.PathValue("ref"))
	return p, who, err
}

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
	if err != nil {
		return nil, err
	}
	return view{"person", "Pessoa de " + p.Name, page}, nil
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
		return personPage{}, err
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
		return personPage{}, err
	}
	var cases []cyber.Case
	for _, one := range slices.Backward(held.Cases) {
		cases = append(cases, one.Case)
	}
	page.Cases = c.newTickets(v, cases, page.Services, []partner.Partner{p})
	for _, d := range slices.Backward(held.Devices) {
		page.Devices = append(page.Devices, devicePage{Device: d, State: d.KeyStateAt(c.Now())})
	}
	page.Cover, _, err = c.Rules.Cover.ListCover(ctx, partner.Caller{Partner: p.ID, Mode: p.Mode}, who.User)
	if err != nil && !errors.Is(err, cyber.ErrCoverageNotFound) {
		return personPage{}, err
	}
	if n := len(held.Scores); n > 0 {
		page.Score = &held.Scores[n-1]
	}
	if c.Rules.Persons != nil { // as the person's own page has it: the day's last score may be of this morning
		now, err := c.Rules.Persons.ComputeScore(ctx, p.ID, who.User)
		if err != nil {
			return personPage{}, err
		}
		page.Score = &cyber.ScoreDay{
			Breach:     int64(math.Round(now.Breach * 10)),
			Assessment: int64(math.Round(now.Assessment * 10)),
		}
	}
	page.BreachTurn, page.HabitsTurn, page.HasTurn = scoreTurns(held.Scores, page.Score, c.Now())
	page.Timeline, err = c.newTimeline(ctx, page, looked[:min(len(looked), newestFirst)], only)
	if err != nil {
		return personPage{}, err
	}
	reveals, err := c.currentReveals(ctx, v.who.ID)
	page.Reveal = reveals[page.Ref]
	return page, err
}

// scoreLine is how a score went, drawn as a line of steps in a box of scoreWidth by scoreHeight.
type scoreLine struct {
	Breach, Assessment string
	From, To           time.Time
	// Ticks are the words below the line: its first day, the one in the middle, and today.
	Ticks []string
	// Days are the last of each month, or all of them when they are few, the newest first.
	Days []cyber.ScoreDay
}

const (
	scoreWidth, scoreHeight = 300, 100
	scoreTop                = 1000 // a score of 100, in tenths
	// mostScoreDays is up to how many days the table behind the line has each of them.
	mostScoreDays = 31
)

// newScoreLine draws a person's days: a day without a line has the score of the one before.
func newScoreLine(days []cyber.ScoreDay, now time.Time) scoreLine {
	if len(days) == 0 {
		return scoreLine{}
	}
	today := partner.DayNumber(now)
	first, last := days[0].Day, max(today, days[0].Day+1)
	l := scoreLine{From: days[0].Date(), To: now}
	layout := "02/01"
	if last-first > 120 {
		layout = "01/2006"
	}
	for _, day := range []int64{first, (first + last) / 2, last} {
		l.Ticks = append(l.Ticks, cyber.ScoreDay{Day: min(day, today)}.Date().Format(layout))
	}
	l.Ticks = slices.Compact(l.Ticks)
	for i, d := range days {
		isLastOfMonth := i == len(days)-1 || days[i+1].Date().Month() != d.Date().Month()
		if len(days) <= mostScoreDays || isLastOfMonth {
			l.Days = append(l.Days, d)
		}
	}
	slices.Reverse(l.Days)
	draw := func(of func(cyber.ScoreDay) int64) string {
		var path []byte
		y := func(d cyber.ScoreDay) int64 { return scoreHeight - of(d)*scoreHeight/scoreTop }
		for i, d := range days {
			x := (d.Day - first) * scoreWidth / (last - first)
			if i > 0 {
				path = appendPoint(path, x, y(days[i-1]))
			}
			path = appendPoint(path, x, y(d))
		}
		return string(appendPoint(path, scoreWidth, y(days[len(days)-1])))
	}
	l.Breach = draw(func(d cyber.ScoreDay) int64 { return d.Breach })
	l.Assessment = draw(func(d cyber.ScoreDay) int64 { return d.Assessment })
	return l
}

// scoreTurns returns by how much the scores of now differ from those of 30 days ago, and whether so old a day is known.
func scoreTurns(days []cyber.ScoreDay, now *cyber.ScoreDay, at time.Time) (breach, assessment int64, isKnown bool) {
	before := partner.DayNumber(at) - defaultPeriod
	for _, d := range slices.Backward(days) {
		if d.Day <= before && now != nil {
			return now.Breach - d.Breach, now.Assessment - d.Assessment, true
		}
	}
	return 0, 0, false
}

func appendPoint(path []byte, x, y int64) []byte {
	return append(strconv.AppendInt(append(strconv.AppendInt(path, x, 10), ','), y, 10), ' ')
}

// personNamed reads a person from the address, or from a form: a POST, so that the hash stands in no address, history
// or log.
func (c *Console) personNamed(r *request) (partner.Partner, subject.Person, error) {
	if r.PathValue("ref") != "" {
		return c.parsePerson(r)
	}
	user, err := partner.ParseUserHash("user_hash", r.trimmedField("user_hash"))
	if err != nil {
		return partner.Partner{}, subject.Person{}, err
	}
	p, err := c.Rules.Partners.GetPartner(r.Context(), partner.ID(r.trimmedField("partner")))
	return p, subject.Person{User: user, Partner: p.ID}, err
}

// findPerson redirects to the page of the person that the form names.
func findPerson(c *Console, r *request) (answer, error) {
	p, who, err := c.personNamed(r)
	if err != nil {
		return nil, err
	}
	if err := c.recordAction(r, "search", c.Rules.Subjects.Reference(who), "user hash"); err != nil {
		return nil, err
	}
	return redirect{to: c.personPath(p.ID, who.User)}, nil
}

// watchValue adds a value of a kind that partners do not add themselves.
func watchValue(c *Console, r *request) (answer, error) {
	p, who, err := c.personNamed(r)
	if err != nil {
		return nil, err
	}
	asked := cyber.AssetRequest{
		Owner: cyber.Owner{Partner: p.ID, Mode: p.Mode},
		User:  who.User,
		Group: cyber.OperatorAdds,
		Type:  r.trimmedField("type"),
		Value: r.trimmedField("value"),
	}
	next := redirect{c.personPath(p.ID, who.User), "asset.added"}
	return c.changeAndRedirect(r, "asset.add", next, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Monitoring.AddAsset(ctx, asked)
		return in.Subjects.Reference(who), asked.Type, err
	})
}

// openCaseForPerson opens a case in the name of a person who calls.
func openCaseForPerson(c *Console, r *request) (answer, error) {
	p, who, err := c.parsePerson(r)
	if err != nil {
		return nil, err
	}
	asked := cyber.CaseRequest{Service: cyber.ServiceID(r.trimmedField("service")), User: who.User}
	var opened cyber.Case
	err = c.changeWithAudit(r, "case.open", func(ctx context.Context, in *Rules) (string, string, error) {
		var err error
		opened, err = in.Cases.OpenCaseByPhone(ctx, p.ID, asked)
		return string(opened.ID), string(p.ID), err
	})
	if err != nil {
		return nil, err
	}
	return redirect{joinPath("cases", string(opened.ID)), "case.opened"}, nil
}

// newSubjectsPage returns the page with the partners to choose from and the form filled in as it was sent.
func (c *Console) newSubjectsPage(r *request) (subjectsPage, error) {
	all, err := c.Rules.Partners.ListPartners(r.Context())
	if err != nil {
		return subjectsPage{}, err
	}
	page := subjectsPage{
		Partners: all,
		CPF:      r.PostForm.Get("cpf"),
		User:     r.PostForm.Get("user_hash"),
		Partner:  cmp.Or(r.PostForm.Get("partner"), string(r.scope.at.ID)),
	}
	if page.Partner != "" {
		page.Open, err = c.gatherOpenErasures(r.Context(), partner.ID(page.Partner))
	}
	return page, err
}

// personPath returns the path of the page about one of a partner's people.
func (c *Console) personPath(id partner.ID, user partner.UserHash) string {
	return joinPath("people", string(id), c.referenceOf(id, user))
}
