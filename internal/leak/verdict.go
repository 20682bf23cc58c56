package leak

import (
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// Verdict is what a look at watched values comes to: what is to be kept, and who is to be told.
type Verdict struct {
	Found  []cyber.Finding
	Closed []cyber.Finding
	// Judged are findings of which something else is said of their sites than before.
	Judged   []cyber.Finding
	Restated []Restated
	News     []cyber.News
}

// Restated is a value whose row has to say something else from now on.
type Restated struct {
	cyber.Asset
	Before       cyber.Status
	OpenBreaches string
}

// HasMoved reports whether the status is another one, which is news to the partner.
func (r Restated) HasMoved() bool { return r.Status != r.Before }

// Judge decides what hits, edits and withdrawals come to for watched values. A decision needs rows under a lock, so the
// store that holds them is given a Judge and keeps its verdicts: no rule lives in the store.
type Judge struct{}

// DiscoverFindings judges hits: a value has one finding of a breach, however often it is hit; what the person knew is
// quiet; and a person hears once of everything that is news. Hits in breaches that are not published any more, and of
// values that are gone, count for nothing.
func (Judge) DiscoverFindings(
	values []*Watched,
	hits []Hit,
	published map[string]cyber.Breach,
	newID func() (cyber.FindingID, error),
	now time.Time,
) (Verdict, error) {
	var v Verdict
	byID := make(map[cyber.AssetID]*Watched, len(values))
	for _, w := range values {
		byID[w.ID] = w
	}
	for _, h := range hits {
		b, ok := published[h.Breach]
		w := byID[h.Asset]
		if !ok || w == nil || w.findingIndex(b.Name) >= 0 || !w.countsFor(h.Trace) {
			continue
		}
		id, err := newID()
		if err != nil {
			return v, err
		}
		b = b.ForTrace(h.Trace)
		f := cyber.Finding{
			ID: id, Partner: w.Partner, Asset: w.ID, Kind: w.Kind, Breach: b, Trace: h.Trace, FoundAt: now,
		}
		w.judgeSites(&f)
		f.Quiet = cyber.IsKnownFinding(f, w.Findings)
		v.Found = append(v.Found, f)
		w.Findings = append(w.Findings, f)
	}
	v.Restated = restateAll(values)
	v.News = gatherNews(values, v.Found)
	return v, nil
}

// CloseFindings judges the open findings that which picks: they are resolved, and the values say what is left.
func (Judge) CloseFindings(
	values []*Watched, which func(cyber.Finding) bool, why cyber.Resolution, now time.Time,
) Verdict {
	var v Verdict
	for _, w := range values {
		for i := range w.Findings {
			if f := &w.Findings[i]; f.Open() && which(*f) {
				f.Resolution, f.ResolvedAt = why, now
				v.Closed = append(v.Closed, *f)
			}
		}
	}
	v.Restated = restateAll(values)
	return v
}

// RejudgeSites judges the findings of values again after the sites of their partner changed. What becomes a credential
// for one of them is news, although the finding is not.
func (Judge) RejudgeSites(values []*Watched) Verdict {
	var v Verdict
	var told []cyber.Finding
	for _, w := range values {
		for i := range w.Findings {
			f := &w.Findings[i]
			before := *f
			if w.judgeSites(f); f.OwnSite == before.OwnSite && f.WatchedSite == before.WatchedSite {
				continue
			}
			v.Judged = append(v.Judged, *f)
			if f.Open() && (f.OwnSite && !before.OwnSite || f.WatchedSite && !before.WatchedSite) {
				loud := *f
				loud.Quiet = false
				told = append(told, loud)
			}
		}
	}
	v.News = gatherNews(values, told)
	return v
}

// RestateValues judges values whose breaches may have been edited.
func (Judge) RestateValues(values []*Watched) Verdict { return Verdict{Restated: restateAll(values)} }

// restateAll has every value say what its findings come to.
func restateAll(values []*Watched) []Restated {
	var list []Restated
	for _, w := range values {
		before, status, open := w.Status, cyber.ComputeStatus(w.Findings), cyber.JoinBreachNames(w.Findings)
		if status == before && open == w.OpenBreaches {
			continue
		}
		w.Status, w.OpenBreaches = status, open
		list = append(list, Restated{Asset: w.Asset, Before: before, OpenBreaches: open})
	}
	return list
}

// gatherNews gathers what is to be told, person by person in the order of their values.
func gatherNews(values []*Watched, found []cyber.Finding) []cyber.News {
	told := make(map[cyber.AssetID][]cyber.Finding, len(values))
	for _, f := range found {
		if !f.Quiet {
			told[f.Asset] = append(told[f.Asset], f)
		}
	}
	var list []cyber.News
	place := map[string]int{}
	for _, w := range values {
		if len(told[w.ID]) == 0 {
			continue
		}
		i, ok := place[w.Person]
		if !ok {
			i = len(list)
			place[w.Person] = i
			list = append(list, cyber.News{Partner: w.Partner, User: w.User, Status: map[cyber.AssetID]cyber.Status{}})
		}
		list[i].Found = append(list[i].Found, told[w.ID]...)
		list[i].Status[w.ID] = w.Status
	}
	return list
}
