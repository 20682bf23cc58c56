package partner

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// KeyID names an API key in the operator's tools; it is not part of the key.
type KeyID string

// Scope is what a key may do.
type Scope string

// The scopes. A full scope includes its read-only variant.
const (
	ScopeCyber             Scope = "cyber"
	ScopeCyberRead         Scope = "cyber:read"
	ScopeSubscriptions     Scope = "subscriptions"
	ScopeSubscriptionsRead Scope = "subscriptions:read"
	// ScopeCredentials lets a key ask whether a password is known together with a person's values. No other scope
	// includes it: it tells more of a person than all they watch.
	ScopeCredentials Scope = "credentials"
	// ScopeManage lets a key manage the partner's own webhooks and keys, and read statistics. No other scope
	// includes it: its holder decides where events go and who else may call.
	ScopeManage     Scope = "manage"
	ScopeManageRead Scope = "manage:read"
	// ScopePrivacy lets a key ask for the erasure of people. No key has it unless it is asked for, the first key of a
	// sandbox neither: what it does cannot be undone.
	ScopePrivacy Scope = "privacy"
	// ScopeAnyRead is what a route asks for that shows each key what it may see; no key is given it.
	ScopeAnyRead Scope = "any:read"
	// ScopeAny is what a route asks for that is for every key of the partner; no key is given it.
	ScopeAny Scope = "any"
)

// ContractScopes returns the default scopes of a key: the 14 operations of the contract. Managing keys, checking
// passwords and erasing people are not among them and must be asked for.
func ContractScopes() []Scope { return []Scope{ScopeCyber, ScopeSubscriptions} }

// firstScopes returns the scopes of the key that a partner is created with. A sandbox key opens everything that a
// developer tries on the first day, and no more than made-up data; only checks of passwords and erasures have to be
// asked for, as they have to be later.
func firstScopes(mode Mode) []Scope {
	if mode == Sandbox {
		return append(ContractScopes(), ScopeManage)
	}
	return ContractScopes()
}

// knownScopes returns all that a key can be given.
func knownScopes() []Scope {
	return []Scope{
		ScopeCyber,
		ScopeCyberRead,
		ScopeSubscriptions,
		ScopeSubscriptionsRead,
		ScopeCredentials,
		ScopeManage,
		ScopeManageRead,
		ScopePrivacy,
	}
}

// ParseScopes checks a list of scope names.
func ParseScopes(names []string) ([]Scope, error) {
	if len(names) == 0 {
		return ContractScopes(), nil
	}
	known := knownScopes()
	scopes := make([]Scope, 0, len(names))
	for _, n := range names {
		s := Scope(strings.TrimSpace(n))
		if !slices.Contains(known, s) {
			return nil, ErrInvalid.With("scopes", fault.UnknownScope)
		}
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes, nil
}

// Key is an API key as the service keeps it: without the secret.
type Key struct {
	ID      KeyID
	Partner ID
	Label   string
	// Preview is the start of the key, enough to tell keys apart in a list.
	Preview string
	// Digest is the SHA-256 of the whole key. A fast hash is right for a secret of 256 random bits. In lists it is the
	// keyed hash of it that is kept.
	Digest    []byte
	Scopes    []Scope
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
	// MadeBy is the key that made this one by the API; empty where an operator or a person of the partner did.
	MadeBy KeyID
	// Line is the first of the keys that replaced one another by rolling: the key's own ID where it replaced none. Keys
	// of a line share their idempotency claims.
	Line KeyID
	// Forged is a row that this program did not write: it opens nothing, and is only in lists.
	Forged bool
}

// BUG(partner): whether a key has expired is judged by the clock of the machine: one that is set back by an hour lets a
// key live an hour longer. A revoked key stays revoked whatever the clock says.

// IsLiveAt reports whether the key opens anything at that moment.
func (k Key) IsLiveAt(t time.Time) bool {
	return !k.Forged && k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || t.Before(k.ExpiresAt))
}

// Describe returns the scope as a refusal names it.
func (s Scope) Describe() string {
	if s == ScopeAnyRead {
		return string(ScopeCyberRead + " or " + ScopeSubscriptionsRead)
	}
	return string(s)
}

