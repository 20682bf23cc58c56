package leak

import (
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
)

// Hit is a watched value that a breach holds, before it is a finding.
type Hit struct {
	Asset cyber.AssetID
	cyber.Seen
}

// Watched is a watched value with all that was found of it, locked against changes by other transactions.
type Watched struct {
	cyber.Asset
	// Person is whose value it is: the same for every digest of one person.
	Person string
	// Same is equal for equal values.
	Same string
	// OpenBreaches is what the value's row says of its open findings: see cyber.JoinBreachNames.
	OpenBreaches string
	// Findings are all of the value's, oldest first.
	Findings []cyber.Finding
	// ExactSpelling says that another spelling of a Gmail mailbox does not count.
	ExactSpelling bool
	// Sites are those of the partner, and WatchedSites those that the operator watches for it.
	Sites, WatchedSites []string
}

// countsFor reports whether what a breach holds counts for the value: always, unless another spelling of its mailbox
// leaked and only its own counts.
func (w *Watched) countsFor(t cyber.Trace) bool {
	if !w.ExactSpelling || t.Spellings == 0 || w.Kind != identifier.Email {
		return true
	}
	normal, err := identifier.ParseEmail(w.Value)
	return err != nil || t.Spellings&identifier.SpellingOf(normal) != 0
}

// judgeSites says of a finding whose credentials were taken: those for a site of the partner, or for a watched one, the
// site itself or a host under it.
func (w *Watched) judgeSites(f *cyber.Finding) {
	f.OwnSite = f.Breach.Basis == cyber.BasisRow && isAnyUnder(f.Trace.Sites, w.Sites)
	f.WatchedSite = f.Breach.Basis == cyber.BasisRow && isAnyUnder(f.Trace.Sites, w.WatchedSites)
	f.Severity = cyber.SeverityOf(*f)
}

// isAnyUnder reports whether a host is, or is below, one of the sites.
func isAnyUnder(hosts, sites []string) bool {
	return slices.ContainsFunc(hosts, func(host string) bool {
		return slices.ContainsFunc(
			sites,
			func(site string) bool { return host == site || strings.HasSuffix(host, "."+site) },
		)
	})
}

// findingIndex returns the place of the finding of a breach, or -1.
func (w *Watched) findingIndex(breach string) int {
	return slices.IndexFunc(w.Findings, func(f cyber.Finding) bool { return f.Breach.Name == breach })
}
