package leak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/job"
)

// Matcher does the work that follows a change of the breaches. Its methods are the steps of jobs: each may be
// interrupted and repeated at any point.
type Matcher struct {
	store Store
	files *library.Files
	pairs Pairs
	now   func() time.Time
	// Settle is how long a change takes to be known to every process: a library looks every second, and a request that
	// began before it ends soon. After that a second look catches what slipped through.
	Settle time.Duration
}

// settleTime is well above the five seconds in which every replica notices a change.
const settleTime = 10 * time.Second

// NewMatcher joins the steps to their store, files and the keys of pairs.
func NewMatcher(store Store, files *library.Files, pairs Pairs, now func() time.Time) *Matcher {
	return &Matcher{store: store, files: files, pairs: pairs, now: now, Settle: settleTime}
}

const (
	// probeBatch is how many watched values are sorted and probed at a time, which is how often each page of a segment
	// is visited: 12 MB of them.
	probeBatch = 500_000
	// sortBatch is how many fingerprints' values are put in order at a time: a few megabytes of them.
	sortBatch = 20_000
	// tellBatch is how many values whose fingerprints were met become findings in one transaction, with what else the
	// breach holds of their people, and with their statuses, events and deliveries: others wait for it.
	tellBatch = 250
)

// Phase is a stage of a match.
type Phase int

// The phases: what was found in the breach before its content was renewed is held against the new one, every watched
// value is probed and its person told of it, and so is what was added meanwhile.
const (
	PhaseRejudge Phase = iota
	PhaseProbe
	PhaseLate
)

// Place is how far a walk over all watched fingerprints has come.
type Place struct {
	Partner partner.ID `json:"partner"`
	At      int64      `json:"at"`
}

// MatchProgress is how far a match has come.
type MatchProgress struct {
	Phase Phase `json:"phase"`
	After Place `json:"after"`
	// Probed counts each watched value once; those that the last look asks about a second time are in Again.
	Probed int64 `json:"probed"`
	Again  int64 `json:"again,omitempty"`
	// Hits are values that findings were made of.
	Hits int64 `json:"hits"`
	// Finding is the last one that was judged again, and Checked, Withdrawn and Changed count those: see Rejudged.
	Finding   cyber.FindingID `json:"finding,omitempty"`
	Checked   int64           `json:"checked,omitempty"`
	Withdrawn int64           `json:"withdrawn,omitempty"`
	Changed   int64           `json:"changed,omitempty"`
}

// MatchBreach probes every watched value in a new breach and alerts the people it concerns. It runs jobs of KindMatch.
func (m *Matcher) MatchBreach(ctx context.Context, run *job.Run) error {
	return m.runMatch(ctx, run, true)
}

// MatchFirst is MatchBreach without the last look, for which one has to wait until every process knows of the breach.
// The job goes on from there.
func (m *Matcher) MatchFirst(ctx context.Context, run *job.Run) error {
	return m.runMatch(ctx, run, false)
}

// runMatch runs the stages of a match, the last look if late says so.
func (m *Matcher) runMatch(ctx context.Context, run *job.Run, late bool) error {
	breach, err := m.store.BreachByName(ctx, run.Subject)
	if err != nil || breach.State != Published || breach.Segment == "" {
		return err
	}
	p := MatchProgress{}
	if string(run.Progress) != "{}" && len(run.Progress) > 0 {
		if err := json.Unmarshal(run.Progress, &p); err != nil {
			return fmt.Errorf("read progress: %w", err)
		}
	}
	v, err := m.openVolume(ctx, breach)
	if err != nil {
		return err
	}
	if err = m.matchWatched(ctx, run, breach, v, &p); err == nil {
		err = m.measureOverlap(ctx, breach, v.reader) // after the alerts, which must not wait for it
	}
	if err == nil && late {
		err = m.matchLate(ctx, run, breach, v, &p)
	}
	return errors.Join(err, v.closeFiles())
}

// matchWatched probes all watched values.
func (m *Matcher) matchWatched(ctx context.Context, run *job.Run, breach Record, v volume, p *MatchProgress) error {
	if p.Phase == PhaseRejudge {
		if err := m.rejudgeFindings(ctx, run, v, p, time.Time{}); err != nil {
			return err
		}
		if err := m.dropFormer(ctx, breach); err != nil {
			return err
		}
		p.Phase = PhaseProbe
	}
	if p.Phase == PhaseProbe {
		if err := m.probeSegment(ctx, run, v, p, m.store.ListProbes); err != nil {
			return err
		}
		p.Phase, p.After = PhaseLate, Place{}
		return run.Save(ctx, p)
	}
	return nil
}

