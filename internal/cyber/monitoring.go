package cyber

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

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

// MonitoringStore keeps watched values and findings.
type MonitoringStore interface {
	// InsertAsset keeps a new value with its first findings and their events, or does nothing when the person has it
	// already. More than limit values of one person are ErrAssetLimit.
	InsertAsset(ctx context.Context, id partner.ID, a NewAsset, limit int) (AddedAsset, error)
	// InsertAssets keeps several new values in one transaction. It refuses those of people who have limit values, each
	// by an error at its place, passes over what is there already, and counts the values of the list that wait for
	// their first look.
	InsertAssets(
		ctx context.Context, id partner.ID, list []NewAsset, limit int,
	) (refused []error, waiting int, err error)
	// AssetsAtOnce returns how many values of a list InsertAssets is to be given now: fewer while others wait for it.
	AssetsAtOnce() int
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
func NewMonitoring(store MonitoringStore, salts Salts, corpora Corpora, fingerprint func(byte, []byte) uint64,
	now func() time.Time,
) *Monitoring {
	return &Monitoring{store: store, salts: salts, corpora: corpora, fingerprint: fingerprint, now: now}
}

// Owner is whose request or command it is.
type Owner struct {
	Partner partner.ID
	Mode    partner.Mode
	// Pace is that of the first looks of what a live partner's own requests add. It is nil for an operator, whose
	// additions are not paced.
	Pace *LookPace
}

// NewOwner returns the owner of a partner's own requests.
func NewOwner(id partner.ID, mode partner.Mode, s partner.Settings) Owner {
	pace := PaceOf(s)
	return Owner{Partner: id, Mode: mode, Pace: &pace}
}

// hasPacedLooks reports whether first looks take tokens.
func (o Owner) hasPacedLooks() bool { return !o.Mode.Has(partner.Unpaced) && o.Pace != nil }

// Group is the kinds of values that one way of asking may name.
type Group []identifier.Kind

// The groups. What the contract takes is what its own operations add; domains, which the operator adds, it only lists.
// The extra kinds are neither taken nor shown by the contract's operations: they have routes of their own. An operator
// adds what no partner's request can: domains, and the extra kinds for partners that do not use those routes.
var (
	ContractAdds  = Group{identifier.Email, identifier.CPF, identifier.Phone, identifier.Card}
	ContractShows = append(slices.Clone(ContractAdds), identifier.Domain)
	ExtraKinds    = Group{identifier.PixKey, identifier.CNPJ}
	OperatorAdds  = Group{identifier.Domain, identifier.PixKey, identifier.CNPJ}
)

func (g Group) HasKind(k identifier.Kind) bool { return slices.Contains(g, k) }

// joinKinds lists the kinds of a group for an error.
func (g Group) joinKinds() string {
	words := make([]string, len(g))
	for i, k := range g {
		words[i] = k.String()
	}
	return strings.Join(words, ", ")
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
	return m.store.InsertAsset(ctx, a.Partner, a, MaxAssets)
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
	ctx context.Context,
	id partner.ID,
	user partner.UserHash,
	finding FindingID,
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
	ctx context.Context,
	id partner.ID,
	user partner.UserHash,
	finding FindingID,
	reason string,
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

// MaxBulk is the most values, or people, that one request names.
const MaxBulk = 1000

// BulkItem is a value to be watched, as it was sent.
type BulkItem struct{ User, Kind, Value string }

// BulkRefusal is an item that is not watched, and why.
type BulkRefusal struct {
	// Item is its place in the request, from 0.
	Item int
	Why  *fault.Error
}

// BulkResult is what became of a list of values.
type BulkResult struct {
	// Decided is how many items, from the first, are either watched or refused for good: all of them, unless the
	// service failed on the way. What comes after them is neither.
	Decided int
	Refused []BulkRefusal
	// Waiting is how many of the watched items wait for their first look.
	Waiting int
}

// Watched returns how many of the decided items are watched.
func (r BulkResult) Watched() int { return r.Decided - len(r.Refused) }

// AddAssets adds values, each by the rules of a single one; one that is refused stops nothing. They are stored in
// batches, each of them whole or not at all; when one fails the result says which are. First looks begin after the
// request, so that a list of values does not hold the partner's tokens locked.
func (m *Monitoring) AddAssets(ctx context.Context, who Owner, items []BulkItem) (BulkResult, error) {
	var result BulkResult
	list := *m
	list.salts = &saltOfList{inner: m.salts}
	for result.Decided < len(items) {
		rest := items[result.Decided:]
		batch := rest[:min(len(rest), m.store.AssetsAtOnce())]
		refused, waiting, err := list.addBatch(ctx, who, batch)
		if err != nil {
			return result, err
		}
		for _, r := range refused {
			result.Refused = append(result.Refused, BulkRefusal{result.Decided + r.Item, r.Why})
		}
		result.Decided += len(batch)
		result.Waiting += waiting
	}
	return result, nil
}

// saltOfList opens the salt of a list's partner once, and not for each CPF.
type saltOfList struct {
	inner Salts
	salt  string
}

// OpenSalt returns the salt of the one partner that the list belongs to.
func (s *saltOfList) OpenSalt(ctx context.Context, id partner.ID) (string, error) {
	if s.salt == "" {
		salt, err := s.inner.OpenSalt(ctx, id)
		if err != nil {
			return "", err
		}
		s.salt = salt
	}
	return s.salt, nil
}

// addBatch adds some values in one transaction and returns those that are refused, and how many of the others wait.
func (m *Monitoring) addBatch(
	ctx context.Context, who Owner, items []BulkItem,
) (refused []BulkRefusal, waiting int, err error) {
	var list []NewAsset
	var places []int // of the values of the list among the items
	for i, item := range items {
		a, err := m.checkBulkItem(ctx, who, item)
		if err != nil {
			why, ok := itemFault(err)
			if !ok {
				return nil, 0, err
			}
			refused = append(refused, BulkRefusal{i, why})
			continue
		}
		list = append(list, a)
		places = append(places, i)
	}
	if len(list) == 0 {
		return refused, 0, nil
	}
	failed, waiting, err := m.store.InsertAssets(ctx, who.Partner, list, MaxAssets)
	if err != nil {
		return nil, 0, err
	}
	for i, err := range failed {
		if err == nil {
			continue
		}
		why, ok := itemFault(err)
		if !ok {
			return nil, 0, err
		}
		refused = append(refused, BulkRefusal{places[i], why})
	}
	slices.SortFunc(refused, func(a, b BulkRefusal) int { return a.Item - b.Item })
	return refused, waiting, nil
}

// itemFault tells faults of an item from those of the service, which are not reported of an item.
func itemFault(err error) (*fault.Error, bool) {
	var why *fault.Error
	if !errors.As(err, &why) {
		return nil, false
	}
	switch why.Kind {
	case fault.Invalid, fault.Conflict, fault.NotFound, fault.RateLimited:
		return why, true
	default:
		return nil, false
	}
}

// checkBulkItem checks one value of a list.
func (m *Monitoring) checkBulkItem(ctx context.Context, who Owner, item BulkItem) (NewAsset, error) {
	user, err := partner.ParseUserHash("userHash", item.User)
	if err != nil {
		return NewAsset{}, err
	}
	return m.checkNewAsset(ctx, AssetRequest{Owner: who, User: user, Type: item.Kind, Value: item.Value})
}

// SandboxBreach is the made-up breach of sandbox partners.
const SandboxBreach = "sandbox"

// SandboxPassword is the one that stands in the records of the sandbox that hold one: the first 40 bits of the SHA-1 of
// "password".
const SandboxPassword = 0x5baa61e4c9

// sandboxRecords are what stands in the records of the made-up breach that hold the documented value of a kind. They
// differ, so that partners see every status.
var sandboxRecords = map[identifier.Kind][]Exposed{
	identifier.Email:  {ExposedEmail, ExposedPassword, ExposedName},
	identifier.Domain: {ExposedEmail, ExposedPassword, ExposedName},
	identifier.CPF:    {ExposedCPF, ExposedName, ExposedBirthDate},
	identifier.Phone:  {ExposedPhone, ExposedName},
	identifier.Card:   {ExposedCard, ExposedName},
	identifier.PixKey: {ExposedName, ExposedFinancial},
	identifier.CNPJ:   {ExposedName, ExposedOther},
}

// sandboxSeen tells where a value of a sandbox partner is found: nowhere, or in the made-up breach, if it is one of
// those that the documentation promises a leak for.
func sandboxSeen(k identifier.Kind, normal string) []Seen {
	if !sandboxLeak(k, normal) {
		return nil
	}
	return []Seen{{Breach: SandboxBreach, Trace: Trace{Told: true, Classes: NewClasses(sandboxRecords[k])}}}
}

// sandboxLeak reports whether a value is one of the documented test values that count as leaked in the sandbox.
func sandboxLeak(k identifier.Kind, normal string) bool {
	switch k {
	case identifier.Email:
		return strings.HasSuffix(normal, "@vazamento.test")
	case identifier.CPF:
		return normal == "00000000191"
	case identifier.Phone:
		return normal == "+5511999990000"
	case identifier.Card:
		return normal == "4000000000000002"
	case identifier.Domain:
		return normal == "vazamento.test"
	case identifier.PixKey:
		return normal == "00000000-0000-4000-8000-000000000002"
	case identifier.CNPJ:
		return normal == "VAZAMENTO00103"
	}
	return false
}

// MadeUpBreach returns what is told of the made-up breach.
func MadeUpBreach() Breach {
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return Breach{
		Name:        SandboxBreach,
		Title:       "Vazamento de demonstração",
		Date:        day,
		Source:      "Vigia",
		Description: "Dados fictícios para parceiros em teste.",
		Exposes: []Exposed{
			ExposedEmail,
			ExposedPassword,
			ExposedCPF,
			ExposedPhone,
			ExposedCard,
			ExposedName,
		},
		Kind:     SourceBreach,
		Verified: true,
		AddedAt:  day,
	}
}

// SandboxTimes returns the made-up calendar of a sandbox partner, the same for every service that has one: three times
// on each of the next five days, in Brasilia's time.
func SandboxTimes(now time.Time) []time.Time {
	const days = 5
	day := now.UTC().Truncate(24 * time.Hour)
	var times []time.Time
	for n := 1; n <= days; n++ {
		for _, hour := range []int{13, 17, 19} { // 10, 14 and 16 o'clock there
			times = append(times, day.AddDate(0, 0, n).Add(time.Duration(hour)*time.Hour))
		}
	}
	return times
}

// Faults of a check of credentials.
var (
	// ErrNotAsked means that not every breach can be asked now.
	ErrNotAsked = fault.New(fault.Unavailable, "corpora.not_asked")
	// ErrTooNew means that none of the person's values may be asked about yet.
	ErrTooNew = fault.New(fault.Conflict, "credential.too_new")
	// ErrGuesses means that every value of the person was asked about too often today.
	ErrGuesses = fault.New(fault.RateLimited, "credential.guesses")
)

const (
	// GuessesPerDay is how often a partner may ask about one value in a day of Brasília, under the names of all people
	// together: otherwise a leaked password could be guessed under those of made-up people. The limit is the partner's
	// own, so that no partner can tell that another asks, or keep it from asking. Over all partners together it is
	// guessesOfAll: several that work together must not guess for ever.
	GuessesPerDay = 20
	guessesOfAll  = 200
	// guessAge is how long a value must have been watched, unless the person was enrolled with it.
	guessAge = 24 * time.Hour
)

// GuessLimits are how often a value may be asked about in a day: by one partner, and by all of them together.
type GuessLimits struct{ OfPartner, OfAll int64 }

// EnrolledValue is what a subscription in force says of a person.
type EnrolledValue struct {
	Kind  identifier.Kind
	Value string
}

// ParseValue returns the normal form of the value by the rules of an enrolment, which has checked it.
func (v EnrolledValue) ParseValue() (string, error) {
	if v.Kind == identifier.Phone {
		return identifier.ParsePhoneWithCountryCode(v.Value)
	}
	return identifier.ParseValue(v.Kind, v.Value, identifier.Waived)
}

// CheckCredential reports whether a password, by the first 40 bits of its SHA-1, is known together with one of the
// values that are watched for a person. Of a person without any nothing is known. Values that were added lately, or
// wait for their first look, are left out.
func (m *Monitoring) CheckCredential(
	ctx context.Context,
	who Owner,
	user partner.UserHash,
	password uint64,
) (bool, error) {
	watched, err := m.store.AssetsOfUser(ctx, who.Partner, user)
	if err != nil || len(watched) == 0 {
		return false, err
	}
	if who.Mode.Has(partner.MagicValues) {
		leaked := slices.ContainsFunc(watched, func(a Asset) bool {
			normal, err := identifier.ParseValue(a.Kind, a.Value, identifier.Waived)
			return err == nil && a.Kind == identifier.Email &&
				sandboxLeak(a.Kind, normal) // of no other the record holds one
		})
		return leaked && password == SandboxPassword, nil
	}
	enrolled, err := m.store.EnrolledValues(ctx, who.Partner, user)
	if err != nil {
		return false, err
	}
	var fingerprints []uint64
	for _, a := range watched {
		normal, err := identifier.ParseValue(a.Kind, a.Value, identifier.Waived)
		isNew := m.now().Sub(a.AddedAt) < guessAge
		if err != nil || a.Waits && !a.IsDue || isNew && !isEnrolled(enrolled, a.Kind, normal) {
			continue
		}
		fingerprints = append(fingerprints, m.fingerprint(byte(a.Kind), identifier.MatchForm(a.Kind, normal)))
	}
	if len(fingerprints) == 0 {
		return false, ErrTooNew.With("userHash", fault.AskedTooSoon)
	}
	allowed, err := m.store.TakeGuesses(
		ctx,
		who.Partner,
		fingerprints,
		GuessLimits{OfPartner: GuessesPerDay, OfAll: guessesOfAll},
	)
	if err != nil {
		return false, err
	}
	if len(allowed) == 0 {
		return false, ErrGuesses.With("userHash", fault.AskedPerDay, GuessesPerDay)
	}
	return m.corpora.HoldsPair(ctx, allowed, password)
}

// isEnrolled reports whether a person was enrolled with a value.
func isEnrolled(enrolled []EnrolledValue, kind identifier.Kind, normal string) bool {
	return slices.ContainsFunc(enrolled, func(e EnrolledValue) bool {
		same, err := e.ParseValue()
		return err == nil && e.Kind == kind && same == normal
	})
}
