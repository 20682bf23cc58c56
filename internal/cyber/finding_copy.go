package cyber

import (
	"slices"
	"strings"
)

// IsKnownFinding reports whether a finding says nothing that earlier findings of the same value did not say: the same
// classes of data, the same passwords, the same sites. What the import was called does not matter. What was withdrawn,
// and what is made up, was never told.
//
// A password that cannot be compared, because the breach has no pairs, is news only where no password was told before.
// One that can be is known only from a breach that holds the same one. Where the value's own records are not known
// there is nothing to compare: then a copy of the same dump is old news, and so is a combolist, mostly put together
// from earlier breaches, once the value was found anywhere.
func IsKnownFinding(f Finding, earlier []Finding) bool {
	var told Classes
	var sites []string
	var passwords []uint32
	before, copied := false, false
	for i := range earlier {
		e := &earlier[i]
		if e.Resolution == ResolvedRetracted || e.Breach.isDoubtful() && !f.Breach.isDoubtful() {
			continue
		}
		before, copied = true, copied || e.Breach.isCopyOf(f.Breach)
		told |= NewClasses(e.Breach.Exposes)
		sites, passwords = append(sites, e.Trace.Sites...), append(passwords, e.Trace.Passwords...)
	}
	if !before {
		return false
	}
	classes := NewClasses(f.Breach.Exposes)
	if f.Basis() == BasisBreach {
		return copied && classes&^told == 0 || f.Breach.Kind == SourceCombolist
	}
	if classes&^told != 0 || !containsAll(f.Trace.Sites, sites) {
		return false
	}
	return copied || !f.Breach.Has(ExposedPassword) || containsAll(f.Trace.Passwords, passwords)
}

// isCopyOf reports whether two breaches are one dump, as far as that can be known: one of them may have been imported
// without pairs.
func (b Breach) isCopyOf(other Breach) bool {
	x, y := b.Content, other.Content
	return x != "" && y != "" && (strings.HasPrefix(x, y) || strings.HasPrefix(y, x))
}

// containsAll reports whether every element of all is in of.
func containsAll[T comparable](all, of []T) bool {
	return !slices.ContainsFunc(all, func(v T) bool { return !slices.Contains(of, v) })
}

// isDoubtful reports whether the data of the breach is false, or not known to be true, of the people in it.
func (b Breach) isDoubtful() bool { return b.Fabricated || b.SpamList }
