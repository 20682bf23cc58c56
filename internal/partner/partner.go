// Package partner holds the tenants of the service: partners, their API keys and scopes, and the salt and userHash by
// which their people are known.
//
// It knows nothing of HTTP, SQL or the product's operations. The invariant it keeps: the secret part of a key exists
// only in the hands of the partner; here there is its digest, and every way of failing to authenticate looks the same.
package partner

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/crypto/blake2b"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Mode tells real partners from those that try the service out.
type Mode string

// The modes.
const (
	Live    Mode = "live"
	Sandbox Mode = "sandbox"
)

// Settings are what an operator tunes per partner. The zero value of each field means the service's default.
type Settings struct {
	// RatePerSecond and Burst shape the token bucket of the partner's requests.
	RatePerSecond int
	Burst         int
	// DefaultPlan covers people without a subscription in force; empty means none.
	DefaultPlan string
	// MaskCards answers beneficiaries' cards with all but the last four digits hidden.
	MaskCards bool
	// Sites are hosts of the partner's own, in lower case with spaces between them: a credential for one of them, or
	// for a host under one, is a key to its house.
	Sites string
	// WatchedSites are hosts of others that the operator watches for the partner, written the same way.
	WatchedSites string
	// People is how many people the contract with the partner covers. It decides how many first looks the partner gets:
	// see package cyber.
	People int
	// FirstLooksPerHour is how many new values may be looked up in past breaches in an hour, LooksBySize or
	// NoFirstLooks.
	FirstLooksPerHour int
	// SandboxOf is the live partner whose people try things out at this one; only a sandbox partner has it.
	SandboxOf ID
	// Officer is the name and contact of the partner's data protection officer, for the letter that a person gets of
	// their data.
	Officer string
}

// What FirstLooksPerHour says besides a number.
const (
	LooksBySize  = 0  // as many as the number of people gives
	NoFirstLooks = -1 // none: the operator has stopped them
)

