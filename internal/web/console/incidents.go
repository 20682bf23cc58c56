package console

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// shownPeople is how many people of an incident the page lists; the file has all of them.
const shownPeople = 100

// incidentPage is the data of the page that reports which people an incident affects.
type incidentPage struct {
	Partners []partner.Partner
	Names    map[partner.ID]string
	Leaks    []incidentLeak
	Report   *subject.Report
	People   []subject.Affected
}

// newIncidentPage returns the page with the partners and the leaks to choose from.
func (c *Console) newIncidentPage(ctx context.Context) (incidentPage, error) {
	all, err := c.Rules.Partners.ListPartners(ctx)
	if err != nil {
		return incidentPage{}, err
	}
	leaks, err := c.incidentLeaks(ctx)
	return incidentPage{Partners: all, Names: namesByID(all), Leaks: leaks}, err
}

// newIncident shows the form that describes an incident.
func newIncident(c *Console, r *request) (answer, error) {
	page, err := c.newIncidentPage(r.Context())
	return newView("incidents", "Incidentes", page, err)
}

// incidentAsked reads the form and makes the report, recorded first.
func (c *Console) incidentAsked(r *request, reveal bool) (subject.Report, error) {
	form := newFormReader(r)
	breach, err := c.leakAsked(r.Context(), r.trimmedField("breach"))
	form.noteFault(err)
	of := subject.Incident{
		Breach:  breach,
		Partner: partner.ID(r.trimmedField("partner")),
		From:    form.readMoment("from"),
		To:      form.readMoment("to"),
	}
	known := form.readMoment("known")
	if !of.From.IsZero() && of.To.IsZero() {
		of.To = c.Now()
	}
	if known.IsZero() {
		known = c.Now()
	}
	why := r.trimmedField("reason")
	if reveal {
		why, err = parseReason(r)
		form.noteFault(err)
	}
	if err := form.err(); err != nil {
		return subject.Report{}, err
	}
	about := of.Breach
	if about == "" {
		about = of.From.UTC().Format(time.RFC3339) + " " + of.To.UTC().Format(time.RFC3339)
	}
	detail := fmt.Sprintf("%s, in clear: %t", about, reveal)
	if why != "" {
		detail += ": " + why
	}
	if err := c.recordAction(r, "report.incident", string(of.Partner), detail); err != nil {
		return subject.Report{}, err
	}
	return c.Rules.Subjects.ReportIncident(r.Context(), r.auditActor(), of, known, reveal, why)
}

// reportIncident shows the people that an incident affects, masked. The page has the first of them, the download all.
func reportIncident(c *Console, r *request) (answer, error) {
	rep, err := c.incidentAsked(r, false)
	if err != nil {
		return nil, err
	}
	page, err := c.newIncidentPage(r.Context())
	if err != nil {
		return nil, err
	}
	page.Report, page.People = &rep, rep.List[:min(len(rep.List), shownPeople)]
	emails, err := operatorEmails(r.Context(), &c.Rules)
	if err != nil {
		return nil, err
	}
	for i, s := range rep.Showings {
		rep.Showings[i].Actor = cmp.Or(emails[s.Actor], s.Actor)
	}
	return view{"incidents", "Incidentes", page}, nil
}

// downloadIncident hands out the list of people as a table, with their values in clear when that was asked for with a
// reason.
func downloadIncident(c *Console, r *request) (answer, error) {
	rep, err := c.incidentAsked(r, r.PostForm.Has("reveal"))
	if err != nil {
		return nil, err
	}
	var w listWriter
	w.writeRow([]string{"parceiro", "userHash", "dados", "vazamentos", "primeiro", "ultimo", "valores"})
	for _, a := range rep.List {
		w.writeRow([]string{
			string(a.Partner),
			string(a.User),
			kindCounts(a.Kinds),
			strings.Join(a.Breaches, " "),
			a.First.In(brazil).Format(time.DateTime),
			a.Last.In(brazil).Format(time.DateTime),
			strings.Join(a.Values, ", "),
		})
	}
	name := "incidente-" + c.Now().In(brazil).Format("2006-01-02-1504") + ".csv"
	return download{name, "text/csv; charset=utf-8", &w}, nil
}

var kindWords = map[identifier.Kind]string{
	identifier.Email:  "e-mail",
	identifier.CPF:    "CPF",
	identifier.Phone:  "telefone",
	identifier.Card:   "cartão",
	identifier.Domain: "domínio",
	identifier.PixKey: "chave Pix",
	identifier.CNPJ:   "CNPJ",
}

// kindCounts returns "2 CPF, 1 e-mail".
func kindCounts(kinds map[identifier.Kind]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%d %s", kinds[k], kindWords[k]))
	}
	return strings.Join(parts, ", ")
}
