package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

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

// newRenewal shows the form that adds to the content of a breach, from paths on the server or an upload.
func newRenewal(c *Console, r *request) (answer, error) {
	rec, err := c.Rules.Breaches.FindBreach(r.Context(), r.PathValue("name"))
	upload := r.Method == http.MethodGet && r.URL.Query().Get("from") == "upload" || r.route.upload
	return newView("breach-renew", "Acrescentar arquivos", breachForm{rec, upload}, err)
}

// renewBreach starts the renewal of a breach; a job does the work. What can be refused is refused before it is noted
// who began it.
func renewBreach(c *Console, r *request) (answer, error) {
	form := newFormReader(r)
	from, detail := form.readInput()
	name := r.PathValue("name")
	if _, err := c.Rules.Breaches.FindBreach(r.Context(), name); err != nil {
		return nil, err
	}
	if err := form.err(); err != nil {
		return nil, err
	}
	next := redirect{joinPath("breaches", name), "breach.renewing"}
	return c.recordAndRun(r, "breach.append", name, detail, next, func() error {
		return c.Rules.Breaches.Renew(r.Context(), name, r.PostForm.Has("no_pairs"), from)
	})
}

// shownJobs is how many jobs a page about something else lists.
const shownJobs = 8
