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
	// File holds the refused records, Draft the checked file, which can be created as it is; each empty when there is
	// none.
	File, Draft string
}

// rejectRow says what is wrong with a record, without repeating the record: it holds a person's data.
type rejectRow struct {
	Line     int
	Problems []string
}

// showImport shows the form that uploads subscriptions for the chosen partner.
func showImport(c *Console, r *request) (answer, error) {
	choice, err := c.choosePartner(r)
	return newView("subscriptions-import", "Enviar assinaturas", importPage{partnerChoice: choice}, err)
}

// importSubscriptions reads an uploaded file while it arrives. One that is only checked is kept, sealed, so that it can
// be created without being sent again.
func importSubscriptions(c *Console, r *request) (answer, error) {
	choice, err := c.enrolling(r)
	if err != nil {
		return nil, err
	}
	dryRun := r.URL.Query().Get("dry") == "1"
	form := newFormReader(r)
	file := form.readUpload()
	if err := form.err(); err != nil {
		return nil, err
	}
	format := operator.CSV
	name := strings.ToLower(file.FileName())
	if strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson") {
		format = operator.JSON
	}
	in, kept := io.Reader(file), c.newSealedFile(r, checkedFile, string(choice.Current.ID), format)
	if dryRun {
		in = io.TeeReader(file, kept)
	}
	report, err := c.enrolFromFile(r, choice.Current, in, format, dryRun)
	if err != nil {
		return nil, err
	}
	if err := kept.finishFile(int64(report.Created)); err != nil {
		return nil, err
	}
	switch {
	case dryRun && report.Created > 0:
		report.Draft = kept.ID
	case kept.begun: // nothing in it is worth a second look
		if err := c.Rules.Saved.DropExport(r.Context(), r.who.ID, kept.ID); err != nil {
			return nil, err
		}
	}
	return view{"subscriptions-import", "Enviar assinaturas", importPage{choice, report}}, nil
}

// createChecked creates what a file that was checked holds.
func createChecked(c *Console, r *request) (answer, error) {
	choice, err := c.enrolling(r)
	if err != nil {
		return nil, err
	}
	file, err := c.Rules.Saved.GetExport(r.Context(), r.who.ID, r.PathValue("file"))
	if err != nil {
		return nil, err
	}
	if file.List != checkedFile || file.About != string(choice.Current.ID) {
		return nil, operator.ErrNoExport
	}
	in := &sealedReader{ctx: r.Context(), saved: c.Rules.Saved, file: file}
	report, err := c.enrolFromFile(r, choice.Current, in, file.Format, false)
	if err != nil {
		return nil, err
	}
	if err := c.Rules.Saved.DropExport(r.Context(), r.who.ID, file.ID); err != nil {
		return nil, err
	}
	return view{"subscriptions-import", "Enviar assinaturas", importPage{choice, report}}, nil
}

// enrolling returns the partner whose people are uploaded.
func (c *Console) enrolling(r *request) (partnerChoice, error) {
	choice, err := c.choosePartner(r)
	if err != nil {
		return partnerChoice{}, err
	}
	if choice.Current.ID == "" {
		return partnerChoice{}, partner.ErrNotFound
	}
	return choice, nil
}

// enrolFromFile creates what a file holds, or says what would be created.
func (c *Console) enrolFromFile(
	r *request, p partner.Partner, in io.Reader, format operator.Format, dryRun bool,
) (*importReport, error) {
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
	if err := c.recordAction(r, "subscription.import", string(p.ID), detail); err != nil {
		return nil, err
	}
	report, file := &importReport{DryRun: dryRun}, c.newSealedFile(r, rejectedFile, string(p.ID), format)
	rejects := subscription.NewRejects(file, source, c.Rules.ProblemText)
	keepReject := func(j subscription.Reject) error {
		if len(report.Rejects) < shownRejects {
			row := rejectRow{Line: j.Line}
			for _, p := range j.Problems {
				row.Problems = append(row.Problems, c.Rules.ProblemText(p))
			}
			report.Rejects = append(report.Rejects, row)
		}
		return rejects.Write(j)
	}
	progress := func(subscription.ImportReport) {}
	counts, err := c.Rules.Subscriptions.ImportFile(r.Context(), p, source, dryRun, keepReject, progress)
	if err != nil {
		return nil, err
	}
	report.ImportReport = counts
	if err := file.finishFile(int64(report.Rejected)); err != nil {
		return nil, err
	}
	if file.begun {
		report.File = file.ID
	}
	return report, nil
}
