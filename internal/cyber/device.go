package cyber

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// System is what a device runs.
type System string

// The systems, to the letter of the contract.
const (
	Android System = "android"
	IOS     System = "ios"
	Windows System = "windows"
	MacOS   System = "macos"
)

// IsKnown reports whether it is one of the systems, or Linux, which has an installer only: see sqldb.Enumerated.
func (s System) IsKnown() bool {
	switch s {
	case Android, IOS, Windows, MacOS, Linux:
		return true
	}
	return false
}

func ListSystems() []System { return []System{Android, IOS, Windows, MacOS} }

// ParseSystem reads the contract's word for a system.
func ParseSystem(s string) (System, error) {
	for _, known := range ListSystems() {
		if s == string(known) {
			return known, nil
		}
	}
	return "", ErrDeviceInvalid.With("operatingSystem", fault.OneOf, "android, ios, windows, macos")
}

// IsMobile tells phones from computers.
func (s System) IsMobile() bool { return s == Android || s == IOS }

// KeyID names an issued key: "ek_" and a UUIDv7.
type KeyID string

// Device is a device with an activation key.
type Device struct {
	ID      KeyID
	Partner partner.ID
	// User is the user hash as it was sent when the key was asked for.
	User       partner.UserHash
	System     System
	Name       string
	Key        string
	IssuedAt   time.Time
	ValidUntil time.Time
	// ActivatedAt is when the device first reported that the key protects it, SeenAt when it last did; zero for never.
	ActivatedAt, SeenAt time.Time
	// EndedAt is when the key ended; zero while it has not, and for a short time after ValidUntil.
	EndedAt   time.Time
	EndReason EndReason
	// Plan is whose subscription the key ends with; empty when it does not.
	Plan plan.ID
}

// IsLiveAt reports whether the key may protect a device: whether it does, ProtectsAt says.
func (d Device) IsLiveAt(now time.Time) bool { return d.EndedAt.IsZero() && now.Before(d.ValidUntil) }

// Faults of endpoint keys.
var (
	ErrDeviceInvalid = fault.New(fault.Invalid, "device.invalid")
	ErrDeviceLimit   = fault.New(fault.Conflict, "device.limit_reached")
	ErrPoolEmpty     = fault.New(fault.Unavailable, "pool.empty")
	ErrDeviceUnknown = fault.New(fault.NotFound, "device.not_found")
	ErrDeviceEnded   = fault.New(fault.Conflict, "device.ended")
	ErrDeviceTaken   = fault.New(fault.Conflict, "device.exists")
)

// DeviceRequest is what a partner asks a key for.
type DeviceRequest struct {
	User   partner.UserHash
	System System
	Name   string
	// Mode is the partner's; empty for an operator's doing, which no share bounds.
	Mode partner.Mode
}

// maxDeviceName is in characters.
const maxDeviceName = 100

// checkRequest refuses a request without a name or a known system.
func (r *DeviceRequest) checkRequest() error {
	// The same name typed on two keyboards may be composed differently.
	r.Name = norm.NFC.String(strings.Trim(r.Name, " "))
	if !partner.IsPrintable(r.Name, maxDeviceName) {
		return ErrDeviceInvalid.With("deviceName", fault.PrintableLength, maxDeviceName)
	}
	return nil
}

// Holding is what a decision about a new key rests on, read under the lock of its holder.
type Holding struct {
	// Live is how many live keys the person has.
	Live int
	// Plan is the plan in force for the person; its zero value bounds nothing. Subscribed tells a plan of theirs from
	// the partner's default.
	Plan       plan.Plan
	Subscribed bool
	// Excluded means that a plan is in force, and none that includes keys; Pooled that the key would come from what a
	// vendor delivered for all partners.
	Excluded, Pooled bool
}

