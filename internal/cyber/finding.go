package cyber

import (
	"cmp"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// AssetID names a watched value: "as_" and a UUIDv7.
type AssetID string

// FindingID names a finding: "fd_" and a UUIDv7.
type FindingID string

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
		ExposedEmail, ExposedPassword, ExposedPasswordHash, ExposedCPF, ExposedPhone, ExposedCard, ExposedAddress, ExposedName,
		ExposedBirthDate, ExposedDocument, ExposedHealth, ExposedFinancial, ExposedCookies, ExposedIP, ExposedUsername, ExposedOther,
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
	// Basis is BasisRow once the breach was narrowed to one value: see Of. Empty is BasisBreach.
	Basis      Basis
	Kind       SourceKind
	Verified   bool
	Fabricated bool
	SpamList   bool
	AddedAt    time.Time
	// Content identifies the values that the breach holds, and behind them their pairs with passwords: two breaches with
	// equal contents are one dump that was imported twice. Empty when it holds none of its own.
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

// Severity is how bad a finding is for the person.
type Severity string

// The severities, mildest first.
const (
	SeverityLow      Severity = "low"
	SeverityMedium   Severity = "medium"
	SeverityHigh     Severity = "high"
	SeverityCritical Severity = "critical"
)

// Severities lists them, the mildest first.
func Severities() []Severity {
	return []Severity{SeverityLow, SeverityMedium, SeverityHigh, SeverityCritical}
}

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
	AddedAt time.Time
	// Waits reports that the value has not had its first look into past breaches, for want of a token.
	Waits bool
}

// Finding is a watched value that a breach holds.
type Finding struct {
	ID      FindingID
	Partner partner.ID
	Asset   AssetID
	Kind    identifier.Kind
	// Breach is the breach as far as it concerns this value: see Breach.Of.
	Breach Breach
	Trace  Trace
	// OwnSite says that a credential for a site of the partner's own was taken, WatchedSite the same of one that the
	// operator watches for the partner.
	OwnSite, WatchedSite bool
	Severity             Severity
	// Quiet says that the person knew all of it when it was found: see Known. It is shown, and no alert is sent.
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

// givenResolutions are those that a person, partner or operator may give: ResolvedRetracted is the service's own.
var givenResolutions = []Resolution{ResolvedPasswordChanged, ResolvedAccountClosed, ResolvedCardReplaced, ResolvedNotMe, ResolvedOther}
