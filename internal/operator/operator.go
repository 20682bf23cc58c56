// Package operator holds the people who run the service, and those of partners who look after their own part of it: who
// they are, what they may do, how they prove it, and the trail of what they did and saw.
//
// It knows nothing of HTTP, pages or SQL, and nothing of the product's own rules. The invariants it keeps: there is no
// default account, every way of failing to log in looks and costs the same, and the trail only grows.
package operator

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ID names an operator: "op_" and a UUIDv7.
type ID string

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

// StoredOperators is what callers ask of the store itself: no rule stands between.
type StoredOperators interface {
	// ListOperators returns all of them, oldest first; OperatorByID one.
	ListOperators(ctx context.Context) ([]Operator, error)
	OperatorByID(ctx context.Context, id ID) (Operator, error)
	// DeleteSessions ends all sessions of an operator and returns how many there were.
	DeleteSessions(ctx context.Context, id ID) (int64, error)
	// ListPasskeys returns an operator's, oldest first.
	ListPasskeys(ctx context.Context, id ID) ([]Passkey, error)
}

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
	StoredOperators
}
