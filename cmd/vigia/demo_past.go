package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// pastDays is how far back the made-up past reaches.
const pastDays = 30

// pastClock stands where the past has come to. It only goes forward.
type pastClock struct{ micros atomic.Int64 }

// currentTime returns the time of the past that is being lived.
func (c *pastClock) currentTime() time.Time { return time.UnixMicro(c.micros.Load()) }

// passTime moves the clock on.
func (c *pastClock) passTime(d time.Duration) { c.micros.Add(d.Microseconds()) }

// moveTo moves the clock to a time.
func (c *pastClock) moveTo(t time.Time) { c.micros.Store(max(c.micros.Load(), t.UnixMicro())) }

// past lives through the days before today by the same rules as a server does, on a clock of its own: people are enrolled
// and watched, dumps come in and are matched, cases are opened and worked on, and alerts are sent to a partner's systems of
// which one was down for some days.
type past struct {
	*app.App
	clock   *pastClock
	today   time.Time
	partner partner.Partner
	salt    string
	persons *cyber.Persons
	outside *pastOutside
	people  int // enrolled so far
	cases   []*pastCase
	// err is the first that happened. The day goes on behind it, which harms nothing: the next one is not begun.
	err error
}

// keepError remembers the first error.
func (p *past) keepError(err error) { p.err = cmp.Or(p.err, err) }

// remember makes the past once, and tells when it is there.
func (w *world) remember(ctx context.Context, out io.Writer) error {
	if w.secrets.Past {
		return nil
	}
	w.secrets.Past = true // one that was interrupted stays as it is: people meant to see something else
	if err := w.secrets.writeSecrets(w.app.Config.Data); err != nil {
		return err
	}
	began := time.Now()
	p, err := livePast(ctx, w.app.Config, w.secrets.Live, began)
	if ctx.Err() != nil {
		return nil // the demo was stopped meanwhile
	}
	if err != nil {
		return fmt.Errorf("demo: make the past: %w", err)
	}
	_, err = fmt.Fprintf(
		out,
		"\nThe console now shows %d days of a made-up past: %d people, %d leaks, %d cases (made in %.1f s).\n",
		pastDays,
		p.people,
		len(pastLeaks),
		len(p.cases),
		time.Since(began).Seconds(),
	)
	return err
}

// livePast fills the demo with a past: it lets the service run through pastDays on a clock of its own.
func livePast(ctx context.Context, c config.Common, live demoTenant, today time.Time) (_ *past, err error) {
	clock := &pastClock{}
	clock.moveTo(today.AddDate(0, 0, -pastDays))
	a, err := app.OpenAppAt(ctx, c, sqldb.Options{}, clock.currentTime)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	p := &past{
		App:     a,
		clock:   clock,
		today:   today,
		salt:    live.Salt,
		persons: a.NewPersons(nil),
		outside: &pastOutside{clock: clock, today: today},
	}
	if p.partner, err = a.Partners.GetPartner(ctx, partner.ID(live.PartnerID)); err != nil {
		return nil, err
	}
	p.prepareService(ctx)
	for ago := pastDays; ago > 0 && p.err == nil; ago-- {
		if p.livePastDay(ctx, ago); p.err != nil {
			p.err = fmt.Errorf("%d days ago: %w", ago, p.err)
		}
	}
	return p, p.err
}

// The people who work on cases, besides the administrator.
var pastStaff = []string{"bruna@exemplo.com.br", "caio@exemplo.com.br"}

// prepareService makes who works on cases, how soon they should be done and what is asked.
func (p *past) prepareService(ctx context.Context) {
	for _, email := range pastStaff {
		_, _, err := p.Operators.CreateOperator(ctx, email, operator.Support)
		p.keepError(err)
	}
	for _, service := range pastServices {
		p.keepError(p.Cases.SetTargetTime(ctx, service, 36*time.Hour))
		_, err := p.Cases.AddQuestion(
			ctx,
			service,
			pastQuestion,
			false,
			[]string{"Hoje", "Esta semana", "Há mais tempo"},
		)
		p.keepError(err)
	}
}