// NewHolding returns what a person with so many live keys and these plans holds. A subscription whose plan includes no
// keys decides nothing where another one's does.
func NewHolding(live int, e Entitled, pooled bool) Holding {
	h := Holding{Live: live, Pooled: pooled}
	with := slices.DeleteFunc(
		slices.Clone(e.Subscribed),
		func(t Entitlement) bool { return t.MaxDevices == plan.NoDevices },
	)
	none := len(with) == 0 && len(e.Subscribed) > 0
	e.Subscribed = with
	h.Plan, h.Subscribed, _ = e.BestPlan()
	h.Excluded = none || h.Plan.MaxDevices == plan.NoDevices
	return h
}

// NewKey is a decision to issue.
type NewKey struct {
	ID KeyID
	// Generated is the key to issue unless the system has a pool.
	Generated  string
	IssuedAt   time.Time
	ValidUntil time.Time
	Plan       plan.ID
}

// DeviceStore keeps keys and pools.
type DeviceStore interface {
	// IssueKey returns the live key of the device, or asks decide and keeps what it says, with a key of the system's
	// pool if it has one; ErrPoolEmpty when that has none left. Two calls for one person never run at the same time.
	IssueKey(ctx context.Context, id partner.ID, r DeviceRequest, decide func(Holding) (NewKey, error)) (Device, error)
	// PartnerDevices returns up to limit live devices of a partner, newest first.
	PartnerDevices(ctx context.Context, id partner.ID, limit int) ([]Device, error)
	// DeviceByKey finds a device by its activation key.
	DeviceByKey(ctx context.Context, text string) (Device, error)
	// ListDevices returns a person's live devices, newest first; DeviceByID one key, for the operator.
	ListDevices(ctx context.Context, id partner.ID, u partner.UserHash) ([]Device, error)
	DeviceByID(ctx context.Context, key KeyID) (Device, error)
	// IsSamePerson reports whether two user hashes name the same person.
	IsSamePerson(ctx context.Context, id partner.ID, a, b partner.UserHash) (bool, error)
	// EndUnsubscribed ends the keys whose plan ends them with its last subscription.
	EndUnsubscribed(ctx context.Context) (int, error)
	// InstallLinks returns where people install the program of each system from; a system without a link is not there.
	InstallLinks(ctx context.Context) (map[System]string, error)
	// ListSources returns where each system's keys come from, and what is left, in the order of Systems; PoolsTurnedLow
	// the pools that became low, or full again, since the last call in any replica.
	ListSources(ctx context.Context) ([]Source, error)
	PoolsTurnedLow(ctx context.Context) ([]Source, error)
	// ListShares returns what was set or used of the pools and calendars, by resource and partner.
	ListShares(ctx context.Context) ([]Share, error)
	LifeStore
	PoolStore
	ShareStore
}

// Endpoints issues activation keys and lists what they protect.
type Endpoints struct {
	store  DeviceStore
	now    func() time.Time
	random io.Reader
}

// NewEndpoints joins the rules to a store, a clock and a source of randomness (nil means the system's).
func NewEndpoints(store DeviceStore, now func() time.Time, random io.Reader) *Endpoints {
	if random == nil {
		random = rand.Reader
	}
	return &Endpoints{store: store, now: now, random: random}
}

// ListDevices returns a person's live devices, newest first.
func (e *Endpoints) ListDevices(ctx context.Context, id partner.ID, u partner.UserHash) ([]Device, error) {
	return e.store.ListDevices(ctx, id, u)
}

// DeviceByID returns the device of one key, for the operator.
func (e *Endpoints) DeviceByID(ctx context.Context, key KeyID) (Device, error) {
	return e.store.DeviceByID(ctx, key)
}

// IsSamePerson reports whether two user hashes name the same person.
func (e *Endpoints) IsSamePerson(ctx context.Context, id partner.ID, a, b partner.UserHash) (bool, error) {
	return e.store.IsSamePerson(ctx, id, a, b)
}

// EndUnsubscribed ends the keys whose plan ends them with its last subscription.
func (e *Endpoints) EndUnsubscribed(ctx context.Context) (int, error) {
	return e.store.EndUnsubscribed(ctx)
}

// InstallLinks returns where people install the program of each system from; a system without a link is not there.
func (e *Endpoints) InstallLinks(ctx context.Context) (map[System]string, error) {
	return e.store.InstallLinks(ctx)
}

