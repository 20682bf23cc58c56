package console

import (
	"net/http"

	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/leak"
)

// renewalForm is what the form of a renewal offers.
type renewalForm struct {
	leak.Record
	Ways   []choiceOption
	Upload bool
}

var wayOptions = []choiceOption{
	{"append", "Acrescentar: o que há de novo nos arquivos entra no vazamento"},
	{"replace", "Substituir: o conteúdo dos arquivos toma o lugar do atual; com os mesmos arquivos, os registros são lidos de novo"},
}

// newRenewal shows the form that adds to the content of a breach or replaces it, from paths on the server or an
// upload.
func newRenewal(c *Console, r *request) (answer, error) {
	rec, err := c.Rules.Breaches.FindBreach(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	upload := r.Method == http.MethodGet && r.URL.Query().Get("from") == "upload" || r.route.upload
	return view{"breach-renew", "Renovar o conteúdo", renewalForm{rec, wayOptions, upload}}, nil
}

// renewBreach starts the renewal of a breach from files on the server; a job does the work.
func renewBreach(c *Console, r *request) (answer, error) {
	return c.beginRenewal(r, r.trimmedField("paths"), func(name string, way intake.Way) error {
		return c.Rules.Breaches.Renew(r.Context(), way, name, r.PostForm.Has("no_pairs"), splitLines(r.trimmedField("paths")))
	})
}

// uploadRenewal starts the renewal of a breach from an uploaded file, which is streamed and never held in memory.
func uploadRenewal(c *Console, r *request) (answer, error) {
	file, err := fieldsAndFile(r)
	r.noteFormError(err)
	return c.beginRenewal(r, "upload", func(name string, way intake.Way) error {
		return c.Rules.Breaches.RenewUpload(r.Context(), way, name, r.PostForm.Has("no_pairs"), file.FileName(), file)
	})
}

// beginRenewal refuses what can be refused before it is noted who began it, and begins.
func (c *Console) beginRenewal(r *request, from string, begin func(name string, way intake.Way) error) (answer, error) {
	name := r.PathValue("name")
	way, err := intake.ParseWay(r.PostForm.Get("way"))
	r.noteFormError(err)
	if _, err := c.Rules.Breaches.FindBreach(r.Context(), name); err != nil {
		return nil, err
	}
	if err := c.recordAction(r, "breach."+r.PostForm.Get("way"), name, from); err != nil {
		return nil, err
	}
	err = begin(name, way)
	return redirect{joinPath("breaches", name), "breach.renewing"}, err
}
