package person

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// A page shows so many cases, lines of one and times to choose from.
const (
	mostCases = 20
	mostLines = 40
	mostSlots = 24
	// mostText is how many bytes of a case's history a page shows, from the newest line back; longestLine how many
	// characters of one.
	mostText    = 12_000
	longestLine = 2000
)

// casesPage is a person's cases and what they can ask help for.
type casesPage struct {
	Cases    []caseView
	More     int
	Services []cyber.Service
}

// caseView is a case as the list shows it; Waiting says that support waits for the person.
type caseView struct {
	ID, Service, Status string
	Waiting             bool
	Opened, Changed     time.Time
	Booked              time.Time
}

var caseStatus = map[cyber.CaseStatus]string{
	cyber.CaseOpen:       "case.open",
	cyber.CaseInProgress: "case.progress",
	cyber.CaseWaiting:    "case.waiting",
	cyber.CaseResolved:   "case.resolved",
	cyber.CaseClosed:     "case.closed",
	cyber.CaseCancelled:  "case.cancelled",
}

func newCaseView(v visitor, c cyber.Case, names map[cyber.ServiceID]string) caseView {
	return caseView{
		ID:      string(c.ID),
		Service: names[c.Service],
		Status:  v.sentence(caseStatus[c.Status]),
		Waiting: c.Status == cyber.CaseWaiting,
		Opened:  c.CreatedAt,
		Changed: c.ChangedAt,
		Booked:  c.Booked,
	}
}

// serviceNames returns the names of all services, also of retired ones.
func (p *Pages) serviceNames(ctx context.Context) (map[cyber.ServiceID]string, error) {
	services, err := p.Rules.Services.ListServices(ctx)
	if err != nil {
		return nil, err
	}
	names := map[cyber.ServiceID]string{}
	for _, s := range services {
		names[s.ID] = s.Name
	}
	return names, nil
}

// listCases shows the person's cases, at most mostCases of them.
func listCases(p *Pages, r *request) (answer, error) {
	page, err := p.gatherCases(r.Context(), r.visitor)
	if err != nil {
		return nil, err
	}
	return view{"cases", "cases.title", page}, nil
}

func (p *Pages) gatherCases(ctx context.Context, v visitor) (casesPage, error) {
	names, err := p.serviceNames(ctx)
	if err != nil {
		return casesPage{}, err
	}
	list, err := p.Rules.Cases.ListPersonCases(ctx, v.who.ID, v.session.User)
	if err != nil {
		return casesPage{}, err
	}
	offered, err := p.Rules.Services.ListOffered(ctx)
	if err != nil {
		return casesPage{}, err
	}
	page := casesPage{More: max(0, len(list)-mostCases), Services: offered}
	for _, c := range list[:len(list)-page.More] {
		page.Cases = append(page.Cases, newCaseView(v, c, names))
	}
	return page, nil
}