// ListSources returns where each system's keys come from, and what is left, in the order of ListSystems.
func (e *Endpoints) ListSources(ctx context.Context) ([]Source, error) {
	return e.store.ListSources(ctx)
}

// PoolsTurnedLow returns the pools that became low, or full again, since the last call in any replica.
func (e *Endpoints) PoolsTurnedLow(ctx context.Context) ([]Source, error) {
	return e.store.PoolsTurnedLow(ctx)
}

// ListShares returns what was set or used of the pools and calendars, by resource and partner.
func (e *Endpoints) ListShares(ctx context.Context) ([]Share, error) {
	return e.store.ListShares(ctx)
}

// IssueKey returns the key of a device: the live one it has, or a new one.
func (e *Endpoints) IssueKey(ctx context.Context, id partner.ID, r DeviceRequest) (Device, error) {
	if err := r.checkRequest(); err != nil {
		return Device{}, err
	}
	// Drawn before the store's lock is taken; thrown away when the device has a key or the system a pool.
	next, err := e.generateKey()
	if err != nil {
		return Device{}, err
	}
	return e.store.IssueKey(ctx, id, r, func(h Holding) (NewKey, error) {
		most := h.Plan.MaxDevices
		switch {
		case h.Excluded, h.Pooled && r.Mode != "" && !h.Subscribed:
			return NewKey{}, ErrNotCovered.With("userHash", fault.NoProtectionPlan)
		case h.Pooled && r.Mode != "" && most == 0:
			most = mostPooled
		}
		if most > 0 && h.Live >= most {
			return NewKey{}, ErrDeviceLimit.With("deviceName", fault.PlanDevices, most)
		}
		next.ValidUntil = next.IssuedAt.Add(h.Plan.KeyValidity())
		if h.Subscribed && h.Plan.KeysEndWithSubscription {
			next.Plan = h.Plan.ID
		}
		return next, nil
	})
}

// generateKey draws a key that is not in use.
func (e *Endpoints) generateKey() (NewKey, error) {
	text, err := generateKey(e.random)
	if err != nil {
		return NewKey{}, err
	}
	return NewKey{ID: KeyID("ek_" + uuid.Must(uuid.NewV7()).String()), Generated: text, IssuedAt: e.now()}, nil
}

// MaxListed bounds the devices listed for a partner as a whole.
const MaxListed = 1000

// ListPartnerDevices returns a partner's live devices, newest first, and whether there are more than MaxListed.
func (e *Endpoints) ListPartnerDevices(ctx context.Context, id partner.ID) (list []Device, more bool, err error) {
	list, err = e.store.PartnerDevices(ctx, id, MaxListed+1)
	if len(list) > MaxListed {
		return list[:MaxListed], true, err
	}
	return list, false, err
}

// FindDevice returns the device that an activation key was issued for, for the operator.
func (e *Endpoints) FindDevice(ctx context.Context, text string) (Device, error) {
	return e.store.DeviceByKey(ctx, strings.TrimSpace(text))
}

// EndReason is why a key ended.
type EndReason string

// The reasons.
const (
	EndExpired      EndReason = "expired"
	EndRevoked      EndReason = "revoked"
	EndMoved        EndReason = "moved"
	EndSubscription EndReason = "subscription"
	// EndErased is only ever told: of a person who was erased no key is kept.
	EndErased EndReason = "erased"
)

// IsKnown reports whether it is one of the reasons, or empty of a key that has not ended: see sqldb.Enumerated.
func (r EndReason) IsKnown() bool {
	switch r {
	case "", EndExpired, EndRevoked, EndMoved, EndSubscription, EndErased:
		return true
	}
	return false
}

// KeyState is where a key stands.
type KeyState string

// The states. A key that was issued protects nothing until the device reports that it is installed.
const (
	KeyIssued KeyState = "issued"
	KeyActive KeyState = "active"
	KeyEnded  KeyState = "ended"
)

// KeyStateAt returns where the key stands.
func (d Device) KeyStateAt(now time.Time) KeyState {
	switch {
	case !d.IsLiveAt(now):
		return KeyEnded
	case d.ActivatedAt.IsZero():
		return KeyIssued
	}
	return KeyActive
}

