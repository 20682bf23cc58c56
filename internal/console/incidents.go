package console

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// Reports lists the people that an incident affects.
type Reports interface {
	ReportIncident(ctx context.Context, who operator.Actor, of subject.Incident, known time.Time, reveal bool, reason string) (subject.Report, error)
}

// shownPeople is how many people of an incident the page lists; the file has all of them.
const shownPeople = 100

// incidentPage is the data of the page that reports which people an incident affects.
type incidentPage struct {
	Partners []partner.Partner
	Names    map[partner.ID]string
	Report   *subject.Report
	Kinds    string
	People   []affectedRow
}

// affectedRow is a person that an incident affects; What is the text on which of their data are concerned.
type affectedRow struct {
	subject.Affected
	What string
}

// incidentPage returns the page with the partners to choose from.
func (c *Console) incidentPage(r *request) (incidentPage, error) {
	all, err := c.Rules.Partners.ListPartners(r.Context())
	return incidentPage{Partners: all, Names: partnerChoice{All: all}.namesByID()}, err
}

// newIncident shows the form that describes an incident.
func newIncident(c *Console, r *request) (answer, error) {
	page, err := c.incidentPage(r)
	return view{"incidents", "Incidentes", page}, err
}

// incidentAsked reads the form and makes the report, recorded first.
func (c *Console) incidentAsked(r *request, reveal bool) (subject.Report, error) {
	of := subject.Incident{Breach: r.trimmedField("breach"), Partner: partner.ID(r.trimmedField("partner"))}
	of.From, of.To = r.readMoment("from"), r.readMoment("to")
	known := r.readMoment("known")
	if !of.From.IsZero() && of.To.IsZero() {
		of.To = c.Now()
	}
	if known.IsZero() {
		known = c.Now()
	}
	why := r.trimmedField("reason")
	if reveal {
		var err error
		why, err = parseReason(r)
		r.noteFormError(err)
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
	page, err := c.incidentPage(r)
	if err != nil {
		return nil, err
	}
	page.Report, page.Kinds = &rep, kindCounts(rep.Kinds)
	for _, a := range rep.List[:min(len(rep.List), shownPeople)] {
		page.People = append(page.People, affectedRow{a, kindCounts(a.Kinds)})
	}
	for i, s := range rep.Showings {
		if rows, err := c.auditRows(r, []operator.Entry{{Actor: operator.Actor{Name: s.Actor}}}); err == nil {
			rep.Showings[i].Actor = rows[0].Who
		}
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
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = ';'
	write := func(cells ...string) {
		for i := range cells {
			cells[i] = plainCell(cells[i])
		}
		_ = w.Write(cells) // a buffer takes everything
	}
	write("parceiro", "userHash", "dados", "vazamentos", "primeiro", "ultimo", "valores")
	for _, a := range rep.List {
		write(string(a.Partner), string(a.User), kindCounts(a.Kinds), strings.Join(a.Breaches, " "), a.First.In(brazil).Format(time.DateTime),
			a.Last.In(brazil).Format(time.DateTime), strings.Join(a.Values, ", "))
	}
	w.Flush()
	return download{"incidente-" + c.Now().In(brazil).Format("2006-01-02-1504") + ".csv", "text/csv; charset=utf-8", b.Bytes()}, w.Error()
}

// formula is how one begins, in the usual and the full-width form: at the start of a cell, and behind anything that a
// spreadsheet may take for the end of one, since it is the reader who chooses the separator.
var formula = regexp.MustCompile(`(^|[,;|:\t\r\n])([\s"'\x{feff}\x{200b}\x{3000}]*)([=+\-@\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}\x{2212}\x{fe63}])`)

// plainCell returns the text so that a spreadsheet does not run it as a formula; people and partners choose these texts.
func plainCell(text string) string {
	text = formula.ReplaceAllString(text, "$1$2'$3")
	if text != "" && strings.ContainsRune("\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}

var kindWords = map[identifier.Kind]string{
	identifier.Email: "e-mail", identifier.CPF: "CPF", identifier.Phone: "telefone", identifier.Card: "cartão", identifier.Domain: "domínio",
	identifier.PixKey: "chave Pix", identifier.CNPJ: "CNPJ",
}

// kindCounts returns "2 CPF, 1 e-mail".
func kindCounts(kinds map[identifier.Kind]int) string {
	parts := make([]string, 0, len(kinds))
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%d %s", kinds[k], kindWords[k]))
	}
	return strings.Join(parts, ", ")
}
