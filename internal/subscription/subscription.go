// Package subscription holds the rules of /subscriptions: which items of a bulk request may be created, what is wrong
// with the others, and the life of a subscription until it ends.
//
// Registry is the door; an Enrolment is one bulk request being worked on. What reaches the store has passed every rule
// of the contract, and what did not pass is reported with all of its problems, in the order of the request. The package
// may know neither HTTP nor SQL nor any sentence a partner reads: what is wrong with an item is a field and a rule, and
// the API gives them words.
package subscription

import (
	"context"
	"strconv"
	"sync"
	"time"
	_ "time/tzdata" // the binary knows São Paulo's clock wherever it runs

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Subscription is one person's subscription to one plan.
type Subscription struct {
	// Seq numbers the subscriptions of a partner in the order of creation; some numbers are never used.
	Seq    int64
	Plan   plan.ID
	Start  Day
	Expiry Day // zero: no end
	// GroupSize and Holder (the CNPJ of the company that pays) are set for group plans only.
	GroupSize int64
	Holder    string
	// Metadata is JSON that the partner gave to be kept; empty when there is none.
	Metadata string
	// InternalID is the partner's own reference; empty when there is none.
	InternalID  string
	Beneficiary Beneficiary
	// Watch is which of the values that it names are watched because of it: what its plan watched when it was enrolled,
	// less what the partner has deleted since.
	Watch plan.Watch
	// SuspendedAt and EndedAt are zero while the subscription is neither.
	SuspendedAt, EndedAt, CreatedAt time.Time
}

// ID names a subscription among those of its partner: "sub_" and its number.
type ID string

// ID returns how events name the subscription.
func (s Subscription) ID() ID { return ID("sub_" + strconv.FormatInt(s.Seq, 10)) }

// LastDay returns the last day of its life: the expiry date, or the day on which it was ended before that. Zero: no
// end.
func (s Subscription) LastDay() Day {
	if ended := DayInBrazil(s.EndedAt); !s.EndedAt.IsZero() && (s.Expiry == 0 || ended < s.Expiry) {
		return ended
	}
	return s.Expiry
}

// Over reports whether it has ended by a day: it was ended, or its expiry date lies before. The sweep that notes the
// latter comes later.
func (s Subscription) Over(today Day) bool {
	return !s.EndedAt.IsZero() || s.Expiry != 0 && s.Expiry < today
}

// ChangedKinds returns the kinds of values that another state of the subscription names otherwise.
func (s Subscription) ChangedKinds(then Subscription) plan.Watch {
	var changed plan.Watch
	for _, k := range plan.WatchedKinds {
		if s.Beneficiary.ValueOfKind(k) != then.Beneficiary.ValueOfKind(k) {
			changed |= plan.NewWatch(k)
		}
	}
	return changed
}

// Beneficiary is the person who is protected, as the partner described them, under the contract's names.
type Beneficiary struct {
	PrimaryCard string  `json:"primary_card"`
	UserCard    string  `json:"user_card"`
	Name        string  `json:"name"`
	CPF         string  `json:"cpf"`
	BirthDate   string  `json:"birth_date"`
	Gender      string  `json:"gender"`
	Email       string  `json:"email"`
	Phone       string  `json:"phone_number"`
	Address     Address `json:"address"`
}

// ValueOfKind returns what the beneficiary is watched by; empty for kinds that plans do not watch.
func (b Beneficiary) ValueOfKind(k identifier.Kind) string {
	switch k {
	case identifier.Email:
		return b.Email
	case identifier.CPF:
		return b.CPF
	case identifier.Phone:
		return b.Phone
	default:
		return ""
	}
}

// Address is where the beneficiary lives.
type Address struct {
	Zipcode      string `json:"zipcode"`
	Street       string `json:"street"`
	Number       string `json:"number"`
	Complement   string `json:"complement,omitempty"`
	Neighborhood string `json:"neighborhood"`
	City         string `json:"city"`
	State        string `json:"state"`
}

// ErrNotFound means that the partner has no such subscription.
var ErrNotFound = fault.New(fault.NotFound, "subscription.not_found")

// Page is a part of a partner's active subscriptions.
type Page struct {
	Items []Subscription
	// Total is how many there are in all.
	Total int64
}

// Store keeps subscriptions.
type Store interface {
	Changes
	// NewBatch prepares the creation of many subscriptions at once.
	NewBatch(ctx context.Context, id partner.ID) (Batch, error)
	// KeepBatch creates, in one transaction, everything that was added to a batch, except what the partner already has
	// and what was added twice: those come back by their place, and so does what was asked for and is there already or
	// was added before it. Plans in register are made first. With dryRun it only tells. It may be called again when the
	// transaction around it is repeated.
	KeepBatch(ctx context.Context, b Batch, register []plan.Plan, dryRun bool) (duplicates []int, err error)
	// CountWaitingLooks counts the values that the created subscriptions of a kept batch have watched and that wait for
	// their first look: those of its items but for duplicates.
	CountWaitingLooks(ctx context.Context, b Batch, duplicates []int) (int, error)
	// ActivePage returns the subscriptions that are neither ended nor past their expiry date, from place offset on,
	// oldest first, and how many there are.
	ActivePage(ctx context.Context, id partner.ID, offset int64, limit int) (Page, error)
	// SubscriptionOf returns the one that has not ended, else the latest that ended.
	SubscriptionOf(ctx context.Context, id partner.ID, plan plan.ID, cpf string) (Subscription, error)
	// MoveSubscriptions changes up to limit subscriptions that have not ended, with seq above after, in one transaction
	// together with their events.
	MoveSubscriptions(
		ctx context.Context,
		id partner.ID,
		which Selection,
		move Move,
		after int64,
		limit int,
	) (Moved, error)
}

// Changes is what changing subscriptions one by one needs besides.
type Changes interface {
	// EditSubscription changes the one that is in force: its expiry date, the reference, the metadata and the
	// beneficiary's data but the CPF. An error of the change keeps everything as it was.
	EditSubscription(
		ctx context.Context,
		id partner.ID,
		which Selection,
		change func(*Subscription) error,
	) (Subscription, error)
}

// Plans tells which plans a partner has.
type Plans interface {
	ListPlans(ctx context.Context, id partner.ID) ([]plan.Plan, error)
}

// Partners lists the partners whose subscriptions the sweep has to check.
type Partners interface {
	ListPartners(ctx context.Context) ([]partner.Partner, error)
}

// Registry is the door to the subscriptions of all partners.
type Registry struct {
	store   Store
	plans   Plans
	tenants Partners
	now     func() time.Time
	setups  sync.Map // of partner.ID to *setup: one for each partner that exists
}

// NewRegistry joins the rules to what is kept and a clock.
func NewRegistry(store Store, plans Plans, tenants Partners, now func() time.Time) *Registry {
	return &Registry{store: store, plans: plans, tenants: tenants, now: now}
}

// MaxPageSize is the most that a page holds.
const MaxPageSize = 100

// ListActive returns one page of the subscriptions that have not ended by today's date, oldest first. Pages count from
// 1; a page past the last is empty and its total is true.
func (r *Registry) ListActive(ctx context.Context, id partner.ID, page int64, size int) (Page, error) {
	size = min(size, MaxPageSize)
	const beyond = 1 << 50 // no partner has that many: keeps the product below from overflowing
	offset := min(page-1, beyond/MaxPageSize) * int64(size)
	return r.store.ActivePage(ctx, id, offset, size)
}

// FindSubscription returns the subscription of a person to a plan: the one that has not ended, else the latest that
// ended.
func (r *Registry) FindSubscription(ctx context.Context, id partner.ID, p plan.ID, cpf string) (Subscription, error) {
	return r.store.SubscriptionOf(ctx, id, p, cpf)
}

// ListState is which subscriptions an operator's list holds.
type ListState string

// The states of a list: those that have not ended, suspended ones of them, and those that have.
const (
	ListRunning   ListState = ""
	ListSuspended ListState = "suspended"
	ListEnded     ListState = "ended"
)

// ListFilter picks subscriptions of a partner for the operator; the zero value of a field does not restrict.
type ListFilter struct {
	State ListState
	Plan  plan.ID
	// User is the person, by the partner's user hash.
	User partner.UserHash
	// From and To are a period of first days, To inclusive.
	From, To    Day
	NewestFirst bool
	// After is the number to go on from, exclusive; 0 means at the beginning.
	After int64
	Limit int
}

// FitsFilter reports whether a list that is looked at today holds a subscription.
func (f ListFilter) FitsFilter(s Subscription, today Day) bool {
	return s.Over(today) == (f.State == ListEnded) && (f.State != ListSuspended || !s.SuspendedAt.IsZero()) &&
		(f.Plan == "" || s.Plan == f.Plan) && s.Start >= f.From && (f.To == 0 || s.Start <= f.To)
}

// Day is a calendar day: 1 January of the year 1 is day 1. The zero value is no day.
type Day int64

// saoPaulo is where a subscription's last day ends.
var saoPaulo = func() *time.Location {
	loc, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil { // cannot happen with the zone data built in; three hours behind is right since 2019
		return time.FixedZone("-03", -3*60*60)
	}
	return loc
}()

// yearOneToUnix is the number of days from day 1 to 1 January 1970.
const yearOneToUnix = 719162

// DayInBrazil returns the day that a moment falls on in São Paulo.
func DayInBrazil(t time.Time) Day {
	y, m, d := t.In(saoPaulo).Date()
	return newCivilDay(y, m, d)
}

func newCivilDay(y int, m time.Month, d int) Day {
	return Day(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()/86400 + yearOneToUnix + 1)
}

// Time returns midnight UTC of the day, which is how the contract writes dates; the zero time for no day.
func (d Day) Time() time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Unix((int64(d)-yearOneToUnix-1)*86400, 0).UTC()
}

