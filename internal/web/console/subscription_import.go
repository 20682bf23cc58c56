package console

import (
	"io"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// shownRejects is how many refused records the page lists; the rest are counted.
const shownRejects = 200

// importPage is the data of the page that uploads a file of subscriptions; Report is nil before a file was sent.
type importPage struct {
	partnerChoice
	Report *importReport
}

// importReport is the outcome of an upload as the page shows it: counts, a sample of the rejects, and files to
// download.
type importReport struct {
	subscription.ImportReport
	DryRun  bool
	Rejects []rejectRow
	// File holds the refused records, Draft the checked file, which can be created as it is; each empty when there is none.
	File, Draft string
}

// rejectRow says what is wrong with a record, without repeating the record: it holds a person's data.
type rejectRow struct {
	Line     int
	Problems []string
}

// showImport shows the form that uploads subscriptions for the chosen partner.
func showImport(c *Console, r *request) (answer, error) {
	return view{"subscriptions-import", "Enviar assinaturas", importPage{partnerChoice: c.choosePartner(r)}}, nil
}

// importSubscriptions reads an uploaded file while it arrives. One that is only checked is kept, sealed, so that it can be created
// without being sent again.
func importSubscriptions(c *Console, r *request) (answer, error) {
	choice := c.enrolling(r)
	dryRun := r.URL.Query().Get("dry") == "1"
	file := uploadedFile(r)
	if r.keepFailure(r.wrong); r.failure != nil {
		return nil, r.failure
	}
	format := operator.CSV
	if name := strings.ToLower(file.FileName()); strings.HasSuffix(name, ".jsonl") ||
		strings.HasSuffix(name, ".ndjson") {
		format = operator.JSON
	}
	in, kept := io.Reader(file), c.newSealedFile(r, checkedFile, string(choice.Current.ID), format)
	if dryRun {
		in = io.TeeReader(file, kept)
	}
	report, err := c.enrolFromFile(r, choice.Current, in, format, dryRun)
	if err == nil {
		err = kept.finishFile(int64(report.Created))
	}
	switch {
	case err != nil:
	case dryRun && report.Created > 0:
		report.Draft = kept.ID
	case kept.begun: // nothing in it is worth a second look
		err = c.Rules.Saved.DropExport(r.Context(), r.who.ID, kept.ID)
	}
	return view{"subscriptions-import", "Enviar assinaturas", importPage{choice, report}}, err
}

// createChecked creates what a file that was checked holds.
func createChecked(c *Console, r *request) (answer, error) {
	choice := c.enrolling(r)
	file := callRuleWith2(r, c.Rules.Saved.GetExport, r.who.ID, r.PathValue("file"))
	if file.List != checkedFile || file.About != string(choice.Current.ID) {
		r.keepFailure(operator.ErrNoExport)
	}
	report, err := c.enrolFromFile(
		r,
		choice.Current,
		&sealedReader{ctx: r.Context(), saved: c.Rules.Saved, file: file},
		file.Format,
		false,
	)
	if err == nil {
		err = c.Rules.Saved.DropExport(r.Context(), r.who.ID, file.ID)
	}
	return view{"subscriptions-import", "Enviar assinaturas", importPage{choice, report}}, err
}

// enrolling returns the partner whose people are uploaded.
func (c *Console) enrolling(r *request) partnerChoice {
	choice := c.choosePartner(r)
	if choice.Current.ID == "" {
		r.keepFailure(partner.ErrNotFound)
	}
	return choice
}

// enrolFromFile creates what a file holds, or says what would be created.
func (c *Console) enrolFromFile(
	r *request,
	p partner.Partner,
	in io.Reader,
	format operator.Format,
	dryRun bool,
) (*importReport, error) {
	if r.failure != nil {
		return nil, r.failure
	}
	source := subscription.NewJSONLines(in)
	if format == operator.CSV {
		table, err := subscription.NewCSVReader(in)
		if err != nil {
			return nil, err
		}
		source = table
	}
	detail := "upload"
	if dryRun {
		detail = "dry run"
	}
	if c.recordAction(r, "subscription.import", string(p.ID), detail); r.failure != nil {
		return nil, r.failure
	}
	report, file := &importReport{DryRun: dryRun}, c.newSealedFile(r, rejectedFile, string(p.ID), format)
	rejects := subscription.NewRejects(file, source, c.Rules.ProblemText)
	var err error
	report.ImportReport, err = c.Rules.Subscriptions.ImportFile(
		r.Context(),
		p,
		source,
		dryRun,
		func(j subscription.Reject) error {
			if len(report.Rejects) < shownRejects {
				row := rejectRow{Line: j.Line}
				for _, p := range j.Problems {
					row.Problems = append(row.Problems, c.Rules.ProblemText(p))
				}
				report.Rejects = append(report.Rejects, row)
			}
			return rejects.Write(j)
		},
		func(subscription.ImportReport) {},
	)
	if err == nil {
		err = file.finishFile(int64(report.Rejected))
	}
	if err == nil && file.begun {
		report.File = file.ID
	}
	return report, err
}
