package operator

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
)

// What wrong tries cost: from the fifth on every try must wait twice as long as the one before, and ten lock the
// account for half an hour. API keys are never locked: that would let anybody stop a partner.
const (
	delayFrom = 5
	lockFrom  = 10
	lockFor   = 30 * time.Minute
)

// penalty is how long after a wrong try the next one may succeed.
func penalty(failures int) time.Duration {
	switch {
	case failures >= lockFrom:
		return lockFor
	case failures >= delayFrom:
		return time.Second << (failures - delayFrom + 1)
	}
	return 0
}

// Login checks e-mail, password and code and opens a session, whose token it returns. Whatever is wrong, the error is
// ErrRefused and the time is that of one hash. An operator without a second factor leaves the code empty. The operator
// is returned with a refusal too, for the audit trail and for nobody else.
func (r *Registry) Login(ctx context.Context, email, password, code, from string) (Operator, string, error) {
	var o Operator
	normal, err := identifier.ParseEmail(email)
	if err == nil {
		o, err = r.store.OperatorByEmail(ctx, normal)
	} else {
		err = ErrNotFound
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Operator{}, "", err
	}
	right, err := r.hasher.matches(ctx, password, o.Password)
	if err != nil {
		return Operator{}, "", err
	}
	if o.ID == "" {
		return Operator{}, "", ErrRefused
	}
	passed, err := r.judge(ctx, o.ID, right, code)
	if err != nil {
		return Operator{ID: o.ID}, "", err
	}
	token, err := r.openSession(ctx, passed.ID, from)
	return passed, token, err
}

// judge counts the try and decides it, under the lock of the operator's row: tries at once are counted one by one.
func (r *Registry) judge(ctx context.Context, id ID, right bool, code string) (Operator, error) {
	refused := false
	o, err := r.store.UpdateOperator(ctx, id, KeepSessions, func(o *Operator, _ []Operator) error {
		now := r.now()
		if now.Before(o.LockedUntil) {
			refused = true
			return nil // not counted: or nobody could ever get back in while others keep trying
		}
		step, good := int64(0), true
		if o.TOTPOn {
			step, good = totpStep(o.TOTP, code, now, o.TOTPStep)
		}
		if !right || !good || o.Disabled {
			refused = true
			o.Failures++
			o.LockedUntil = now.Add(penalty(o.Failures))
			return nil
		}
		o.Failures, o.LockedUntil, o.LastLogin = 0, time.Time{}, now
		if o.TOTPOn {
			o.TOTPStep = step
		}
		return nil
	})
	if err == nil && refused {
		err = ErrRefused
	}
	return o, err
}

// Invited returns whose one-time link a token is.
func (r *Registry) Invited(ctx context.Context, token string) (Operator, error) {
	o, err := r.store.OperatorByInvite(ctx, r.store.Digest(token))
	if err != nil {
		return Operator{}, orRefused(err, ErrLink)
	}
	// A reset takes the second factor away before it gives a link: one beside a factor that is on would go around it.
	if o.Disabled || o.TOTPOn || !r.now().Before(o.InviteUntil) {
		return Operator{}, ErrLink
	}
	return o, nil
}

// Accept uses a one-time link up: the password is set and a session opened. The second factor comes next, by BeginTOTP.
func (r *Registry) Accept(ctx context.Context, token, password, from string) (Operator, string, error) {
	o, err := r.Invited(ctx, token)
	if err != nil {
		return Operator{}, "", err
	}
	if err := r.checkPassword(password, o.Email); err != nil {
		return Operator{}, "", err
	}
	encoded, err := r.hasher.encode(ctx, password, r.random)
	if err != nil {
		return Operator{}, "", err
	}
	o, err = r.store.UpdateOperator(ctx, o.ID, DropSessions, func(o *Operator, _ []Operator) error {
		if !hmac.Equal(o.Invite, r.store.Digest(token)) || o.TOTPOn { // used by somebody else meanwhile
			return ErrLink
		}
		o.Password, o.Invite, o.InviteUntil = encoded, nil, time.Time{}
		o.Failures, o.LockedUntil, o.LastLogin = 0, time.Time{}, r.now()
		return nil
	})
	if err != nil {
		return Operator{}, "", err
	}
	session, err := r.openSession(ctx, o.ID, from)
	return o, session, err
}

// ChangePassword replaces the password of somebody who knows the present one, and ends all other sessions.
func (r *Registry) ChangePassword(ctx context.Context, s Session, present, next string) error {
	o, err := r.Prove(ctx, &s, present)
	if err != nil {
		return err
	}
	if err := r.checkPassword(next, o.Email); err != nil {
		return err
	}
	encoded, err := r.hasher.encode(ctx, next, r.random)
	if err != nil {
		return err
	}
	_, err = r.store.UpdateOperator(ctx, o.ID, DropSessions, func(o *Operator, _ []Operator) error {
		o.Password = encoded
		return nil
	})
	if err != nil {
		return err
	}
	return r.store.InsertSession(ctx, s)
}

// BeginTOTP gives an operator the secret of a second factor, or returns the one that waits to be confirmed.
func (r *Registry) BeginTOTP(ctx context.Context, id ID) (Operator, error) {
	return r.store.UpdateOperator(ctx, id, KeepSessions, func(o *Operator, _ []Operator) error {
		if o.TOTPOn || len(o.TOTP) > 0 {
			return nil
		}
		o.TOTP = make([]byte, totpSecret)
		if _, err := io.ReadFull(r.random, o.TOTP); err != nil {
			return fmt.Errorf("make second factor: %w", err)
		}
		return nil
	})
}

// ConfirmTOTP turns the second factor on when the code shows that the app has the secret.
func (r *Registry) ConfirmTOTP(ctx context.Context, id ID, code string) (Operator, error) {
	return r.store.UpdateOperator(ctx, id, KeepSessions, func(o *Operator, _ []Operator) error {
		if o.TOTPOn {
			return nil
		}
		step, ok := totpStep(o.TOTP, code, r.now(), o.TOTPStep)
		if !ok || len(o.TOTP) == 0 {
			return ErrCode
		}
		o.TOTPOn, o.TOTPStep = true, step
		return nil
	})
}
