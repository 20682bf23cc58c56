package cyber

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Faults of monitoring.
var (
	ErrAssetInvalid      = fault.New(fault.Invalid, "asset.invalid")
	ErrAssetNotFound     = fault.New(fault.NotFound, "asset.not_found")
	ErrAssetLimit        = fault.New(fault.Conflict, "asset.limit_reached")
	ErrFindingNotFound   = fault.New(fault.NotFound, "finding.not_found")
	ErrResolutionInvalid = fault.New(fault.Invalid, "resolution.invalid")
)

// MaxAssets is how many values may be watched for one person. Watching a value answers whether it leaked, so without a
// limit a key could look up any number of other people's values under one user hash.
const MaxAssets = 100

// Seen is a breach that holds a value, and what its records say of it.
type Seen struct {
	Breach string
	Trace  Trace
}

// Sighting is where a fingerprint was seen.
type Sighting struct {
	// Breaches are those that hold it.
	Breaches []Seen
	// Epoch is the state of the corpora that was searched; 0 means that they could not be searched now.
	Epoch int64
}

// Corpora answers in which breaches a value is. It does not block on anything slower than memory-mapped files.
type Corpora interface {
	ProbeFingerprint(fingerprint uint64) Sighting
	// HoldsPair tells whether a breach holds one of the values together with a password, of which the first 40 bits of
	// the SHA-1 are given; ErrNotAsked when that cannot be told now.
	HoldsPair(ctx context.Context, fingerprints []uint64, password uint64) (bool, error)
}

// Unasked stands for corpora that this process does not hold open: what it adds is probed by a worker soon after.
type Unasked struct{}

// ProbeFingerprint knows nothing.
func (Unasked) ProbeFingerprint(uint64) Sighting { return Sighting{} }

// HoldsPair knows nothing.
func (Unasked) HoldsPair(context.Context, []uint64, uint64) (bool, error) { return false, ErrNotAsked }

// MonitoringStore keeps watched values and findings.
type MonitoringStore interface {
	// InsertAssets keeps new values with their first findings and their events in one transaction. It passes over what
	// is there already, and refuses values of people who have limit values with ErrAssetLimit, each at its place.
	InsertAssets(ctx context.Context, id partner.ID, list []NewAsset, limit int) ([]AddedAsset, error)
	// TakeLookToken takes a token for a first look and reports whether there was one.
	TakeLookToken(ctx context.Context, id partner.ID, pace LookPace) (bool, error)
	// EnrolledValues returns what the person's subscriptions in force name: e-mail, phone, CPF and cards.
	EnrolledValues(ctx context.Context, id partner.ID, user partner.UserHash) ([]EnrolledValue, error)
	// TakeGuesses counts a question of a partner about each value, by its fingerprint, and returns those that were
	// asked about less often today than the limits.
	TakeGuesses(ctx context.Context, id partner.ID, fingerprints []uint64, limits GuessLimits) ([]uint64, error)
	// AssetsOfUser returns a person's values in the order added.
	AssetsOfUser(ctx context.Context, id partner.ID, user partner.UserHash) ([]Asset, error)
	// DeleteAsset erases a value of one of the kinds and all that was known of it.
	DeleteAsset(ctx context.Context, id partner.ID, user partner.UserHash, asset AssetID, kinds []identifier.Kind) error
	// FindingsOfUser returns a person's findings, newest first.
	FindingsOfUser(ctx context.Context, id partner.ID, user partner.UserHash) ([]Finding, error)
	// ResolveFinding closes a finding, recomputes the status and keeps the event of its change. A closed one stays as
	// it is.
	ResolveFinding(ctx context.Context, id partner.ID, user partner.UserHash, finding FindingID, why Resolution) error
	PlanStore
}

// Salts opens partners' salts.
type Salts interface {
	OpenSalt(ctx context.Context, id partner.ID) (string, error)
}

// Monitoring is the rules of /cyber/monitoring and /cyber/findings.
type Monitoring struct {
	store       MonitoringStore
	salts       Salts
	corpora     Corpora
	fingerprint func(kind byte, normal []byte) uint64
	now         func() time.Time
}

// NewMonitoring joins the rules to a store, the corpora and the keyed fingerprint of values.
func NewMonitoring(
	store MonitoringStore, salts Salts, corpora Corpora, fingerprint func(byte, []byte) uint64, now func() time.Time,
) *Monitoring {
	return &Monitoring{store: store, salts: salts, corpora: corpora, fingerprint: fingerprint, now: now}
}

// AssetRequest asks to watch a value of a person.
type AssetRequest struct {
	Owner Owner
	User  partner.UserHash
	// Group is the kinds that may be added: those that the contract takes where it is empty.
	Group       Group
	Type, Value string
}

// AddedAsset is how a value stands that was sent to be watched.
type AddedAsset struct {
	// IsNew is false when the person had the value already.
	IsNew bool
	// Waits reports whether the value waits for its first look: until then no breach is compared with it.
	Waits bool
	// Refused is why it is not watched.
	Refused error
}

