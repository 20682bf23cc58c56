package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subscription"
	"github.com/vigiahq/vigia/internal/web/api"
)

// subscriptionImportCmd is 'vigia subscription import'. Refused records go to a file that can be mended and imported
// again.
type subscriptionImportCmd struct {
	File    string     `arg:"" name:"file" help:"FILE.csv or FILE.jsonl."`
	Partner partner.ID `required:"" placeholder:"ID" help:"The partner's id."`
	Rejects string     `placeholder:"FILE" help:"Where to write what was refused, with the reasons; by default beside the file, with .rejects in its name."`
	DryRun  bool       `help:"Check everything, create nothing."`
}

func (subscriptionImportCmd) Help() string {
	return "A .jsonl file has one item of the bulk request per line. A .csv file has a heading with the names of an " +
		"item's members\n" +
		"(start_date, expiry_date, plan_id, is_group_plan, group_size, benefit_holder, partner_metadata, " +
		"partner_internal_id,\n" +
		"primary_card, user_card, name, cpf, birth_date, gender, email, phone_number, zipcode, street, number, " +
		"complement,\n" +
		"neighborhood, city, state), separated by commas or semicolons.\n\n" +
		"Running a file again creates only what is not there yet. Rejects can be mended and imported as a file of " +
		"their own.\n\n" +
		"Examples:\n  vigia subscription import funcionarios.csv --partner pt_...\n" +
		"  vigia subscription import lote.jsonl --partner pt_... --dry-run --json"
}

func (i *subscriptionImportCmd) Run(ctx context.Context, a *app.App, o *output) (err error) {
	file, err := openNamedFile(i.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	read := &countingReader{r: file}
	source, rejects, err := i.openSource(read)
	if err != nil {
		return err
	}
	p, err := a.Partners.PartnerByID(ctx, i.Partner)
	if err != nil {
		return err
	}
	bar := o.progress("import", "bytes")
	report, err := a.Subscriptions.ImportFile(
		ctx,
		p,
		source,
		i.DryRun,
		subscription.NewRejects(rejects, source, api.ItemError).Write,
		func(r subscription.ImportReport) {
			bar.setProgress(
				read.n,
				info.Size(),
				fmt.Sprintf("%d created, %d already there, %d rejected", r.Created, r.Known, r.Rejected),
			)
		},
	)
	bar.clearLine()
	if err = errors.Join(err, rejects.closeFile()); err != nil {
		return err
	}
	view := newRecord(
		"created", report.Created,
		"already_there", report.Known,
		"rejected", report.Rejected,
		"watched", report.Watched.String(),
		"dry_run", i.DryRun,
	)
	if report.Rejected == 0 {
		return o.showRecord(view)
	}
	return errors.Join(
		o.showRecord(view.withPairs("rejects_file", rejects.path), "The rejects file holds personal data."),
		errRejected.Note("%d records were refused: they are in %s, with the reasons", report.Rejected, rejects.path),
	)
}

// errRejected ends an import of which some records were refused.
var errRejected = fault.New(fault.Unprocessable, "import.rejects")

// countingReader tells how far a file has been read.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// openSource chooses the reader by the file's name.
func (i *subscriptionImportCmd) openSource(r io.Reader) (subscription.Source, *rejectsFile, error) {
	dot := strings.LastIndexByte(i.File, '.')
	if dot < 0 {
		dot = len(i.File)
	}
	out := &rejectsFile{path: i.Rejects}
	if out.path == "" {
		out.path = i.File[:dot] + ".rejects" + i.File[dot:]
	}
	switch strings.ToLower(i.File[dot:]) {
	case ".jsonl", ".ndjson":
		return subscription.NewJSONLines(r), out, nil
	case ".csv":
		table, err := subscription.NewCSVReader(r)
		if err != nil {
			return nil, nil, err
		}
		return table, out, nil
	}
	return nil, nil, subscription.ErrFile.Note("%s: expected a name that ends in .csv or .jsonl", i.File)
}

// rejectsFile is made only when there is something to write, readable by its owner alone.
type rejectsFile struct {
	path string
	file *os.File
}

func (r *rejectsFile) Write(text []byte) (int, error) {
	if r.file == nil {
		f, err := os.OpenFile(r.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return 0, err
		}
		r.file = f
	}
	return r.file.Write(text)
}

// closeFile closes the file of rejects, if there is one.
func (r *rejectsFile) closeFile() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