// livePastDay lives through one day: from the hour at which the demo was started, for some hours.
func (p *past) livePastDay(ctx context.Context, ago int) {
	p.clock.moveTo(p.today.AddDate(0, 0, -ago))
	next := p.today.AddDate(0, 0, 1-ago)
	for _, work := range []func(context.Context, int){p.enrolPeople, p.importLeak, p.openCases, p.workOnCases, p.resolveFindings} {
		work(ctx, ago)
		p.keepError(p.deliverDue(ctx))
		p.clock.passTime(time.Hour)
	}
	// While a receiver is down its deliveries are tried again and again, and never later than an hour ago: what the partners do
	// today is not the past's to deliver.
	const pause = 3 * time.Hour
	for p.outside.isDown(brokenPath) && p.clock.currentTime().Before(next.Add(-pause-time.Hour)) {
		p.clock.passTime(pause)
		p.keepError(p.deliverDue(ctx))
	}
	p.keepError(p.Store.Overview.CountFigures(ctx, 0))
}

// userHash returns the user hash of a person.
func (p *past) userHash(n int) partner.UserHash {
	return partner.UserHash(client.UserHash(makePerson(n).CPF, p.salt))
}

// enrolPeople takes some people in and watches what is theirs.
func (p *past) enrolPeople(ctx context.Context, ago int) {
	first := p.people
	p.people += 2 + ago*3%5
	var lines strings.Builder
	for n := first; n < p.people; n++ {
		lines.WriteString(subscriptionItem(makePerson(n), p.clock.currentTime().Format("2006-01-02")) + "\n")
	}
	report, err := p.Subscriptions.ImportFile(
		ctx,
		p.partner,
		subscription.NewJSONLines(strings.NewReader(lines.String())),
		false,
		func(r subscription.Reject) error { return fmt.Errorf("line %d is refused: %v", r.Line, r.Problems) },
		func(subscription.ImportReport) {},
	)
	p.keepError(err)
	if report.Created != p.people-first {
		p.keepError(fmt.Errorf("enrolled %d of %d", report.Created, p.people-first))
	}
	for n := first; n < p.people; n++ {
		p.watchValues(ctx, n)
	}
}

// watchValues watches the values of a person.
func (p *past) watchValues(ctx context.Context, n int) {
	who, owner := makePerson(n), cyber.Owner{Partner: p.partner.ID, Mode: p.partner.Mode}
	values := [][2]string{{"email", who.Email}, {"cpf", who.CPF}, {"phone", who.Phone}}
	for _, v := range values[:2+n%2] {
		_, err := p.Monitoring.AddAsset(
			ctx,
			cyber.AssetRequest{Owner: owner, User: p.userHash(n), Type: v[0], Value: v[1]},
		)
		p.keepError(err)
	}
	if n%3 == 0 {
		system := cyber.ListSystems()[n%4]
		_, err := p.Endpoints.IssueKey(
			ctx,
			p.partner.ID,
			cyber.DeviceRequest{User: p.userHash(n), System: system, Name: "Aparelho de " + who.Name},
		)
		p.keepError(err)
	}
	p.keepScores(ctx, n)
}

// keepScores has the scores of people kept for the day.
func (p *past) keepScores(ctx context.Context, people ...int) {
	for _, n := range people {
		_, err := p.persons.ComputeScore(ctx, p.partner.ID, p.userHash(n))
		p.keepError(err)
	}
}

// pastLeak is a dump that came in so many days ago.
type pastLeak struct {
	ago    int
	breach cyber.Breach
	fields []string
	// every is how rarely a customer is in it; others are the strangers in it, from one number to another. Two leaks that
	// share strangers know each other's lines.
	every    int
	from, to int
}

// pastLeaks are the dumps of the past, oldest first.
var pastLeaks = []pastLeak{
	{
		28,
		cyber.Breach{Name: "loja-aurora", Title: "Loja Aurora", Kind: cyber.SourceBreach, Verified: true},
		[]string{"nome", "email", "senha"},
		2,
		0,
		400,
	},
	{
		24,
		cyber.Breach{
			Name:     "farmacia-vida-plena",
			Title:    "Farmácia Vida Plena",
			Kind:     cyber.SourceBreach,
			Verified: true,
		},
		[]string{"nome", "cpf", "nascimento"},
		3,
		400,
		2_000,
	},
	{
		20,
		cyber.Breach{Name: "lista-combinada", Title: "Lista combinada", Kind: cyber.SourceCombolist},
		[]string{"email", "senha"},
		4,
		0,
		1_500,
	},
	{
		16,
		cyber.Breach{Name: "paste-de-contatos", Title: "Contatos colados", Kind: cyber.SourcePaste},
		[]string{"nome", "telefone"},
		3,
		2_000,
		2_300,
	},
	{
		13,
		cyber.Breach{
			Name:     "registros-de-infeccao",
			Title:    "Registros de infecção",
			Kind:     cyber.SourceStealer,
			Verified: true,
		},
		[]string{"email", "senha"},
		6,
		2_300,
		2_700,
	},
	{
		7,
		cyber.Breach{Name: "operadora-sul", Title: "Operadora Sul", Kind: cyber.SourceBreach, Verified: true},
		[]string{"nome", "cpf", "telefone", "endereco"},
		5,
		1_000,
		4_000,
	},
	{
		2,
		cyber.Breach{Name: "clube-de-viagem", Title: "Clube de Viagem", Kind: cyber.SourceBreach},
		[]string{"nome", "email", "senha", "nascimento"},
		3,
		4_000,
		4_900,
	},
}

