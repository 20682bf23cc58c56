package subscription

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErrFile means that a file cannot be imported at all.
var ErrFile = fault.New(fault.Invalid, "subscription.file")

// Source gives the drafts of a file one by one.
type Source interface {
	// Next fills d from the next record and returns its line and its text; io.EOF after the last.
	Next(d *Draft) (line int, text []byte, err error)
}

// ImportReport counts what became of the records of a file.
type ImportReport struct {
	Created int
	// Known were there already: a second run of a file finds all of its good records here.
	Known    int
	Rejected int
	// Watched is how many values of the created ones are watched.
	Watched WatchCount
}

// The batch size of a transaction adapts to the time that it takes: on SQLite every other writer waits for it, and a
// row of a large table takes four times as long as one of a small table.
const (
	firstImport, leastImport, mostImport = 100, 25, 1000
	shortImport, longImport              = 8 * time.Millisecond, 20 * time.Millisecond
)

// nextImport returns how many records to take after a transaction of size took so long.
func nextImport(size int, took time.Duration) int {
	switch {
	case took > longImport:
		return max(leastImport, size/2)
	case took < shortImport:
		return min(mostImport, 2*size)
	}
	return size
}

// ImportFile creates a subscription for each record of a file, in batches that stand on their own: after a stop a
// second run creates the rest. progress is called after each batch.
func (r *Registry) ImportFile(
	ctx context.Context,
	p partner.Partner,
	from Source,
	dryRun bool,
	reject func(Reject) error,
	progress func(ImportReport),
) (ImportReport, error) {
	var total ImportReport
	size := firstImport
	for more := true; more; {
		began := r.now()
		step, err := r.importBatch(ctx, p, size, from, dryRun, reject)
		size = nextImport(size, r.now().Sub(began))
		total.Created += step.Created
		total.Known += step.Known
		total.Rejected += step.Rejected
		total.Watched.addCount(step.Watched)
		if more = err == nil; !more && !errors.Is(err, io.EOF) {
			return total, err
		}
		progress(total)
	}
	return total, nil
}

// importBatch returns io.EOF with the last batch.
func (r *Registry) importBatch(
	ctx context.Context, p partner.Partner, size int, from Source, dryRun bool, reject func(Reject) error,
) (ImportReport, error) {
	var report ImportReport
	enrolment, err := r.BeginEnrolment(ctx, p.ID, p.Mode, 0)
	if err != nil {
		return report, err
	}
	var records []Reject
	var draft Draft
	var end error
	for len(records) < size && end == nil {
		line, text, err := from.Next(&draft)
		if err != nil {
			if end = err; !errors.Is(err, io.EOF) {
				return report, err
			}
			break
		}
		enrolment.AddItem(len(records), &draft)
		records = append(records, Reject{Line: line, Text: bytes.Clone(text)})
	}
	outcome, err := r.KeepEnrolment(ctx, enrolment, dryRun)
	if err != nil {
		return report, err
	}
	report.Created = outcome.Created
	report.Watched = outcome.Watched
	for _, f := range outcome.Failures {
		if len(f.Problems) == 1 && f.Problems[0].Rule == RuleExists {
			report.Known++
			continue
		}
		report.Rejected++
		rejected := records[f.Item]
		rejected.Problems = f.Problems
		if err := reject(rejected); err != nil {
			return report, fmt.Errorf("write reject: %w", err)
		}
	}
	return report, end
}
