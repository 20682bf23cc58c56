package console

import (
	"bytes"
	"context"
	"io"
	"sort"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
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
	// WriteErasureLog writes the tombstones of all erasures.
	WriteErasureLog(ctx context.Context, w io.Writer) (int, error)
	// ReportIncident lists the people that an incident affects.
	ReportIncident(
		ctx context.Context,
		who operator.Actor,
		of subject.Incident,
		known time.Time,
		reveal bool,
		reason string,
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
}

// heldCount counts what is held for one partner; the values themselves are only in the export.
type heldCount struct {
	Name   string
	Counts []choiceCount
}

// subjectsPage returns the page with the partners to choose from and the form filled in as it was sent.
func (c *Console) subjectsPage(r *request) subjectsPage {
	all := callRule(r, c.Rules.Partners.ListPartners)
	return subjectsPage{
		Partners: all,
		CPF:      r.PostForm.Get("cpf"),
		User:     r.PostForm.Get("user_hash"),
		Partner:  r.PostForm.Get("partner"),
	}
}

// showSubjects shows the form for requests of data subjects: find, export, accesses and erasure.
func showSubjects(c *Console, r *request) (answer, error) {
	return view{"subjects", "Titulares", c.subjectsPage(r)}, nil
}

// personAsked reads who is meant and why, and records it before anything is looked up.
func (c *Console) personAsked(r *request, action string) (p subject.Person, why string) {
	var err error
	if ref := r.trimmedField("ref"); ref != "" { // from the person's page, which holds neither
		p, err = c.Rules.Subjects.FindReferred(r.Context(), partner.ID(r.trimmedField("partner")), ref)
	} else {
		p, err = subject.ParsePerson(r.trimmedField("cpf"), r.trimmedField("user_hash"), r.trimmedField("partner"))
	}
	r.noteFormError(err)
	why, err = parseReason(r)
	r.noteFormError(err)
	named := p
	if named.CPF != "" {
		named.Partner = "" // one name for a person, whichever partner is asked
	}
	c.recordAction(r, action, c.Rules.Subjects.Reference(named), why)
	return p, why
}

// findSubject shows how much is held about a person, by partner and kind. Only counts are shown; the look is recorded
// in the trail.
func findSubject(c *Console, r *request) (answer, error) {
	p, _ := c.personAsked(r, "subject.find")
	held := callRuleWith(r, c.Rules.Subjects.ExportPerson, p)
	page := c.subjectsPage(r)
	page.Asked = true
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
		page.Held = append(page.Held, row)
	}
	return view{"subjects", "Titulares", page}, nil
}

// exportSubject hands out everything that is held about a person, in clear: it is theirs.
func exportSubject(c *Console, r *request) (answer, error) {
	p, _ := c.personAsked(r, "subject.export")
	held := callRuleWith(r, c.Rules.Subjects.ExportPerson, p)
	if len(held) == 0 {
		return nil, subject.ErrNobody
	}
	file, write := download{name: "titular-" + c.Now().In(brazil).Format("2006-01-02-1504"), kind: "text/plain; charset=utf-8"}, subject.WriteText
	ending := ".txt"
	switch r.trimmedField("format") {
	case "json":
		file.kind, ending, write = "application/json", ".json", subject.WriteJSON
	case "letter":
		file.kind, ending = "text/html; charset=utf-8", ".html"
		write = func(w io.Writer, all []subject.Held) error { return subject.WriteLetter(w, all, c.Now()) }
	}
	var b bytes.Buffer
	if err := write(&b, held); err != nil {
		return nil, err
	}
	file.name, file.body = file.name+ending, &b
	return file, nil
}

// showAccesses shows who has accessed the data of a person and why, which the law lets the person ask for.
func showAccesses(c *Console, r *request) (answer, error) {
	p, _ := c.personAsked(r, "report.access")
	list := callRuleWith(r, c.Rules.Subjects.ListAccesses, p)
	page := c.subjectsPage(r)
	page.Told = true
	page.Accesses = c.accessRows(r, list)
	return view{"subjects", "Titulares", page}, nil
}

// accessRows puts e-mails in the place of operators' ids.
func (c *Console) accessRows(r *request, list []subject.Access) []auditRow {
	return c.auditRows(r, mapList(list, func(a subject.Access) operator.Entry { return a.Entry }))
}

// confirmErase asks the operator to type a word before a person is erased, because an erasure cannot be undone.
func confirmErase(c *Console, r *request) (answer, error) {
	return view{"subject-erase", "Apagar um titular", c.subjectsPage(r)}, nil
}

// eraseWord is what has to be typed before a person is erased.
const eraseWord = "APAGAR"

// erasedPage is the data of the page after an erasure: what was deleted, partner by partner.
type erasedPage struct {
	Rows  []erasedRow
	Total int64
}

// erasedRow is what was deleted at one partner; Erasure is the id of the erasure in its log.
type erasedRow struct {
	Partner, Erasure string
	Counts           []choiceCount
}

// erasedKinds are the kinds of rows in words; one that is missing is shown as the store calls it.
var erasedKinds = map[string]string{
	"subscriptions":  "assinaturas",
	"watched values": "dados monitorados",
	"findings":       "ocorrências",
	"status changes": "mudanças de situação",
	"hits":           "buscas",
	"cases":          "casos",
	"case moves":     "passos de casos",
	"bookings":       "horários marcados",
	"devices":        "dispositivos",
	"answers":        "respostas",
	"scores":         "dias de pontuação",
	"events":         "eventos",
	"deliveries":     "entregas",
	"attempts":       "tentativas de entrega",
	"person":         "pessoa",
	"kept answers":   "respostas guardadas da API",
}

// eraseSubject erases a person. It refuses without the confirmation word and a reason, and shows what was deleted.
func eraseSubject(c *Console, r *request) (answer, error) {
	r.noteFormError(
		fault.When(r.trimmedField("confirm") != eraseWord, errForm.With("confirm", fault.TypeToConfirm, eraseWord)),
	)
	p, why := c.personAsked(r, "subject.erase")
	out := callRuleWith3(r, c.Rules.Subjects.Erase, r.auditActor(), p, why)
	names := c.partnerNames(r)
	var page erasedPage
	for i, done := range out.Partners {
		if done.Total() == 0 {
			continue
		}
		page.Total += done.Total()
		row := erasedRow{Partner: names[done.Partner], Erasure: out.Tombstones[i].ID}
		for kind, n := range done.Counts {
			if erasedKinds[kind] != "" {
				kind = erasedKinds[kind]
			}
			row.Counts = append(row.Counts, choiceCount{kind, n})
		}
		sort.Slice(row.Counts, func(i, j int) bool { return row.Counts[i].Label < row.Counts[j].Label })
		page.Rows = append(page.Rows, row)
	}
	return view{"subject-erased", "Titular apagado", page}, nil
}

// erasureLog downloads the log of erasures. It holds keyed indexes only and identifies no person without the key file.
func erasureLog(c *Console, r *request) (answer, error) {
	var b bytes.Buffer
	_, err := c.Rules.Subjects.WriteErasureLog(r.Context(), &b)
	return download{"apagamentos.jsonl", "application/jsonl", &b}, err
}
