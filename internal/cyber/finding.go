package cyber

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
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
	// Basis is BasisRow once the breach was narrowed to one value: see Of. Empty is BasisBreach.
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

// Faults of plans.
var (
	ErrStepNotFound  = fault.New(fault.NotFound, "step.not_found")
	ErrStepInvalid   = fault.New(fault.Invalid, "step.invalid")
	ErrFindingClosed = fault.New(fault.Conflict, "finding.closed")
)

// PlanStore keeps what people said of the steps of their findings.
type PlanStore interface {
	// ListStepMarks returns all that was said of a person's findings.
	ListStepMarks(ctx context.Context, id partner.ID, user partner.UserHash) ([]StepMark, error)
	// ChangePlan runs change on a finding's plan with the finding locked, and stores what it decides;
	// ErrFindingNotFound when the finding is not the person's. The watched value's status is that after the change.
	ChangePlan(
		ctx context.Context,
		id partner.ID,
		user partner.UserHash,
		finding FindingID,
		change func(Plan) (PlanChange, error),
	) (Rechecked, error)
	// RemindSteps asks about each finding whose time has come, in bounded batches, writes the events and returns how
	// many; each finding is decided on once, whichever replica does it.
	RemindSteps(ctx context.Context, decide func(p Plan, since, now time.Time) Reminder) (int, error)
}

// PlanChange is what becomes of a plan.
type PlanChange struct {
	// Mark is what is said of a step; nil: nothing.
	Mark *StepMark
	// Restate has the value's status computed again; Close resolves the finding, which includes that.
	Restate bool
	Close   Resolution
}

// Rechecked is a plan as it stands, and the status of the value that it is about.
type Rechecked struct {
	Plan
	Status Status
}

// ListPlans returns the plan of each of a person's findings, newest first, closed ones too.
func (m *Monitoring) ListPlans(ctx context.Context, id partner.ID, user partner.UserHash) ([]Plan, error) {
	findings, err := m.store.FindingsOfUser(ctx, id, user)
	if err != nil {
		return nil, err
	}
	marks, err := m.store.ListStepMarks(ctx, id, user)
	if err != nil {
		return nil, err
	}
	plans := make([]Plan, len(findings))
	for i, f := range findings {
		plans[i] = NewFindingPlan(f, marks)
	}
	return plans, nil
}

func (m *Monitoring) GetFindingPlan(
	ctx context.Context,
	id partner.ID,
	user partner.UserHash,
	finding FindingID,
) (Plan, error) {
	plans, err := m.ListPlans(ctx, id, user)
	if err != nil {
		return Plan{}, err
	}
	for _, p := range plans {
		if p.Finding.ID == finding {
			return p, nil
		}
	}
	return Plan{}, ErrFindingNotFound
}

// MarkPlanStep keeps what a person said of a step and returns the plan after it. Saying it again changes nothing.
func (m *Monitoring) MarkPlanStep(
	ctx context.Context,
	id partner.ID,
	user partner.UserHash,
	finding FindingID,
	step StepID,
	state StepState,
) (Plan, error) {
	if state != StepTodo && state != StepDone && state != StepSkipped {
		return Plan{}, ErrStepInvalid.With("state", fault.OneOf, "todo, done, skipped")
	}
	kept, err := m.store.ChangePlan(ctx, id, user, finding, func(p Plan) (PlanChange, error) {
		s, ok := p.Step(step)
		switch {
		case !ok:
			return PlanChange{}, ErrStepNotFound.With("step", fault.NotInPlan)
		case !p.Finding.Open():
			return PlanChange{}, ErrFindingClosed.With("id", fault.FindingResolved)
		case s.State == state:
			return PlanChange{}, nil
		}
		return PlanChange{Mark: &StepMark{Finding: p.Finding.ID, Step: step, State: state, At: m.now()}}, nil
	})
	return kept.Plan, err
}

// RecheckFinding looks at a finding again after something was done about it: with no step left it is resolved, and in
// any case the value says what is left.
func (m *Monitoring) RecheckFinding(
	ctx context.Context,
	id partner.ID,
	user partner.UserHash,
	finding FindingID,
) (Rechecked, error) {
	return m.store.ChangePlan(
		ctx,
		id,
		user,
		finding,
		func(p Plan) (PlanChange, error) { return p.decideRecheck(), nil },
	)
}

// decideRecheck decides what becomes of a finding by what was done about it. A closed one stays closed.
func (p Plan) decideRecheck() PlanChange {
	if p.Finding.Open() && len(p.Remaining()) == 0 {
		return PlanChange{Close: p.resolution()}
	}
	return PlanChange{Restate: true}
}

// RemindSteps tells partners of steps whose deadline nears.
func (m *Monitoring) RemindSteps(ctx context.Context) (int, error) {
	return m.store.RemindSteps(ctx, ReminderOf)
}

// Status is what a watched value's listing says.
type Status string

