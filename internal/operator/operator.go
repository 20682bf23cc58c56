// Package operator holds the people who run the service, and those of partners who look after their own part of it: who
// they are, what they may do, how they prove it, and the trail of what they did and saw.
//
// It knows nothing of HTTP, pages or SQL, and nothing of the product's own rules. The invariants it keeps: there is no
// default account, every way of failing to log in looks and costs the same, and the trail only grows.
package operator

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ID names an operator: "op_" and a UUIDv7.
type ID string

// Role is what an operator may do. Each of the service's own roles includes those before it; the roles of partners are
// in portal.go.
type Role string

// The roles, least powerful first: a viewer looks, support helps people, an admin changes the service.
const (
	Viewer  Role = "viewer"
	Support Role = "support"
	Admin   Role = "admin"
)

// ListRoles lists all of them, least powerful first.
func ListRoles() []Role { return []Role{Viewer, Support, Admin} }

// ParseRole reads a role's name.
func ParseRole(s string) (Role, error) {
	if r := Role(s); r.roleRank() > 0 {
		return r, nil
	}
	return "", errRole
}

// Covers reports whether the role may do what need may do. A role that is not in the list covers nothing.
func (r Role) Covers(need Role) bool {
	return need.roleRank() > 0 && r.roleRank() >= need.roleRank()
}

// roleRank returns the place of a role among those of the service, counted from 1; 0 for others.
func (r Role) roleRank() int { return slices.Index(ListRoles(), r) + 1 }

// Operator is one person with access to the console.
type Operator struct {
	ID    ID
	Email string
	Role  Role
	// Partner is whose person it is, who sees nothing of others; empty for those who run the service.
	Partner  partner.ID
	Disabled bool
	// Password is the encoded Argon2id hash; empty until the person has chosen one.
	Password string
	// TOTP is the shared secret of the second factor; it counts once TOTPOn is set, which the first right code does.
	TOTP   []byte
	TOTPOn bool
	// TOTPStep is the last time step whose code was taken: a code works once.
	TOTPStep int64
	// Recovery are the digests of the codes that stand in for a lost authenticator app, each once.
	Recovery [][]byte
	// Invite is the digest of the one-time link in force until InviteUntil; nil when there is none.
	Invite      []byte
	InviteUntil time.Time
	// Failures are the wrong tries in a row; until LockedUntil every try is wrong.
	Failures    int
	LockedUntil time.Time
	CreatedAt   time.Time
	LastLogin   time.Time
	// Forged is a row that this program did not write: it grants nothing, and is only in lists.
	Forged bool
	// NoticedAt is the time up to which the operator has dismissed notices about their own access.
	NoticedAt time.Time
}

// Faults of this package.
var (
	ErrNotFound = fault.New(fault.NotFound, "operator.not_found")
	ErrExists   = fault.New(fault.Conflict, "operator.exists")
	ErrInvalid  = fault.New(fault.Invalid, "operator.invalid")
	errRole     = ErrInvalid.With("role", fault.OneOf, "admin, support, viewer")
	// ErrLastAdmin refuses a change that would leave the service without an administrator.
	ErrLastAdmin = fault.New(fault.Conflict, "operator.last_admin")
	// ErrRefused is every failure to log in, whatever its cause.
	ErrRefused = fault.New(fault.Unauthenticated, "login.refused")
	// ErrBusy means that too many people are logging in at once.
	ErrBusy            = fault.New(fault.RateLimited, "login.busy")
	ErrLink            = fault.New(fault.Unauthenticated, "link.refused")
	ErrPassword        = fault.New(fault.Invalid, "operator_password.invalid")
	ErrPasswordExposed = fault.New(fault.Invalid, "operator_password.exposed")
	ErrCode            = fault.New(fault.Invalid, "code.wrong")
	ErrNoSession       = fault.New(fault.Unauthenticated, "session.none")
)

