// Package plan holds what a partner sells: plans and the insurance coverage that comes with them.
//
// Subscriptions name a plan, the cyber area reads its coverage, its device limit and the validity of its keys; both
// build on this package and neither on the other. It knows nothing of HTTP, SQL or people. The invariant it keeps: a
// plan that leaves this package's rules has an id, a name and a coverage that can be shown as it is.
package plan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ID names a plan of one partner, in the partner's own words: two partners may use the same id for different plans.
type ID string

// Plan is something a partner's customers subscribe to.
type Plan struct {
	ID       ID
	Partner  partner.ID
	Name     string
	Coverage Coverage
	// MaxDevices bounds the live endpoint-protection keys of one person; 0 means no bound, NoDevices that there are
	// none.
	MaxDevices int
	// KeyDays is how long an endpoint-protection key is valid; 0 means DefaultKeyDays.
	KeyDays int
	// KeysEndWithSubscription ends a person's keys when the last subscription of this plan ends.
	KeysEndWithSubscription bool
	// Watch is what the plan watches of what a subscription names, from its enrolment on.
	Watch Watch
	// Retired plans take no new subscriptions; those that exist go on.
	Retired   bool
	CreatedAt time.Time
}

// NoDevices is the bound of a plan that does not include endpoint protection.
const NoDevices = -1

// DefaultKeyDays is the validity of a key under a plan that says nothing else.
const DefaultKeyDays = 365

// KeyValidity returns how long a key issued under this plan is valid.
func (p Plan) KeyValidity() time.Duration {
	days := p.KeyDays
	if days == 0 {
		days = DefaultKeyDays
	}
	return time.Duration(days) * 24 * time.Hour
}

// Faults of this package.
var (
	ErrNotFound = fault.New(fault.NotFound, "plan.not_found")
	ErrExists   = fault.New(fault.Conflict, "plan.exists")
	ErrInvalid  = fault.New(fault.Invalid, "plan.invalid")
)

// Bounds of a plan.
const (
	MaxID          = 255
	maxName        = 255
	maxDevices     = 10_000
	maxKeyDays     = 3660
	maxWaitingDays = 3660
	maxText        = 4000
	maxList        = 50
	maxLimitReais  = 1_000_000_000_000
)

// Store keeps plans.
type Store interface {
	// InsertPlan keeps a new plan; ErrExists when the partner has one of that id, partner.ErrNotFound when there is no
	// such partner.
	InsertPlan(ctx context.Context, id partner.ID, p Plan) error
	// ListPlans returns a partner's plans, oldest first, retired ones too.
	ListPlans(ctx context.Context, id partner.ID) ([]Plan, error)
	GetPlan(ctx context.Context, id partner.ID, plan ID) (Plan, error)
	UpdatePlan(ctx context.Context, id partner.ID, plan ID, change func(*Plan) error) (Plan, error)
}

// Catalogue creates and changes plans, for the command line and the console alike.
type Catalogue struct {
	store Store
	now   func() time.Time
}

// NewCatalogue joins the rules to a store and a clock.
func NewCatalogue(store Store, now func() time.Time) *Catalogue {
	return &Catalogue{store: store, now: now}
}

// CreatePlan registers a plan. A coverage without a name takes the plan's.
func (c *Catalogue) CreatePlan(ctx context.Context, p Plan) (Plan, error) {
	p.CreatedAt, p.Retired = c.now(), false
	if p.Coverage.Plan == "" {
		p.Coverage.Plan = p.Name
	}
	if err := p.checkPlan(); err != nil {
		return Plan{}, err
	}
	return p, c.store.InsertPlan(ctx, p.Partner, p)
}

// ListPlans returns a partner's plans, oldest first, retired ones too.
func (c *Catalogue) ListPlans(ctx context.Context, id partner.ID) ([]Plan, error) {
	return c.store.ListPlans(ctx, id)
}

func (c *Catalogue) GetPlan(ctx context.Context, id partner.ID, plan ID) (Plan, error) {
	return c.store.GetPlan(ctx, id, plan)
}

// EditPlan changes a plan; its id, partner and time of creation stay.
func (c *Catalogue) EditPlan(ctx context.Context, id partner.ID, plan ID, edit func(*Plan)) (Plan, error) {
	return c.store.UpdatePlan(ctx, id, plan, func(p *Plan) error {
		before := *p
		edit(p)
		p.ID, p.Partner, p.CreatedAt = before.ID, before.Partner, before.CreatedAt
		return p.checkPlan()
	})
}

