package operator

import (
	"context"
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
)

// What wrong tries cost: from the fifth on every try must wait twice as long as the one before, and ten lock the
// account for half an hour. API keys are never locked: that would let an attacker stop a partner.
const (
	delayFrom = 5
	lockFrom  = 10
	lockFor   = 30 * time.Minute
)

// tryPenalty returns how long after a wrong try the next one may succeed.
func tryPenalty(failures int) time.Duration {
	switch {
	case failures >= lockFrom:
		return lockFor
	case failures >= delayFrom:
		return time.Second << (failures - delayFrom + 1)
	}
	return 0
}

// Try is a log-in whose password was looked at. What it holds is for Decide alone.
type Try struct {
	id    ID
	right bool
}

// TryPassword checks e-mail and password. It always costs one hash, also for an unknown or locked operator, so that the
// time taken does not show which e-mails have an account.
func (r *Registry) TryPassword(ctx context.Context, email, password string) (Try, error) {
	var o Operator
	normal, err := identifier.ParseEmail(email)
	if err == nil {
		o, err = r.store.OperatorByEmail(ctx, normal)
	} else {
		err = ErrNotFound
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Try{}, err
	}
	right, err := r.hasher.matchesHash(ctx, password, o.Password)
	return Try{o.ID, right && o.ID != ""}, err
}

// Outcome is what a log-in came to.
type Outcome struct {
	// Operator is whose account was tried, for the audit trail; without an ID when there is no such account.
	Operator Operator
	// Token opens the session; empty when the log-in is refused.
	Token string
	// Counted says that the refusal counted as a try, and did not meet a lock. Only then it is recorded in the trail;
	// otherwise an attacker could make the trail grow without end.
	Counted bool
	// Recovered says that a recovery code stood in for the authenticator app.
	Recovered bool
}

// DecideLogin counts a try and opens a session if all is right; an operator without a second factor leaves the code
// empty. A refusal is no error, so that the counted try is committed. For a known and an unknown e-mail alike the
// operators are locked and read and one transaction is written: refusals cannot be told apart by timing.
func (r *Registry) DecideLogin(ctx context.Context, t Try, code, from string) (out Outcome, err error) {
	passed := false
	out.Operator, err = r.store.UpdateOperator(ctx, t.id, KeepSessions, func(o *Operator, _ []Operator) error {
		now := r.now()
		if now.Before(o.LockedUntil) {
			return nil // not counted: otherwise an attacker who keeps trying would lock the operator out for ever
		}
		used := *o
		good := r.secondFactor(&used, code, now, &out.Recovered)
		if passed = t.right && good && !o.Disabled; !passed {
			out.Counted = true
			o.countFailure(now) // and the code stays good: the password may just have been mistyped
			return nil
		}
		*o = used
		o.Failures, o.LockedUntil, o.LastLogin = 0, time.Time{}, now
		return nil
	})
	if errors.Is(err, ErrNotFound) {
		return Outcome{}, nil
	}
	if err != nil || !passed {
		out.Recovered = false
		return out, err
	}
	out.Token, err = r.openSession(ctx, out.Operator.ID, from)
	return out, err
}

// countFailure counts a wrong try. A lock that has ended starts the count anew, or every try after it would lock again.
func (o *Operator) countFailure(now time.Time) {
	if o.Failures >= lockFrom {
		o.Failures = 0
	}
	o.Failures++
	o.LockedUntil = now.Add(tryPenalty(o.Failures))
}

// ChangePassword replaces the password of an operator who knows the present one, and ends all sessions. It returns the
// new token of the one session in which the operator continues.
func (r *Registry) ChangePassword(ctx context.Context, s Session, present, next string) (string, error) {
	o, err := r.checkSessionPassword(ctx, s.Operator, present)
	if err != nil {
		return "", err
	}
	encoded, err := r.encodeNewPassword(ctx, next, o.Email)
	if err != nil {
		return "", err
	}
	if _, err = r.editOperator(ctx, o.ID, DropSessions, func(o *Operator) { o.Password = encoded }); err != nil {
		return "", err
	}
	s.ProvedAt = r.now()
	return r.RenewToken(ctx, &s)
}
