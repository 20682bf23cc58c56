package console

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// Subjects are what the law gives a person.
type Subjects interface {
	// Reference is the audit trail's name for a person.
	Reference(p subject.Person) string
	// FindReferred returns the person that a reference in an address stands for; DescribePerson returns what a page
	// shows about that person.
	FindReferred(ctx context.Context, id partner.ID, ref string) (subject.Person, error)
	DescribePerson(ctx context.Context, who partner.Partner, p subject.Person) (subject.Held, []subject.Access, error)
	ExportPerson(ctx context.Context, p subject.Person) ([]subject.Held, error)
	ListAccesses(ctx context.Context, p subject.Person) ([]subject.Access, error)
	Erase(ctx context.Context, who operator.Actor, p subject.Person, reason string) (subject.Outcome, error)
	// RequestErasure asks for an erasure of what one partner holds, a day later; CancelErasure takes it back, and
	// ListOpenErasures lists those that are not over.
	RequestErasure(
		ctx context.Context, who operator.Actor, p subject.Person, reason string,
	) (subject.ErasureRequest, error)
	CancelErasure(
		ctx context.Context, who operator.Actor, id partner.ID, request string,
	) (subject.ErasureRequest, error)
	ListOpenErasures(ctx context.Context, id partner.ID) ([]subject.ErasureRequest, error)
	// WriteErasureLog writes the tombstones of all erasures.
	WriteErasureLog(ctx context.Context, w io.Writer) (int, error)
	// ReportIncident lists the people that an incident affects.
	ReportIncident(
		ctx context.Context, who operator.Actor, of subject.Incident, known time.Time, reveal bool, reason string,
	) (subject.Report, error)
}

// subjectsPage is where a person is asked for, and what was asked.
type subjectsPage struct {
	Partners []partner.Partner
	// CPF, User and Partner repeat the form: an operator who asked one question about a person often asks the next.
	CPF, User, Partner string
	Held               []heldCount
	// Asked says that Held is an answer, Told that Accesses is.
	Asked, Told bool
	Accesses    []auditRow
	// MayAsk says that the erasure of the person who was asked about can be asked for.
	MayAsk bool
	// Open are the erasures that the partner has asked for and that are not over.
	Open []openErasure
}

// heldCount counts what is held for one partner; the values themselves are only in the export.
type heldCount struct {
	Name   string
	Counts []choiceCount
}

// showSubjects shows the form for requests of data subjects: find, export, accesses and erasure.
func showSubjects(c *Console, r *request) (answer, error) {
	page, err := c.newSubjectsPage(r)
	return newView("subjects", "Titulares", page, err)
}

// personAsked reads who is meant and why, and records it before anything is looked up.
func (c *Console) personAsked(form *formReader, action string) (subject.Person, string, error) {
	p, why, err := c.readPerson(form)
	if err != nil {
		return p, why, err
	}
	named := p
	if named.CPF != "" {
		named.Partner = "" // one name for a person, whichever partner is asked
	}
	return p, why, c.recordAction(form.request, action, c.Rules.Subjects.Reference(named), why)
}

// readPerson reads who is meant and why.
func (c *Console) readPerson(form *formReader) (p subject.Person, why string, err error) {
	if ref := form.trimmedField("ref"); ref != "" { // from the person's page, which holds neither
		p, err = c.Rules.Subjects.FindReferred(form.Context(), partner.ID(form.trimmedField("partner")), ref)
	} else {
		cpf, user := form.trimmedField("cpf"), form.trimmedField("user_hash")
		p, err = subject.ParsePerson(cpf, user, form.trimmedField("partner"))
	}
	form.noteFault(err)
	why, err = parseReason(form.request)
	form.noteFault(err)
	return p, why, form.err()
}

// findSubject shows how much is held about a person, by partner and kind. Only counts are shown; the look is recorded
// in the trail.
func findSubject(c *Console, r *request) (answer, error) {
	p, _, err := c.personAsked(newFormReader(r), "subject.find")
	if err != nil {
		return nil, err
	}
	held, err := c.Rules.Subjects.ExportPerson(r.Context(), p)
	if err != nil {
		return nil, err
	}
	page, err := c.newSubjectsPage(r)
	if err != nil {
		return nil, err
	}
	page.Asked, page.Held, page.MayAsk = true, countHeld(held), page.Partner != ""
	return view{"subjects", "Titulares", page}, nil
}

// countHeld counts what is held about a person, partner by partner.
func countHeld(held []subject.Held) []heldCount {
	var list []heldCount
	for _, h := range held {
		row := heldCount{Name: h.Partner.Name}
		for _, n := range []struct {
			count     int
			one, many string
		}{
			{len(h.Subscriptions), "assinatura", "assinaturas"},
			{len(h.Assets), "dado monitorado", "dados monitorados"},
			{len(h.Findings), "ocorrência", "ocorrências"},
			{len(h.Cases), "caso", "casos"},
			{len(h.Devices), "dispositivo", "dispositivos"},
			{len(h.Answers), "resposta", "respostas"},
			{len(h.Scores), "dia de pontuação", "dias de pontuação"},
			{len(h.Events), "evento", "eventos"},
			{h.StoredAnswers, "resposta guardada da API", "respostas guardadas da API"},
		} {
			if n.count > 0 {
				row.Counts = append(row.Counts, choiceCount{pluralWord(int64(n.count), n.one, n.many), int64(n.count)})
			}
		}
		list = append(list, row)
	}
	return list
}

// exportSubject hands out everything that is held about a person, in clear: it is theirs.
func exportSubject(c *Console, r *request) (answer, error) {
	p, _, err := c.personAsked(newFormReader(r), "subject.export")
	if err != nil {
		return nil, err
	}
	held, err := c.Rules.Subjects.ExportPerson(r.Context(), p)
	if err != nil {
		return nil, err
	}
	if len(held) == 0 {
		return nil, subject.ErrNobody
	}
	kind, ending, write := "text/plain; charset=utf-8", ".txt", subject.WriteText
	switch r.trimmedField("format") {
	case "json":
		kind, ending, write = "application/json", ".json", subject.WriteJSON
	case "letter":
		kind, ending = "text/html; charset=utf-8", ".html"
		write = func(w io.Writer, all []subject.Held) error { return subject.WriteLetter(w, all, c.Now()) }
	}
	var b bytes.Buffer
	if err := write(&b, held); err != nil {
		return nil, err
	}
	return download{"titular-" + c.Now().In(brazil).Format("2006-01-02-1504") + ending, kind, &b}, nil
}

// showAccesses shows who has accessed the data of a person and why, which the law lets the person ask for.
func showAccesses(c *Console, r *request) (answer, error) {
	p, _, err := c.personAsked(newFormReader(r), "report.access")
	if err != nil {
		return nil, err
	}
	list, err := c.Rules.Subjects.ListAccesses(r.Context(), p)
	if err != nil {
		return nil, err
	}
	page, err := c.newSubjectsPage(r)
	if err != nil {
		return nil, err
	}
	page.Told = true
	page.Accesses, err = c.accessRows(r.Context(), list)
	return newView("subjects", "Titulares", page, err)
}

// accessRows puts e-mails in the place of operators' ids.
func (c *Console) accessRows(ctx context.Context, list []subject.Access) ([]auditRow, error) {
	entries := make([]operator.Entry, len(list))
	for i, a := range list {
		entries[i] = a.Entry
	}
	emails, err := operatorEmails(ctx, &c.Rules)
	return newAuditRows(entries, emails, c.confined), err
}
