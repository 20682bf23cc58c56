package cyber

import (
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// AssetID names a watched value: "as_" and a UUIDv7.
type AssetID string

// AssetSource is why a value is watched: one reason, or both.
type AssetSource uint8

// The reasons. A value that has lost both is not watched any more.
const (
	// AddedByItself means that the partner, or an operator, added the value. It stays until it is deleted.
	AddedByItself AssetSource = 1 << iota
	// NamedBySubscription means that a subscription in force names the value and watches it. It goes with the last one.
	NamedBySubscription
)

// Asset is a watched value.
type Asset struct {
	ID      AssetID
	Partner partner.ID
	// User is the user hash as it was sent when the asset was added.
	User partner.UserHash
	Kind identifier.Kind
	// Value is the value as it was sent.
	Value   string
	Status  Status
	Source  AssetSource
	AddedAt time.Time
	// Waits reports that the value has not had its first look into past breaches: that nothing was found of it means
	// nothing yet.
	Waits bool
	// IsDue reports that it waits no longer for a token of the partner, but for a worker alone.
	IsDue bool
}

// IsUnlooked reports whether nothing can be said of the value yet. One that waits may be known to have leaked all the
// same: while one breach cannot be asked, the others are.
func (a Asset) IsUnlooked() bool { return a.Waits && a.Status == StatusMonitored }

// NewAsset is a value about to be watched.
type NewAsset struct {
	Asset
	// Normal is the value's normal form.
	Normal string
	// Matched says whether the value meets the corpora; those of sandbox partners never do.
	Matched     bool
	Fingerprint uint64
	Seen        Sighting
	// OwnCPF is the person's CPF and Salt the partner's, when the value proved to be the CPF behind the user hash.
	OwnCPF, Salt string
	// Paced says that the first look takes a token of the partner, and HasToken that one was taken for it: without one
	// the value waits.
	Paced, HasToken bool
}

// setMatching says how a value is matched: with the corpora by its fingerprint, or with the made-up breach for a
// sandbox partner.
func (a *NewAsset) setMatching(mode partner.Mode, fingerprint func(kind byte, normal []byte) uint64) {
	if mode.Has(partner.MagicValues) {
		a.Seen.Breaches = sandboxSeen(a.Kind, a.Normal)
		return
	}
	a.Matched = true
	a.Fingerprint = fingerprint(byte(a.Kind), identifier.MatchForm(a.Kind, a.Normal))
}

// NewEnrolledAsset returns a value that a subscription names, about to be watched for its beneficiary. The first look
// of a live partner's value waits for a token, as those of a list do.
func NewEnrolledAsset(
	id partner.ID,
	mode partner.Mode,
	user partner.UserHash,
	v EnrolledValue,
	fingerprint func(kind byte, normal []byte) uint64,
	now time.Time,
) (NewAsset, error) {
	normal, err := v.ParseValue()
	if err != nil {
		return NewAsset{}, invalidValue(err)
	}
	value := v.Value
	if v.Kind == identifier.Phone {
		// An enrolment takes a country code without its plus, which would be read as another number.
		value = normal
	}
	a := NewAsset{
		Asset: Asset{
			ID:      newAssetID(),
			Partner: id,
			User:    user,
			Kind:    v.Kind,
			Value:   value,
			Source:  NamedBySubscription,
			AddedAt: now,
		},
		Normal: normal,
		Paced:  !mode.Has(partner.Unpaced),
	}
	a.setMatching(mode, fingerprint)
	return a, nil
}

// newAssetID returns a time-ordered ID, so that new values go to the end of the index.
func newAssetID() AssetID { return AssetID("as_" + uuid.Must(uuid.NewV7()).String()) }
