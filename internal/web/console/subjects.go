package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
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

// personPage is everything about a person of one partner, masked without a reveal.
type personPage struct {
	subject.Held
	User partner.UserHash
	Ref  string
	Path string
	// Reveal says since when and why the values are open to who looks; nil while they are masked.
	Reveal *operator.Entry
	// Who is the newest subscription's beneficiary; nil when the partner has no subscription for this userHash.
	Who      *subscription.Beneficiary
	Findings []personFinding
	Cases    []ticket
	Devices  []devicePage
	Cover    []cyber.Entitlement
	Score    *cyber.ScoreDay
	Line     scoreLine
	Looked   []auditRow
	Services []cyber.Service
}

// Shown reports whether the operator has unlocked the personal values.
func (p personPage) Shown() bool { return p.Reveal != nil }

// personFinding is a finding and what stood in the person's own record.
type personFinding struct {
	cyber.Finding
	Value   string
	Classes []string
	Plan    cyber.Plan
}

// newestFirst is how many lines of each kind a person's page shows; their export has all.
const newestFirst = 100

// parsePerson returns the partner and the person that the address refers to.
func (c *Console) parsePerson(r *request) (partner.Partner, subject.Person) {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partnerOf(r))
	return p, callRuleWith2(r, c.Rules.Subjects.FindReferred, p.ID, r.PathValue("ref"))
}

// showPerson shows all that is held about a person, masked unless the operator has given a reason recently. The look
// is recorded.
func showPerson(c *Console, r *request) (answer, error) {
	p, who := c.parsePerson(r)
	c.recordAction(r, "person.view", c.Rules.Subjects.Reference(who), "")
	page := c.personPage(r, p, who)
	page.Reveal = c.currentReveals(r)[page.Ref]
	return view{"person", "Pessoa", page}, nil
}

// revealPerson unlocks the page of a person for a while, after the operator's reason is in the audit trail.
func revealPerson(c *Console, r *request) (answer, error) {
	p, who := c.parsePerson(r)
	return c.recordReveal(r, c.Rules.Subjects.Reference(who), redirect{to: c.personPath(p.ID, who.User)})
}

// personPage builds the page of a person from all that is held about them.
func (c *Console) personPage(r *request, p partner.Partner, who subject.Person) personPage {
	held, looked := callRulePair2(r, c.Rules.Subjects.DescribePerson, p, who)
	page := personPage{
		Held: held,
		User: who.User,
		Ref:  c.Rules.Subjects.Reference(who),
		Path: c.personPath(p.ID, who.User),
		Line: newScoreLine(held.Scores, c.Now()),
	}
	slices.Reverse(page.Subscriptions)
	if len(page.Subscriptions) > 0 {
		page.Who = &page.Subscriptions[0].Beneficiary
	}
	values := map[cyber.AssetID]string{}
	for _, a := range held.Assets {
		values[a.ID] = a.Value
	}
	for _, f := range slices.Backward(held.Findings) {
		page.Findings = append(
			page.Findings,
			personFinding{f, values[f.Asset], exposedLabels(f.Breach.Exposes), cyber.NewFindingPlan(f, held.Steps)},
		)
	}
	page.Services = callRule(r, c.Rules.Services.ListServices)
	cases := mapList(held.Cases, func(one subject.Case) cyber.Case { return one.Case })
	slices.Reverse(cases)
	page.Cases = c.newTickets(r, cases, page.Services, []partner.Partner{p})
	for _, d := range slices.Backward(held.Devices) {
		page.Devices = append(page.Devices, devicePage{Device: d, State: d.KeyStateAt(c.Now())})
	}
	page.Cover, _ = callRulePair2(r, c.Rules.Cover.ListCover, partner.Caller{Partner: p.ID, Mode: p.Mode}, who.User)
	if errors.Is(r.failure, cyber.ErrCoverageNotFound) {
		r.failure = nil // that is no failure of the page
	}
	if n := len(held.Scores); n > 0 {
		page.Score = &held.Scores[n-1]
	}
	if c.Rules.Persons != nil { // as the person's own page has it: the day's last score may be of this morning
		now := callRuleWith2(r, c.Rules.Persons.ComputeScore, p.ID, who.User)
		page.Score = &cyber.ScoreDay{
			Breach:     int64(math.Round(now.Breach * 10)),
			Assessment: int64(math.Round(now.Assessment * 10)),
		}
	}
	slices.Reverse(page.Events)
	page.Events = page.Events[:min(len(page.Events), newestFirst)]
	page.Looked = c.accessRows(r, looked[:min(len(looked), newestFirst)])
	return page
}

// scoreLine is how a score went, drawn as a line of steps in a box of 600 by 120.
type scoreLine struct {
	Breach, Assessment string
	From, To           time.Time
	Days               int
}

const (
	scoreWidth, scoreHeight = 600, 120
	scoreTop                = 1000 // a score of 100, in tenths
)

// newScoreLine draws a person's days: a day without a line has the score of the one before.
func newScoreLine(days []cyber.ScoreDay, now time.Time) scoreLine {
	if len(days) == 0 {
		return scoreLine{}
	}
	first, last := days[0].Day, max(now.Unix()/86400, days[0].Day+1)
	l := scoreLine{From: days[0].Date(), To: now, Days: len(days)}
	draw := func(of func(cyber.ScoreDay) int64) string {
		var path []byte
		y := func(d cyber.ScoreDay) int64 { return scoreHeight - of(d)*scoreHeight/scoreTop }
		for i, d := range days {
			x := (d.Day - first) * scoreWidth / (last - first)
			if i > 0 {
				path = appendPoint(path, x, y(days[i-1]))
			}
			path = appendPoint(path, x, y(d))
		}
		return string(appendPoint(path, scoreWidth, y(days[len(days)-1])))
	}
	l.Breach = draw(func(d cyber.ScoreDay) int64 { return d.Breach })
	l.Assessment = draw(func(d cyber.ScoreDay) int64 { return d.Assessment })
	return l
}