// Store keeps operators and their sessions.
type Store interface {
	// TokenDigest returns the digest that is stored of a token. It is keyed, so that an attacker who can write to the
	// database still cannot plant the digest of a token of their own.
	TokenDigest(token string) []byte
	// InsertOperator keeps a new operator; ErrExists when the e-mail is taken.
	InsertOperator(ctx context.Context, o Operator) error
	OperatorByEmail(ctx context.Context, email string) (Operator, error)
	OperatorByInvite(ctx context.Context, digest []byte) (Operator, error)
	// UpdateOperator changes one operator under the lock of all of them, so that a rule over the whole list holds.
	// Sessions end in the same transaction when end is set.
	UpdateOperator(
		ctx context.Context,
		id ID,
		end EndSessions,
		change func(o *Operator, all []Operator) error,
	) (Operator, error)

	InsertSession(ctx context.Context, s Session) error
	SessionByDigest(ctx context.Context, digest []byte) (Session, Operator, error)
	UpdateSession(ctx context.Context, s Session) error
	// ReplaceSession keeps a session under another digest and forgets the one before.
	ReplaceSession(ctx context.Context, before []byte, s Session) error
	DeleteSession(ctx context.Context, digest []byte) error
	ListSessions(ctx context.Context, id ID) ([]Session, error)
	// InsertPasskey keeps a new passkey; ErrPasskey when its ID is taken.
	InsertPasskey(ctx context.Context, p Passkey) error
	UpdatePasskey(ctx context.Context, p Passkey) error
	// DeletePasskeys forgets one passkey of an operator, or all of them when passkey is nil.
	DeletePasskeys(ctx context.Context, id ID, passkey []byte) (int64, error)
	InsertCeremony(ctx context.Context, digest, state []byte, until time.Time) error
	// TakeCeremony returns what was kept and forgets it; ErrNotFound when it is not there or too old.
	TakeCeremony(ctx context.Context, digest []byte, now time.Time) ([]byte, error)
	// SweepSessions removes sessions that are past their limits.
	SweepSessions(ctx context.Context, created, seen time.Time) (int64, error)
	// ListOperators returns all of them, oldest first; OperatorByID one.
	ListOperators(ctx context.Context) ([]Operator, error)
	OperatorByID(ctx context.Context, id ID) (Operator, error)
	// DeleteSessions ends all sessions of an operator and returns how many there were.
	DeleteSessions(ctx context.Context, id ID) (int64, error)
	// ListPasskeys returns an operator's, oldest first.
	ListPasskeys(ctx context.Context, id ID) ([]Passkey, error)
}

// EndSessions says whether a change also ends the operator's sessions.
type EndSessions bool

// The two ways.
const (
	KeepSessions EndSessions = false
	DropSessions EndSessions = true
)

// Exposed reports whether a password is known from breaches.
type Exposed func(password string) (bool, error)

// Registry creates, changes and authenticates operators, for the command line and the console alike.
type Registry struct {
	store   Store
	exposed Exposed
	now     func() time.Time
	hasher  *hasher
}

// NewRegistry joins the rules to a store, the corpus of breached passwords and a clock.
func NewRegistry(store Store, exposed Exposed, now func() time.Time) *Registry {
	return &Registry{store: store, exposed: exposed, now: now, hasher: newHasher()}
}

// WithStore returns the same rules over another store: inside a transaction.
func (r *Registry) WithStore(store Store) *Registry {
	inside := *r
	inside.store = store
	return &inside
}

// ListOperators returns all operators, oldest first.
func (r *Registry) ListOperators(ctx context.Context) ([]Operator, error) {
	return r.store.ListOperators(ctx)
}

// OperatorByID returns one operator.
func (r *Registry) OperatorByID(ctx context.Context, id ID) (Operator, error) {
	return r.store.OperatorByID(ctx, id)
}

// DeleteSessions ends all sessions of an operator and returns how many there were.
func (r *Registry) DeleteSessions(ctx context.Context, id ID) (int64, error) {
	return r.store.DeleteSessions(ctx, id)
}

// ListPasskeys returns an operator's, oldest first.
func (r *Registry) ListPasskeys(ctx context.Context, id ID) ([]Passkey, error) {
	return r.store.ListPasskeys(ctx, id)
}

