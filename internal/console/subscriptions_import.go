package console

import (
	"errors"
	"io"
	"mime/multipart"
	"net/url"
	"strings"

	"github.com/vigiahq/vigia/internal/draft"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// shownRejects is how many refused records the page lists; the rest are counted.
const shownRejects = 200

type importPage struct {
	partnerChoice
	Report *importReport
}

type importReport struct {
	subscription.ImportReport
	DryRun  bool
	Rejects []rejectRow
}

// rejectRow says what is wrong with a record, without repeating the record: it holds a person's data.
type rejectRow struct {
	Line     int
	Problems []string
}

func showImport(c *Console, r *request) (answer, error) {
	choice, err := c.choose(r)
	if err != nil {
		return nil, err
	}
	return view{"subscriptions-import", "Enviar assinaturas", importPage{partnerChoice: choice}}, nil
}

// importSubscriptions reads an uploaded file while it arrives: nothing of it is kept on disk.
func importSubscriptions(c *Console, r *request) (answer, error) {
	choice, err := c.choose(r)
	if err != nil {
		return nil, err
	}
	if choice.Current.ID == "" {
		return nil, partner.ErrNotFound
	}
	dryRun := r.URL.Query().Get("dry") == "1"
	file, err := uploaded(r)
	if err != nil {
		return nil, err
	}
	source := draft.NewJSONLines(file)
	if name := strings.ToLower(file.FileName()); !strings.HasSuffix(name, ".jsonl") && !strings.HasSuffix(name, ".ndjson") {
		if source, err = draft.NewCSV(file); err != nil {
			return nil, err
		}
	}
	detail := "upload"
	if dryRun {
		detail = "dry run"
	}
	if err := c.note(r, "subscription.import", string(choice.Current.ID), detail); err != nil {
		return nil, err
	}
	report := &importReport{DryRun: dryRun}
	report.ImportReport, err = c.Rules.Subscriptions.Import(r.Context(), choice.Current, source, dryRun, func(j subscription.Reject) error {
		if len(report.Rejects) < shownRejects {
			row := rejectRow{Line: j.Line}
			for _, p := range j.Problems {
				row.Problems = append(row.Problems, c.Rules.ProblemText(p))
			}
			report.Rejects = append(report.Rejects, row)
		}
		return nil
	}, func(subscription.ImportReport) {})
	if err != nil {
		return nil, err
	}
	return view{"subscriptions-import", "Enviar assinaturas", importPage{choice, report}}, nil
}

// maxField bounds a field of a form with a file.
const maxField = 16 << 10

// fieldsAndFile reads a form whose last part is the file: first the fields, then the file as a stream.
func fieldsAndFile(r *request) (*multipart.Part, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, errForm.With("file: choose one").Because(err)
	}
	r.PostForm = url.Values{}
	for {
		part, err := form.NextPart()
		if err != nil {
			return nil, errForm.With("file: choose one").Because(err)
		}
		if part.FormName() == "file" {
			if part.FileName() == "" {
				return nil, errForm.With("file: choose one")
			}
			return part, nil
		}
		value, err := io.ReadAll(io.LimitReader(part, maxField))
		if err != nil {
			return nil, errForm.With("form: did not arrive whole").Because(err)
		}
		r.PostForm.Add(part.FormName(), string(value))
	}
}

// uploaded returns the first file of a form, as a stream.
func uploaded(r *request) (*multipart.Part, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, errForm.With("file: choose one").Because(err)
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, errForm.With("file: choose one")
		}
		if err != nil {
			return nil, errForm.With("file: did not arrive whole").Because(err)
		}
		if part.FileName() != "" {
			return part, nil
		}
	}
}
