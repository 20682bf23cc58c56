package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/password"
)

type passwordsCmd struct {
	Import   passwordsImportCmd   `cmd:"" help:"Replace the corpus of an algorithm by the hashes in files; a running server takes it up within seconds."`
	Download passwordsDownloadCmd `cmd:"" help:"Fetch the corpus of an algorithm from the range service; later runs fetch only what changed."`
	Status   passwordsStatusCmd   `cmd:"" help:"Show the corpora: entries, size, date, source."`
	Verify   passwordsVerifyCmd   `cmd:"" help:"Check every byte of the corpora."`
}

type corpusView struct {
	Algorithm  string `json:"algorithm"`
	Entries    uint64 `json:"entries"`
	Widely     uint64 `json:"widely_exposed"`
	Bytes      int64  `json:"bytes"`
	Source     string `json:"source"`
	ImportedAt string `json:"imported_at"`
}

func viewCorpus(c password.Corpus) corpusView {
	return corpusView{
		Algorithm: c.Algorithm.String(), Entries: c.Entries, Widely: c.Widely, Bytes: c.Bytes, Source: c.Source, ImportedAt: stamp(c.Imported),
	}
}

func (o *output) corpus(c password.Corpus) error {
	v := viewCorpus(c)
	return o.print(v, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "The %s corpus has %d entries (%d widely exposed) in %.1f MB, from %s.\n",
			v.Algorithm, v.Entries, v.Widely, float64(v.Bytes)/1e6, v.Source)
	})
}

type passwordsImportCmd struct {
	Algorithm string   `required:"" enum:"sha1,ntlm" placeholder:"sha1|ntlm" help:"Which hashes the files hold: sha1 or ntlm."`
	Source    string   `placeholder:"TEXT" help:"Where they come from, shown by status; default is the files' names."`
	Files     []string `arg:"" name:"file" type:"path" help:"Files of HASH or HASH:COUNT lines in any order (also .gz, .zst, .xz), or folders of range files named by prefix."`
}

// Help shows examples.
func (passwordsImportCmd) Help() string {
	return "A bad line is named by file and line and refuses the import; the corpus that was in force stays.\n\n" +
		"Examples:\n  vigia passwords import --algorithm sha1 pwnedpasswords.txt.zst\n  vigia passwords import --algorithm ntlm ranges/"
}

// Run imports.
func (p *passwordsImportCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	algorithm, err := password.ParseAlgorithm(p.Algorithm)
	if err != nil {
		return err
	}
	inputs, err := password.Files(p.Files...)
	if err != nil {
		return err
	}
	source := p.Source
	if source == "" {
		source = strings.Join(p.Files, ", ")
	}
	return withApp(ctx, c, func(a *app.App) error {
		bar := o.progress("import "+p.Algorithm, "bytes")
		corpus, err := a.Passwords.Import(ctx, password.Import{
			Algorithm: algorithm, Inputs: inputs, Source: source,
			Progress: func(at password.Progress) { bar.set(at.Done, at.Total, fmt.Sprintf("%d hashes", at.Hashes)) },
		})
		bar.end()
		if err != nil {
			return err
		}
		return o.corpus(corpus)
	})
}

type passwordsDownloadCmd struct {
	Algorithm string `required:"" enum:"sha1,ntlm" placeholder:"sha1|ntlm" help:"Which hashes to fetch: sha1 or ntlm."`
	Base      string `default:"${passwords_base}" placeholder:"URL" help:"Address of the range service."`
	Parallel  int    `default:"32" placeholder:"N" help:"Requests at once."`
	config.Outgoing
}

// Help shows examples.
func (passwordsDownloadCmd) Help() string {
	return "An interrupted download goes on where it stopped; an update fetches only the ranges that changed.\n\n" +
		"Example:\n  vigia passwords download --algorithm sha1"
}

// Run downloads.
func (p *passwordsDownloadCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	algorithm, err := password.ParseAlgorithm(p.Algorithm)
	if err != nil {
		return err
	}
	client, err := app.DownloadClient(p.Outgoing)
	if err != nil {
		return err
	}
	return withApp(ctx, c, func(a *app.App) error {
		bar := o.progress("download "+p.Algorithm, "ranges")
		corpus, err := a.Passwords.Download(ctx, password.Download{
			Algorithm: algorithm, Base: p.Base, Parallel: p.Parallel, Client: client,
			Progress: func(at password.Progress) {
				bar.set(at.Done, at.Total, fmt.Sprintf("%d hashes, %.0f MB", at.Hashes, float64(at.Bytes)/1e6))
			},
		})
		bar.end()
		if err != nil {
			return err
		}
		return o.corpus(corpus)
	})
}

type passwordsStatusCmd struct{}

// Run shows the corpora.
func (passwordsStatusCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		list, err := a.Passwords.Status()
		if err != nil {
			return err
		}
		t := table[corpusView]{
			heading: "ALGORITHM\tENTRIES\tWIDELY EXPOSED\tSIZE\tIMPORTED\tSOURCE",
			none:    "No corpus yet. 'vigia serve' makes a small default one; fetch a real one: vigia passwords download --algorithm sha1",
		}
		for _, corpus := range list {
			v := viewCorpus(corpus)
			t.add(v, v.Algorithm, v.Entries, v.Widely, fmt.Sprintf("%.1f MB", float64(v.Bytes)/1e6), v.ImportedAt, v.Source)
		}
		return t.print(o)
	})
}

type passwordsVerifyCmd struct{}

// Run verifies.
func (passwordsVerifyCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		begin := time.Now()
		if err := a.Passwords.Verify(ctx); err != nil {
			return err
		}
		return o.print(map[string]string{"status": "sound"}, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "Every corpus is sound (%.1f s).\n", time.Since(begin).Seconds())
		})
	})
}
