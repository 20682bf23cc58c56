package operator

import (
	"context"
	"crypto/hmac"
	"errors"
	"slices"
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

// FindInvited returns whose one-time link a token is.
func (r *Registry) FindInvited(ctx context.Context, token string) (Operator, error) {
	o, err := r.store.OperatorByInvite(ctx, r.store.TokenDigest(token))
	if err != nil {
		return Operator{}, orRefused(err, ErrLink)
	}
	// A reset takes the second factor away before it gives a link: one beside a factor that is on would go around it.
	if o.Disabled || o.TOTPOn || !r.now().Before(o.InviteUntil) {
		return Operator{}, ErrLink
	}
	return o, nil
}

// AcceptInvitation uses a one-time link up: the password is set and a session opened. The second factor comes next, by
// BeginTOTP.
func (r *Registry) AcceptInvitation(ctx context.Context, token, password, from string) (Operator, string, error) {
	o, err := r.FindInvited(ctx, token)
	if err != nil {
		return Operator{}, "", err
	}
	encoded, err := r.encodeNewPassword(ctx, password, o.Email)
	if err != nil {
		return Operator{}, "", err
	}
	o, err = r.store.UpdateOperator(ctx, o.ID, DropSessions, func(o *Operator, _ []Operator) error {
		if !hmac.Equal(o.Invite, r.store.TokenDigest(token)) || o.TOTPOn { // another request used the link meanwhile
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

// BeginTOTP gives an operator the secret of a second factor, or returns the one that waits to be confirmed.
func (r *Registry) BeginTOTP(ctx context.Context, id ID) (Operator, error) {
	return r.editOperator(ctx, id, KeepSessions, func(o *Operator) {
		if !o.TOTPOn && len(o.TOTP) == 0 {
			o.TOTP = randomBytes(totpSecret)
		}
	})
}

// ConfirmTOTP turns the second factor on when the code shows that the app has the secret.
func (r *Registry) ConfirmTOTP(ctx context.Context, id ID, code string) (Operator, error) {
	return r.store.UpdateOperator(ctx, id, KeepSessions, func(o *Operator, _ []Operator) error {
		if o.TOTPOn {
			return nil
		}
		step, ok := findStep(o.TOTP, code, r.now(), o.TOTPStep)
		if !ok || len(o.TOTP) == 0 {
			return ErrCode
		}
		o.TOTPOn, o.TOTPStep = true, step
		return nil
	})
}

// Limits of a session.
const (
	// IdleLimit ends a session without requests; AbsoluteLimit ends every session.
	IdleLimit     = 30 * time.Minute
	AbsoluteLimit = 12 * time.Hour
	// ProofLimit is how long after the last proof of the password a secret may be shown.
	ProofLimit = 10 * time.Minute
	// seenEvery is how exactly the last use is kept, so that looking at pages does not write to the database each time.
	seenEvery = time.Minute
)

// Session is one browser in which an operator logged in. It holds only the digest of the token that the browser has.
type Session struct {
	Digest    []byte
	Operator  ID
	CreatedAt time.Time
	SeenAt    time.Time
	ProvedAt  time.Time
	// From is the address it was opened from.
	From string
}

// IsFresh reports whether the password was proved so lately that a secret may be shown.
func (s Session) IsFresh(now time.Time) bool { return now.Before(s.ProvedAt.Add(ProofLimit)) }

// isOverAt also ends a session that was used in the future: else a clock that was set back would let it live for so
// much longer.
func (s Session) isOverAt(now time.Time) bool {
	return !now.Before(s.SeenAt.Add(IdleLimit)) || !now.Before(s.CreatedAt.Add(AbsoluteLimit)) ||
		now.Before(s.SeenAt.Add(-IdleLimit))
}

// openSession starts a session after a log-in and returns its token, of which only the digest is stored.
func (r *Registry) openSession(ctx context.Context, id ID, from string) (string, error) {
	token, digest := r.newToken()
	now := r.now()
	return token, r.store.InsertSession(
		ctx,
		Session{Digest: digest, Operator: id, CreatedAt: now, SeenAt: now, ProvedAt: now, From: from},
	)
}

// ResumeSession says whose session a token is, and keeps it alive. Role and state of the operator are read anew each
// time, so a change acts at once.
func (r *Registry) ResumeSession(ctx context.Context, token string) (Session, Operator, error) {
	s, o, err := r.store.SessionByDigest(ctx, r.store.TokenDigest(token))
	if err != nil {
		return Session{}, Operator{}, err
	}
	now := r.now()
	if s.isOverAt(now) || o.Disabled {
		return Session{}, Operator{}, errors.Join(ErrNoSession, r.store.DeleteSession(ctx, s.Digest))
	}
	if now.Sub(s.SeenAt) >= seenEvery {
		s.SeenAt = now
		err = r.store.UpdateSession(ctx, s)
	}
	return s, o, err
}

// RenewToken replaces the token of a session: an attacker who learned the old token before the operator proved their
// identity must not profit from the proof (session fixation).
func (r *Registry) RenewToken(ctx context.Context, s *Session) (string, error) {
	before := s.Digest
	token, digest := r.newToken()
	s.Digest = digest
	return token, r.store.ReplaceSession(ctx, before, *s)
}

// ProvePassword checks the password again. The session goes on under the token that is returned.
func (r *Registry) ProvePassword(ctx context.Context, s *Session, password string) (string, error) {
	if _, err := r.checkSessionPassword(ctx, s.Operator, password); err != nil {
		return "", err
	}
	s.ProvedAt = r.now()
	return r.RenewToken(ctx, s)
}

// checkSessionPassword checks the password of an operator who has a session. Wrong tries count like those of a log-in.
func (r *Registry) checkSessionPassword(ctx context.Context, id ID, password string) (Operator, error) {
	o, err := r.store.OperatorByID(ctx, id)
	if err != nil {
		return Operator{}, orRefused(err, ErrRefused)
	}
	right, err := r.hasher.matchesHash(ctx, password, o.Password)
	if err != nil {
		return Operator{}, err
	}
	refused := false
	o, err = r.store.UpdateOperator(ctx, o.ID, KeepSessions, func(o *Operator, _ []Operator) error {
		now := r.now()
		switch {
		case now.Before(o.LockedUntil) || o.Disabled:
			refused = true
		case !right:
			refused = true
			o.countFailure(now)
		default:
			o.Failures = 0
		}
		return nil
	})
	if err == nil && refused {
		err = ErrRefused
	}
	return o, err
}

func (r *Registry) EndSession(ctx context.Context, s Session) error {
	return r.store.DeleteSession(ctx, s.Digest)
}

// ListSessions lists an operator's open sessions, newest first.
func (r *Registry) ListSessions(ctx context.Context, id ID) ([]Session, error) {
	all, err := r.store.ListSessions(ctx, id)
	return slices.DeleteFunc(all, func(s Session) bool { return s.isOverAt(r.now()) }), err
}

// SweepSessions forgets sessions that are over.
func (r *Registry) SweepSessions(ctx context.Context) (int64, error) {
	now := r.now()
	return r.store.SweepSessions(ctx, now.Add(-AbsoluteLimit), now.Add(-IdleLimit))
}

// DismissNotices records that the operator has read the notices about changes of their own access.
func (r *Registry) DismissNotices(ctx context.Context, id ID) error {
	_, err := r.editOperator(ctx, id, KeepSessions, func(o *Operator) { o.NoticedAt = r.now() })
	return err
}
