package cyber

import (
	"cmp"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// FindingID names a finding: "fd_" and a UUIDv7.
type FindingID string

// Finding is a watched value that a breach holds.
type Finding struct {
	ID      FindingID
	Partner partner.ID
	Asset   AssetID
	Kind    identifier.Kind
	// Breach is the breach as far as it concerns this value: see Breach.ForTrace.
	Breach Breach
	Trace  Trace
	// OwnSite says that a credential for a site of the partner's own was taken, WatchedSite the same of one that the
	// operator watches for the partner.
	OwnSite, WatchedSite bool
	Severity             Severity
	// Quiet says that the person knew all of it when it was found: see IsKnownFinding. It is shown, and no alert is
	// sent.
	Quiet   bool
	FoundAt time.Time
	// RenewedAt is when the person was told more of it than at first, so that its plan began anew; zero when they never
	// were.
	RenewedAt time.Time
	// Resolution is why it is not open any more; empty while it is.
	Resolution Resolution
	ResolvedAt time.Time
}

// News is what one person is to be told of at one time.
type News struct {
	Partner partner.ID
	User    partner.UserHash
	Found   []Finding
	// Status is what each of the values found says now.
	Status map[AssetID]Status
}

// Basis returns what the finding's classes are known from.
func (f Finding) Basis() Basis { return cmp.Or(f.Breach.Basis, BasisBreach) }

// LeakedAs shows how the address of a Gmail mailbox is spelled where it leaked, without its letters: it may be another
// spelling than the watched one. Nil for any other value.
func (f Finding) LeakedAs() []string {
	if f.Kind != identifier.Email {
		return nil
	}
	return f.Trace.Spellings.MaskedSpellings()
}

// Open reports whether the finding still counts.
func (f Finding) Open() bool { return f.Resolution == "" }

// Resolution is why a finding does not count any more.
type Resolution string

// The resolutions. Retracted is the service's own: the breach was withdrawn.
const (
	ResolvedPasswordChanged Resolution = "password_changed"
	ResolvedAccountClosed   Resolution = "account_closed"
	ResolvedCardReplaced    Resolution = "card_replaced"
	ResolvedNotMe           Resolution = "not_me"
	ResolvedOther           Resolution = "other"
	ResolvedRetracted       Resolution = "retracted"
)

// IsKnown reports whether it is one of the resolutions, or empty of a finding that is open: see sqldb.Enumerated.
func (r Resolution) IsKnown() bool {
	switch r {
	case "",
		ResolvedPasswordChanged,
		ResolvedAccountClosed,
		ResolvedCardReplaced,
		ResolvedNotMe,
		ResolvedOther,
		ResolvedRetracted:
		return true
	}
	return false
}

// givenResolutions are those that a person, partner or operator may give: ResolvedRetracted is the service's own.
var givenResolutions = []Resolution{
	ResolvedPasswordChanged,
	ResolvedAccountClosed,
	ResolvedCardReplaced,
	ResolvedNotMe,
	ResolvedOther,
}
