package leak

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/job"
)

// Held is what a breach holds of a value.
type Held struct {
	// Found says that it holds the value; nothing else is known if not.
	Found bool
	Trace cyber.Trace
}

// rejudgeFindings holds findings since a time against what the breach holds now. Of a new breach there are hardly any.
func (m *Matcher) rejudgeFindings(
	ctx context.Context, run *job.Run, v volume, p *MatchProgress, since time.Time,
) error {
	for {
		r, err := m.store.RejudgeFindings(ctx, run.Subject, since, p.Finding, tellBatch, v.traceValue)
		if err != nil || r.Last == "" {
			return err
		}
		p.Finding = r.Last
		p.Checked += r.Checked
		p.Withdrawn += r.Withdrawn
		p.Changed += r.Changed
		if err := run.Save(ctx, p); err != nil {
			return err
		}
	}
}

// RejudgeFindings judges the findings of a breach whose content is another one now. What does not hold any more is
// withdrawn, as by a retraction; what was withdrawn and holds again is open again. What the records say beyond what the
// person was told is news, and opens the finding again unless the person said that it is not about them; what they say
// no longer is dropped without a word. held has the values that are to be judged.
func (Judge) RejudgeFindings(
	values []*Watched, breach cyber.Breach, held map[cyber.AssetID]Held, now time.Time,
) Verdict {
	var v Verdict
	var told []cyber.Finding
	for _, w := range values {
		i := w.findingIndex(breach.Name)
		h, judged := held[w.ID]
		if !judged || i < 0 {
			continue
		}
		before := w.Findings[i]
		f := before
		if !h.Found || !w.countsFor(h.Trace) {
			if f.Open() {
				f.Resolution, f.ResolvedAt = cyber.ResolvedRetracted, now
				w.Findings[i], v.Closed = f, append(v.Closed, f)
			}
			continue
		}
		f.Breach, f.Trace = breach.ForTrace(h.Trace), h.Trace
		more := saysMore(f, before, slices.Delete(slices.Clone(w.Findings), i, i+1))
		w.judgeSites(&f)
		switch {
		case more && f.Resolution != cyber.ResolvedNotMe:
			f.Resolution, f.ResolvedAt, f.Quiet, f.RenewedAt = "", time.Time{}, false, now
			told = append(told, f)
		case f.Resolution == cyber.ResolvedRetracted: // it holds again, and others told all of it
			f.Resolution, f.ResolvedAt, f.Quiet = "", time.Time{}, true
		case before.Trace.IsEqual(f.Trace) && before.OwnSite == f.OwnSite && before.WatchedSite == f.WatchedSite:
			continue
		}
		w.Findings[i], v.Judged = f, append(v.Judged, f)
	}
	v.Restated = restateAll(values)
	v.News = gatherNews(values, told)
	return v
}

// saysMore reports whether a finding says more than it said before and than the other findings of the value say. A
// password that was told without being known is taken for the one that is known now: both stand in the same breach.
func saysMore(f, before cyber.Finding, others []cyber.Finding) bool {
	if before.Resolution == cyber.ResolvedRetracted {
		return !cyber.IsKnownFinding(f, others)
	}
	if f.Basis() == cyber.BasisBreach {
		return cyber.NewClasses(f.Breach.Exposes)&^cyber.NewClasses(before.Breach.Exposes) != 0 &&
			!cyber.IsKnownFinding(f, others)
	}
	before.Breach.Content = "" // of the same breach, and not a copy of what it holds now
	if before.Breach.Has(cyber.ExposedPassword) && len(before.Trace.Passwords) == 0 {
		f.Trace.Passwords = nil
	}
	return !cyber.IsKnownFinding(f, append(others, before))
}