// ProtectsAt reports whether the device is protected: its key is live and was activated on it.
func (d Device) ProtectsAt(now time.Time) bool { return d.KeyStateAt(now) == KeyActive }

// seenStep is how exact the time of the last report is: devices report often, and each change is a write.
const seenStep = 10 * time.Minute

// ApplyReport returns what becomes of a key whose device reports. A report of any kind activates a key that was not:
// that of the activation may have been lost, and what runs protects. It is false when nothing changes.
func ApplyReport(d Device, now time.Time) (Device, bool) {
	if !d.ActivatedAt.IsZero() && now.Sub(d.SeenAt) < seenStep {
		return d, false
	}
	if d.ActivatedAt.IsZero() {
		d.ActivatedAt = now
	}
	d.SeenAt = now
	return d, true
}

// warnings are how long before its end a key's partner is told, longest first.
var warnings = [...]time.Duration{30 * 24 * time.Hour, 7 * 24 * time.Hour}

// NextNotice returns when a key that ends at end is next due: at the next warning before its end, or at its end. No
// warning is sent at the moment a key is issued: a key of 20 days is announced once, 7 days ahead.
func NextNotice(now, end time.Time) time.Time {
	for _, ahead := range warnings {
		if at := end.Add(-ahead); at.After(now) {
			return at
		}
	}
	return end
}

// Notice is what becomes of a key whose notice is due.
type Notice struct {
	// Tell is whether the partner hears now that it ends soon, Over whether it has ended; Next when it is looked at
	// again.
	Tell, Over bool
	Next       time.Time
}

func DecideNotice(d Device, now time.Time) Notice {
	if !d.IsLiveAt(now) {
		return Notice{Over: true}
	}
	return Notice{Tell: true, Next: NextNotice(now, d.ValidUntil)}
}

// LifeStore keeps what becomes of keys. Each change and the event that tells of it are one transaction.
type LifeStore interface {
	// FindOwnDevice finds a partner's key by its id or by the activation key, ended ones too.
	FindOwnDevice(ctx context.Context, id partner.ID, named string) (Device, error)
	// NoteReport asks decide about a live key and keeps the times that it says; ErrDeviceEnded for one that is over.
	NoteReport(
		ctx context.Context,
		id partner.ID,
		key KeyID,
		decide func(d Device, now time.Time) (Device, bool),
	) (Device, error)
	EndOwnKey(ctx context.Context, id partner.ID, key KeyID, reason EndReason) (Device, error)
	// MoveDevice ends a live key and issues one for another device of the same person, valid until the same time. With
	// a mode in the request the key counts against the partner's share of a pool.
	MoveDevice(ctx context.Context, id partner.ID, key KeyID, r DeviceRequest, next NewKey) (Device, error)
	// GiveNotices asks about each key whose notice is due, writes the events and returns how many.
	GiveNotices(ctx context.Context, decide func(d Device, now time.Time) Notice) (int, error)
	// SetInstallLink changes where the program of a system is installed from, empty for none.
	SetInstallLink(ctx context.Context, system System, link string) error
}

// FindOwnDevice returns a partner's key by its id or by the activation key itself, ended ones too.
func (e *Endpoints) FindOwnDevice(ctx context.Context, id partner.ID, named string) (Device, error) {
	return e.store.FindOwnDevice(ctx, id, strings.TrimSpace(named))
}

// ReportProtected notes that the device of a key is protected by it.
func (e *Endpoints) ReportProtected(ctx context.Context, id partner.ID, named string) (Device, error) {
	d, err := e.FindOwnDevice(ctx, id, named)
	if err != nil {
		return d, err
	}
	if d.ProtectsAt(e.now()) {
		if _, changed := ApplyReport(d, e.now()); !changed {
			return d, nil // most reports change nothing and need no write
		}
	}
	return e.store.NoteReport(ctx, id, d.ID, ApplyReport)
}