// LinkFor is how long a one-time link can be used.
const LinkFor = 24 * time.Hour

// CreateOperator makes an operator, who chooses a password through the one-time link whose token is returned.
func (r *Registry) CreateOperator(ctx context.Context, email string, role Role) (Operator, string, error) {
	if role.roleRank() == 0 {
		return Operator{}, "", errRole
	}
	return r.insertOperator(ctx, "", email, role)
}

// insertOperator makes an operator of the service or of a partner.
func (r *Registry) insertOperator(
	ctx context.Context,
	id partner.ID,
	email string,
	role Role,
) (Operator, string, error) {
	normal, err := identifier.ParseEmail(email)
	if err != nil {
		return Operator{}, "", ErrInvalid.With("email", fault.EmailExample).Because(err)
	}
	o := Operator{
		ID:        ID("op_" + uuid.Must(uuid.NewV7()).String()),
		Email:     normal,
		Role:      role,
		Partner:   id,
		CreatedAt: r.now(),
	}
	token := r.newInvitation(&o)
	return o, token, r.store.InsertOperator(ctx, o)
}

// randomBytes returns so many random bytes; the system's source never fails.
func randomBytes(n int) []byte {
	raw := make([]byte, n)
	_, _ = rand.Read(raw)
	return raw
}

// newToken makes a reference of 256 random bits and its digest. A fast one is right for so much randomness.
func (r *Registry) newToken() (text string, digest []byte) {
	text = base64.RawURLEncoding.EncodeToString(randomBytes(32))
	return text, r.store.TokenDigest(text)
}

// newInvitation gives an operator a one-time link.
func (r *Registry) newInvitation(o *Operator) (token string) {
	token, o.Invite = r.newToken()
	o.InviteUntil = r.now().Add(LinkFor)
	return token
}

// ResetAccess takes an operator's password, second factor and sessions away and returns the token of a one-time link
// for new ones.
func (r *Registry) ResetAccess(ctx context.Context, id ID) (Operator, string, error) {
	var token string
	if _, err := r.store.DeletePasskeys(ctx, id, nil); err != nil {
		return Operator{}, "", err
	}
	o, err := r.editOperator(ctx, id, DropSessions, func(o *Operator) {
		o.Password, o.TOTP, o.TOTPOn, o.TOTPStep, o.Recovery = "", nil, false, 0, nil
		o.Failures, o.LockedUntil = 0, time.Time{}
		token = r.newInvitation(o)
	})
	return o, token, err
}

// FindByEmail returns one operator by e-mail.
func (r *Registry) FindByEmail(ctx context.Context, email string) (Operator, error) {
	normal, err := identifier.ParseEmail(email)
	if err != nil {
		return Operator{}, ErrNotFound
	}
	return r.store.OperatorByEmail(ctx, normal)
}

// ChangeRole gives an operator another role; it acts on the next request of every session.
func (r *Registry) ChangeRole(ctx context.Context, id ID, role Role) (Operator, error) {
	return r.store.UpdateOperator(ctx, id, KeepSessions, func(o *Operator, all []Operator) error {
		if err := role.checkOwner(o.Partner); err != nil {
			return err
		}
		if o.Role == Admin && role != Admin && !otherAdmin(all, id) {
			return ErrLastAdmin
		}
		o.Role = role
		return nil
	})
}

// DisableOperator keeps an operator out at once; nothing that person did is lost.
func (r *Registry) DisableOperator(ctx context.Context, id ID) (Operator, error) {
	return r.store.UpdateOperator(ctx, id, DropSessions, func(o *Operator, all []Operator) error {
		if o.Role == Admin && !otherAdmin(all, id) {
			return ErrLastAdmin
		}
		o.Disabled, o.Invite, o.InviteUntil = true, nil, time.Time{}
		return nil
	})
}

