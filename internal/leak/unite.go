package leak

import (
	"cmp"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
)

// Union is one value that stood under both digests of a person, before anybody knew that they were one person's: the
// value that was added first stays, under the id that listings show, and takes over what only the other one knew.
type Union struct {
	Gone, Into cyber.AssetID
	// Moved are the findings that change over, Closed those of the value that stays which the person had resolved under
	// the other digest.
	Moved  []cyber.Finding
	Closed []cyber.Finding
	// Twins are the findings that both had of one breach: what the person said of the steps of the first is said of the
	// second.
	Twins []Twin
}

// Twin is a finding that goes, and the one that stays in its place.
type Twin struct{ Gone, Into cyber.FindingID }

// UniteValues leaves each value of a person once. It returns the values that stay, in their order, and what becomes of
// the others.
func (Judge) UniteValues(values []*Watched) ([]*Watched, []Union) {
	type key struct{ person, same string }
	first := make(map[key]*Watched, len(values))
	for _, w := range values {
		k := key{w.Person, w.Same}
		if other := first[k]; other == nil || isEarlier(w, other) {
			first[k] = w
		}
	}
	stay, unions := make([]*Watched, 0, len(first)), []Union(nil)
	for _, w := range values {
		if into := first[key{w.Person, w.Same}]; into != w {
			unions = append(unions, into.absorbTwin(w))
		} else {
			stay = append(stay, w)
		}
	}
	return stay, unions
}

// isEarlier reports whether a was added before b.
func isEarlier(a, b *Watched) bool {
	return cmp.Or(a.AddedAt.Compare(b.AddedAt), cmp.Compare(a.ID, b.ID)) < 0
}

// absorbTwin takes over what hangs on a twin.
func (w *Watched) absorbTwin(gone *Watched) Union {
	u := Union{Gone: gone.ID, Into: w.ID}
	for _, f := range gone.Findings {
		i := w.findingIndex(f.Breach.Name)
		if i < 0 {
			f.Asset = w.ID
			u.Moved, w.Findings = append(u.Moved, f), append(w.Findings, f)
			continue
		}
		own := &w.Findings[i]
		u.Twins = append(u.Twins, Twin{f.ID, own.ID})
		if own.Open() && !f.Open() {
			own.Resolution, own.ResolvedAt = f.Resolution, f.ResolvedAt
			u.Closed = append(u.Closed, *own)
		}
	}
	slices.SortStableFunc(
		w.Findings,
		func(a, b cyber.Finding) int { return cmp.Or(a.FoundAt.Compare(b.FoundAt), cmp.Compare(a.ID, b.ID)) },
	)
	return u
}
