package person

import (
	"github.com/vigiahq/vigia/internal/cyber"
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