// RevokeOwnDevice ends a key of the partner.
func (e *Endpoints) RevokeOwnDevice(ctx context.Context, id partner.ID, named string) (Device, error) {
	d, err := e.FindOwnDevice(ctx, id, named)
	if err != nil || d.EndReason == EndRevoked {
		return d, err // revoked twice is revoked
	}
	return e.store.EndOwnKey(ctx, id, d.ID, EndRevoked)
}

// MoveOwnDevice gives a person of the partner a key for another device in place of one that ends: see Replace.
func (e *Endpoints) MoveOwnDevice(ctx context.Context, id partner.ID, named string, r DeviceRequest) (Device, error) {
	if err := r.checkRequest(); err != nil {
		return Device{}, err
	}
	d, err := e.FindOwnDevice(ctx, id, named)
	if err != nil {
		return d, err
	}
	return e.moveDevice(ctx, d, r)
}

// RevokeDevice ends a key, for the operator.
func (e *Endpoints) RevokeDevice(ctx context.Context, key KeyID) (Device, error) {
	d, err := e.DeviceByID(ctx, key)
	if err != nil {
		return d, err
	}
	return e.store.EndOwnKey(ctx, d.Partner, d.ID, EndRevoked)
}

// ReplaceDevice moves a person's protection to another device, for the operator: the old key ends, the new device has a
// key of its own until the old one would have ended. The plan's limit is not asked, as the number of devices stays the
// same.
func (e *Endpoints) ReplaceDevice(ctx context.Context, key KeyID, system System, name string) (Device, error) {
	r := DeviceRequest{System: system, Name: name}
	if err := r.checkRequest(); err != nil {
		return Device{}, err
	}
	d, err := e.DeviceByID(ctx, key)
	if err != nil {
		return d, err
	}
	return e.moveDevice(ctx, d, r)
}

// moveDevice gives the place of d to another device, which gets a new key.
func (e *Endpoints) moveDevice(ctx context.Context, d Device, r DeviceRequest) (Device, error) {
	next, err := e.generateKey()
	if err != nil {
		return Device{}, err
	}
	return e.store.MoveDevice(ctx, d.Partner, d.ID, r, next)
}

// GiveNotices tells partners of keys that end soon, and ends those whose time is over; the row of a key remembers what
// was told.
func (e *Endpoints) GiveNotices(ctx context.Context) (int, error) {
	return e.store.GiveNotices(ctx, DecideNotice)
}

// Linux has no keys by the contract; its program can be offered all the same.
const Linux System = "linux"

// InstallSystems returns the systems that have an install link of their own.
func InstallSystems() []System { return append(ListSystems(), Linux) }

// maxInstallLink is in bytes; shops' links with campaign parameters have about 200.
const maxInstallLink = 500

// SetInstallLink sets where the program of a system is installed from; empty removes the link. People are sent there,
// so it must be https and carry no credentials.
func (e *Endpoints) SetInstallLink(ctx context.Context, system System, link string) error {
	if _, err := ParseSystem(string(system)); err != nil && system != Linux {
		return ErrDeviceInvalid.With("system", fault.OneOf, "android, ios, windows, macos, linux")
	}
	if link != "" {
		u, err := url.Parse(link)
		if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
			!partner.IsPrintable(link, maxInstallLink) {
			return ErrDeviceInvalid.With("link", fault.HTTPSAddressOf, maxInstallLink)
		}
	}
	return e.store.SetInstallLink(ctx, system, link)
}

// An activation key that the service makes itself has 25 characters in five groups of five:
//
//	K7M2Q-9RTXW-4HNPC-VD3FJ-6YGA8
//
// Its characters are those below, none of which is easily taken for another: 0 and O, 1, I and L, 2 and Z, 5 and S, 8
// and B, U and V are there at most once. 24 of them are drawn, the last one is the check character: with v the place of
// a character in the alphabet and i its place in the key, 1 to 25, the sum of i*v over the whole key is a multiple of
// 29. As 29 is a prime larger than every i and every v, one wrong character and any two exchanged ones always break the
// sum. A draw whose check would fall outside the alphabet (4 in 29) is drawn again.
const (
	keyAlphabet = "2346789ACDFGHJKMNPQRTVWXY"
	keyLength   = 25
	keyGroup    = 5
	keyModulus  = 29
)

