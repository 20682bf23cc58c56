package leak

import (
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
)

// Explanation is what a published breach says of one value, and what was known of it before.
type Explanation struct {
	// Found says that the breach holds the value; nothing else is known if not.
	Found bool
	// Breach is the breach as far as it concerns the value.
	Breach cyber.Breach
	Trace  cyber.Trace
	// Earlier are the breaches published before it that hold the value, oldest first.
	Earlier []Before
	// News says that the breach tells something that none of them told.
	News bool
}

// Before is an earlier breach as far as it concerns a value.
type Before struct {
	Breach cyber.Breach
	Trace  cyber.Trace
	// SamePassword says that a password stood beside the value in both.
	SamePassword bool
}

// ExplainFingerprint tells what a published breach says of one value, given by its fingerprint, and what earlier
// breaches said of it.
func (l *Library) ExplainFingerprint(ctx context.Context, name string, fingerprint uint64) (Explanation, error) {
	of, err := l.publishedBreach(ctx, name)
	if err != nil {
		return Explanation{}, err
	}
	all, err := l.store.ListBreaches(ctx)
	if err != nil {
		return Explanation{}, err
	}
	if err := l.LoadPublished(ctx); err != nil {
		return Explanation{}, err
	}
	return ExplainSighting(of, all, l.ProbeFingerprint(fingerprint)), nil
}

// ExplainSighting says what the breach of tells of a value that was seen somewhere, by the same rule that decides
// whether people are alerted.
func ExplainSighting(of Record, all []Record, seen cyber.Sighting) Explanation {
	traces := map[string]cyber.Trace{}
	for _, s := range seen.Breaches {
		traces[s.Breach] = s.Trace
	}
	trace, found := traces[of.Name]
	if !found {
		return Explanation{}
	}
	e := Explanation{Found: true, Breach: of.ForTrace(trace), Trace: trace}
	var told []cyber.Finding
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Record) int { return a.PublishedAt.Compare(b.PublishedAt) })
	for _, r := range all {
		t, holds := traces[r.Name]
		if !holds || r.Name == of.Name || r.State != Published || !r.PublishedAt.Before(of.PublishedAt) {
			continue
		}
		shared := slices.ContainsFunc(t.Passwords, func(p uint32) bool { return slices.Contains(trace.Passwords, p) })
		e.Earlier = append(e.Earlier, Before{r.ForTrace(t), t, shared})
		told = append(told, cyber.Finding{Breach: r.ForTrace(t), Trace: t})
	}
	e.News = !cyber.IsKnownFinding(cyber.Finding{Breach: e.Breach, Trace: trace}, told)
	return e
}
