package cyber

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Exposed is a class of data that a breach made public.
type Exposed string

// What a breach can expose.
const (
	ExposedEmail        Exposed = "email"
	ExposedPassword     Exposed = "password"
	ExposedPasswordHash Exposed = "password_hash"
	ExposedCPF          Exposed = "cpf"
	ExposedPhone        Exposed = "phone"
	ExposedCard         Exposed = "card"
	ExposedAddress      Exposed = "address"
	ExposedName         Exposed = "name"
	ExposedBirthDate    Exposed = "birth_date"
	ExposedDocument     Exposed = "document"
	ExposedHealth       Exposed = "health"
	ExposedFinancial    Exposed = "financial"
	ExposedCookies      Exposed = "cookies"
	ExposedIP           Exposed = "ip_address"
	ExposedUsername     Exposed = "username"
	ExposedOther        Exposed = "other"
)

// AllExposed lists every class, in the order of documentation.
func AllExposed() []Exposed {
	return []Exposed{
		ExposedEmail,
		ExposedPassword,
		ExposedPasswordHash,
		ExposedCPF,
		ExposedPhone,
		ExposedCard,
		ExposedAddress,
		ExposedName,
		ExposedBirthDate,
		ExposedDocument,
		ExposedHealth,
		ExposedFinancial,
		ExposedCookies,
		ExposedIP,
		ExposedUsername,
		ExposedOther,
	}
}

// SourceKind is where leaked data came from.
type SourceKind string

// The kinds of sources.
const (
	SourceBreach    SourceKind = "breach"
	SourceCombolist SourceKind = "combolist"
	SourceStealer   SourceKind = "stealer"
	SourcePaste     SourceKind = "paste"
	SourcePhish     SourceKind = "phish"
)

// Breach is one body of leaked data, by what a person or partner may be told of it.
type Breach struct {
	// Name is the stable short name: lower-case letters, digits, '-', '_' and '.'.
	Name        string
	Title       string
	Date        time.Time // when it happened, to the day
	Source      string
	Description string
	// HasVendorWords means that a vendor wrote title, source and description, and no operator has approved them yet.
	HasVendorWords bool
	// Exposes is what it exposed: of all its people, or, as Basis says, of one person.
	Exposes []Exposed
	// Basis is BasisRow once the breach was narrowed to one value: see ForTrace. Empty is BasisBreach.
	Basis      Basis
	Kind       SourceKind
	Verified   bool
	Fabricated bool
	SpamList   bool
	AddedAt    time.Time
	// Content identifies the values that the breach holds, and behind them their pairs with passwords: two breaches
	// with equal contents are one dump that was imported twice. Empty when it holds none of its own.
	Content string
}

// NeutralTitle returns what a breach of a day is called where its own title cannot be shown.
func NeutralTitle(day time.Time) string {
	return "Vazamento informado em " + day.UTC().Format("02/01/2006")
}

// ForPeople returns the breach as people, partners and assistants may see it: words of a vendor that no operator has
// approved are left out, because they could be anything, such as a number to call and tell a password to.
func (b Breach) ForPeople() Breach {
	if b.HasVendorWords {
		b.Title, b.Source, b.Description = NeutralTitle(b.AddedAt), "", ""
	}
	return b
}

// Has reports whether the breach exposed any of the classes.
func (b Breach) Has(classes ...Exposed) bool {
	return slices.ContainsFunc(classes, func(c Exposed) bool { return slices.Contains(b.Exposes, c) })
}

// ErrBreachUnknown means that no breach of that name is published.
var ErrBreachUnknown = fault.New(fault.NotFound, "breach.unknown")

// MaxBreachPage is the most that a page of breaches holds.
const MaxBreachPage = 100

// BreachStore reads what is told of breaches.
type BreachStore interface {
	// PublishedPage returns published breaches from place offset on, newest first, and how many there are; without is
	// the name of one that is left out.
	PublishedPage(ctx context.Context, without string, offset int64, limit int) ([]Breach, int64, error)
	// PublishedBreach returns one; ErrBreachUnknown when it is not published.
	PublishedBreach(ctx context.Context, name string) (Breach, error)
}

// Breaches is the catalogue that partners read: the public facts about breaches, nothing about the people in them.
type Breaches struct{ store BreachStore }

// NewBreaches joins the rules to a store.
func NewBreaches(store BreachStore) *Breaches { return &Breaches{store} }

// ListBreaches returns one page of the published breaches, newest first, and how many there are. Pages count from 1.
// The made-up breach is there for sandbox partners alone.
func (b *Breaches) ListBreaches(ctx context.Context, mode partner.Mode, page int64, size int) ([]Breach, int64, error) {
	without := SandboxBreach
	if mode.Has(partner.MagicValues) {
		without = ""
	}
	size = min(size, MaxBreachPage)
	const beyond = 1 << 40 // far more pages than there can be: keeps the product below from overflowing
	return b.store.PublishedPage(ctx, without, min(page-1, beyond)*int64(size), size)
}

// FindBreach returns one published breach.
func (b *Breaches) FindBreach(ctx context.Context, mode partner.Mode, name string) (Breach, error) {
	if name == SandboxBreach && !mode.Has(partner.MagicValues) {
		return Breach{}, ErrBreachUnknown.With("name", fault.BreachNotPublishedByName)
	}
	return b.store.PublishedBreach(ctx, name)
}