// customers returns the enrolled people who are in a leak.
func (l pastLeak) customers(enrolled int) (list []int) {
	for n := l.ago % l.every; n < enrolled; n += l.every {
		list = append(list, n)
	}
	return list
}

// importLeak imports and matches the day's dump.
func (p *past) importLeak(ctx context.Context, ago int) {
	i := slices.IndexFunc(pastLeaks, func(l pastLeak) bool { return l.ago == ago })
	if i < 0 {
		return
	}
	l := pastLeaks[i]
	customers := l.customers(p.people)
	list := slices.Clone(customers)
	for n := l.from; n < l.to; n++ {
		list = append(list, strangers+n)
	}
	path := filepath.Join(p.Config.Data, l.breach.Name+".csv")
	p.keepError(writeTable(path, l.fields, list))
	defer func() { _ = os.Remove(path) }() // as an upload goes after its import
	inputs, err := intake.ListInputs(ctx, nil, []string{path})
	p.keepError(err)
	breach := l.breach
	breach.Source, breach.Exposes = "demonstração", []cyber.Exposed{leak.Auto}
	breach.Date = p.clock.currentTime().AddDate(0, 0, -20-5*i).Truncate(24 * time.Hour)
	if _, err = p.ImportBreach(
		ctx,
		intake.Spec{Inputs: inputs, Breach: breach},
	); err == nil { // or there is no match to wait for
		_, err = p.MatchBreach(ctx, breach.Name, func(leak.MatchProgress) {})
	}
	p.keepError(err)
	p.keepError(p.Leaks.Library.LoadPublished(ctx)) // what is watched from now on is looked up in it at once
	p.keepScores(ctx, customers...)
}

// resolveFindings has some people deal with a leak two days after it came in.
func (p *past) resolveFindings(ctx context.Context, ago int) {
	i := slices.IndexFunc(pastLeaks, func(l pastLeak) bool { return l.ago == ago+2 })
	if i < 0 {
		return
	}
	for k, n := range pastLeaks[i].customers(p.people) {
		if k%3 != 0 {
			continue
		}
		found, err := p.Monitoring.ListFindings(ctx, p.partner.ID, p.userHash(n))
		p.keepError(err)
		for _, f := range found {
			p.keepError(
				p.Monitoring.ResolveFinding(
					ctx,
					p.partner.ID,
					p.userHash(n),
					f.ID,
					string(cyber.ResolvedPasswordChanged),
				),
			)
		}
		p.keepScores(ctx, n)
	}
}

// pastServices are the services for which the past opens cases, in turn.
var pastServices = []cyber.ServiceID{
	"sv_ajuda_phishing",
	"sv_recuperacao_conta",
	"sv_apoio_vazamento",
	"sv_compra_segura",
}

// pastQuestion is asked before a case of the past is opened.
const pastQuestion = "Quando você percebeu?"

// pastCase is a case and the day on which it was opened.
type pastCase struct {
	cyber.CaseKey
	ago int
	// way is which of the lives of cases it has.
	way int
}

// openCases opens those of the day.
func (p *past) openCases(ctx context.Context, ago int) {
	for range 1 + ago%3 {
		i := len(p.cases)
		user := p.userHash(i * 3 % p.people)
		opened, err := p.Cases.OpenCase(ctx, p.partner.ID, cyber.CaseRequest{
			Service: pastServices[i%len(pastServices)],
			User:    user,
			Answers: []cyber.TriageAnswer{
				{
					Question: pastQuestion,
					Answer:   "Esta semana",
					JSON:     `{"question":"` + pastQuestion + `","answer":"Esta semana"}`,
				},
			},
		})
		p.keepError(err)
		p.cases = append(
			p.cases,
			&pastCase{cyber.CaseKey{ID: opened.ID, Partner: p.partner.ID, User: user}, ago, i % 6},
		)
		p.keepError(p.deliverDue(ctx))
		p.clock.passTime(7 * time.Minute)
	}
}

