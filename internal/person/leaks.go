package person

import (
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/order"
)

// A page shows so many findings, the newest first: more is not read on a phone, and has to be paid for.
const mostFindings = 10

// leaksPage is what leaked and what did not.
type leaksPage struct {
	Values []valueView
	// Open and Over are findings of this page, the newest first; Before and After are the numbers of its neighbours.
	Open, Over    []leakView
	Before, After int
	// Clean are the kinds of data that matter most and were in no leak that is known.
	Clean []string
	// Reasons are what a person can say of a finding that is dealt with.
	Reasons []choice
}

type choice struct{ Value, Label string }

type valueView struct {
	Kind, Masked string
	Status       cyber.Status
	Leaks        int
}

type leakView struct {
	ID, Breach, Kind, Masked string
	cyber.Finding
	Exposed []string
	// Certain says that this was in the person's own record, and not only in the leak as a whole.
	Certain bool
}

// clean are the classes whose absence is good news.
var clean = []cyber.Exposed{
	cyber.ExposedPassword, cyber.ExposedCard, cyber.ExposedDocument, cyber.ExposedCPF, cyber.ExposedFinancial, cyber.ExposedHealth,
	cyber.ExposedAddress, cyber.ExposedPhone,
}

func showLeaks(p *Pages, r *request) (answer, error) {
	page, err := p.leaks(r)
	if err != nil {
		return nil, err
	}
	if number, err := strconv.Atoi(r.URL.Query().Get("page")); err == nil && number > 1 {
		page.turn(number)
	} else {
		page.turn(1)
	}
	return view{"leaks", "leaks.title", page}, nil
}

func (p *Pages) leaks(r *request) (leaksPage, error) {
	var page leaksPage
	assets, err := p.Rules.Monitoring.Watched(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return page, err
	}
	findings, err := p.Rules.Monitoring.Findings(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return page, err
	}
	order.StableBy(findings, func(a, b *cyber.Finding) int { return b.FoundAt.Compare(a.FoundAt) })
	masked, counts := map[cyber.AssetID]string{}, map[cyber.AssetID]int{}
	for _, a := range assets {
		masked[a.ID] = identifier.Mask(a.Kind, a.Value)
	}
	exposed := map[cyber.Exposed]bool{}
	for _, f := range findings {
		for _, e := range f.Breach.Exposes {
			exposed[e] = true
		}
		v := leakView{
			ID: string(f.ID), Breach: f.Breach.Title, Kind: r.word("kind." + f.Kind.String()), Masked: masked[f.Asset], Finding: f,
			Exposed: exposedWords(r, f.Breach.Exposes), Certain: f.Basis() == cyber.BasisRow,
		}
		if f.Open() {
			page.Open = append(page.Open, v)
			counts[f.Asset]++
		} else {
			page.Over = append(page.Over, v)
		}
	}
	for _, a := range assets {
		page.Values = append(page.Values, valueView{r.word("kind." + a.Kind.String()), masked[a.ID], a.Status, counts[a.ID]})
	}
	for _, e := range clean {
		if !exposed[e] {
			page.Clean = append(page.Clean, r.word("exposed."+string(e)))
		}
	}
	for _, reason := range []cyber.Resolution{
		cyber.ResolvedPasswordChanged, cyber.ResolvedAccountClosed, cyber.ResolvedCardReplaced, cyber.ResolvedNotMe, cyber.ResolvedOther,
	} {
		page.Reasons = append(page.Reasons, choice{string(reason), r.word("resolution." + string(reason))})
	}
	return page, nil
}

// turn leaves of all findings, the open ones first, those of one page.
func (l *leaksPage) turn(number int) {
	total := len(l.Open) + len(l.Over)
	number = min(number, max(1, (total+mostFindings-1)/mostFindings))
	from, to := (number-1)*mostFindings, min(number*mostFindings, total)
	if l.Before = number - 1; to < total {
		l.After = number + 1
	}
	open := len(l.Open)
	l.Over = l.Over[max(0, from-open):max(0, to-open)]
	l.Open = l.Open[min(from, open):min(to, open)]
}

func exposedWords(r *request, classes []cyber.Exposed) []string {
	list := make([]string, len(classes))
	for i, e := range classes {
		list[i] = r.word("exposed." + string(e))
	}
	return list
}

func resolveLeak(p *Pages, r *request) (answer, error) {
	err := p.Rules.Monitoring.Resolve(r.Context(), r.who.ID, r.session.User, cyber.FindingID(r.PathValue("id")), r.text("reason"))
	if err != nil {
		return nil, err
	}
	return redirect{"/p/leaks", "resolved"}, nil
}
