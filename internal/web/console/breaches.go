package console

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Breaches imports, edits and retracts.
type Breaches interface {
	ListBreaches(ctx context.Context) ([]leak.Record, error)
	FindBreach(ctx context.Context, name string) (leak.Record, error)
	// CountHits counts the people that a breach has hit, partner by partner.
	CountHits(ctx context.Context, of cyber.Breach, since time.Time) ([]leak.Hits, error)
	EditBreach(ctx context.Context, name string, edit func(*cyber.Breach)) (leak.Record, error)
	// Retract takes a breach back; its findings are withdrawn by a job.
	Retract(ctx context.Context, name string) (leak.Record, error)
	// Explain tells what a published breach says of one value, and what was known of it before.
	Explain(ctx context.Context, name string, kind identifier.Kind, value string) (leak.Explanation, error)
	// Verify begins to read every byte of a breach's segment, as a job.
	Verify(ctx context.Context, name string) error
	// Import begins to import files, as a job; noPairs keeps nothing of passwords beside identifiers.
	Import(ctx context.Context, b cyber.Breach, noPairs bool, from Input) error
	// Renew begins to change what a published breach holds, as a job.
	Renew(ctx context.Context, way intake.Way, breach string, noPairs bool, from Input) error
}

// listBreaches shows one page of the imported breaches and a chart of all of them.
func listBreaches(c *Console, r *request) (answer, error) {
	ctx := r.Context()
	f, err := c.parseFilterQuery(ctx, &breachesList, r.URL.Query(), "", nil)
	if err != nil {
		return nil, err
	}
	all, err := c.Rules.Breaches.ListBreaches(ctx)
	if err != nil {
		return nil, err
	}
	page, err := c.gatherBreaches(ctx, r.viewer, f)
	if err != nil {
		return nil, err
	}
	slices.Reverse(all)
	r.addPictures(c.pictureBreaches(r.viewer, all, parsePeriod(r))...)
	return view{"breaches", "Vazamentos", page}, nil
}

func (c *Console) gatherBreaches(ctx context.Context, who viewer, f filter) (breachesPage, error) {
	list, next, err := f.readBreaches(ctx, &c.Rules, perPage)
	if err != nil {
		return breachesPage{}, err
	}
	rows := make([]breachRow, len(list))
	for i, rec := range list {
		rows[i].Record = rec
		if rec.State != leak.Importing {
			continue
		}
		jobs, err := c.Rules.Jobs.ListJobsAbout(ctx, rec.Name, []string{intake.KindImport}, 1)
		if err != nil {
			return breachesPage{}, err
		}
		if len(jobs) > 0 {
			newest := newJobRow(jobs[0], c.Now())
			rows[i].Import = &newest
		}
	}
	all, err := f.selectBreaches(ctx, &c.Rules)
	if err != nil {
		return breachesPage{}, err
	}
	people, err := c.peopleOfBreaches(ctx, list)
	if err != nil {
		return breachesPage{}, err
	}
	part := listPart{shown: len(rows), next: next, total: int64(len(all))}
	around, err := c.newListView(ctx, who, &breachesList, f, part)
	return breachesPage{List: around, Table: tableOfBreaches(rows, people, c.Now())}, err
}

// peopleOfBreaches counts the people that each of the breaches has hit.
func (c *Console) peopleOfBreaches(ctx context.Context, list []leak.Record) (map[string]int64, error) {
	people := make(map[string]int64, len(list))
	for _, rec := range list {
		hits, err := c.Rules.Breaches.CountHits(ctx, rec.Breach, time.Time{})
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			people[rec.Name] += h.People
		}
	}
	return people, nil
}

// breachesPage is the data of the list of breaches.
type breachesPage struct {
	List  listView
	Table listTable
}

// breachRow is a breach in the list; Import is the job that reads it, while it is not published.
type breachRow struct {
	leak.Record
	Import *jobRow
}

// breachForm is what the form of a breach offers.
type breachForm struct {
	leak.Record
	Upload bool
}