// EnableOperator undoes Disable and lifts a lock.
func (r *Registry) EnableOperator(ctx context.Context, id ID) (Operator, error) {
	return r.editOperator(
		ctx,
		id,
		KeepSessions,
		func(o *Operator) { o.Disabled, o.Failures, o.LockedUntil = false, 0, time.Time{} },
	)
}

// editOperator is UpdateOperator for a change that cannot be refused.
func (r *Registry) editOperator(
	ctx context.Context,
	id ID,
	end EndSessions,
	change func(o *Operator),
) (Operator, error) {
	return r.store.UpdateOperator(ctx, id, end, func(o *Operator, _ []Operator) error {
		change(o)
		return nil
	})
}

// otherAdmin reports whether an admin other than id could log in.
func otherAdmin(all []Operator, id ID) bool {
	return slices.ContainsFunc(
		all,
		func(o Operator) bool { return o.ID != id && o.Role == Admin && !o.Disabled && !o.Forged },
	)
}

// orRefused returns the refusal in place of ErrNotFound, so that the answer does not show what was not found.
func orRefused(err error, refusal *fault.Error) error {
	if errors.Is(err, ErrNotFound) {
		return refusal
	}
	return err
}

// Figure names one count that an operator looks at.
type Figure string

// The figures. Those of a day are kept for each day, the others as they stand now.
const (
	SubscriptionsActive    Figure = "subscriptions.active"
	SubscriptionsSuspended Figure = "subscriptions.suspended"
	SubscriptionsEnded     Figure = "subscriptions.ended"
	AssetsMonitored        Figure = "assets.monitored" // were looked for in past breaches and not found
	AssetsUnlooked         Figure = "assets.unlooked"  // were not looked for yet
	AssetsAlert            Figure = "assets.alert"
	AssetsCompromised      Figure = "assets.compromised"
	FindingsOpen           Figure = "findings.open"
	FindingsResolved       Figure = "findings.resolved"
	DeliveriesPending      Figure = "deliveries.pending"
	DeliveriesFailed       Figure = "deliveries.failed"
	CasesOpen              Figure = "cases.open"
	DevicesProtected       Figure = "devices.protected"

	FindingsOfDay      Figure = "day.findings"
	AlertsOfDay        Figure = "day.alerts"
	EventsOfDay        Figure = "day.events"
	SubscriptionsOfDay Figure = "day.subscriptions"
	DeliveriesOfDay    Figure = "day.deliveries"

	// Cases of a day: those opened, and those resolved within their target and after it.
	CasesOpenedOfDay Figure = "day.cases.opened"
	CasesInTimeOfDay Figure = "day.cases.in_time"
	CasesLateOfDay   Figure = "day.cases.late"

	// Of one endpoint: what arrived in a day, what was given up, and the microseconds from the event to its arrival.
	ArrivedOfDay Figure = "day.endpoint.arrived"
	GivenUpOfDay Figure = "day.endpoint.given_up"
	TravelOfDay  Figure = "day.endpoint.travel"
	// Backlog is what waits for an endpoint now, Arrived what came there in the last 24 hours.
	Backlog Figure = "endpoint.backlog"
	Arrived Figure = "endpoint.arrived"
)

// ScoreBands is into how many equal bands scores are parted; ScoresIn is how many of a sample of people are in one.
const ScoreBands = 10

// ScoreBandFigure is described above.
func ScoreBandFigure(band int) Figure { return Figure("scores.band" + string(rune('0'+band))) }

// Figures are the counts of the whole service, or of one partner, at one moment.
type Figures struct {
	// At is when they were counted; zero before the first time.
	At  time.Time
	Now map[Figure]int64
}

// DayCount is a figure of one day.
type DayCount struct {
	// Day is that calendar day, as midnight UTC.
	Day   time.Time
	Count int64
}

// Brasilia is the distance of the operator's clock from UTC.
const Brasilia = partner.Brasilia

