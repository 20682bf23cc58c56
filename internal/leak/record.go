package leak

import (
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// State is where a breach stands.
type State string

// The states. Only what is published is probed and shown.
const (
	Importing State = "importing"
	Published State = "published"
	Retracted State = "retracted"
)

// IsKnown reports whether it is one of the states: see sqldb.Enumerated.
func (s State) IsKnown() bool {
	switch s {
	case Importing, Published, Retracted:
		return true
	}
	return false
}

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

// ListFiles returns the files of the breach's current content.
func (r Record) ListFiles() []File {
	return Segment{File: r.Segment, Digest: r.Digest, Pairs: r.Pairs, PairsDigest: r.PairsDigest}.ListFiles()
}

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