// ParseLooksPerHour reads what a person writes for FirstLooksPerHour: nothing or "auto" for LooksBySize, 0 for
// NoFirstLooks, else the number.
func ParseLooksPerHour(text string) (int, error) {
	if text == "" || text == "auto" {
		return LooksBySize, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxLooksPerHour {
		return 0, ErrInvalid.With("first looks", fault.LooksPerHour)
	}
	if n == 0 {
		return NoFirstLooks, nil
	}
	return n, nil
}

// Bounds of settings.
const (
	maxLooksPerHour = 1_000_000_000
	maxPeople       = 300_000_000
)

// mostSites bounds the hosts of one partner.
const mostSites = 50

// ListSites returns the hosts one by one.
func (s Settings) ListSites() []string { return strings.Fields(s.Sites) }

// WatchedList returns the watched hosts one by one.
func (s Settings) WatchedList() []string { return strings.Fields(s.WatchedSites) }

// JoinSiteList returns what Settings keep of hosts as people write them.
func JoinSiteList(hosts []string) string {
	list := make([]string, 0, len(hosts))
	for _, h := range hosts {
		list = append(list, strings.Fields(strings.ToLower(h))...)
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

// Defaults of Settings, as decided for the contract.
const (
	DefaultRatePerSecond = 200
	DefaultBurst         = 400
)

// RateLimit returns the partner's requests per second and burst with defaults filled in.
func (s Settings) RateLimit() (perSecond, burst int) {
	perSecond, burst = s.RatePerSecond, s.Burst
	if perSecond == 0 {
		perSecond = DefaultRatePerSecond
	}
	if burst == 0 {
		burst = 2 * perSecond
	}
	return perSecond, burst
}

// Partner is one tenant.
type Partner struct {
	ID        ID
	Name      string
	Mode      Mode
	Suspended bool
	Settings  Settings
	CreatedAt time.Time
	// Forged marks a row that this program did not write: it authenticates no caller, and is only shown in lists.
	Forged bool
}

// Faults of this package.
var (
	ErrNotFound     = fault.New(fault.NotFound, "partner.not_found")
	ErrTaken        = fault.New(fault.Conflict, "partner.taken")
	ErrInvalid      = fault.New(fault.Invalid, "partner.invalid")
	ErrKeyNotFound  = fault.New(fault.NotFound, "key.not_found")
	ErrUnauthorised = fault.New(fault.Unauthenticated, "key.refused")
	// ErrScopeMissing is the refusal of a live key that may not do what it was shown for.
	ErrScopeMissing = fault.New(fault.Unauthenticated, "key.scope_missing")
)

// Store is what the rules of this package need to keep.
type Store interface {
	// InsertPartner keeps a new partner with its sealed salt and its first key, all or nothing. ErrTaken means that
	// another partner has its number.
	InsertPartner(ctx context.Context, p Partner, salt string, first Key) error
	PartnerByID(ctx context.Context, id ID) (Partner, error)
	ListPartners(ctx context.Context) ([]Partner, error)
	UpdatePartner(ctx context.Context, id ID, change func(*Partner) error) (Partner, error)
	// AgeSandbox makes everything of a partner so many days older.
	AgeSandbox(ctx context.Context, id ID, days int) error
	// InsertKey keeps a new key; ErrUnauthorised when the key that made it has ended.
	InsertKey(ctx context.Context, id ID, k Key) error
	ListKeys(ctx context.Context, id ID) ([]Key, error)
	// UpdateKeys lets change set the times of a partner's keys, all of them in one transaction.
	UpdateKeys(ctx context.Context, id ID, change func(keys []Key) error) error
	// KeyByDigest returns the key with this digest, together with its partner. What is kept is a keyed hash of the
	// digest.
	KeyByDigest(ctx context.Context, digest []byte) (Key, Partner, error)
	// AccessEpoch changes whenever a key, a partner or one of its plans changes, so that caches know when to forget.
	AccessEpoch(ctx context.Context) (int64, error)
	// OpenSalt opens the partner's salt.
	OpenSalt(ctx context.Context, id ID) (string, error)
	ThemeStore
}

// Registry creates and changes partners and keys, for the command line and the console alike.
type Registry struct {
	store  Store
	now    func() time.Time
	random io.Reader
}

// NewRegistry joins the rules to a store, a clock and a source of randomness (nil means the system's).
func NewRegistry(store Store, now func() time.Time, random io.Reader) *Registry {
	if random == nil {
		random = rand.Reader
	}
	return &Registry{store: store, now: now, random: random}
}

// Credentials are shown once, when they are made.
type Credentials struct {
	APIKey string
	Salt   string
	// Key is the first key as the service keeps it.
	Key Key
}

// maxName is in characters.
const maxName = 200

var errName = ErrInvalid.With("name", fault.PlainLength, maxName)

// CreatePartner registers a partner with a salt and a first key that has every scope.
func (r *Registry) CreatePartner(
	ctx context.Context,
	name string,
	mode Mode,
	settings Settings,
) (Partner, Credentials, error) {
	name = strings.TrimSpace(name)
	if !IsPrintableLine(name, 1, maxName) {
		return Partner{}, Credentials{}, errName
	}
	if err := settings.checkSettings(); err != nil {
		return Partner{}, Credentials{}, err
	}
	if err := r.checkSandbox(ctx, Partner{Mode: mode, Settings: settings}); err != nil {
		return Partner{}, Credentials{}, err
	}
	for {
		p, c, err := r.insertPartner(ctx, Partner{Name: name, Mode: mode, Settings: settings, CreatedAt: r.now()})
		if !errors.Is(err, ErrTaken) { // with 10,000 partners one number in 200,000 is taken
			return p, c, err
		}
	}
}

// firstKeyLabel is what the key is called that a partner begins with, for people to read.
const firstKeyLabel = "Chave inicial"

// insertPartner draws the number, the salt and the first key of a partner and keeps all of them.
func (r *Registry) insertPartner(ctx context.Context, p Partner) (Partner, Credentials, error) {
	id, err := randomID(r.random)
	if err != nil {
		return Partner{}, Credentials{}, fmt.Errorf("make id: %w", err)
	}
	p.ID = id
	salt := make([]byte, 32)
	if _, err := io.ReadFull(r.random, salt); err != nil {
		return Partner{}, Credentials{}, fmt.Errorf("make salt: %w", err)
	}
	key, secret, err := r.generateKey(p, firstKeyLabel, firstScopes(p.Mode), time.Time{}, "")
	if err != nil {
		return Partner{}, Credentials{}, err
	}
	c := Credentials{APIKey: secret, Salt: base64.RawURLEncoding.EncodeToString(salt), Key: key}
	if err := r.store.InsertPartner(ctx, p, c.Salt, key); err != nil {
		return Partner{}, Credentials{}, fmt.Errorf("create partner: %w", err)
	}
	return p, c, nil
}

func (r *Registry) GetPartner(ctx context.Context, id ID) (Partner, error) {
	return r.store.PartnerByID(ctx, id)
}

// ListPartners returns all partners, oldest first.
func (r *Registry) ListPartners(ctx context.Context) ([]Partner, error) {
	return r.store.ListPartners(ctx)
}

// FindSandbox returns the sandbox of a live partner; ErrNotFound when it has none.
func (r *Registry) FindSandbox(ctx context.Context, live ID) (Partner, error) {
	all, err := r.store.ListPartners(ctx)
	if err != nil {
		return Partner{}, err
	}
	for _, p := range all {
		if live != "" && p.Settings.SandboxOf == live && p.Mode == Sandbox && !p.Forged {
			return p, nil
		}
	}
	return Partner{}, ErrNotFound
}

// checkSandbox holds the pair of a sandbox and a live partner to what it must be: one of each.
func (r *Registry) checkSandbox(ctx context.Context, p Partner) error {
	live := p.Settings.SandboxOf
	if live == "" {
		return nil
	}
	of, err := r.store.PartnerByID(ctx, live)
	if err != nil || p.Mode != Sandbox || of.Mode != Live {
		return ErrInvalid.With("sandbox of", fault.SandboxOfLive)
	}
	if other, err := r.FindSandbox(ctx, live); err == nil && other.ID != p.ID {
		return ErrInvalid.With("sandbox of", fault.HasASandbox, other.ID)
	}
	return nil
}

// SuspendPartner turns all keys of a partner off until Resume; nothing is lost.
func (r *Registry) SuspendPartner(ctx context.Context, id ID) (Partner, error) {
	return r.store.UpdatePartner(ctx, id, func(p *Partner) error { p.Suspended = true; return nil })
}

// ResumePartner undoes Suspend.
func (r *Registry) ResumePartner(ctx context.Context, id ID) (Partner, error) {
	return r.store.UpdatePartner(ctx, id, func(p *Partner) error { p.Suspended = false; return nil })
}

// CheckSize refuses a live partner of which nobody said how many people its contract covers: only a thousand of its
// values would be looked for in past breaches at once, and whoever makes it does not know.
func (p Partner) CheckSize() error {
	if p.Mode == Live && p.Settings.People < 1 {
		return ErrInvalid.With("people", fault.PeopleCovered, maxPeople)
	}
	return nil
}

// UpdatePartner edits a partner's name or settings. The size of a live partner cannot be taken away.
func (r *Registry) UpdatePartner(ctx context.Context, id ID, edit func(*Partner)) (Partner, error) {
	return r.store.UpdatePartner(ctx, id, func(p *Partner) error {
		before := *p
		edit(p)
		p.ID, p.Mode, p.CreatedAt = before.ID, before.Mode, before.CreatedAt
		if p.Name = strings.TrimSpace(p.Name); !IsPrintableLine(p.Name, 1, maxName) {
			return errName
		}
		if p.Settings.SandboxOf != before.Settings.SandboxOf {
			if err := r.checkSandbox(ctx, *p); err != nil {
				return err
			}
		}
		if before.Settings.People > 0 {
			if err := p.CheckSize(); err != nil {
				return errors.Join(err, p.Settings.checkSettings())
			}
		}
		return p.Settings.checkSettings()
	})
}

// checkSettings refuses settings out of their bounds.
func (s Settings) checkSettings() error {
	isNoHost := func(h string) bool { return !hostName.MatchString(h) || len(h) > 253 }
	return errors.Join(
		fault.When(
			s.RatePerSecond < 0 || s.RatePerSecond > 1_000_000,
			ErrInvalid.With("rate", fault.RequestsPerSecond),
		),
		fault.When(s.Burst < 0 || s.Burst > 1_000_000, ErrInvalid.With("burst", fault.RequestsAtOnce)),
		fault.When(s.FirstLooksPerHour < NoFirstLooks || s.FirstLooksPerHour > maxLooksPerHour,
			ErrInvalid.With("first looks", fault.LooksPerHour)),
		fault.When(s.People < 0 || s.People > maxPeople, ErrInvalid.With("people", fault.PeopleOfPartner, maxPeople)),
		fault.When(!IsPrintableLine(s.Officer, 0, 200), ErrInvalid.With("officer", fault.PlainAtMost, 200)),
		fault.When(len(s.DefaultPlan) > 255, ErrInvalid.With("default plan", fault.AtMostCharacters, 255)),
		fault.When(
			len(s.ListSites()) > mostSites || len(s.WatchedList()) > mostSites,
			ErrInvalid.With("site", fault.AtMost, mostSites),
		),
		fault.When(
			slices.ContainsFunc(slices.Concat(s.ListSites(), s.WatchedList()), isNoHost),
			ErrInvalid.With("site", fault.HostName),
		),
	)
}

// hostName is a domain of at least two labels, in lower case; international ones in their ASCII form.
var hostName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// ID names a partner to people and programs: "pt_" and a UUID. The database keeps a random number of 31 bits in its
// place, which takes four bytes at the head of every key instead of 39; the UUID (of version 8, for uses of one's own)
// is made from the number, so that each is known from the other without a query.
type ID string

// idPrefix begins the public id of a partner; its number follows.
const idPrefix = "pt_"

// randomID draws the ID of a new partner.
func randomID(random io.Reader) (ID, error) {
	var drawn [4]byte
	if _, err := io.ReadFull(random, drawn[:]); err != nil {
		return "", err
	}
	number := binary.BigEndian.Uint32(drawn[:]) >> 1 // 31 bits: the database counts with a sign
	return NumberedID(max(int64(number), 1)), nil
}

// NumberedID returns the ID of the partner with a number, from 1 up.
func NumberedID(number int64) ID {
	var u uuid.UUID
	binary.BigEndian.PutUint32(u[12:], uint32(number))
	sum := sha256.Sum256(append([]byte("vigia partner "), u[12:]...))
	copy(u[:12], sum[:])
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // version and variant
	return ID(idPrefix + u.String())
}

const nobody = -1

// Number returns the partner's number in the database; 0 for the empty ID. A text that is no partner's ID returns -1,
// which no row has, and not 0, which filters take for all partners.
func (id ID) Number() int64 {
	if id == "" {
		return 0
	}
	if len(id) != len(idPrefix)+36 {
		return nobody
	}
	u, err := uuid.Parse(string(id[len(idPrefix):]))
	if err != nil {
		return nobody
	}
	n := int64(binary.BigEndian.Uint32(u[12:]))
	if NumberedID(n) != id {
		return nobody
	}
	return n
}

// Value returns the partner's number, under which the database keeps its rows.
func (id ID) Value() (driver.Value, error) { return id.Number(), nil }

// Scan reads such a number; NULL means no partner.
func (id *ID) Scan(value any) error {
	switch v := value.(type) {
	case int64:
		*id = NumberedID(v)
	case nil:
		*id = ""
	default:
		return fmt.Errorf("a partner's number is a %T", value)
	}
	return nil
}

// IsPrintableLine reports whether s is one line of low to high characters: valid UTF-8 without control characters (NUL,
// tabs, line breaks, DEL). It is the rule for names and everything else that is shown inside a line.
func IsPrintableLine(s string, low, high int) bool {
	return isLengthWithin(s, low, high) && !strings.ContainsFunc(s, unicode.IsControl)
}

// Paragraphs is Line for longer texts: line breaks and tabs may stand in them, other control characters not.
func Paragraphs(s string, low, high int) bool {
	return isLengthWithin(s, low, high) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
	})
}

// isLengthWithin reports whether s has low to high characters.
func isLengthWithin(s string, low, high int) bool {
	n := utf8.RuneCountInString(s)
	return utf8.ValidString(s) && n >= low && n <= high
}

// Language is one that a person is told things in, as HTML names it.
type Language string

// The languages.
const (
	Portuguese Language = "pt-BR"
	Spanish    Language = "es"
	English    Language = "en"
)

// ListLanguages returns the supported languages; the first is the default.
func ListLanguages() []Language { return []Language{Portuguese, Spanish, English} }

// ErrLanguage is for a language that nothing is written in.
var ErrLanguage = fault.New(fault.Invalid, "language.invalid")

// ParseLanguage reads a language by its exact name; the empty text is Portuguese.
func ParseLanguage(text string) (Language, error) {
	if text == "" {
		return Portuguese, nil
	}
	if !slices.Contains(ListLanguages(), Language(text)) {
		return "", ErrLanguage.With("lang", fault.OneOf, "pt-BR, es, en")
	}
	return Language(text), nil
}

// Difference is a point in which a sandbox partner is treated otherwise than a live one. The guide of the
// sandbox explains each, and a test shows each.
type Difference string

// The differences.
const (
	TestKeys        Difference = "test keys"        // API keys begin with vg_test_
	AnyCheckDigits  Difference = "any check digits" // CPF, CNPJ and cards need no right ones
	NewPlans        Difference = "new plans"        // a plan that was not registered is, with the demo cover
	DemoCover       Difference = "demo cover"       // a person without a subscription has it
	SamplePasswords Difference = "sample passwords" // the built-in sample answers where there is no corpus
	// First looks and credential checks wait for nothing, and a CPF needs no digest of its own.
	Unpaced Difference = "unpaced"
	// Activation keys and appointments are made up, not taken from what live partners share.
	MadeUpStock  Difference = "made-up stock"
	MagicValues  Difference = "magic values"  // some values are found at once in the breach named sandbox
	LocalLinks   Difference = "local links"   // links to people's pages need no public address
	MovableClock Difference = "movable clock" // POST /sandbox/clock
)

// Differences lists them.
var Differences = []Difference{
	TestKeys,
	AnyCheckDigits,
	NewPlans,
	DemoCover,
	SamplePasswords,
	Unpaced,
	MadeUpStock,
	MagicValues,
	LocalLinks,
	MovableClock,
}

// Has reports whether a partner of the mode is treated as the difference says. A sandbox has all of them, so the
// argument decides nothing: it names the reason at the place that asks, where a reader and a search find it.
func (m Mode) Has(Difference) bool { return m == Sandbox }

// MaxClockDays is how far one request moves the clock of a sandbox: past the end of an antivirus key and of a yearly
// subscription.
const MaxClockDays = 400

// Faults of the sandbox's clock.
var (
	ErrClockLive    = fault.New(fault.NotFound, "clock.live")
	ErrClockInvalid = fault.New(fault.Invalid, "clock.invalid")
)

// AdvanceClock lets days pass for a sandbox partner. Nothing in the service keeps a time of its own for a partner:
// instead everything that the partner has becomes so much older, and what is due by the common clock happens. So there
// is one clock in every rule and query, and no way back.
func (r *Registry) AdvanceClock(ctx context.Context, who Caller, days int) error {
	if days < 1 || days > MaxClockDays {
		return ErrClockInvalid.With("days", fault.DaysBetween, 1, MaxClockDays)
	}
	if !who.Mode.Has(MovableClock) {
		return ErrClockLive.With("clock", fault.SandboxAlone)
	}
	if err := r.store.AgeSandbox(ctx, who.Partner, days); err != nil {
		return err
	}
	return r.store.UpdateKeys(ctx, who.Partner, func(keys []Key) error {
		for i := range keys {
			if !keys[i].ExpiresAt.IsZero() {
				keys[i].ExpiresAt = keys[i].ExpiresAt.Add(-time.Duration(days) * 24 * time.Hour)
			}
		}
		return nil
	})
}

// ErrUserHash means that a userHash is not 1 to 256 printable characters.
var ErrUserHash = fault.New(fault.Invalid, "user_hash.invalid")

// MaxUserHash bounds a userHash, in characters.
const MaxUserHash = 256

// UserHash is a person's name in the cyber area, as a partner sent it.
//
// The contract leaves the digest's length and encoding open, so a BLAKE2b digest of 256 or 512 bits in hex or base64 is
// recognised in any spelling. Any other string is a user of its own, compared byte for byte.
type UserHash string

// ParseUserHash checks length and characters. field names the place in the request for the caller.
func ParseUserHash(field, s string) (UserHash, error) {
	switch {
	case !IsPrintable(s, MaxUserHash):
		return "", ErrUserHash.With(field, fault.PrintableLength, MaxUserHash)
	case IsDotSegment(s):
		return "", ErrUserHash.With(field, fault.DotPath)
	case s == reservedSegment:
		return "", ErrUserHash.With(field, fault.ReservedPath, reservedSegment)
	}
	return UserHash(s), nil
}

// reservedSegment is refused as a user hash: paths use it in the place of one, so such a person could be added but
// never be read.
const reservedSegment = "extra"

// IsPrintable reports whether s has 1 to limit characters, all of them printable: the contract's rule for ids and user
// hashes.
func IsPrintable(s string, limit int) bool {
	if s == "" || !utf8.ValidString(s) || utf8.RuneCountInString(s) > limit {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// IsDotSegment reports whether s is "." or "..": clients resolve these away before they send a path, encoded or not, so
// what is named so could be created by a body and never be asked for.
func IsDotSegment(s string) bool { return s == "." || s == ".." }

// Canonical returns the same bytes for every spelling of one digest. The first byte tells digests from plain strings,
// so that no string can pose as a digest.
func (u UserHash) Canonical() []byte {
	if d := u.Digest(); d != nil {
		return append([]byte{'d'}, d...)
	}
	return append([]byte{'s'}, u...)
}

// Digest returns the bytes of a digest, 32 or 64 of them, and nil for any other string.
func (u UserHash) Digest() []byte {
	s := string(u)
	switch len(s) {
	case 64, 128:
		if d, err := hex.DecodeString(s); err == nil {
			return d
		}
	}
	// The unpadded lengths of 32 and 64 bytes in base64.
	bare := strings.TrimRight(s, "=")
	if len(bare) != 43 && len(bare) != 86 || len(s) != len(bare) && len(s)%4 != 0 {
		return nil
	}
	enc := base64.RawStdEncoding
	if strings.ContainsAny(bare, "-_") {
		enc = base64.RawURLEncoding
	}
	d, err := enc.Strict().DecodeString(bare)
	if err != nil {
		return nil
	}
	return d
}

// PersonDigests returns the canonical forms of both digests of a person: BLAKE2b of the CPF's digits followed by the
// salt.
func PersonDigests(cpf, salt string) (d256, d512 []byte) {
	text := []byte(cpf + salt)
	short, long := blake2b.Sum256(text), blake2b.Sum512(text)
	return append([]byte{'d'}, short[:]...), append([]byte{'d'}, long[:]...)
}

// LongUserHash returns the user hash of a person in the spelling that the service itself uses: 512 bits in hex.
func LongUserHash(cpf, salt string) UserHash {
	_, d512 := PersonDigests(cpf, salt)
	return UserHash(hex.EncodeToString(d512[1:])) // without the mark of a canonical form
}