// workOnCases takes every case on that has something to happen at its age in days.
func (p *past) workOnCases(ctx context.Context, ago int) {
	for i, c := range p.cases {
		p.keepError(p.workOnCase(ctx, c, c.ago-ago, pastStaff[i%len(pastStaff)]))
	}
}

// workOnCase plays one day of a case: most are done in time, some late, some wait for the person, some are left.
func (p *past) workOnCase(ctx context.Context, c *pastCase, age int, actor string) error {
	switch {
	case age == 1 && c.way < 5:
		if err := p.takeUpCase(ctx, c, actor); err != nil || c.way > 2 {
			return err
		}
		return p.finishCase(ctx, c, actor)
	case age == 4 && c.way == 3, age == 5 && c.way == 4:
		return p.finishCase(ctx, c, actor)
	case age == 2 && c.way == 4:
		_, err := p.Cases.MoveCase(ctx, c.ID, cyber.CaseWaiting, actor, "Pedi os cabeçalhos da mensagem.")
		return err
	case age == 6 && c.way == 5:
		_, err := p.Cases.CancelCase(ctx, c.CaseKey, "Já resolvi com o banco.")
		return err
	}
	return nil
}

// takeUpCase has an attendant take a case.
func (p *past) takeUpCase(ctx context.Context, c *pastCase, actor string) error {
	_, err := p.Cases.AssignCase(ctx, c.ID, actor)
	if err == nil {
		_, err = p.Cases.MoveCase(ctx, c.ID, cyber.CaseInProgress, actor, "Primeiro contato feito.")
	}
	if err == nil {
		_, err = p.Cases.AddReply(
			ctx,
			c.ID,
			actor,
			"Olá! Já estamos olhando o seu caso. Não clique em links da mensagem que recebeu.",
		)
	}
	return err
}

// finishCase has an attendant resolve a case.
func (p *past) finishCase(ctx context.Context, c *pastCase, actor string) error {
	_, err := p.Cases.MoveCase(ctx, c.ID, cyber.CaseResolved, actor, "Senhas trocadas e segunda etapa ligada.")
	if err == nil && c.way%2 == 0 {
		_, err = p.Cases.RateCase(ctx, c.CaseKey, 4+c.way%3%2, "Obrigada!")
	}
	return err
}

// pastOutside stands for the partner's systems as they answered then.
type pastOutside struct {
	clock *pastClock
	today time.Time
	asked atomic.Int64
}

// isDown reports whether a system does not work: one was down for four days, and is again since yesterday.
func (o *pastOutside) isDown(path string) bool {
	ago := o.today.Sub(o.clock.currentTime())
	return path == brokenPath && (ago > 12*24*time.Hour && ago < 16*24*time.Hour || ago < 26*time.Hour)
}

// RoundTrip answers after the time that a server takes.
func (o *pastOutside) RoundTrip(req *http.Request) (*http.Response, error) {
	_ = req.Body.Close() // what it says is of no interest here
	n := o.asked.Add(1)
	o.clock.passTime(time.Duration(80+n*37%240) * time.Millisecond)
	status, answer := http.StatusOK, "ok"
	if o.isDown(req.URL.Path) {
		status, answer = http.StatusServiceUnavailable, "em manutenção"
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: req}, nil
}

// pastPatience is how long deliveries are waited for that do not come: those of a receiver that failed too often wait for an
// hour that the past may not reach.
const pastPatience = 40 * time.Millisecond