// HasScope reports whether the key covers need.
func (k Key) HasScope(need Scope) bool {
	if need == ScopeAny {
		return true
	}
	if need == ScopeAnyRead {
		return k.HasScope(ScopeCyberRead) || k.HasScope(ScopeSubscriptionsRead)
	}
	return slices.Contains(k.Scopes, need) ||
		slices.Contains(k.Scopes, Scope(strings.TrimSuffix(string(need), ":read")))
}

const (
	livePrefix = "vg_live_"
	// SandboxKeyPrefix begins the keys of sandbox partners.
	SandboxKeyPrefix = "vg_test_"
	prefixLen        = len(livePrefix)
	secretLen        = 43 // 256 bits in base 62
	checksumLen      = 6  // a CRC-32 in base 62
	keyLen           = prefixLen + secretLen + checksumLen
	alphabet         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	maxRollHours     = 7 * 24
)

// generateKey makes a key and returns it together with the text that the partner will send.
func (r *Registry) generateKey(
	p Partner,
	label string,
	scopes []Scope,
	expires time.Time,
	madeBy KeyID,
) (Key, string, error) {
	raw := make([]byte, 32)
	if _, err := io.ReadFull(r.random, raw); err != nil {
		return Key{}, "", fmt.Errorf("make key: %w", err)
	}
	prefix := livePrefix
	if p.Mode.Has(TestKeys) {
		prefix = SandboxKeyPrefix
	}
	body := prefix + encodeBase62(new(big.Int).SetBytes(raw), secretLen)
	text := body + keyChecksum(body)
	digest := sha256.Sum256([]byte(text))
	keyID := KeyID("key_" + uuid.Must(uuid.NewV7()).String())
	return Key{
		ID: keyID, Partner: p.ID, Label: label, Preview: text[:prefixLen+4], Digest: digest[:],
		Scopes: scopes, CreatedAt: r.now(), ExpiresAt: expires, MadeBy: madeBy, Line: keyID,
	}, text, nil
}

// encodeBase62 writes a number in digits and letters, padded to a width.
func encodeBase62(n *big.Int, width int) string {
	out := make([]byte, width)
	base, digit := big.NewInt(62), new(big.Int)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = alphabet[digit.Int64()]
	}
	return string(out)
}

// keyChecksum returns the check characters at the end of a key.
func keyChecksum(body string) string {
	return encodeBase62(new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(body)))), checksumLen)
}

// WellFormed reports whether a text has the form of an API key, its checksum included: a typo or a guess dies before it
// reaches a cache or the database.
func WellFormed(key string) bool {
	if len(key) != keyLen || (key[:prefixLen] != livePrefix && key[:prefixLen] != SandboxKeyPrefix) {
		return false
	}
	body := key[:prefixLen+secretLen]
	return strings.Trim(body[prefixLen:], alphabet) == "" && key[len(body):] == keyChecksum(body)
}

// matchesDigest compares digests in constant time.
func (k Key) matchesDigest(digest []byte) bool {
	return subtle.ConstantTimeCompare(k.Digest, digest) == 1
}

// CreateKey gives a partner one more key. The text is shown once. A partner's own people make no more keys than the API
// does, and none that outlives those in force: see ownPartner.
func (r *Registry) CreateKey(
	ctx context.Context,
	id ID,
	label string,
	scopes []Scope,
	expires time.Time,
) (Key, string, error) {
	if own, confined := r.store.(ownPartner); confined {
		keys, err := own.ListKeys(ctx, id)
		if err != nil {
			return Key{}, "", err
		}
		if err := checkOwnKeyLimit(keys, r.now()); err != nil {
			return Key{}, "", err
		}
		expires = limitToHeldEnd(keys, scopes, expires, r.now())
	}
	return r.insertNewKey(ctx, id, label, scopes, expires, "")
}

// insertNewKey makes a key, as child of madeBy if that is given, and keeps it.
func (r *Registry) insertNewKey(
	ctx context.Context,
	id ID,
	label string,
	scopes []Scope,
	expires time.Time,
	madeBy KeyID,
) (Key, string, error) {
	if !expires.IsZero() && !expires.After(r.now()) {
		return Key{}, "", ErrInvalid.With("expires", fault.InTheFuture)
	}
	if !IsPrintableLine(label, 0, maxName) {
		return Key{}, "", ErrInvalid.With("label", fault.PlainAtMost, maxName)
	}
	p, err := r.store.PartnerByID(ctx, id)
	if err != nil {
		return Key{}, "", err
	}
	key, text, err := r.generateKey(p, label, scopes, expires, madeBy)
	if err != nil {
		return Key{}, "", err
	}
	if err := r.store.InsertKey(ctx, id, key); err != nil {
		return Key{}, "", fmt.Errorf("create key: %w", err)
	}
	return key, text, nil
}

