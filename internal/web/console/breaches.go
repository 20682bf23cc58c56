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
