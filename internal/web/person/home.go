package person

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rsc.io/qr"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
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
	leaks := p.loadLeaks(r)
	page := homePage{
		Status: cyber.StatusMonitored,
		Plan:   p.mergePlans(r),
		Risk:   newRiskView(callForPerson(r, p.Rules.Persons.ComputeScore).Breach),
	}
	for _, v := range leaks.Values {
		if v.Status == cyber.StatusCompromised || page.Status == cyber.StatusMonitored {
			page.Status = v.Status
		}
	}
	page.Leaks = leaks.Leaks[:min(leaks.Open, homeLeaks)]
	page.More = leaks.Open - len(page.Leaks)
	if len(page.Plan.Now) > 0 {
		page.Next = &page.Plan.Now[0]
	}
	names := p.serviceNames(r)
	for _, c := range callForPerson(r, p.Rules.Cases.ListPersonCases) {
		if c.Status == cyber.CaseWaiting && page.Waiting == nil {
			waiting := newCaseView(r, c, names)
			page.Waiting = &waiting
		}
	}
	for _, d := range callForPerson(r, p.Rules.Endpoints.ListDevices) {
		if page.Devices++; d.ProtectsAt(p.Now()) {
			page.Protected++
		}
	}
	return view{"home", "home.title", page}, nil
}

// riskView is a score as a meter with a word. Pin is where it stands on a scale of 324.
type riskView struct {
	Score float64
	Class string
	Pin   int
}

// newRiskView judges a score of 0 to 100 by thirds: the larger the worse.
func newRiskView(score float64) riskView {
	v := riskView{Score: score, Class: "low", Pin: 8 + int(score*3.08)}
	if score >= 200.0/3 {
		v.Class = "high"
	} else if score >= 100.0/3 {
		v.Class = "mid"
	}
	return v
}

// Word returns the key of the word for the score.
func (v riskView) Word() string { return "risk." + v.Class }

// showMorePage leads to what does not stand in the bar at the foot of the screen.
func showMorePage(_ *Pages, _ *request) (answer, error) { return view{"more", "menu.more", nil}, nil }

// The days that a page shows, the newest: a table of more is not read on a phone.
const mostDays = 30

// scorePage is a person's risk over time.
type scorePage struct {
	Score cyber.Score
	Risk  riskView
	Days  []cyber.ScoreDay
	// Breach and Assessment are the points of two lines in a picture of chartWide by chartHigh.
	Breach, Assessment string
	Wide, High         int
	Advice             []mendView
}

const (
	chartWide, chartHigh = 320, 120
	// chartMargin keeps the lines' width inside the picture.
	chartMargin = 4
)

// showScore shows the person's score and its course over the latest days.
func showScore(p *Pages, r *request) (answer, error) {
	score := callForPerson(r, p.Rules.Persons.InLanguage(r.lang).ComputeScore)
	days := callForPerson(r, p.Rules.Persons.ScoreHistory)
	page := scorePage{Score: score, Risk: newRiskView(score.Breach), Wide: chartWide, High: chartHigh}
	days = days[max(0, len(days)-mostDays):]
	page.Breach = drawScoreLine(days, p.Now(), func(d cyber.ScoreDay) int64 { return d.Breach })
	page.Assessment = drawScoreLine(days, p.Now(), func(d cyber.ScoreDay) int64 { return d.Assessment })
	slices.Reverse(days)
	page.Days = days
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

// showCover shows the person's covers. A person without one sees an empty page, not an error.
func showCover(p *Pages, r *request) (answer, error) {
	list, _, err := p.Rules.Cover.ListCover(
		r.Context(),
		partner.Caller{Partner: r.who.ID, Mode: r.who.Mode, Settings: r.who.Settings},
		r.session.User,
	)
	if err != nil && !errors.Is(err, cyber.ErrCoverageNotFound) {
		return nil, err
	}
	return view{"cover", "cover.title", list}, nil
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
	cyber.Device
	// Active says that the device reported itself protected; Link is where its program comes from.
	Active bool
	Link   string
	// Code is the key as a picture: the path of its dark squares on a grid of Size.
	Code string
	Size int
}

// SystemName returns what people call the system of the device.
func (d deviceView) SystemName() string { return systemNames[d.System] }

// systemNames are the same in every language.
var systemNames = map[cyber.System]string{
	cyber.Android: "Android",
	cyber.IOS:     "iPhone, iPad",
	cyber.Windows: "Windows",
	cyber.MacOS:   "macOS",
}

// showDevices shows the person's devices, at most mostDevices, with their keys and where to install the program from.
func showDevices(p *Pages, r *request) (answer, error) {
	list, links := callForPerson(r, p.Rules.Endpoints.ListDevices), callRule(r, p.Rules.Endpoints.InstallLinks)
	page := devicesPage{More: max(0, len(list)-mostDevices)}
	for _, d := range list[:len(list)-page.More] {
		v := deviceView{Device: d, Active: d.ProtectsAt(p.Now()), Link: links[d.System]}
		var err error
		v.Code, v.Size, err = drawQRCode(d.Key)
		r.keepFailure(err)
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

// showDataPage shows what the person may do with their data: a link that was asked for with a key that could not read all of it gives
// no copy.
func showDataPage(_ *Pages, r *request) (answer, error) {
	return view{"data", "data.title", r.session}, nil
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
	actor, about := operator.Actor{Name: actorName, From: r.from}, p.Rules.Subjects.Reference(who)
	r.keepFailure(p.Rules.Audit.RecordAction(ctx, actor, "subject.export", about, "by the person, on their page"))
	held := callRule(
		r,
		func(ctx context.Context) ([]subject.Held, error) { return p.Rules.Subjects.ExportPerson(ctx, who) },
	)
	for i := range held {
		forPerson(&held[i])
	}
	made, write, ending := file{kind: "text/plain; charset=utf-8"}, subject.WriteText, ".txt"
	if r.trimmedField("format") == "json" {
		made.kind, ending, write = "application/json", ".json", subject.WriteJSON
	}
	var b bytes.Buffer
	err := write(&b, held)
	made.name, made.body = "meus-dados-"+p.Now().In(brazil).Format("2006-01-02")+ending, b.Bytes()
	return made, err
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