// ListKeys lists a partner's keys, oldest first.
func (r *Registry) ListKeys(ctx context.Context, id ID) ([]Key, error) {
	if _, err := r.store.PartnerByID(ctx, id); err != nil {
		return nil, err
	}
	return r.store.ListKeys(ctx, id)
}

// RollKey replaces a key: the new one has the same label, scopes and end, the old one ends after overlap.
func (r *Registry) RollKey(ctx context.Context, id ID, old KeyID, overlap time.Duration) (Key, string, error) {
	return r.rollKeyOnTerms(ctx, id, old, overlap, func(k Key) (time.Time, KeyID, error) {
		return k.ExpiresAt, k.MadeBy, nil
	})
}

// rollKeyOnTerms replaces a key; terms says when the new one ends and which key makes it, or refuses.
func (r *Registry) rollKeyOnTerms(
	ctx context.Context,
	id ID,
	old KeyID,
	overlap time.Duration,
	terms func(Key) (time.Time, KeyID, error),
) (Key, string, error) {
	if overlap < 0 || overlap > maxRollHours*time.Hour {
		return Key{}, "", ErrInvalid.With("overlap", fault.HoursUpTo, maxRollHours)
	}
	p, err := r.store.PartnerByID(ctx, id)
	if err != nil {
		return Key{}, "", err
	}
	keys, err := r.store.ListKeys(ctx, id)
	if err != nil {
		return Key{}, "", err
	}
	i := slices.IndexFunc(keys, func(k Key) bool { return k.ID == old })
	if i < 0 || !keys[i].IsLiveAt(r.now()) {
		return Key{}, "", ErrKeyNotFound.With("key", fault.NotALiveKey)
	}
	expires, madeBy, err := terms(keys[i])
	if err != nil {
		return Key{}, "", err
	}
	key, text, err := r.generateKey(p, keys[i].Label, keys[i].Scopes, expires, madeBy)
	if err != nil {
		return Key{}, "", err
	}
	key.Line = keys[i].Line
	// The new key first: if the second step fails the partner has two good keys, never none.
	if err := r.store.InsertKey(ctx, id, key); err != nil {
		return Key{}, "", fmt.Errorf("roll key: %w", err)
	}
	end := r.now().Add(overlap)
	err = r.store.UpdateKeys(ctx, id, func(keys []Key) error {
		for i := range keys {
			if k := &keys[i]; k.ID == old && (k.ExpiresAt.IsZero() || k.ExpiresAt.After(end)) {
				k.ExpiresAt = end
			}
		}
		return nil
	})
	return key, text, err
}

// RevokeKey ends a key and its descendants at once; every replica refuses them within two seconds. It returns the keys
// that it ended, the named one first.
func (r *Registry) RevokeKey(ctx context.Context, id ID, key KeyID) ([]Key, error) {
	return r.revokeKeys(ctx, id, key, func(keys []Key, _ Key) ([]Key, error) { return Descendants(keys, key), nil })
}

// RevokeKeyOnly ends a key and lets those that it made live on.
func (r *Registry) RevokeKeyOnly(ctx context.Context, id ID, key KeyID) ([]Key, error) {
	return r.revokeKeys(ctx, id, key, func([]Key, Key) ([]Key, error) { return nil, nil })
}

// revokeKeys ends a key and the others that with names.
func (r *Registry) revokeKeys(
	ctx context.Context,
	id ID,
	key KeyID,
	with func(keys []Key, named Key) ([]Key, error),
) (ended []Key, err error) {
	err = r.store.UpdateKeys(ctx, id, func(keys []Key) error {
		named := slices.IndexFunc(keys, func(k Key) bool { return k.ID == key })
		if named < 0 {
			return ErrKeyNotFound
		}
		others, err := with(keys, keys[named])
		if err != nil {
			return err
		}
		end := func(k *Key) {
			if k.RevokedAt.IsZero() {
				k.RevokedAt = r.now()
			}
			ended = append(ended, *k)
		}
		ended = nil // the transaction may run again
		end(&keys[named])
		for i := range keys {
			if slices.ContainsFunc(others, func(o Key) bool { return o.ID == keys[i].ID }) &&
				keys[i].IsLiveAt(r.now()) {
				end(&keys[i])
			}
		}
		return nil
	})
	return ended, err
}