// FillLastDays lays counts of days out as the last days up to today, with zeros for days without a count.
func FillLastDays(counts []DayCount, now time.Time, days int) []DayCount {
	list := make([]DayCount, days)
	first := time.Unix((partner.DayNumber(now)-int64(days)+1)*24*60*60, 0).UTC()
	for i := range list {
		list[i].Day = first.AddDate(0, 0, i)
	}
	for _, d := range counts {
		if i := int(d.Day.Sub(first) / (24 * time.Hour)); i >= 0 && i < days {
			list[i].Count += d.Count
		}
	}
	return list
}

// KeptFilter is a filter of a list that an operator keeps under a name. Both name and query are sealed: people call
// filters after people.
type KeptFilter struct {
	Operator ID
	ID       string
	List     string
	Name     string
	// Query is the filter as the address of the page has it: ids, states, days and keyed references, never a value that
	// was typed.
	Query     string
	CreatedAt time.Time
}

// Export is a list that was written into a file for the operator who requested it and for no other operator; or a file
// that the operator uploaded, kept until they decide on it.
type Export struct {
	ID       string
	Operator ID
	List     string
	// About is whose data it holds, if the list alone does not say: a partner's id.
	About     string
	Format    Format
	CreatedAt time.Time
	// Until is when the file is removed.
	Until time.Time
	Lines int64
	Parts int64
	// Done says that all of it is there.
	Done bool
}

// Format is how an export is written.
type Format string

// The formats.
const (
	CSV  Format = "csv"
	JSON Format = "json"
)

// IsKnown reports whether it is one of the formats: see sqldb.Enumerated.
func (f Format) IsKnown() bool {
	switch f {
	case CSV, JSON:
		return true
	}
	return false
}

// ExportLife is how long a file is kept; MaxExport is how many lines one holds at most.
const (
	ExportLife = 24 * time.Hour
	MaxExport  = 1_000_000
	// MaxFilters is how many saved filters an operator may have.
	MaxFilters = 100
)

// Faults of lists.
var (
	ErrNoExport = fault.New(fault.NotFound, "export.not_found")
	ErrNoFilter = fault.New(fault.NotFound, "filter.not_found")
	ErrFilter   = fault.New(fault.Invalid, "filter.invalid")
)

// Actor is who did something, and from where.
type Actor struct {
	// Name is an operator's id, or "cli:" and the account of the machine that ran a command.
	Name string
	// From is a network address, or a machine's name.
	From string
}

// Entry is one line of the audit trail.
type Entry struct {
	// Seq numbers the lines without gaps.
	Seq int64
	At  time.Time
	Actor
	// Action is what was done or seen, as "noun.verb".
	Action string
	// Subject is the id of what it was done to; never a personal value.
	Subject string
	// Detail may name personal values and reasons: it is kept sealed, like From.
	Detail string
}

// ErrTrailBroken means that the trail is not what was written: a line was changed, removed, added or moved.
var ErrTrailBroken = fault.New(fault.Conflict, "audit.broken")

// Head is the end of the trail. Kept elsewhere, it later shows that nothing before it was cut off or replaced.
type Head struct {
	Seq int64
	MAC []byte
}

// ErrHead means that a head cannot be read.
var ErrHead = fault.New(fault.Invalid, "audit.head")

// ParseHead reads a head as it is noted: a line's number, a colon and its MAC in hexadecimal. Empty text is no head.
func ParseHead(text string) (h Head, err error) {
	if text == "" {
		return h, nil
	}
	line, mac, _ := strings.Cut(text, ":")
	if h.Seq, err = strconv.ParseInt(line, 10, 64); err == nil {
		h.MAC, err = hex.DecodeString(mac)
	}
	if err != nil || h.Seq < 1 || len(h.MAC) == 0 {
		return Head{}, ErrHead.With("expect", fault.HeadFormat)
	}
	return h, nil
}

// Filter narrows a reading of the trail; empty fields do not.
type Filter struct {
	Actor, Action, Subject string
	// Partner leaves only what the partner's own people did, and what was done to their accounts.
	Partner partner.ID
	// From and To are a period, To exclusive.
	From, To    time.Time
	OldestFirst bool
	// Before is the number to go on from, exclusive; 0 means from the beginning of the list.
	Before int64
	Limit  int
}