// KeyLength is how many characters a generated key has, its hyphens not counted.
const KeyLength = keyLength

// generateKey draws a key.
func generateKey(random io.Reader) (string, error) {
	var drawn [keyLength - 1]byte
	for {
		if err := drawCharacters(random, drawn[:]); err != nil {
			return "", err
		}
		if check, ok := checkCharacter(drawn[:]); ok {
			return groupCharacters(append(drawn[:], check)), nil
		}
	}
}

// drawCharacters fills text with characters of the alphabet, each as likely as any other.
func drawCharacters(random io.Reader, text []byte) error {
	const fair = 256 - 256%len(keyAlphabet) // bytes from here on would favour the first characters
	var one [1]byte
	for i := 0; i < len(text); {
		if _, err := io.ReadFull(random, one[:]); err != nil {
			return fmt.Errorf("draw a key: %w", err)
		}
		if int(one[0]) < fair {
			text[i] = keyAlphabet[int(one[0])%len(keyAlphabet)]
			i++
		}
	}
	return nil
}

// checkCharacter completes 24 characters; false when no character of the alphabet does.
func checkCharacter(text []byte) (byte, bool) {
	sum, ok := keyChecksum(text)
	if !ok {
		return 0, false
	}
	// 25*v + sum must be a multiple of 29, and 25 is its own kind of number there: its inverse is 7 (25*7 = 175 = 6*29
	// + 1).
	v := (keyModulus - sum) * 7 % keyModulus
	if v >= len(keyAlphabet) {
		return 0, false
	}
	return keyAlphabet[v], true
}

// keyChecksum returns the weighted sum of the characters, modulo 29; false when one is not of the alphabet.
func keyChecksum(text []byte) (int, bool) {
	sum := 0
	for i, c := range text {
		v := strings.IndexByte(keyAlphabet, c)
		if v < 0 {
			return 0, false
		}
		sum += (i + 1) * v
	}
	return sum % keyModulus, true
}

// IsValidKey reports whether text is a key that this service can have generated: its form and check character are
// right. Case, spaces and hyphens do not matter, as people copy keys by hand. It says nothing about keys of a vendor.
func IsValidKey(text string) bool {
	bare := make([]byte, 0, keyLength)
	for _, c := range []byte(strings.ToUpper(text)) {
		if c == '-' || c == ' ' {
			continue
		}
		if len(bare) == keyLength {
			return false
		}
		bare = append(bare, c)
	}
	sum, ok := keyChecksum(bare)
	return ok && len(bare) == keyLength && sum == 0
}