// JoinKeyIDs joins the IDs of keys, for a line of the audit trail.
func JoinKeyIDs(keys []Key) string {
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = string(k.ID)
	}
	return strings.Join(ids, " ")
}

// Descendants returns the keys that a key made by the API, and those that they made, and so on. A rolled key stands for
// those before it in its line: what they made counts as made by it.
func Descendants(keys []Key, of KeyID) []Key {
	byID := make(map[KeyID]Key, len(keys))
	for _, k := range keys {
		byID[k.ID] = k
	}
	found := map[KeyID]bool{of: true}
	var list []Key
	for next := []Key{byID[of]}; len(next) > 0; next = next[1:] {
		for _, k := range keys {
			maker, made := byID[k.MadeBy]
			stoodFor := maker.Line == next[0].Line && !maker.CreatedAt.After(next[0].CreatedAt)
			if made && stoodFor && !found[k.ID] {
				found[k.ID] = true
				list, next = append(list, k), append(next, k)
			}
		}
	}
	return list
}

// What a key may do to its partner's keys. There is one rule: no privilege escalation. A key makes, rolls and ends only
// keys that may do no more than itself, and none that it makes outlives it.

// MaxOwnKeys bounds the keys in force of a partner that makes them itself.
const MaxOwnKeys = 100

// ErrTooManyKeys means that a partner has as many keys in force as it may make.
var ErrTooManyKeys = fault.New(fault.Conflict, "key.too_many")

// checkOwnKeyLimit refuses one more key to a partner that has as many in force as it may make.
func checkOwnKeyLimit(keys []Key, now time.Time) error {
	live := 0
	for _, k := range keys {
		if k.IsLiveAt(now) {
			live++
		}
	}
	if live >= MaxOwnKeys {
		return ErrTooManyKeys.With("keys", fault.AtMostInForce, MaxOwnKeys)
	}
	return nil
}

// limitToHeldEnd returns the earlier of a time and the end of what the partner holds: for each of the scopes the last
// of its keys in force that has it. Otherwise a scope that the operator gave for a day would become one for ever. Zero
// is never.
func limitToHeldEnd(keys []Key, scopes []Scope, expires, now time.Time) time.Time {
	for _, scope := range scopes {
		var last time.Time
		endless := false
		for _, k := range keys {
			if !k.IsLiveAt(now) || !k.HasScope(scope) {
				continue
			}
			endless = endless || k.ExpiresAt.IsZero()
			if k.ExpiresAt.After(last) {
				last = k.ExpiresAt
			}
		}
		if !endless && !last.IsZero() && (expires.IsZero() || expires.After(last)) {
			expires = last
		}
	}
	return expires
}

// checkOwnScopes refuses scopes that the calling key does not have.
func (c Caller) checkOwnScopes(scopes []Scope) error {
	for _, s := range scopes {
		if !c.HasScope(s) {
			return ErrInvalid.With("scopes", fault.ScopeLacking, s)
		}
	}
	return nil
}

// limitToOwnEnd returns the earlier of a time and the end of the calling key; zero is never.
func (c Caller) limitToOwnEnd(t time.Time) time.Time {
	if end := c.key.ExpiresAt; !end.IsZero() && (t.IsZero() || t.After(end)) {
		return end
	}
	return t
}

// CreateKeyBy gives the caller's partner one more key. At least one scope is named. What has no end, or a later one
// than the calling key, ends with it.
func (r *Registry) CreateKeyBy(
	ctx context.Context,
	by Caller,
	label string,
	scopes []string,
	expires time.Time,
) (Key, string, error) {
	if len(scopes) == 0 {
		return Key{}, "", ErrInvalid.With("scopes", fault.NameAtLeastOne)
	}
	parsed, err := ParseScopes(scopes)
	if err != nil {
		return Key{}, "", err
	}
	if err := by.checkOwnScopes(parsed); err != nil {
		return Key{}, "", err
	}
	keys, err := r.store.ListKeys(ctx, by.Partner)
	if err != nil {
		return Key{}, "", err
	}
	if err := checkOwnKeyLimit(keys, r.now()); err != nil {
		return Key{}, "", err
	}
	return r.insertNewKey(ctx, by.Partner, label, parsed, by.limitToOwnEnd(expires), by.KeyID)
}