// deliverDue sends what is due, as a worker does.
func (p *past) deliverDue(ctx context.Context) error {
	due, err := p.Store.Alerts.DueEndpoints(ctx)
	if err != nil || len(due) == 0 {
		return err
	}
	d := alert.NewDispatcher(
		p.Store.Alerts,
		&http.Client{Transport: p.outside},
		p.clock.currentTime,
		slog.New(slog.DiscardHandler),
		alert.DispatcherOptions{
			Poll: 5 * time.Millisecond, NextTry: webhook.NewSchedule(func() float64 { return 0.5 }).NextAttempt,
		},
	)
	running, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() { d.Run(running); close(over) }()
	defer func() { stop(); <-over }()
	asked, quiet := p.outside.asked.Load(), time.Now()
	for len(due) > 0 && ctx.Err() == nil && time.Since(quiet) < pastPatience {
		time.Sleep(2 * time.Millisecond)
		p.clock.passTime(20 * time.Millisecond) // the dispatcher looks at its own clock to look again
		if n := p.outside.asked.Load(); n != asked {
			asked, quiet = n, time.Now()
		}
		if due, err = p.Store.Alerts.DueEndpoints(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// The live partner's people are made from their number, so that the dump to import can name them without reading the database.

var (
	firstNames = []string{
		"Alice",
		"Bento",
		"Cecília",
		"Davi",
		"Eloá",
		"Fábio",
		"Gabriela",
		"Heitor",
		"Isadora",
		"João",
		"Lívia",
		"Miguel",
		"Nina",
		"Otávio",
	}
	surnames = []string{
		"Angelim",
		"Baru",
		"Cumaru",
		"Embaúba",
		"Figueira",
		"Guapuruvu",
		"Imbuia",
		"Jatobá",
		"Laranjeira",
		"Mangaba",
		"Oiti",
		"Pau-Ferro",
		"Quaresmeira",
	}
	cities = []struct{ name, state, zip, code string }{
		{"São Paulo", "SP", "01310100", "11"},
		{"Recife", "PE", "50050000", "81"},
		{"Curitiba", "PR", "80020300", "41"},
		{"Fortaleza", "CE", "60060120", "85"},
		{"Porto Alegre", "RS", "90010150", "51"},
	}
	plainLetters = strings.NewReplacer("á", "a", "ã", "a", "é", "e", "í", "i", "ú", "u", "ç", "c", "-", "")
)

// makePerson returns the n-th made-up person.
func makePerson(n int) subscription.Beneficiary {
	first, last, city := firstNames[n%len(firstNames)], surnames[n/3%len(surnames)], cities[n%len(cities)]
	digits := fmt.Sprintf("%09d", 700_000_000+n)
	email := fmt.Sprintf(
		"%s.%s%d@exemplo.com.br",
		plainLetters.Replace(strings.ToLower(first)),
		plainLetters.Replace(strings.ToLower(last)),
		n,
	)
	return newPerson(
		first+" "+last,
		withCheckDigits(digits),
		fmt.Sprintf("%d-%02d-%02d", 1950+n%55, 1+n%12, 1+n%28),
		string("FM"[n%2]),
		email,
		"+55"+city.code+"98"+digits[2:],
		"Rua das Acácias",
		city.name,
		city.state,
		city.zip,
	)
}

// withCheckDigits makes a CPF of nine digits.
func withCheckDigits(nine string) string {
	for range 2 {
		sum := 0
		for i := range len(nine) {
			sum += int(nine[i]-'0') * (len(nine) + 1 - i)
		}
		nine += strconv.Itoa(sum * 10 % 11 % 10)
	}
	return nine
}

// strangers is the number of the first made-up person who is not a customer of any partner.
const strangers = 100_000

// writeTable writes a table of people; its columns are named as leaked tables name theirs.
func writeTable(path string, columns []string, people []int) error {
	var table strings.Builder
	table.WriteString(strings.Join(columns, ";") + "\n")
	for _, n := range people {
		p := makePerson(n)
		fields := map[string]string{
			"nome":       p.Name,
			"email":      p.Email,
			"cpf":        p.CPF,
			"telefone":   p.Phone,
			"nascimento": p.BirthDate,
			"endereco":   p.Address.Street + ", " + p.Address.City,
			"senha":      fmt.Sprintf("flor%dazul", n%997),
		}
		for i, c := range columns {
			table.WriteString(fields[c] + map[bool]string{true: "\n", false: ";"}[i+1 == len(columns)])
		}
	}
	return os.WriteFile(path, []byte(table.String()), 0o600)
}

// dumpFile is a dump for the user of the demo to import and see people being found.
const dumpFile = "vazamento-para-importar.csv"

// writeDump writes a dump with a third of the live partner's people among many others.
func (w *world) writeDump() (path string, err error) {
	path = filepath.Join(w.app.Config.Data, dumpFile)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	var list []int
	for n := range 20_000 {
		if n%150 == 0 {
			list = append(list, n/150*3+1) // who of them is a customer is seen by importing it
		}
		list = append(list, strangers+50_000+n)
	}
	return path, writeTable(path, []string{"nome", "email", "cpf", "telefone", "senha"}, list)
}
