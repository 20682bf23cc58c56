package person

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"rsc.io/qr"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/subject"
)

// homePage is where a person stands at one look: the one thing to do now, their risk, their leaks.
type homePage struct {
	Status cyber.Status
	// Next is the first step of the plan; nil when all is done.
	Next *stepView
	Plan planView
	Risk riskView
	// Leaks are the gravest open ones; More is how many others there are.
	Leaks []leakView
	More  int
	// Waiting is a case that waits for the person's answer.
	Waiting *caseView
	// Devices and Protected count the devices that have a key and those that use it.
	Devices, Protected int
}

// homeLeaks is how many leaks the first page names.
const homeLeaks = 3

// showHomePage shows the first page.
func showHomePage(p *Pages, r *request) (answer, error) {
	leaks, err := p.loadLeaks(r)
	if err != nil {
		return nil, err
	}
	page := homePage{Status: cyber.StatusMonitored}
	for _, v := range leaks.Values {
		if v.Status == cyber.StatusCompromised || page.Status == cyber.StatusMonitored {
			page.Status = v.Status
		}
	}
	page.Leaks = leaks.Leaks[:min(leaks.Open, homeLeaks)]
	page.More = leaks.Open - len(page.Leaks)
	if page.Plan, err = p.mergePlans(r); err != nil {
		return nil, err
	}
	if len(page.Plan.Now) > 0 {
		page.Next = &page.Plan.Now[0]
	}
	score, err := p.Rules.Persons.ComputeScore(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	page.Risk = newRiskView(score.Breach)
	names, err := p.serviceNames(r)
	if err != nil {
		return nil, err
	}
	cases, err := p.Rules.Cases.ListPersonCases(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		if c.Status == cyber.CaseWaiting && page.Waiting == nil {
			waiting := newCaseView(r, c, names)
			page.Waiting = &waiting
		}
	}
	devices, err := p.Rules.Endpoints.ListDevices(r.Context(), r.who.ID, r.session.User)
	for _, d := range devices {
		if page.Devices++; d.ProtectsAt(p.Now()) {
			page.Protected++
		}
	}
	return view{"home", "home.title", page}, err
}

// riskView is a score as a meter with a word. Pin is where it stands on a scale of 324.
type riskView struct {
	Score     float64
	Word      string
	Pin       int
	Class     string
	Low       bool
	Mid, High bool
}

// newRiskView judges a score of 0 to 100 by thirds: the larger the worse.
func newRiskView(score float64) riskView {
	v := riskView{Score: score, Word: "risk.low", Class: "low", Pin: 8 + int(score*3.08)}
	switch {
	case score >= 200.0/3:
		v.Word, v.Class, v.High = "risk.high", "high", true
	case score >= 100.0/3:
		v.Word, v.Class, v.Mid = "risk.mid", "mid", true
	default:
		v.Low = true
	}
	return v
}

// showMorePage leads to what does not stand in the bar at the foot of the screen.
func showMorePage(_ *Pages, _ *request) (answer, error) { return view{"more", "menu.more", nil}, nil }

// The days that a page shows, the newest: a table of more is not read on a phone.
const mostDays = 30

// scorePage is a person's risk over time.
type scorePage struct {
	Score cyber.Score
	Risk  riskView
	Days  []scoreDay
	// Breach and Assessment are the points of two lines in a picture of chartWide by chartHigh.
	Breach, Assessment string
	Wide, High         int
	Advice             []mendView
}

// scoreDay is the score of one day.
type scoreDay struct {
	Date               time.Time
	Breach, Assessment float64
}

const (
	chartWide, chartHigh = 320, 120
	// chartMargin keeps the lines' width inside the picture.
	chartMargin = 4
)

// showScore shows the person's score and its course over the latest days.
func showScore(p *Pages, r *request) (answer, error) {
	score, err := p.Rules.Persons.InLanguage(r.lang).ComputeScore(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	days, err := p.Rules.Persons.ScoreHistory(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	page := scorePage{Score: score, Risk: newRiskView(score.Breach), Wide: chartWide, High: chartHigh}
	days = days[max(0, len(days)-mostDays):]
	page.Breach = drawScoreLine(days, p.Now(), func(d cyber.ScoreDay) int64 { return d.Breach })
	page.Assessment = drawScoreLine(days, p.Now(), func(d cyber.ScoreDay) int64 { return d.Assessment })
	for i := len(days) - 1; i >= 0; i-- {
		page.Days = append(page.Days, scoreDay{days[i].Date(), float64(days[i].Breach) / 10, float64(days[i].Assessment) / 10})
	}
	for _, rec := range score.Recommendations {
		page.Advice = append(page.Advice, recommendation(r.lang, rec))
	}
	return view{"score", "score.title", page}, nil
}

// drawScoreLine draws a line of steps, because a score stays what it is until a day on which it changes; it ends today.
func drawScoreLine(days []cyber.ScoreDay, now time.Time, value func(cyber.ScoreDay) int64) string {
	if len(days) == 0 {
		return ""
	}
	first, last := days[0].Day, max(now.Unix()/86400, days[len(days)-1].Day)
	x := func(day int64) int64 {
		return chartMargin + (day-first)*(chartWide-2*chartMargin)/max(last-first, 1)
	}
	y := func(tenths int64) int64 {
		return chartMargin + (1000-tenths)*(chartHigh-2*chartMargin)/1000
	}
	var out strings.Builder
	for i, d := range days {
		if i > 0 {
			fmt.Fprintf(&out, "%d,%d ", x(d.Day), y(value(days[i-1])))
		}
		fmt.Fprintf(&out, "%d,%d ", x(d.Day), y(value(d)))
	}
	fmt.Fprintf(&out, "%d,%d", chartWide-chartMargin, y(value(days[len(days)-1])))
	return out.String()
}

// coverPage is what covers a person.
type coverPage struct{ Covers []coverView }

// coverView is a cover as the page shows it.
type coverView struct {
	Name                   string
	Limit                  int64
	Types                  []string
	Conditions, Exclusions string
	Parts                  []coverPart
	From, Until            time.Time
	WaitingDays            int
}

// coverPart is a limit within a cover for one kind of damage.
type coverPart struct {
	Name  string
	Limit int64
}

// showCover shows the person's covers. A person without one sees an empty page, not an error.
func showCover(p *Pages, r *request) (answer, error) {
	list, _, err := p.Rules.Cover.ListCover(r.Context(), r.partnerCaller(), r.session.User)
	if err != nil && !errors.Is(err, cyber.ErrCoverageNotFound) {
		return nil, err
	}
	var page coverPage
	for _, e := range list {
		v := coverView{
			Name: e.Coverage.Plan, Limit: int64(e.Coverage.Limit), Types: e.Coverage.Types, Conditions: e.Coverage.Conditions,
			Exclusions: e.Coverage.Exclusions, From: e.CoveredFrom(), Until: e.Until, WaitingDays: e.Coverage.WaitingDays,
		}
		for _, l := range e.Coverage.SubLimits {
			v.Parts = append(v.Parts, coverPart{l.Name, int64(l.Limit)})
		}
		page.Covers = append(page.Covers, v)
	}
	return view{"cover", "cover.title", page}, nil
}

// A page shows so many devices: each brings a picture.
const mostDevices = 8

// devicesPage is what is protected, and how to protect it.
type devicesPage struct {
	Devices []deviceView
	More    int
}

// deviceView is a protected device as the page shows it.
type deviceView struct {
	System, Name, Key string
	Until             time.Time
	// Active says that the device reported itself protected, Seen when it last did; Link is where its program comes from.
	Active bool
	Seen   time.Time
	Link   string
	// Code is the key as a picture: the path of its dark squares on a grid of Size.
	Code string
	Size int
}

// systemNames are the same in every language.
var systemNames = map[cyber.System]string{cyber.Android: "Android", cyber.IOS: "iPhone, iPad", cyber.Windows: "Windows", cyber.MacOS: "macOS"}

// showDevices shows the person's devices, at most mostDevices, with their keys and where to install the program from.
func showDevices(p *Pages, r *request) (answer, error) {
	list, err := p.Rules.Endpoints.ListDevices(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	links, err := p.Rules.Endpoints.InstallLinks(r.Context())
	if err != nil {
		return nil, err
	}
	var page devicesPage
	for i, d := range list {
		if i >= mostDevices {
			page.More = len(list) - i
			break
		}
		v := deviceView{System: systemNames[d.System], Name: d.Name, Key: d.Key, Until: d.ValidUntil, Active: d.ProtectsAt(p.Now()), Seen: d.SeenAt, Link: links[d.System]}
		if v.Code, v.Size, err = drawQRCode(d.Key); err != nil {
			return nil, err
		}
		page.Devices = append(page.Devices, v)
	}
	return view{"devices", "devices.title", page}, nil
}

// quiet is the margin that readers need around a code, in squares.
const quiet = 4

// drawQRCode draws a text as a QR code: runs of dark squares, so that it is a few kilobytes of the page and no request of its
// own.
func drawQRCode(text string) (path string, size int, err error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", 0, fmt.Errorf("draw a code: %w", err)
	}
	var out strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&out, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	return out.String(), code.Size + 2*quiet, nil
}

// dataPage is the way to a copy of everything.
type dataPage struct {
	// Allowed is false where the link was asked for with a key that could not read all of it.
	Allowed bool
}

// showDataPage shows what the person may do with their data.
func showDataPage(_ *Pages, r *request) (answer, error) {
	return view{"data", "data.title", dataPage{r.session.Copy}}, nil
}

// actorName is who the audit trail says took a copy.
const actorName = "person"

// downloadCopy hands out everything that is held about the person, in the clear: it is theirs (LGPD, art. 18). It is in the
// audit trail before it is given.
func downloadCopy(p *Pages, r *request) (answer, error) {
	if !r.session.Copy {
		return nil, errNotFound
	}
	if p.copies.TakeToken(r.session.Link) > 0 {
		return nil, errTooMany
	}
	ctx, who := r.Context(), subject.Person{User: r.session.User, Partner: r.who.ID}
	if err := p.Rules.Audit.RecordAction(ctx, operator.Actor{Name: actorName, From: r.from}, "subject.export", p.Rules.Subjects.Reference(who), "by the person, on their page"); err != nil {
		return nil, err
	}
	held, err := p.Rules.Subjects.ExportPerson(ctx, who)
	if err != nil {
		return nil, err
	}
	for i := range held {
		forPerson(&held[i])
	}
	made, write, ending := file{kind: "text/plain; charset=utf-8"}, subject.WriteText, ".txt"
	if r.trimmedField("format") == "json" {
		made.kind, ending, write = "application/json", ".json", subject.WriteJSON
	}
	var b bytes.Buffer
	if err := write(&b, held); err != nil {
		return nil, err
	}
	made.name, made.body = "meus-dados-"+p.Now().In(brazil).Format("2006-01-02")+ending, b.Bytes()
	return made, nil
}

// forPerson removes the operators' internal notes and the card numbers that the partner itself is not shown: the holder of
// any of the partner's keys could otherwise request a link to this page and read them.
func forPerson(h *subject.Held) {
	for i := range h.Cases {
		h.Cases[i].Moves = cyber.ShownToPerson(h.Cases[i].Moves)
	}
	if !h.Partner.Settings.MaskCards {
		return
	}
	for i := range h.Subscriptions {
		b := &h.Subscriptions[i].Beneficiary
		for _, card := range []*string{&b.PrimaryCard, &b.UserCard} {
			if *card != "" {
				*card = identifier.MaskValue(identifier.Card, *card)
			}
		}
	}
}

// normalizeLines returns a text of a form with plain line feeds; browsers send CRLF.
func normalizeLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