// RetirePlan closes a plan to new subscriptions.
func (c *Catalogue) RetirePlan(ctx context.Context, id partner.ID, plan ID) (Plan, error) {
	return c.EditPlan(ctx, id, plan, func(p *Plan) { p.Retired = true })
}

// checkPlan trims and bounds what an operator gave.
func (p *Plan) checkPlan() error {
	p.ID, p.Name = ID(strings.TrimSpace(string(p.ID))), strings.TrimSpace(p.Name)
	return errors.Join(
		fault.When(!partner.IsPrintable(string(p.ID), MaxID), ErrInvalid.With("id", fault.PrintableLength, MaxID)),
		fault.When(partner.IsDotSegment(string(p.ID)), ErrInvalid.With("id", fault.DotPath)),
		fault.When(!partner.IsPrintableLine(p.Name, 1, maxName), ErrInvalid.With("name", fault.PlainLength, maxName)),
		fault.When(
			p.MaxDevices < NoDevices || p.MaxDevices > maxDevices,
			ErrInvalid.With("max devices", fault.DeviceLimit, maxDevices),
		),
		fault.When(
			p.KeyDays < 0 || p.KeyDays > maxKeyDays,
			ErrInvalid.With("key days", fault.DefaultTo, DefaultKeyDays, maxKeyDays),
		),
		fault.When(!p.Watch.IsKnown(), ErrInvalid.With("watch", fault.OneOf, "email, cpf, phone")),
		p.Coverage.checkCoverage(),
	)
}

// Money is an amount in centavos.
type Money int64

// DecimalText writes the amount in reais as a JSON number, with cents only where there are any: 50000 or 50000.5.
func (m Money) DecimalText() string {
	sign, n := "", int64(m)
	if n < 0 {
		sign, n = "-", -n
	}
	text := sign + strconv.FormatInt(n/100, 10)
	switch cents := n % 100; {
	case cents == 0:
		return text
	case cents%10 == 0:
		return text + "." + strconv.FormatInt(cents/10, 10)
	default:
		return text + fmt.Sprintf(".%02d", cents)
	}
}

// Coverage is the insurance that a plan carries: what the contract calls detalhesCobertura.
type Coverage struct {
	// Plan is the name that people read; it need not be the plan's id.
	Plan       string
	Limit      Money
	Types      []string
	Conditions string
	Exclusions string
	// SubLimits bound parts of Limit. The contract's answer has no place for them, nor for the waiting period: an
	// extension tells them.
	SubLimits []SubLimit
	// WaitingDays is how many days after the start of a subscription pass before it covers; 0: it covers from its first
	// day on.
	WaitingDays int
}

// IsNone reports whether the coverage insures nothing: a plan may be sold without insurance.
func (c Coverage) IsNone() bool { return c.Limit == 0 && len(c.Types) == 0 }

// SubLimit is the part of the limit that one kind of loss may use.
type SubLimit struct {
	Name  string
	Limit Money
}

// checkCoverage bounds what an operator gave.
func (c *Coverage) checkCoverage() error {
	isNoType := func(t string) bool { return !partner.IsPrintableLine(t, 1, maxName) }
	isNoSubLimit := func(s SubLimit) bool {
		return !partner.IsPrintableLine(s.Name, 1, maxName) || s.Limit < 0 || s.Limit > c.Limit
	}
	isTooLong := !partner.Paragraphs(c.Conditions, 0, maxText) || !partner.Paragraphs(c.Exclusions, 0, maxText)
	return errors.Join(
		fault.When(
			!partner.IsPrintableLine(c.Plan, 1, maxName),
			ErrInvalid.With("coverage plano", fault.PlainLength, maxName),
		),
		fault.When(
			c.Limit < 0 || c.Limit > maxLimitReais*100,
			ErrInvalid.With("coverage limiteCobertura", fault.ReaisUpTo, int64(maxLimitReais)),
		),
		fault.When(
			len(c.Types) > maxList || len(c.SubLimits) > maxList,
			ErrInvalid.With("coverage", fault.ListEntries, maxList),
		),
		fault.When(isTooLong, ErrInvalid.With("coverage texts", fault.TextAtMost, maxText)),
		fault.When(
			c.WaitingDays < 0 || c.WaitingDays > maxWaitingDays,
			ErrInvalid.With("coverage carenciaDias", fault.DaysUpTo, maxWaitingDays),
		),
		fault.When(
			slices.ContainsFunc(c.Types, isNoType),
			ErrInvalid.With("coverage tipoCobertura", fault.EachPlainLength, maxName),
		),
		fault.When(
			slices.ContainsFunc(c.SubLimits, isNoSubLimit),
			ErrInvalid.With("coverage sublimites", fault.SubLimitFormat, maxName),
		),
	)
}

