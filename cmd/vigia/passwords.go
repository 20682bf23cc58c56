package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// passwordsCmd groups the commands on the corpora of leaked passwords.
type passwordsCmd struct {
	Import   passwordsImportCmd   `cmd:"" help:"Replace the corpus of an algorithm by the hashes in files; a running server takes it up within seconds."`
	Download passwordsDownloadCmd `cmd:"" help:"Fetch the corpus of an algorithm from the range service; later runs fetch only what changed."`
	Status   passwordsStatusCmd   `cmd:"" help:"Show the corpora: entries, size, date, source."`
	Verify   passwordsVerifyCmd   `cmd:"" help:"Check every byte of the corpora."`
}

// viewCorpus returns a corpus as a record of output.
func viewCorpus(c password.Corpus) record {
	return newRecord(
		"algorithm", c.Algorithm,
		"entries", c.Entries,
		"widely_exposed", c.Widely,
		"bytes", c.Bytes,
		"imported_at", c.Imported,
		"source", c.Source,
	)
}

// showImported shows a corpus that was just imported. Without a bucket it names the replicas that do not have it.
func showImported(ctx context.Context, a *app.App, o *output, corpus password.Corpus) error {
	if a.Engine == sqldb.PostgreSQL && a.Config.Corpora == "" {
		places, err := a.PlacesWithoutPasswords(ctx, corpus.Algorithm)
		if err != nil {
			return err
		}
		if len(places) > 0 {
			o.warn("these replicas do not have this corpus: " + strings.Join(places, ", ") +
				"; run the same command there, or give all replicas one bucket with --corpora")
		}
	}
	return o.showRecord(viewCorpus(corpus))
}

// passwordsImportCmd is 'vigia passwords import'. The new corpus
// replaces the old one; a running server takes it up within seconds.
type passwordsImportCmd struct {
	Algorithm string   `required:"" enum:"sha1,ntlm" placeholder:"sha1|ntlm" help:"Which hashes the files hold: sha1 or ntlm."`
	Source    string   `placeholder:"TEXT" help:"Where they come from, shown by status; default is the files' names."`
	Force     bool     `help:"Replace a corpus by a smaller one."`
	Files     []string `arg:"" name:"file" type:"path" help:"Files of HASH or HASH:COUNT lines in any order (also .gz, .zst, .xz), or folders of range files named by prefix."`
}

func (passwordsImportCmd) Help() string {
	return "A bad line is named by file and line and refuses the import; the corpus that was in force stays. So it " +
		"does when the files hold fewer hashes than it has, unless --force is given.\n\n" +
		"Examples:\n  vigia passwords import --algorithm sha1 pwnedpasswords.txt.zst\n  vigia passwords import " +
		"--algorithm ntlm ranges/"
}

func (p *passwordsImportCmd) Run(ctx context.Context, a *app.App, o *output) error {
	algorithm, err := password.ParseAlgorithm(p.Algorithm)
	if err != nil {
		return err
	}
	for _, name := range p.Files {
		if err := checkNamedFile(name); err != nil {
			return err
		}
	}
	inputs, err := password.ListInputs(p.Files...)
	if err != nil {
		return err
	}
	bar := o.progress("import "+p.Algorithm, "bytes")
	corpus, err := a.ImportPasswords(ctx, password.Import{
		Algorithm: algorithm,
		Inputs:    inputs,
		Force:     p.Force,
		Source:    cmp.Or(p.Source, strings.Join(p.Files, ", ")),
		Progress: func(at password.Progress) {
			bar.setProgress(at.Done, at.Total, fmt.Sprintf("%d hashes", at.Hashes))
		},
	})
	bar.clearLine()
	if err != nil {
		return err
	}
	return showImported(ctx, a, o, corpus)
}

// passwordsDownloadCmd is 'vigia passwords download'. Later runs fetch only what changed.
type passwordsDownloadCmd struct {
	Algorithm string `required:"" enum:"sha1,ntlm" placeholder:"sha1|ntlm" help:"Which hashes to fetch: sha1 or ntlm."`
	Base      string `default:"${passwords_base}" placeholder:"URL" help:"Address of the range service."`
	Parallel  int    `default:"32" placeholder:"N" help:"Requests at once."`
	Force     bool   `help:"Replace a corpus by a smaller one."`
	config.Outgoing
}

func (passwordsDownloadCmd) Help() string {
	return "An interrupted download goes on where it stopped; an update fetches only the ranges that changed.\n\n" +
		"Example:\n  vigia passwords download --algorithm sha1"
}

func (p *passwordsDownloadCmd) Run(ctx context.Context, a *app.App, o *output) error {
	algorithm, err := password.ParseAlgorithm(p.Algorithm)
	if err != nil {
		return err
	}
	out, err := app.OpenOutgoing(p.Outgoing)
	if err != nil {
		return err
	}
	bar := o.progress("download "+p.Algorithm, "ranges")
	corpus, err := a.DownloadPasswords(ctx, password.Download{
		Algorithm: algorithm, Base: p.Base, Parallel: p.Parallel, Force: p.Force, Client: out.Downloads,
		Progress: func(at password.Progress) {
			bar.setProgress(at.Done, at.Total, fmt.Sprintf("%d hashes, %.0f MB", at.Hashes, float64(at.Bytes)/1e6))
		},
	})
	bar.clearLine()
	if err != nil {
		return err
	}
	return showImported(ctx, a, o, corpus)
}

// passwordsStatusCmd is 'vigia passwords status', which shows entries, size, date and source of each corpus.
type passwordsStatusCmd struct{}

func (passwordsStatusCmd) Run(a *app.App, o *output) error {
	found, err := a.Passwords.ReadStatus()
	if err != nil {
		return err
	}
	return o.listRecords(
		makeRecords(found, viewCorpus),
		"No corpus yet. 'vigia serve' makes a small default one; fetch a real one: vigia passwords download "+
			"--algorithm sha1",
	)
}

// passwordsVerifyCmd is 'vigia passwords verify', which reads every byte of the corpora.
type passwordsVerifyCmd struct{}

func (passwordsVerifyCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if err := a.Passwords.VerifyFiles(ctx); err != nil {
		return err
	}
	return o.showRecord(newRecord("status", "sound"))
}