// groupCharacters writes a key in groups of five.
func groupCharacters(text []byte) string {
	var b strings.Builder
	for i, c := range text {
		if i > 0 && i%keyGroup == 0 {
			b.WriteByte('-')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// Only returns the same rules for a partner's own people: to them there are no keys but the partner's, and no pools.
func (e *Endpoints) Only(id partner.ID) *Endpoints {
	return NewEndpoints(ownDevices{inner: e.store, id: id}, e.now, e.random)
}

// ownDevices is a store that knows one partner's keys. Every method is written out, so that one that is added to the
// interface is decided on before it compiles.
type ownDevices struct {
	inner DeviceStore
	id    partner.ID
}

var _ DeviceStore = ownDevices{}

// DeviceByID returns a device of the one partner.
func (s ownDevices) DeviceByID(ctx context.Context, key KeyID) (Device, error) {
	return s.hideForeignDevice(s.inner.DeviceByID(ctx, key))
}

// DeviceByKey finds one by its activation key.
func (s ownDevices) DeviceByKey(ctx context.Context, text string) (Device, error) {
	return s.hideForeignDevice(s.inner.DeviceByKey(ctx, text))
}

// hideForeignDevice answers with ErrDeviceUnknown for a device of another partner, as if it did not exist.
func (s ownDevices) hideForeignDevice(d Device, err error) (Device, error) {
	if err == nil && d.Partner != s.id {
		return Device{}, ErrDeviceUnknown
	}
	return d, err
}

func (s ownDevices) EndOwnKey(ctx context.Context, id partner.ID, key KeyID, reason EndReason) (Device, error) {
	if id != s.id {
		return Device{}, ErrDeviceUnknown
	}
	return s.inner.EndOwnKey(ctx, id, key, reason)
}

// MoveDevice moves a key of the one partner to another device.
func (s ownDevices) MoveDevice(
	ctx context.Context,
	id partner.ID,
	key KeyID,
	r DeviceRequest,
	next NewKey,
) (Device, error) {
	if id != s.id {
		return Device{}, ErrDeviceUnknown
	}
	return s.inner.MoveDevice(ctx, id, key, r, next)
}

// ListDevices returns those of the one partner's people.
func (s ownDevices) ListDevices(ctx context.Context, id partner.ID, u partner.UserHash) ([]Device, error) {
	if id != s.id {
		return nil, ErrDeviceUnknown
	}
	return s.inner.ListDevices(ctx, id, u)
}

// PartnerDevices returns those of the one partner.
func (s ownDevices) PartnerDevices(ctx context.Context, id partner.ID, limit int) ([]Device, error) {
	if id != s.id {
		return nil, ErrDeviceUnknown
	}
	return s.inner.PartnerDevices(ctx, id, limit)
}

// FindOwnDevice finds one of the one partner.
func (s ownDevices) FindOwnDevice(ctx context.Context, id partner.ID, named string) (Device, error) {
	if id != s.id {
		return Device{}, ErrDeviceUnknown
	}
	return s.inner.FindOwnDevice(ctx, id, named)
}

// IsSamePerson compares two of the one partner's people.
func (s ownDevices) IsSamePerson(ctx context.Context, id partner.ID, a, b partner.UserHash) (bool, error) {
	if id != s.id {
		return false, ErrDeviceUnknown
	}
	return s.inner.IsSamePerson(ctx, id, a, b)
}

// InstallLinks returns where programs are fetched from; it is one place for all.
func (s ownDevices) InstallLinks(ctx context.Context) (map[System]string, error) {
	return s.inner.InstallLinks(ctx)
}

// What is below is the operator's, the API's or a chore's: pools serve all partners, and people of a partner issue no
// keys.

// IssueKey issues nothing.
func (ownDevices) IssueKey(
	context.Context, partner.ID, DeviceRequest, func(Holding) (NewKey, error),
) (Device, error) {
	return Device{}, ErrDeviceUnknown
}

// NoteReport notes nothing.
func (ownDevices) NoteReport(
	context.Context, partner.ID, KeyID, func(d Device, now time.Time) (Device, bool),
) (Device, error) {
	return Device{}, ErrDeviceUnknown
}

// GiveNotices gives none.
func (ownDevices) GiveNotices(context.Context, func(d Device, now time.Time) Notice) (int, error) {
	return 0, ErrDeviceUnknown
}

// SetInstallLink changes nothing.
func (ownDevices) SetInstallLink(context.Context, System, string) error { return ErrDeviceUnknown }

// EndUnsubscribed ends nothing.
func (ownDevices) EndUnsubscribed(context.Context) (int, error) { return 0, ErrDeviceUnknown }

// ListSources returns nothing.
func (ownDevices) ListSources(context.Context) ([]Source, error) { return nil, ErrDeviceUnknown }

// PoolsTurnedLow returns nothing.
func (ownDevices) PoolsTurnedLow(context.Context) ([]Source, error) { return nil, ErrDeviceUnknown }

// ListShares returns nothing.
func (ownDevices) ListShares(context.Context) ([]Share, error) { return nil, ErrDeviceUnknown }

// LoadKeyPool loads nothing.
func (ownDevices) LoadKeyPool(context.Context, System, []VendorKey) (int, error) {
	return 0, ErrDeviceUnknown
}

// UpdateSource changes nothing.
func (ownDevices) UpdateSource(context.Context, System, SourceChange) error { return ErrDeviceUnknown }

// UpdateShare changes nothing.
func (ownDevices) UpdateShare(context.Context, partner.ID, Resource, *int64, *int64) error {
	return ErrDeviceUnknown
}
