package person

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// homePage is where a person stands at one look: the one thing to do now, their risk, their leaks.
type homePage struct {
	// FirstName is how the person is greeted; empty when their partner did not enrol them.
	FirstName string
	Status    cyber.Status
	// Next is the first step of the plan; nil when all is done.
	Next *stepView
	Plan planView
	// Looks says for which of the person's values past breaches were looked into; while some wait, Values are listed.
	Looks  cyber.PersonLooks
	Values []valueView
	// Risk is what leaks make of it, Habits what the person said of theirs.
	Risk, Habits riskView
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

func showHomePage(p *Pages, r *request) (answer, error) {
	page, err := p.gatherHome(r.Context(), r.visitor)
	if err != nil {
		return nil, err
	}
	return view{"home", "home.title", page}, nil
}

func (p *Pages) gatherHome(ctx context.Context, v visitor) (homePage, error) {
	page := homePage{Status: cyber.StatusMonitored}
	known, err := p.Rules.Names.NamesOfUsers(ctx, v.who.ID, []partner.UserHash{v.session.User})
	if err != nil {
		return page, err
	}
	page.FirstName = firstNameOf(known[v.session.User])
	leaks, err := p.gatherLeaks(ctx, v)
	if err != nil {
		return page, err
	}
	page.Plan, err = p.mergePlans(ctx, v)
	if err != nil {
		return page, err
	}
	score, err := p.Rules.Persons.ComputeScore(ctx, v.who.ID, v.session.User)
	if err != nil {
		return page, err
	}
	page.Looks, page.Values = leaks.Looks, leaks.Values
	slices.SortStableFunc(page.Values, func(a, b valueView) int { // those that wait come first
		switch {
		case a.Unlooked && !b.Unlooked:
			return -1
		case b.Unlooked && !a.Unlooked:
			return 1
		}
		return 0
	})
	page.Risk = newRiskView(score.Breach, leaks.Looks)
	page.Habits = newHabitsView(score.Assessment, leaks.Looks)
	for _, value := range leaks.Values {
		if value.Status == cyber.StatusCompromised || page.Status == cyber.StatusMonitored {
			page.Status = value.Status
		}
	}
	page.Leaks = leaks.Leaks[:min(leaks.Open, homeLeaks)]
	page.More = leaks.Open - len(page.Leaks)
	if len(page.Plan.Now) > 0 {
		page.Next = &page.Plan.Now[0]
	}
	names, err := p.serviceNames(ctx)
	if err != nil {
		return page, err
	}
	cases, err := p.Rules.Cases.ListPersonCases(ctx, v.who.ID, v.session.User)
	if err != nil {
		return page, err
	}
	for _, c := range cases {
		if c.Status == cyber.CaseWaiting && page.Waiting == nil {
			waiting := newCaseView(v, c, names)
			page.Waiting = &waiting
		}
	}
	devices, err := p.Rules.Endpoints.ListDevices(ctx, v.who.ID, v.session.User)
	if err != nil {
		return page, err
	}
	page.Devices = len(devices)
	for _, d := range devices {
		if d.ProtectsAt(p.Now()) {
			page.Protected++
		}
	}
	return page, nil
}

// firstNameOf returns the first name of a person as one writes it: partners send names in capitals, too.
func firstNameOf(name string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(name), " ")
	letters := []rune(strings.ToLower(strings.TrimRight(first, ".")))
	if len(letters) < 2 { // an initial greets nobody
		return ""
	}
	letters[0] = unicode.ToUpper(letters[0])
	return string(letters)
}

// showMorePage leads to what does not stand in the bar at the foot of the screen.
func showMorePage(_ *Pages, _ *request) (answer, error) { return view{"more", "menu.more", nil}, nil }

// normalizeLines returns a text of a form with plain line feeds; browsers send CRLF.
func normalizeLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
