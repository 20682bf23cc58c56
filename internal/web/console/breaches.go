package console

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
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
	Renew(ctx context.Context, breach string, noPairs bool, from Input) error
}

// showBreaches shows one page of the imported breaches and a chart of all of them.
func showBreaches(c *Console, r *request, l *listing) (answer, error) {
	page, err := l.readPage(c, r)
	if err != nil {
		return nil, err
	}
	all, err := c.Rules.Breaches.ListBreaches(r.Context())
	if err != nil {
		return nil, err
	}
	slices.Reverse(all)
	r.addPictures(c.pictureBreaches(all, parsePeriod(r))...)
	return view{l.name, l.title, page}, nil
}

// gatherBreaches returns one page of the imported breaches.
func (c *Console) gatherBreaches(ctx context.Context, _ viewer, f filter) (listPart, error) {
	rows, next, err := f.readBreaches(ctx, &c.Rules, perPage)
	if err != nil {
		return listPart{}, err
	}
	for i, rec := range rows {
		hits, err := c.Rules.Breaches.CountHits(ctx, rec.Breach, time.Time{})
		if err != nil {
			return listPart{}, err
		}
		for _, h := range hits {
			rows[i].people += h.People
		}
		if rec.State != leak.Importing {
			continue
		}
		jobs, err := c.Rules.Jobs.ListJobsAbout(ctx, rec.Name, []string{intake.KindImport}, 1)
		if err != nil {
			return listPart{}, err
		}
		if len(jobs) > 0 {
			rows[i].progress = newJobRow(jobs[0], c.Now()).Text
		}
	}
	all, err := f.selectBreaches(ctx, &c.Rules)
	return newListPart(f, rows, rowOfBreach, next, int64(len(all))), err
}
