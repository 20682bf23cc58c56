package console

import (
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
	Cases    []ticket
	Devices  []devicePage
	Cover    []cyber.Entitlement
	Score    *cyber.ScoreDay
	Line     scoreLine
	Looked   []auditRow
	Services []cyber.Service
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

// newestFirst is how many lines of each kind a person's page shows; their export has all.
const newestFirst = 100

// parsePerson returns the partner and the person that the address refers to.
func (c *Console) parsePerson(r *request) (partner.Partner, subject.Person) {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partnerOf(r))
	return p, callRuleWith2(r, c.Rules.Subjects.FindReferred, p.ID, r.PathValue("ref"))
}

// showPerson shows all that is held about a person, masked unless the operator has given a reason recently. The look
// is recorded.
func showPerson(c *Console, r *request) (answer, error) {
	p, who := c.parsePerson(r)
	c.recordAction(r, "person.view", c.Rules.Subjects.Reference(who), "")
	page := c.personPage(r, p, who)
	page.Reveal = c.currentReveals(r)[page.Ref]
	return view{"person", "Pessoa", page}, nil
}

// revealPerson unlocks the page of a person for a while, after the operator's reason is in the audit trail.
func revealPerson(c *Console, r *request) (answer, error) {
	p, who := c.parsePerson(r)
	return c.recordReveal(r, c.Rules.Subjects.Reference(who), redirect{to: c.personPath(p.ID, who.User)})
}

// personPage builds the page of a person from all that is held about them.
func (c *Console) personPage(r *request, p partner.Partner, who subject.Person) personPage {
	held, looked := callRulePair2(r, c.Rules.Subjects.DescribePerson, p, who)
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
	for _, a := range held.Assets {
		values[a.ID] = a.Value
	}
	for _, f := range slices.Backward(held.Findings) {
		page.Findings = append(
			page.Findings,
			personFinding{f, values[f.Asset], exposedLabels(f.Breach.Exposes), cyber.NewFindingPlan(f, held.Steps)},
		)
	}
	page.Services = callRule(r, c.Rules.Services.ListServices)
	cases := mapList(held.Cases, func(one subject.Case) cyber.Case { return one.Case })
	slices.Reverse(cases)
	page.Cases = c.newTickets(r, cases, page.Services, []partner.Partner{p})
	for _, d := range slices.Backward(held.Devices) {
		page.Devices = append(page.Devices, devicePage{Device: d, State: d.KeyStateAt(c.Now())})
	}
	page.Cover, _ = callRulePair2(r, c.Rules.Cover.ListCover, partner.Caller{Partner: p.ID, Mode: p.Mode}, who.User)
	if errors.Is(r.failure, cyber.ErrCoverageNotFound) {
		r.failure = nil // that is no failure of the page
	}
	if n := len(held.Scores); n > 0 {
		page.Score = &held.Scores[n-1]
	}
	if c.Rules.Persons != nil { // as the person's own page has it: the day's last score may be of this morning
		now := callRuleWith2(r, c.Rules.Persons.ComputeScore, p.ID, who.User)
		page.Score = &cyber.ScoreDay{
			Breach:     int64(math.Round(now.Breach * 10)),
			Assessment: int64(math.Round(now.Assessment * 10)),
		}
	}
	slices.Reverse(page.Events)
	page.Events = page.Events[:min(len(page.Events), newestFirst)]
	page.Looked = c.accessRows(r, looked[:min(len(looked), newestFirst)])
	return page
}

// scoreLine is how a score went, drawn as a line of steps in a box of 600 by 120.
type scoreLine struct {
	Breach, Assessment string
	From, To           time.Time
	Days               int
}

const (
	scoreWidth, scoreHeight = 600, 120
	scoreTop                = 1000 // a score of 100, in tenths
)

// newScoreLine draws a person's days: a day without a line has the score of the one before.
func newScoreLine(days []cyber.ScoreDay, now time.Time) scoreLine {
	if len(days) == 0 {
		return scoreLine{}
	}
	first, last := days[0].Day, max(now.Unix()/86400, days[0].Day+1)
	l := scoreLine{From: days[0].Date(), To: now, Days: len(days)}
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

// appendPoint appends a point to the path of an SVG line.
func appendPoint(path []byte, x, y int64) []byte {
	return append(strconv.AppendInt(append(strconv.AppendInt(path, x, 10), ','), y, 10), ' ')
}

// personNamed reads a person from the address, or from a form: a POST, so that the hash stands in no address, history or log.
func (c *Console) personNamed(r *request) (partner.Partner, subject.Person) {
	if r.PathValue("ref") != "" {
		return c.parsePerson(r)
	}
	user, err := partner.ParseUserHash("user_hash", r.trimmedField("user_hash"))
	r.keepFailure(err)
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partner.ID(r.trimmedField("partner")))
	return p, subject.Person{User: user, Partner: p.ID}
}

// findPerson redirects to the page of the person that the form names.
func findPerson(c *Console, r *request) (answer, error) {
	p, who := c.personNamed(r)
	c.recordAction(r, "search", c.Rules.Subjects.Reference(who), "user hash")
	return redirect{to: c.personPath(p.ID, who.User)}, nil
}

// watchValue adds a value of a kind that partners do not add themselves.
func watchValue(c *Console, r *request) (answer, error) {
	p, who := c.personNamed(r)
	kind := r.trimmedField("type")
	return c.changeAndRedirect(
		r,
		"asset.add",
		redirect{c.personPath(p.ID, who.User), "asset.added"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			_, err := in.Monitoring.AddAsset(
				ctx,
				cyber.AssetRequest{
					Owner: cyber.Owner{Partner: p.ID, Mode: p.Mode},
					User:  who.User,
					Group: cyber.OperatorAdds,
					Type:  kind,
					Value: r.trimmedField("value"),
				},
			)
			return in.Subjects.Reference(who), kind, err
		},
	)
}

// openCaseForPerson opens a case in the name of a person who calls.
func openCaseForPerson(c *Console, r *request) (answer, error) {
	p, who := c.parsePerson(r)
	var opened cyber.Case
	c.changeWithAudit(r, "case.open", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		opened, err = in.Cases.OpenCaseByPhone(
			ctx,
			p.ID,
			cyber.CaseRequest{Service: cyber.ServiceID(r.trimmedField("service")), User: who.User},
		)
		return string(opened.ID), string(p.ID), err
	})
	return redirect{joinPath("cases", string(opened.ID)), "case.opened"}, nil
}

// personPath returns the path of the page about one of a partner's people.
func (c *Console) personPath(id partner.ID, user partner.UserHash) string {
	return joinPath("people", string(id), c.referenceOf(id, user))
}
