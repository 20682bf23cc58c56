package operator

import (
	"context"
	"errors"
	"slices"
	"time"
)

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
