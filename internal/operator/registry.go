package operator

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

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
	StoredOperators
	store   Store
	exposed Exposed
	now     func() time.Time
	hasher  *hasher
}

// NewRegistry joins the rules to a store, the corpus of breached passwords and a clock.
func NewRegistry(store Store, exposed Exposed, now func() time.Time) *Registry {
	return &Registry{StoredOperators: store, store: store, exposed: exposed, now: now, hasher: newHasher()}
}

// WithStore returns the same rules over another store: inside a transaction.
func (r *Registry) WithStore(store Store) *Registry {
	inside := *r
	inside.StoredOperators, inside.store = store, store
	return &inside
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

// EnableOperator undoes DisableOperator and lifts a lock.
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
	ctx context.Context, id ID, end EndSessions, change func(o *Operator),
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
