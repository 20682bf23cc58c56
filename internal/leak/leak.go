// Package leak keeps breaches and finds watched values in them.
//
// A breach is a segment: the sorted set of keyed fingerprints of the identifiers that were in a dump. The match is one
// question asked both ways: a new breach is asked about every watched value, a new watched value is asked about in
// every breach. How a dump becomes a segment is the business of intake.
//
// The package knows neither SQL nor HTTP of ours, and no personal value: it handles fingerprints. The invariant it
// keeps: every stage may be repeated, by this process or another, after a failure at any moment, and each finding is
// still made once.
package leak

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Kinds of jobs.
const (
	KindMatch    = "breach.match"
	KindWithdraw = "breach.withdraw"
	KindRestate  = "breach.restate"
	KindVerify   = "breach.verify"
	// KindSites is about a partner.
	KindSites = "partner.sites"
)

// Verified is the progress of a KindVerify job that is done.
type Verified struct{ Keys uint64 }

// Faults of this package.
var (
	ErrBreachNotFound = fault.New(fault.NotFound, "breach.not_found")
	ErrBreachInvalid  = fault.New(fault.Invalid, "breach.invalid")
	ErrBreachExists   = fault.New(fault.Conflict, "breach.exists")
	ErrRetracted      = fault.New(fault.Conflict, "breach.retracted")
	// ErrRenewed means that another import renewed the breach meanwhile.
	ErrRenewed = fault.New(fault.Conflict, "breach.renewed")
)

// Watcher is a watched value and whose it is.
type Watcher struct {
	Asset cyber.AssetID
	User  string // keyed index of the person's hash
}

// Candidate is a watched value that a breach may hold.
type Candidate struct {
	Asset       cyber.AssetID
	Fingerprint uint64
}

// Tracer tells what the records of one breach say of a value, if it holds it.
type Tracer func(fingerprint uint64) (Held, error)

// Rejudged is what a look at some findings came to.
type Rejudged struct {
	// Last is the last finding; empty when there was none.
	Last cyber.FindingID
	// Checked findings there were; of those some were Withdrawn, and Changed tell something else than before.
	Checked, Withdrawn, Changed int64
}

// DueLook is a watched value that has not been probed in every breach, and may be.
type DueLook struct {
	Partner     partner.ID
	Asset       cyber.AssetID
	Fingerprint uint64
	// Since is when the look came to be due.
	Since time.Time
}

// DuePlace is a place in the list of due first looks: that of the last value which was read.
type DuePlace struct {
	Since time.Time
	Asset cyber.AssetID
}

// Probes are watched fingerprints of a partner.
type Probes struct {
	Partner      partner.ID
	Fingerprints []uint64
}

// Store keeps breaches, matches and findings.
type Store interface {
	ListBreaches(ctx context.Context) ([]Record, error)
	BreachByName(ctx context.Context, name string) (Record, error)
	// BreachHits returns how many people a breach has hit, per partner.
	BreachHits(ctx context.Context, of cyber.Breach) ([]Hits, error)
	// UpdateBreach changes what is told of a breach and asks for the statuses to be computed again.
	UpdateBreach(ctx context.Context, name string, change func(*Record) error) (Record, error)
	// RetractBreach takes a breach back and hands over to the withdrawal of its findings.
	RetractBreach(ctx context.Context, name string) (Record, error)

	// KeepTally replaces what is counted of a published breach, as long as its content has the digest.
	KeepTally(ctx context.Context, name, digest string, t Tally) error
	// ForgetFormer notes that the files of a breach's former contents are removed, unless there are more of them now.
	ForgetFormer(ctx context.Context, r Record) error

	// CorporaEpoch moves whenever a breach is published or retracted.
	CorporaEpoch(ctx context.Context) (int64, error)
	// ListSegments returns all published segments and the epoch they belong to.
	ListSegments(ctx context.Context) ([]Segment, int64, error)

	// ListProbes returns up to limit watched fingerprints behind a place, each once for each partner, and the place of
	// the last. Within a partner they come in no order: what a partner keeps is veiled. No partner stands there twice.
	ListProbes(ctx context.Context, after Place, limit int) ([]Probes, Place, error)
	// ProbesSince returns those of values added at or after a time.
	ProbesSince(ctx context.Context, since time.Time, after Place, limit int) ([]Probes, Place, error)
	// ListWatchers returns the values of a partner that have one of the fingerprints; any number may have the same.
	ListWatchers(ctx context.Context, asked Probes) ([]Watcher, error)
	// ListUntold returns all values of the people of some values, without those that a finding of the breach is about:
	// so a person is told of a breach once, whichever value is met first.
	ListUntold(ctx context.Context, breach string, id partner.ID, watchers []Watcher) ([]Candidate, error)
	// TellHits makes findings, statuses and events of hits of a partner's values, and returns how many findings. What
	// is found already stays as it is.
	TellHits(ctx context.Context, id partner.ID, hits []Hit) (int, error)
	// WithdrawFindings closes up to limit open findings of a breach as retracted and returns how many.
	WithdrawFindings(ctx context.Context, breach string, limit int) (int, error)
	// RejudgeFindings holds up to limit findings of a breach, found at or after since, behind the given one, against
	// what the breach holds now.
	RejudgeFindings(
		ctx context.Context, breach string, since time.Time, after cyber.FindingID, limit int, trace Tracer,
	) (Rejudged, error)
	// RestateFindings computes the statuses again for up to limit findings after the given one, and returns the last.
	RestateFindings(
		ctx context.Context, breach string, after cyber.FindingID, limit int,
	) (last cyber.FindingID, err error)

	// RejudgeSites judges the sites of up to limit findings of a partner after the given one again, alerts the people
	// that did not know the result yet, and returns the last finding.
	RejudgeSites(ctx context.Context, id partner.ID, after cyber.FindingID, limit int) (last cyber.FindingID, err error)

	// ListDueLooks returns values behind a place that are not yet probed in every breach, longest due first, without
	// those that wait for a token.
	ListDueLooks(ctx context.Context, after DuePlace, limit int) ([]DueLook, error)
	// SettleLooks keeps what a probe of values of a partner saw at an epoch. Their look is done if the epoch still
	// holds; it returns of how many it is.
	SettleLooks(ctx context.Context, id partner.ID, epoch int64, looked []cyber.AssetID, hits []Hit) (int, error)
}