var exposedOptions = []choiceOption{
	{"email", "E-mail"},
	{"password", "Senha"},
	{"password_hash", "Senha cifrada"},
	{"cpf", "CPF"},
	{"phone", "Telefone"},
	{"card", "Cartão"},
	{"address", "Endereço"},
	{"name", "Nome"},
	{"birth_date", "Nascimento"},
	{"document", "Documento"},
	{"health", "Saúde"},
	{"financial", "Financeiro"},
	{"cookies", "Cookies"},
	{"ip_address", "Endereço IP"},
	{"username", "Usuário"},
	{"other", "Outros"},
}

var kindOptions = []choiceOption{
	{"breach", "Vazamento de um serviço"},
	{"combolist", "Combolist"},
	{"stealer", "Programa ladrão (stealer)"},
	{"paste", "Texto publicado (paste)"},
	{"phish", "Phishing"},
}

func (f breachForm) Has(class string) bool { return slices.Contains(f.Exposes, cyber.Exposed(class)) }

// newBreach shows an empty form for a breach, to be imported from files on the server or from an upload.
func newBreach(_ *Console, r *request) (answer, error) {
	upload := r.URL.Query().Get("from") == "upload" || r.route.upload
	return view{"breach-new", "Importar vazamento", breachForm{Upload: upload}}, nil
}

func parseBreachForm(f *formReader, b *cyber.Breach) {
	values := f.PostForm
	day, err := parseDayField("date", values.Get("date"))
	f.noteFault(err)
	b.Title = values.Get("title")
	b.Date = day
	b.Source = values.Get("source")
	b.Description = values.Get("description")
	b.Kind = cyber.SourceKind(values.Get("kind"))
	b.Exposes = leak.ParseExposes(values["exposes"])
	b.Verified = values.Has("verified")
	b.Fabricated = values.Has("fabricated")
	b.SpamList = values.Has("spam_list")
}

// importBreach starts the import of a breach; a job does the work. All that can be wrong is found before a file is
// read.
func importBreach(c *Console, r *request) (answer, error) {
	form := newFormReader(r)
	from, detail := form.readInput()
	b := cyber.Breach{Name: strings.TrimSpace(r.PostForm.Get("name"))}
	parseBreachForm(form, &b)
	form.noteFault(leak.CheckNewBreach(&b, c.Now()))
	if known, err := c.Rules.Breaches.FindBreach(r.Context(), b.Name); err == nil && known.State != leak.Importing {
		form.noteFault(leak.ErrBreachExists.With("name", fault.Taken))
	}
	if err := form.err(); err != nil {
		return nil, err
	}
	next := redirect{joinPath("breaches", b.Name), "breach.started"}
	return c.recordAndRun(r, "breach.import", b.Name, detail, next, func() error {
		return c.Rules.Breaches.Import(r.Context(), b, r.PostForm.Has("no_pairs"), from)
	})
}

// breachPage is the data of the page of one breach.
type breachPage struct {
	breachForm
	recentJobs
	Found []choiceCount
	// Reasons are why inputs were not read.
	Reasons []choiceCount
	// Nowhere are classes that it is said to expose and that were not found, Unnamed the other way round.
	Nowhere, Unnamed []string
	// MostFrom is the breach that shares most with this one, New the share of it that none before had.
	MostFrom, New string
	// Hits counts the people that the breach has hit, by partner; All is the sum.
	Hits  []leak.Hits
	All   leak.Hits
	Names map[partner.ID]string
}

// Final reports whether the figures are those of the whole breach, and not of an import that goes on.
func (p breachPage) Final() bool { return p.State != leak.Importing }

// KindName returns where the data came from, in words.
func (p breachPage) KindName() string { return kindsOfSource.optionLabel(string(p.Kind)) }

// Exposed returns what it is said to expose, in words.
func (p breachPage) Exposed() []string { return exposedLabels(p.Exposes) }