// AddAsset watches a value of a person. Any e-mail address under a domain is a hit. The value of a live partner gets
// its first look into past breaches at once if the partner has a token for it, and waits for one otherwise.
func (m *Monitoring) AddAsset(ctx context.Context, r AssetRequest) (AddedAsset, error) {
	a, err := m.checkNewAsset(ctx, r)
	if err != nil {
		return AddedAsset{}, err
	}
	if a.Paced {
		if a.HasToken, err = m.store.TakeLookToken(ctx, a.Partner, *r.Owner.Pace); err != nil {
			return AddedAsset{}, err
		}
	}
	if a.Matched && (a.HasToken || !a.Paced) {
		a.Seen = m.corpora.ProbeFingerprint(a.Fingerprint)
	}
	added, err := m.store.InsertAssets(ctx, a.Partner, []NewAsset{a}, MaxAssets)
	if err != nil {
		return AddedAsset{}, err
	}
	return added[0], added[0].Refused
}

// checkNewAsset checks a value about to be watched. It does not ask the corpora: how long that takes would tell
// something of a value that waits or is refused.
func (m *Monitoring) checkNewAsset(ctx context.Context, r AssetRequest) (NewAsset, error) {
	who, allowed := r.Owner, r.Group
	if len(allowed) == 0 {
		allowed = ContractAdds
	}
	k, err := identifier.ParseKind(r.Type)
	if err != nil || !allowed.HasKind(k) {
		return NewAsset{}, ErrAssetInvalid.With("type", fault.OneOf, allowed.joinKinds())
	}
	check := identifier.Required
	if who.Mode.Has(partner.AnyCheckDigits) {
		check = identifier.Waived
	}
	normal, err := identifier.ParseValue(k, r.Value, check)
	if err != nil {
		return NewAsset{}, invalidValue(err)
	}
	a := NewAsset{
		Asset: Asset{
			ID:      newAssetID(),
			Partner: who.Partner,
			User:    r.User,
			Kind:    k,
			Value:   r.Value,
			Source:  AddedByItself,
			AddedAt: m.now(),
		},
		Normal: normal,
		Paced:  who.hasPacedLooks(),
	}
	if k == identifier.CPF {
		if err := m.recognizeCPF(ctx, &a); err != nil {
			return NewAsset{}, err
		}
		// A person is known by digests of the CPF that they were enrolled with, so that there is no other case.
		if a.Paced && a.OwnCPF == "" {
			return NewAsset{}, ErrAssetInvalid.With("userHash", fault.DigestOfCPF)
		}
	}
	a.setMatching(who.Mode, m.fingerprint)
	return a, nil
}

// invalidValue returns ErrAssetInvalid with the rule that the value breaks, but without the value: it may be personal
// data.
func invalidValue(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Broken != nil {
		return ErrAssetInvalid.With("value", f.Broken.Rule, f.Broken.Args...)
	}
	return ErrAssetInvalid.With("value", fault.NotValid)
}

// recognizeCPF finds out whether a CPF is the one that the user hash was made of. Then both digests name one person.
func (m *Monitoring) recognizeCPF(ctx context.Context, a *NewAsset) error {
	salt, err := m.salts.OpenSalt(ctx, a.Partner)
	if err != nil {
		return fmt.Errorf("recognise person: %w", err)
	}
	d256, d512 := partner.PersonDigests(a.Normal, salt)
	if c := a.User.Canonical(); bytes.Equal(c, d256) || bytes.Equal(c, d512) {
		a.OwnCPF, a.Salt = a.Normal, salt
	}
	return nil
}

// AssetScope is the values of a person that a request may see.
type AssetScope struct {
	Partner partner.ID
	User    partner.UserHash
	// Group is the kinds that are seen: every kind where it is empty.
	Group Group
}

// ListAssets lists a person's values in the order added.
func (m *Monitoring) ListAssets(ctx context.Context, in AssetScope) ([]Asset, error) {
	assets, err := m.store.AssetsOfUser(ctx, in.Partner, in.User)
	return slices.DeleteFunc(assets, func(a Asset) bool { return len(in.Group) > 0 && !in.Group.HasKind(a.Kind) }), err
}

// DeleteAsset ends the watch on a value and erases it.
func (m *Monitoring) DeleteAsset(ctx context.Context, in AssetScope, asset AssetID) error {
	return m.store.DeleteAsset(ctx, in.Partner, in.User, asset, in.Group)
}

// ListFindings lists what was found of a person, newest first.
func (m *Monitoring) ListFindings(ctx context.Context, id partner.ID, user partner.UserHash) ([]Finding, error) {
	return m.store.FindingsOfUser(ctx, id, user)
}

// RetractFinding takes a finding back because it was never true of the person; whether the reason holds is the
// operator's to say. A closed one stays as it is: what a person has dealt with did happen.
func (m *Monitoring) RetractFinding(
	ctx context.Context, id partner.ID, user partner.UserHash, finding FindingID,
) error {
	_, err := m.store.ChangePlan(ctx, id, user, finding, func(p Plan) (PlanChange, error) {
		if !p.Finding.Open() {
			return PlanChange{}, ErrFindingClosed.With("id", fault.FindingResolved)
		}
		return PlanChange{Close: ResolvedRetracted}, nil
	})
	return err
}

// ResolveFinding closes a finding because the person has dealt with it.
func (m *Monitoring) ResolveFinding(
	ctx context.Context, id partner.ID, user partner.UserHash, finding FindingID, reason string,
) error {
	if !slices.Contains(givenResolutions, Resolution(reason)) {
		return ErrResolutionInvalid.With(
			"reason",
			fault.OneOf,
			"password_changed, account_closed, card_replaced, not_me, other",
		)
	}
	return m.store.ResolveFinding(ctx, id, user, finding, Resolution(reason))
}