// RollKeyBy replaces a key of the caller's partner, or the calling key itself. The new one ends when the old one would
// have, at the latest: else one that was rolled could roll itself on for ever.
func (r *Registry) RollKeyBy(ctx context.Context, by Caller, old KeyID, overlap time.Duration) (Key, string, error) {
	return r.rollKeyOnTerms(ctx, by.Partner, old, overlap, func(k Key) (time.Time, KeyID, error) {
		return by.limitToOwnEnd(k.ExpiresAt), by.KeyID, by.checkOwnScopes(k.Scopes)
	})
}

// RevokeKeyBy ends a key of the caller's partner and its descendants. The calling key is among them, or is the named
// one, only when self says that this is meant.
func (r *Registry) RevokeKeyBy(ctx context.Context, by Caller, key KeyID, self bool) ([]Key, error) {
	if key == by.KeyID && !self {
		return nil, ErrInvalid.With("self", fault.ConfirmOwnKey)
	}
	return r.revokeKeys(ctx, by.Partner, key, func(keys []Key, named Key) ([]Key, error) {
		if err := by.checkOwnScopes(named.Scopes); err != nil {
			return nil, err
		}
		if !self { // one that was rolled ends the key before it, and lives on with what it made itself
			keys = slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.ID == by.KeyID })
		}
		return Descendants(keys, key), nil
	})
}

// One is a view of Of with a single partner: every other ID is answered with ErrNotFound.
type One struct {
	Of interface {
		PartnerByID(ctx context.Context, id ID) (Partner, error)
	}
	ID ID
}

func (o One) PartnerByID(ctx context.Context, id ID) (Partner, error) {
	if o.ID == "" || id != o.ID {
		return Partner{}, ErrNotFound
	}
	return o.Of.PartnerByID(ctx, id)
}

func (o One) ListPartners(ctx context.Context) ([]Partner, error) {
	p, err := o.PartnerByID(ctx, o.ID)
	return []Partner{p}, err
}

// ForPartner returns the same rules for a partner's own people: to them there is no other partner. Keys that show
// people are created only where approves is set; those that there are can be rolled and revoked by all.
func (r *Registry) ForPartner(id ID, approves bool) *Registry {
	own := *r
	own.store = ownPartner{inner: r.store, id: id, now: r.now, approves: approves}
	return &own
}

// showsPeople reports whether a key of a scope reads or confirms people's data, or erases people: among a partner's
// people an administrator gives it. GET /events names every person's hash, so a scope that asks by hash shows
// everybody.
func (s Scope) showsPeople() bool { return s != ScopeManage && s != ScopeManageRead }

// ownPartner is a store that knows one partner. Every method is written out, so that one that is added to the interface
// is decided on before it compiles.
type ownPartner struct {
	inner Store
	id    ID
	now   func() time.Time
	// approves says that keys which show people can be created.
	approves bool
}

var _ Store = ownPartner{}

// checkOwn refuses every partner but the one.
func (s ownPartner) checkOwn(id ID) error {
	if s.id == "" || id != s.id {
		return ErrNotFound
	}
	return nil
}

// InsertPartner keeps nothing.
func (ownPartner) InsertPartner(context.Context, Partner, string, Key) error { return ErrNotFound }

func (s ownPartner) PartnerByID(ctx context.Context, id ID) (Partner, error) {
	return One{s.inner, s.id}.PartnerByID(ctx, id)
}

func (s ownPartner) ListPartners(ctx context.Context) ([]Partner, error) {
	return One{s.inner, s.id}.ListPartners(ctx)
}

// UpdatePartner changes nothing: settings are the operator's.
func (ownPartner) UpdatePartner(context.Context, ID, func(*Partner) error) (Partner, error) {
	return Partner{}, ErrNotFound
}