// matchLate probes the values that were added around the publication. A process that had not noticed the breach yet may
// have added a value without probing it there, so matchLate first waits until all processes have.
func (m *Matcher) matchLate(ctx context.Context, run *job.Run, breach Record, v volume, p *MatchProgress) error {
	if err := job.PauseStep(ctx, breach.ChangedAt().Add(m.Settle).Sub(m.now())); err != nil {
		return err
	}
	since := breach.ChangedAt().Add(-time.Minute)
	if breach.Renewals > 0 {
		p.Finding = ""
		if err := m.rejudgeFindings(ctx, run, v, p, since); err != nil {
			return err
		}
	}
	next := func(ctx context.Context, after Place, limit int) ([]Probes, Place, error) {
		return m.store.ProbesSince(ctx, since, after, limit)
	}
	return m.probeSegment(ctx, run, v, p, next)
}

// dropFormer removes the files of the breach's former contents. A process that still has one open can read it until it
// reloads the list of breaches.
func (m *Matcher) dropFormer(ctx context.Context, breach Record) error {
	if len(breach.Former) == 0 {
		return nil
	}
	for _, file := range breach.Former {
		if err := m.files.RemoveFile(ctx, file); err != nil {
			return err
		}
	}
	return m.store.ForgetFormer(ctx, breach)
}

// probeSegment asks the segment about watched values, a large batch in rising order at a time, and tells what it holds
// of them. A match that is interrupted asks about its last batch again, and passes over what was told of it.
func (m *Matcher) probeSegment(ctx context.Context, run *job.Run, v volume, p *MatchProgress,
	next func(ctx context.Context, after Place, limit int) ([]Probes, Place, error),
) error {
	var probes, found []uint64
	for {
		batch, last, err := next(ctx, p.After, probeBatch)
		if err != nil {
			return fmt.Errorf("read watched values: %w", err)
		}
		probes = probes[:0]
		for _, b := range batch {
			probes = append(probes, b.Fingerprints...)
		}
		all := len(probes)
		slices.Sort(probes)
		probes = slices.Compact(probes) // several partners watch one value
		if found, err = v.reader.Intersect(found[:0], probes); err != nil {
			return fmt.Errorf("probe: %w", err)
		}
		for _, hits := range selectHits(batch, found) {
			if err := m.tellPartner(ctx, run, v, p, hits); err != nil {
				return fmt.Errorf("tell: %w", err)
			}
		}
		p.After = last
		if p.Phase == PhaseLate {
			p.Again += int64(all)
		} else {
			p.Probed += int64(all)
		}
		if err := run.Save(ctx, p); err != nil {
			return err
		}
		if all < probeBatch {
			return nil
		}
	}
}

// selectHits returns the probes whose fingerprints were found.
func selectHits(batch []Probes, found []uint64) (hits []Probes) {
	if len(found) == 0 {
		return nil
	}
	is := make(map[uint64]bool, len(found))
	for _, f := range found {
		is[f] = true
	}
	for _, b := range batch {
		of := Probes{Partner: b.Partner}
		for _, f := range b.Fingerprints {
			if is[f] {
				of.Fingerprints = append(of.Fingerprints, f)
			}
		}
		if len(of.Fingerprints) > 0 {
			hits = append(hits, of)
		}
	}
	return hits
}

// tellPartner makes findings and alerts of a partner's values whose fingerprints the breach holds, in the order in
// which they were added: neighbours in it share pages of the database, and fingerprints come in any order.
func (m *Matcher) tellPartner(ctx context.Context, run *job.Run, v volume, p *MatchProgress, hits Probes) error {
	for part := range slices.Chunk(hits.Fingerprints, sortBatch) {
		watchers, err := m.store.ListWatchers(ctx, Probes{Partner: hits.Partner, Fingerprints: part})
		if err != nil {
			return err
		}
		slices.SortFunc(watchers, func(a, b Watcher) int { return strings.Compare(string(a.Asset), string(b.Asset)) })
		// What is told next is read while the last is written. A person of both is read twice, and told once.
		found := make(chan []Hit, 1)
		work, ctx := errgroup.WithContext(ctx)
		work.Go(func() error {
			defer close(found)
			return m.findHits(ctx, run.Subject, v, hits.Partner, watchers, found)
		})
		work.Go(func() error {
			for some := range found {
				told, err := m.store.TellHits(ctx, hits.Partner, some)
				if err != nil {
					return err
				}
				p.Hits += int64(told)
				if err := run.Save(ctx, p); err != nil {
					return err
				}
			}
			return nil
		})
		if err := work.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// findHits finds out what the breach holds of the people who watch some values, a batch of them after the other.
func (m *Matcher) findHits(
	ctx context.Context, breach string, v volume, of partner.ID, watchers []Watcher, found chan<- []Hit,
) error {
	for some := range slices.Chunk(watchers, tellBatch) {
		values, err := m.store.ListUntold(ctx, breach, of, some)
		if err != nil {
			return err
		}
		hits, err := v.findHits(breach, values)
		if err != nil {
			return err
		}
		select {
		case found <- hits:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
