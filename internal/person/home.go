package person

import "github.com/vigiahq/vigia/internal/cyber"

// homePage is where a person stands, at one look.
type homePage struct {
	Status cyber.Status
	// Leaks counts open findings, Watched values.
	Leaks, Watched int
	Score          cyber.Score
	Steps          []string
	Waiting        int
}

// firstSteps is how many things to do the first page names.
const firstSteps = 3

func showHome(p *Pages, r *request) (answer, error) {
	leaks, err := p.leaks(r)
	if err != nil {
		return nil, err
	}
	page := homePage{Status: cyber.StatusMonitored, Watched: len(leaks.Values)}
	for _, v := range leaks.Values {
		page.Leaks += v.Leaks
		if v.Status == cyber.StatusCompromised || page.Status == cyber.StatusMonitored {
			page.Status = v.Status
		}
	}
	if page.Score, err = p.Rules.Persons.Score(r.Context(), r.who.ID, r.session.User); err != nil {
		return nil, err
	}
	for _, rec := range page.Score.Recommendations[:min(firstSteps, len(page.Score.Recommendations))] {
		page.Steps = append(page.Steps, recommendation(r.lang, rec))
	}
	cases, err := p.Rules.Cases.Of(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		if c.Status == cyber.CaseWaiting {
			page.Waiting++
		}
	}
	return view{"home", "home.title", page}, nil
}
