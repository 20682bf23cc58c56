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
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// State is where a breach stands.
type State string

// The states. Only what is published is probed and shown.
const (
	Importing State = "importing"
	Published State = "published"
	Retracted State = "retracted"
)

// Record is a breach as the operator knows it.
type Record struct {
	cyber.Breach
	State State
	// Segment is the file of the corpora that holds its identifiers; empty when there is none, as for what a service
	// such as Have I Been Pwned told us.
	Segment string
	// Digest identifies the content of that file.
	Digest string
	// Pairs is the file that holds which passwords stood beside which identifiers; empty when there is none.
	Pairs, PairsDigest string
	Tally              Tally
	PublishedAt        time.Time
	RetractedAt        time.Time
	// Renewals counts how often the content was renewed since, the last time at RenewedAt.
	Renewals  int64
	RenewedAt time.Time
	// Former are files of contents before, which are to be removed.
	Former []string
}

// ChangedAt returns when the content became what it is.
func (r Record) ChangedAt() time.Time {
	if r.Renewals > 0 {
		return r.RenewedAt
	}
	return r.PublishedAt
}

// CheckCanContinue refuses to go on with an import that is over.
func (r Record) CheckCanContinue() error {
	switch r.State {
	case Retracted:
		return ErrRetracted.With("name", fault.RetractedImportOther)
	case Published:
		return ErrBreachExists.With("name", fault.AlreadyPublished)
	case Importing:
	}
	return nil
}

// Publishes reports whether publishing a content changes anything: it does not when that is a repetition after a crash.
func (r Record) Publishes(digest string) (bool, error) {
	switch {
	case r.State == Published && r.Digest == digest:
		return false, nil
	case r.State == Retracted:
		return false, ErrRetracted.With("name", fault.WasRetracted)
	case r.State == Published:
		return false, ErrBreachExists.With("name", fault.PublishedOtherwise)
	}
	return true, nil
}

// ApplyRenewal is Publishes for a content that takes the place of the published one.
func (r Record) ApplyRenewal(n Renewal) (bool, error) {
	switch {
	case r.State == Retracted:
		return false, ErrRetracted.With("name", fault.WasRetracted)
	case r.State != Published:
		return false, ErrBreachNotFound.With("name", fault.NotPublished)
	case r.Content == n.Digest+n.PairsDigest:
		return false, nil
	case r.Content != n.Base:
		return false, ErrRenewed.With("name", fault.RenewedMeanwhile)
	}
	return true, nil
}

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

// Segment is a file to probe, with its pairs if it has any.
type Segment struct {
	Breach, File, Digest string
	Pairs, PairsDigest   string
}

// File is one file of the corpora.
type File struct{ Name, Digest string }

// ListFiles returns the files of a breach: none, its identifiers, or these and its pairs.
func (g Segment) ListFiles() (files []File) {
	for _, f := range []File{{g.File, g.Digest}, {g.Pairs, g.PairsDigest}} {
		if f.Name != "" {
			files = append(files, f)
		}
	}
	return files
}

// ListFiles returns the files of the breach's current content.
func (r Record) ListFiles() []File {
	return Segment{File: r.Segment, Digest: r.Digest, Pairs: r.Pairs, PairsDigest: r.PairsDigest}.ListFiles()
}

// Publication is what an import leaves: the files of a breach, and what was counted.
type Publication struct {
	Tally  Tally  `json:"tally"`
	File   string `json:"file,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Pairs is the file of the pairs, if there are any.
	Pairs       string `json:"pairs,omitempty"`
	PairsDigest string `json:"pairs_digest,omitempty"`
}

// Renewal is what takes the place of a published breach's content.
type Renewal struct {
	Publication
	// Base is the cyber.Breach.Content that it was made from: where that is not the published one any more, another
	// import renewed the breach meanwhile.
	Base string
	// Exposes are the classes that the breach is said to expose, among them Auto.
	Exposes []cyber.Exposed
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

	// ListProbes returns up to limit watched fingerprints behind a place, each once for each partner, and the place of the
	// last. Within a partner they come in no order: what a partner keeps is veiled. No partner stands there twice.
	ListProbes(ctx context.Context, after Place, limit int) ([]Probes, Place, error)
	// ProbesSince returns those of values added at or after a time.
	ProbesSince(ctx context.Context, since time.Time, after Place, limit int) ([]Probes, Place, error)
	// KeepHits notes which watched values have these fingerprints, to be told.
	KeepHits(ctx context.Context, breach string, hits []Probes) (int64, error)
	// TellHits makes findings, statuses and events of up to limit noted hits, whole persons at a time, and returns how
	// many were done; 0 when none is left.
	TellHits(ctx context.Context, breach string, limit int, trace Tracer) (int, error)
	// WithdrawFindings closes up to limit open findings of a breach as retracted and returns how many.
	WithdrawFindings(ctx context.Context, breach string, limit int) (int, error)
	// RejudgeFindings holds up to limit findings of a breach, found at or after since, behind the given one, against what
	// the breach holds now.
	RejudgeFindings(ctx context.Context, breach string, since time.Time, after cyber.FindingID, limit int, trace Tracer) (Rejudged, error)
	// RestateFindings computes the statuses again for up to limit findings after the given one, and returns the last.
	RestateFindings(ctx context.Context, breach string, after cyber.FindingID, limit int) (last cyber.FindingID, err error)

	// RejudgeSites judges the sites of up to limit findings of a partner after the given one again, alerts the people
	// that did not know the result yet, and returns the last finding.
	RejudgeSites(ctx context.Context, id partner.ID, after cyber.FindingID, limit int) (last cyber.FindingID, err error)

	// ListDueLooks returns values that are not yet probed in every breach, oldest first, without those that wait for a token.
	ListDueLooks(ctx context.Context, limit int) ([]DueLook, error)
	// SettleLooks keeps what a probe of values of a partner saw at an epoch; their look is done if the epoch still holds.
	SettleLooks(ctx context.Context, id partner.ID, epoch int64, looked []cyber.AssetID, hits []Hit) error
}