// The statuses, to the letter of the contract.
const (
	StatusMonitored   Status = "monitorado"
	StatusAlert       Status = "alerta"
	StatusCompromised Status = "comprometido"
)

// IsKnown reports whether it is one of the statuses: see sqldb.Enumerated.
func (s Status) IsKnown() bool {
	switch s {
	case StatusMonitored, StatusAlert, StatusCompromised:
		return true
	}
	return false
}

// ComputeStatus returns the status of a value with these findings; no other function computes one. Nothing open is
// monitored, something open is an alert, and an open finding whose breach exposed something usable against the person
// is a compromise.
func ComputeStatus(findings []Finding) Status {
	status := StatusMonitored
	for _, f := range findings {
		if !f.Open() {
			continue
		}
		if f.Breach.IsUsable() {
			return StatusCompromised
		}
		status = StatusAlert
	}
	return status
}

// IsUsable reports whether what a breach exposed can be used against the person: a password, card data, a government id
// together with identity data, or whatever a stealer took from their own device. Of fabricated data and spam lists
// nothing can.
func (b Breach) IsUsable() bool {
	switch {
	case b.Fabricated || b.SpamList:
		return false
	case b.wasTakenByStealer(), b.Has(ExposedPassword, ExposedCard):
		return true
	}
	return b.Has(ExposedCPF, ExposedDocument) && b.Has(ExposedName, ExposedBirthDate, ExposedAddress)
}

// wasTakenByStealer reports whether a stealer took something from the person's device that opens an account. Of a log
// whose records are not told apart that is assumed.
func (b Breach) wasTakenByStealer() bool {
	return b.Kind == SourceStealer && (b.Basis != BasisRow || b.Has(ExposedPassword, ExposedCookies))
}

// SeverityOf grades a finding by what was exposed, where it came from, and whether a key to the partner's own house, or
// to one that is watched for it, is among it. Fabricated data and spam lists are never more than a nuisance.
func SeverityOf(f Finding) Severity {
	if (f.OwnSite || f.WatchedSite) && !f.Breach.Fabricated && !f.Breach.SpamList {
		return SeverityCritical
	}
	return f.Breach.severityLevel()
}

// severityLevel returns how bad it is to be in the breach.
func (b Breach) severityLevel() Severity {
	switch {
	case b.Fabricated || b.SpamList:
		return SeverityLow
	case b.wasTakenByStealer() || b.Has(ExposedPassword) && b.Has(ExposedCard, ExposedFinancial):
		return SeverityCritical
	case b.IsUsable():
		return SeverityHigh
	case b.Has(ExposedPasswordHash, ExposedCPF, ExposedDocument, ExposedFinancial, ExposedHealth, ExposedCookies),
		b.Kind == SourcePhish:
		return SeverityMedium
	}
	return SeverityLow
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

// IsKnownFinding reports whether a finding says nothing that earlier findings of the same value did not say: the same
// classes of data, the same passwords, the same sites. What the import was called does not matter. What was withdrawn,
// and what is made up, was never told.
//
// A password that cannot be compared, because the breach has no pairs, is news only where no password was told before.
// One that can be is known only from a breach that holds the same one. Where the value's own records are not known
// there is nothing to compare: then a copy of the same dump is old news, and so is a combolist, mostly put together
// from earlier breaches, once the value was found anywhere.
func IsKnownFinding(f Finding, earlier []Finding) bool {
	var told Classes
	var sites []string
	var passwords []uint32
	before, copied := false, false
	for i := range earlier {
		e := &earlier[i]
		if e.Resolution == ResolvedRetracted || e.Breach.isDoubtful() && !f.Breach.isDoubtful() {
			continue
		}
		before, copied = true, copied || e.Breach.isCopyOf(f.Breach)
		told |= NewClasses(e.Breach.Exposes)
		sites, passwords = append(sites, e.Trace.Sites...), append(passwords, e.Trace.Passwords...)
	}
	if !before {
		return false
	}
	classes := NewClasses(f.Breach.Exposes)
	if f.Basis() == BasisBreach {
		return copied && classes&^told == 0 || f.Breach.Kind == SourceCombolist
	}
	if classes&^told != 0 || !containsAll(f.Trace.Sites, sites) {
		return false
	}
	return copied || !f.Breach.Has(ExposedPassword) || containsAll(f.Trace.Passwords, passwords)
}

// isCopyOf reports whether two breaches are one dump, as far as that can be known: one of them may have been imported
// without pairs.
func (b Breach) isCopyOf(other Breach) bool {
	x, y := b.Content, other.Content
	return x != "" && y != "" && (strings.HasPrefix(x, y) || strings.HasPrefix(y, x))
}

// containsAll reports whether every element of all is in of.
func containsAll[T comparable](all, of []T) bool {
	return !slices.ContainsFunc(all, func(v T) bool { return !slices.Contains(of, v) })
}

// isDoubtful reports whether the data of the breach is false, or not known to be true, of the people in it.
func (b Breach) isDoubtful() bool { return b.Fabricated || b.SpamList }