// appendPoint appends a point to the path of an SVG line.
func appendPoint(path []byte, x, y int64) []byte {
	return append(strconv.AppendInt(append(strconv.AppendInt(path, x, 10), ','), y, 10), ' ')
}

// personNamed reads a person from the address, or from a form: a POST, so that the hash stands in no address, history or log.
func (c *Console) personNamed(r *request) (partner.Partner, subject.Person) {
	if r.PathValue("ref") != "" {
		return c.parsePerson(r)
	}
	user, err := partner.ParseUserHash("user_hash", r.trimmedField("user_hash"))
	r.keepFailure(err)
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partner.ID(r.trimmedField("partner")))
	return p, subject.Person{User: user, Partner: p.ID}
}

// findPerson redirects to the page of the person that the form names.
func findPerson(c *Console, r *request) (answer, error) {
	p, who := c.personNamed(r)
	c.recordAction(r, "search", c.Rules.Subjects.Reference(who), "user hash")
	return redirect{to: c.personPath(p.ID, who.User)}, nil
}

// watchValue adds a value of a kind that partners do not add themselves.
func watchValue(c *Console, r *request) (answer, error) {
	p, who := c.personNamed(r)
	kind := r.trimmedField("type")
	return c.changeAndRedirect(
		r,
		"asset.add",
		redirect{c.personPath(p.ID, who.User), "asset.added"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			_, err := in.Monitoring.AddAsset(
				ctx,
				cyber.AssetRequest{
					Owner: cyber.Owner{Partner: p.ID, Mode: p.Mode},
					User:  who.User,
					Group: cyber.OperatorAdds,
					Type:  kind,
					Value: r.trimmedField("value"),
				},
			)
			return in.Subjects.Reference(who), kind, err
		},
	)
}

// openCaseForPerson opens a case in the name of a person who calls.
func openCaseForPerson(c *Console, r *request) (answer, error) {
	p, who := c.parsePerson(r)
	var opened cyber.Case
	c.changeWithAudit(r, "case.open", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		opened, err = in.Cases.OpenCaseByPhone(
			ctx,
			p.ID,
			cyber.CaseRequest{Service: cyber.ServiceID(r.trimmedField("service")), User: who.User},
		)
		return string(opened.ID), string(p.ID), err
	})
	return redirect{joinPath("cases", string(opened.ID)), "case.opened"}, nil
}

// shownPeople is how many people of an incident the page lists; the file has all of them.
const shownPeople = 100

// incidentPage is the data of the page that reports which people an incident affects.
type incidentPage struct {
	Partners []partner.Partner
	Names    map[partner.ID]string
	Report   *subject.Report
	People   []subject.Affected
}

// incidentPage returns the page with the partners to choose from.
func (c *Console) incidentPage(r *request) incidentPage {
	all := callRule(r, c.Rules.Partners.ListPartners)
	return incidentPage{Partners: all, Names: partnerChoice{All: all}.namesByID()}
}

// newIncident shows the form that describes an incident.
func newIncident(c *Console, r *request) (answer, error) {
	return view{"incidents", "Incidentes", c.incidentPage(r)}, nil
}

// incidentAsked reads the form and makes the report, recorded first.
func (c *Console) incidentAsked(r *request, reveal bool) subject.Report {
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
	c.recordAction(r, "report.incident", string(of.Partner), detail)
	return callRule(r, func(ctx context.Context) (subject.Report, error) {
		return c.Rules.Subjects.ReportIncident(ctx, r.auditActor(), of, known, reveal, why)
	})
}

// reportIncident shows the people that an incident affects, masked. The page has the first of them, the download all.
func reportIncident(c *Console, r *request) (answer, error) {
	rep := c.incidentAsked(r, false)
	page := c.incidentPage(r)
	page.Report, page.People = &rep, rep.List[:min(len(rep.List), shownPeople)]
	for i, s := range rep.Showings {
		rep.Showings[i].Actor = c.auditRows(r, []operator.Entry{{Actor: operator.Actor{Name: s.Actor}}})[0].Who
	}
	return view{"incidents", "Incidentes", page}, nil
}

// downloadIncident hands out the list of people as a table, with their values in clear when that was asked for with a
// reason.
func downloadIncident(c *Console, r *request) (answer, error) {
	rep := c.incidentAsked(r, r.PostForm.Has("reveal"))
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
	return download{"incidente-" + c.Now().In(brazil).Format("2006-01-02-1504") + ".csv", "text/csv; charset=utf-8", &w}, nil
}

// formula is how one begins, in the usual and the full-width form: at the start of a cell, and behind anything that a
// spreadsheet may take for the end of one, since it is the reader who chooses the separator.
var formula = regexp.MustCompile(
	`(^|[,;|:\t\r\n])([\s"'\x{feff}\x{200b}\x{3000}]*)([=+\-@\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}\x{2212}\x{fe63}])`,
)

// plainCell returns the text so that a spreadsheet does not run it as a formula; people and partners choose these texts.
func plainCell(text string) string {
	text = formula.ReplaceAllString(text, "$1$2'$3")
	if text != "" && strings.ContainsRune("\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
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
	parts := mapList(
		slices.Sorted(maps.Keys(kinds)),
		func(k identifier.Kind) string { return fmt.Sprintf("%d %s", kinds[k], kindWords[k]) },
	)
	return strings.Join(parts, ", ")
}