// exposedLabels returns the labels of classes of exposed data; a class without a label is shown as it is.
func exposedLabels(list []cyber.Exposed) []string {
	labels := make([]string, len(list))
	for i, e := range list {
		labels[i] = listField{Options: exposedOptions}.optionLabel(string(e))
	}
	return labels
}

// joinExposed returns what leaked within a sentence: small letters, but for abbreviations.
func joinExposed(list []cyber.Exposed) string {
	labels := exposedLabels(list)
	for i, label := range labels {
		if label != strings.ToUpper(label) {
			labels[i] = strings.ToLower(label[:1]) + label[1:]
		}
	}
	return strings.Join(labels, ", ")
}

// choiceCount is a label with a count, a line of a small table.
type choiceCount struct {
	Label string
	Count int64
}

// breachKinds are the jobs that a breach's page shows.
var breachKinds = []string{
	intake.KindImport,
	intake.KindRenew,
	leak.KindMatch,
	leak.KindWithdraw,
	leak.KindRestate,
	leak.KindVerify,
}

// showBreach shows a breach. While its first import runs there is no record yet, and the page shows the job's figures.
func showBreach(c *Console, r *request) (answer, error) {
	page, err := c.gatherBreach(r.Context(), r.viewer, r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	return view{"breach", page.Title, page}, nil
}

func (c *Console) gatherBreach(ctx context.Context, who viewer, name string) (breachPage, error) {
	jobs, err := c.Rules.Jobs.ListJobsAbout(ctx, name, breachKinds, perPage)
	if err != nil {
		return breachPage{}, err
	}
	rec, err := c.Rules.Breaches.FindBreach(ctx, name)
	if err != nil {
		if len(jobs) == 0 {
			return breachPage{}, err
		}
		// Its import has only just begun.
		rec = leak.Record{Breach: cyber.Breach{Name: name, Title: name}, State: leak.Importing}
	}
	page := breachPage{breachForm: breachForm{Record: rec}, recentJobs: recentJobs{c.newJobRows(jobs)}}
	if rec.State == leak.Importing { // the record has no figures yet: those of the job are the only ones
		for i := range page.Jobs {
			if p, told := page.Jobs[i].importing(); told {
				rec.Tally = leak.Tally{Bytes: p.Read, Scanned: p.Scanned, Found: p.Found}
				break
			}
		}
		page.Tally = rec.Tally
	}
	for _, o := range exposedOptions {
		if n := rec.Tally.Found[o.Value]; n > 0 {
			page.Found = append(page.Found, choiceCount{o.Label, n})
		}
	}
	if page.Final() {
		nowhere, unnamed := rec.Tally.CompareClasses(rec.Exposes)
		page.Nowhere, page.Unnamed = exposedLabels(nowhere), exposedLabels(unnamed)
	}
	if m := rec.Tally.Measured; m != nil {
		page.MostFrom, _ = m.LargestOverlap()
		page.New = formatShare(rec.Tally.Distinct-min(m.Known, rec.Tally.Distinct), rec.Tally.Distinct)
	}
	page.Names, err = c.partnerNames(ctx, who)
	if err != nil {
		return breachPage{}, err
	}
	var changed time.Time
	for _, j := range jobs {
		if j.FinishedAt.After(changed) {
			changed = j.FinishedAt
		}
	}
	page.Hits, err = c.Rules.Breaches.CountHits(ctx, rec.Breach, changed)
	if err != nil {
		return breachPage{}, err
	}
	page.All.Severities = map[cyber.Severity]int64{}
	for _, h := range page.Hits {
		for severity, n := range h.Severities {
			page.All.Severities[severity] += n
		}
		page.All.People += h.People
		page.All.Open += h.Open
		page.All.Resolved += h.Resolved
		page.All.Withdrawn += h.Withdrawn
		page.All.Alerted += h.Alerted
	}
	for _, reason := range slices.Sorted(maps.Keys(rec.Tally.Reasons)) {
		page.Reasons = append(page.Reasons, choiceCount{reasonText(reason), rec.Tally.Reasons[reason]})
	}
	// No class has the names of these kinds.
	for _, k := range []identifier.Kind{identifier.Card, identifier.PixKey, identifier.CNPJ} {
		if n := rec.Tally.Found[k.String()]; n > 0 {
			page.Found = append(page.Found, choiceCount{kindWords[k], n})
		}
	}
	return page, nil
}

// editBreach shows the form that changes what is told of a breach.
func editBreach(c *Console, r *request) (answer, error) {
	rec, err := c.Rules.Breaches.FindBreach(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	return view{"breach-edit", "Editar " + rec.Title, breachForm{Record: rec}}, nil
}

// saveBreach changes the description of a breach. Its name and the time it was added stay.
func saveBreach(c *Console, r *request) (answer, error) {
	name := r.PathValue("name")
	form := newFormReader(r)
	var given cyber.Breach
	parseBreachForm(form, &given)
	next := redirect{joinPath("breaches", name), "breach.saved"}
	return c.changeAndRedirect(r, "breach.edit", next, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Breaches.EditBreach(ctx, name, func(b *cyber.Breach) {
			given.Name, given.AddedAt = b.Name, b.AddedAt
			*b = given
		})
		return name, "", form.joinFaults(err)
	})
}

// retractBreach withdraws a breach and, by a job, its findings. The operator has to type the name of the breach.
func retractBreach(c *Console, r *request) (answer, error) {
	name := r.PathValue("name")
	if r.trimmedField("confirm") != name {
		return nil, errForm.With("confirm", fault.NameOfTheBreach)
	}
	next := redirect{joinPath("breaches", name), "breach.retracted"}
	return c.recordAndRun(r, "breach.retract", name, "", next, func() error {
		_, err := c.Rules.Breaches.Retract(r.Context(), name)
		return err
	})
}

// verifyBreach starts a job that reads the segments of a breach in full and checks them.
func verifyBreach(c *Console, r *request) (answer, error) {
	name := r.PathValue("name")
	next := redirect{joinPath("breaches", name), "job.started"}
	return c.recordAndRun(r, "breach.verify", name, "", next, func() error {
		return c.Rules.Breaches.Verify(r.Context(), name)
	})
}

var wayOptions = []choiceOption{
	{"append", "Acrescentar: o que há de novo nos arquivos entra no vazamento"},
	{
		"replace",
		"Substituir: o conteúdo dos arquivos toma o lugar do atual; com os mesmos arquivos, os registros são lidos " +
			"de novo",
	},
}

// newRenewal shows the form that adds to the content of a breach or replaces it, from paths on the server or an upload.
func newRenewal(c *Console, r *request) (answer, error) {
	rec, err := c.Rules.Breaches.FindBreach(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	upload := r.Method == http.MethodGet && r.URL.Query().Get("from") == "upload" || r.route.upload
	return view{"breach-renew", "Renovar o conteúdo", breachForm{rec, upload}}, nil
}

// renewBreach starts the renewal of a breach; a job does the work. What can be refused is refused before it is noted
// who began it.
func renewBreach(c *Console, r *request) (answer, error) {
	form := newFormReader(r)
	from, detail := form.readInput()
	name := r.PathValue("name")
	way, err := intake.ParseWay(r.PostForm.Get("way"))
	form.noteFault(err)
	if _, err := c.Rules.Breaches.FindBreach(r.Context(), name); err != nil {
		return nil, err
	}
	if err := form.err(); err != nil {
		return nil, err
	}
	next := redirect{joinPath("breaches", name), "breach.renewing"}
	return c.recordAndRun(r, "breach."+r.PostForm.Get("way"), name, detail, next, func() error {
		return c.Rules.Breaches.Renew(r.Context(), way, name, r.PostForm.Has("no_pairs"), from)
	})
}

// shownJobs is how many jobs a page about something else lists.
const shownJobs = 8