// AgeSandbox changes nothing: the clock of a sandbox is moved by the API.
func (ownPartner) AgeSandbox(context.Context, ID, int) error { return ErrNotFound }

func (ownPartner) AccessEpoch(context.Context) (int64, error) { return 0, ErrNotFound }

// InsertKey keeps a key of the one partner that may do no more than those in force.
func (s ownPartner) InsertKey(ctx context.Context, id ID, k Key) error {
	held, err := s.heldScopes(ctx, id)
	if err != nil {
		return err
	}
	isReplacement := k.Line != k.ID
	for _, scope := range k.Scopes {
		switch {
		case !slices.Contains(held, scope):
			return ErrInvalid.With("scope", fault.ScopeOperatorGives, scope)
		case scope.showsPeople() && !s.approves && !isReplacement:
			return ErrInvalid.With("scope", fault.ScopeNeedsApproval, scope)
		}
	}
	return s.inner.InsertKey(ctx, id, k)
}

func (s ownPartner) ListKeys(ctx context.Context, id ID) ([]Key, error) {
	if err := s.checkOwn(id); err != nil {
		return nil, err
	}
	return s.inner.ListKeys(ctx, id)
}

func (s ownPartner) UpdateKeys(ctx context.Context, id ID, change func([]Key) error) error {
	if err := s.checkOwn(id); err != nil {
		return err
	}
	return s.inner.UpdateKeys(ctx, id, change)
}

// KeyByDigest finds nothing: who calls the API by a key is asked elsewhere.
func (ownPartner) KeyByDigest(context.Context, []byte) (Key, Partner, error) {
	return Key{}, Partner{}, ErrKeyNotFound
}

// OpenSalt opens nothing: it was shown once, to the operator.
func (ownPartner) OpenSalt(context.Context, ID) (string, error) { return "", ErrNotFound }

func (s ownPartner) GetTheme(ctx context.Context, id ID) (Theme, error) {
	if err := s.checkOwn(id); err != nil {
		return Theme{}, err
	}
	return s.inner.GetTheme(ctx, id)
}

func (s ownPartner) UpdateTheme(ctx context.Context, id ID, change func(*Theme) error) (Theme, error) {
	if err := s.checkOwn(id); err != nil {
		return Theme{}, err
	}
	return s.inner.UpdateTheme(ctx, id, change)
}

// ScopeGivers says of each scope who can create a key with it.
type ScopeGivers struct {
	// Self are those that the account itself can give, PartnerAdmin those for which it asks an administrator of its
	// partner.
	Self, PartnerAdmin []Scope
	// Operator are those that no key in force of the partner has, so that a partner cannot regain with a new key what
	// the operator has taken away.
	Operator []Scope
}

// ListScopeGivers returns who can create keys with which scope. Those who run the service give every scope.
func (r *Registry) ListScopeGivers(ctx context.Context, id ID) (ScopeGivers, error) {
	s, own := r.store.(ownPartner)
	if !own {
		return ScopeGivers{Self: knownScopes()}, nil
	}
	held, err := s.heldScopes(ctx, id)
	if err != nil {
		return ScopeGivers{}, err
	}
	var givers ScopeGivers
	for _, scope := range knownScopes() {
		switch {
		case !slices.Contains(held, scope):
			givers.Operator = append(givers.Operator, scope)
		case scope.showsPeople() && !s.approves:
			givers.PartnerAdmin = append(givers.PartnerAdmin, scope)
		default:
			givers.Self = append(givers.Self, scope)
		}
	}
	return givers, nil
}

// heldScopes returns the scopes of the partner's keys in force.
func (s ownPartner) heldScopes(ctx context.Context, id ID) ([]Scope, error) {
	keys, err := s.ListKeys(ctx, id)
	if err != nil {
		return nil, err
	}
	var held []Scope
	for _, scope := range knownScopes() {
		if slices.ContainsFunc(keys, func(k Key) bool { return k.IsLiveAt(s.now()) && k.HasScope(scope) }) {
			held = append(held, scope)
		}
	}
	return held, nil
}

// AuditDetail returns what the line of the audit trail says of a key that was created: whose it is and what it may do.
func (k Key) AuditDetail() string {
	words := []string{string(k.Partner)}
	for _, scope := range k.Scopes {
		words = append(words, string(scope))
	}
	return strings.Join(words, " ")
}