// Ledger keeps the trail, each line chained by a keyed hash to the one before.
type Ledger interface {
	AppendAudit(ctx context.Context, e Entry) (Entry, error)
	// ListLines returns lines, newest first unless the filter turns them round.
	ListLines(ctx context.Context, f Filter) ([]Entry, error)
	// VerifyAudit walks the whole trail and returns its head; ErrTrailBroken names the first line that is wrong.
	VerifyAudit(ctx context.Context, expect Head, progress func(seq int64)) (Head, error)
	// KeepTogether runs fn on a ledger whose lines are kept together or not at all.
	KeepTogether(ctx context.Context, fn func(Ledger) error) error
}

// Trail is the audit trail: who did or saw what, when and from where.
type Trail struct {
	ledger Ledger
	now    func() time.Time
	// only is the partner whose lines can be read, and people are its operators; empty means no restriction.
	only   partner.ID
	people *Registry
}

// NewTrail joins the trail to where it is kept.
func NewTrail(ledger Ledger, now func() time.Time) *Trail { return &Trail{ledger: ledger, now: now} }

// TheService stands in the place of those who run the service, where a partner's people read what they did.
const TheService = "service"

// ForPartner returns the trail as a partner's people see it: they add lines as usual, but read only lines by the
// partner's people or about their accounts. Of actions by operators of the service, name, address and details are left
// out.
func (t *Trail) ForPartner(id partner.ID, people *Registry) *Trail {
	return &Trail{t.ledger, t.now, id, people.ForPartner(id, PartnerViewer)}
}

// maxDetail bounds what a line can say.
const maxDetail = 4000

// RecordAction adds a line. What personal values are about to be shown is recorded first, so that nothing is seen
// unrecorded. An action without words is refused: what nobody can read is not recorded.
func (t *Trail) RecordAction(ctx context.Context, who Actor, action, subject, detail string) error {
	if _, known := actionWords[action]; !known {
		return ErrAction.Note("%q has no words", action)
	}
	for i := maxDetail; len(detail) > maxDetail; i-- {
		if utf8.RuneStart(detail[i]) {
			detail = detail[:i]
		}
	}
	_, err := t.ledger.AppendAudit(
		ctx,
		Entry{At: t.now(), Actor: who, Action: action, Subject: subject, Detail: detail},
	)
	if err != nil {
		return fmt.Errorf("record in the audit trail: %w", err)
	}
	return nil
}

// RecordAll adds a line of the same action for each of the subjects, all or none.
func (t *Trail) RecordAll(ctx context.Context, who Actor, action string, subjects []string, detail string) error {
	return t.ledger.KeepTogether(ctx, func(in Ledger) error {
		trail := NewTrail(in, t.now)
		for _, s := range subjects {
			if err := trail.RecordAction(ctx, who, action, s, detail); err != nil {
				return err
			}
		}
		return nil
	})
}

// ListEntries reads the trail, newest first unless the filter turns it round.
func (t *Trail) ListEntries(ctx context.Context, f Filter) ([]Entry, error) {
	if t.only == "" {
		return t.ledger.ListLines(ctx, f)
	}
	f.Partner = t.only
	list, err := t.ledger.ListLines(ctx, f)
	if err != nil {
		return nil, err
	}
	own, err := t.people.ListOperators(ctx)
	if err != nil {
		return nil, err
	}
	for i, e := range list {
		if !slices.ContainsFunc(own, func(o Operator) bool { return string(o.ID) == e.Name }) {
			list[i].Actor, list[i].Detail = Actor{Name: TheService}, ""
		}
	}
	return list, nil
}

// VerifyTrail checks the whole trail. With a head noted earlier it also shows that nothing up to there was replaced.
func (t *Trail) VerifyTrail(ctx context.Context, expect Head, progress func(seq int64)) (Head, error) {
	if t.only != "" {
		return Head{}, ErrNotFound // the head covers the lines of all partners
	}
	return t.ledger.VerifyAudit(ctx, expect, progress)
}