// coverageFile is a coverage as files and rows hold it: the five members of the contract's answer, sub-limits and
// waiting period.
type coverageFile struct {
	Plano      string         `json:"plano"`
	Limite     jsontext.Value `json:"limiteCobertura"`
	Tipos      []string       `json:"tipoCobertura"`
	Condicoes  string         `json:"condições"`
	Exclusoes  string         `json:"exclusões"`
	Sublimites []subLimitFile `json:"sublimites,omitempty"`
	Carencia   int            `json:"carenciaDias,omitzero"`
}

// subLimitFile is a limit within a coverage as it is written in JSON.
type subLimitFile struct {
	Nome   string         `json:"nome"`
	Limite jsontext.Value `json:"limite"`
}

// ParseCoverage reads the JSON of a coverage. Members it does not know are refused: a misspelt one would silently be
// lost.
func ParseCoverage(text []byte) (Coverage, error) {
	var f coverageFile
	if err := json.Unmarshal(bytes.TrimSpace(text), &f, json.RejectUnknownMembers(true)); err != nil {
		return Coverage{}, ErrInvalid.With("coverage", fault.CoverageFormat).Because(err)
	}
	limit, err := parseMoney("limiteCobertura", f.Limite)
	if err != nil {
		return Coverage{}, err
	}
	c := Coverage{
		Plan:        f.Plano,
		Limit:       limit,
		Types:       f.Tipos,
		Conditions:  f.Condicoes,
		Exclusions:  f.Exclusoes,
		WaitingDays: f.Carencia,
	}
	for _, s := range f.Sublimites {
		limit, err := parseMoney("sublimites", s.Limite)
		if err != nil {
			return Coverage{}, err
		}
		c.SubLimits = append(c.SubLimits, SubLimit{Name: s.Nome, Limit: limit})
	}
	return c, c.checkCoverage()
}

// parseMoney reads an amount in reais with at most two decimals. It refuses a third decimal instead of rounding it.
func parseMoney(field string, number jsontext.Value) (Money, error) {
	bad := ErrInvalid.With(fmt.Sprintf("coverage %s", field), fault.ReaisDecimals, int64(maxLimitReais))
	if len(number) == 0 || number.Kind() != '0' {
		return 0, bad
	}
	reais, err := strconv.ParseFloat(string(number), 64)
	if err != nil || reais < 0 || reais > maxLimitReais {
		return 0, bad
	}
	// A float64 holds every amount within the bound to far better than a centavo, and the quotient is the one nearest
	// to it, as is what was read.
	cents := math.Round(reais * 100)
	if cents/100 != reais {
		return 0, bad
	}
	return Money(cents), nil
}

// MarshalCoverage writes a coverage in the form that ParseCoverage reads.
func (c Coverage) MarshalCoverage() ([]byte, error) {
	f := coverageFile{
		Plano:     c.Plan,
		Limite:    jsontext.Value(c.Limit.DecimalText()),
		Tipos:     c.Types,
		Condicoes: c.Conditions,
		Exclusoes: c.Exclusions,
		Carencia:  c.WaitingDays,
	}
	for _, s := range c.SubLimits {
		f.Sublimites = append(f.Sublimites, subLimitFile{s.Name, jsontext.Value(s.Limit.DecimalText())})
	}
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode coverage: %w", err)
	}
	return text, nil
}

// DemoCoverage returns the coverage that a sandbox partner's plans and people have until another is registered.
func DemoCoverage() Coverage {
	return Coverage{
		Plan:  "Proteção Digital Demonstração",
		Limit: 50_000_00,
		Types: []string{
			"Transações não autorizadas após vazamento de dados",
			"Roubo de identidade",
			"Assistência para recuperação de contas",
		},
		Conditions: "Cobertura de demonstração do ambiente de testes. Carência de um dia a partir do início da " +
			"assinatura e " +
			"comunicação do evento em até 30 dias.",
		Exclusions:  "Perdas anteriores ao início da assinatura e fornecimento voluntário de senhas a terceiros.",
		SubLimits:   []SubLimit{{Name: "Roubo de identidade", Limit: 10_000_00}},
		WaitingDays: 1,
	}
}