// String writes the day as YYYY-MM-DD; empty for no day.
func (d Day) String() string {
	if d == 0 {
		return ""
	}
	return d.Time().Format(time.DateOnly)
}

// ParseDay reads YYYY-MM-DD, or a full ISO 8601 date-time whose date as written counts.
func ParseDay(s string) (Day, bool) {
	const length = len(time.DateOnly)
	if len(s) > length {
		// A date-time with an offset, or a local one without.
		if _, err := time.Parse(time.RFC3339Nano, s); err != nil {
			if _, err := time.Parse("2006-01-02T15:04:05.999999999", s); err != nil {
				return 0, false
			}
		}
		s = s[:length]
	}
	if len(s) != length || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	year, ok1 := parseDigits(s[:4])
	month, ok2 := parseDigits(s[5:7])
	day, ok3 := parseDigits(s[8:])
	if !ok1 || !ok2 || !ok3 || year == 0 || month < 1 || month > 12 || day < 1 {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if t.Day() != day { // 30 February came out as 1 or 2 March
		return 0, false
	}
	return Day(t.Unix()/86400 + yearOneToUnix + 1), true
}

// parseDigits reads a number that is made of digits alone.
func parseDigits(s string) (int, bool) {
	n := 0
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int(c)
	}
	return n, true
}
