package store

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// sessionPlace binds the origin of a session to its digest.
func sessionPlace(digest []byte) seal.Place {
	return seal.Place{Table: "operator_session", Column: "origin", Row: string(digest)}
}

// InsertSession stores a new session.
func (s Operators) InsertSession(ctx context.Context, n operator.Session) error {
	return s.ReplaceSession(ctx, nil, n)
}

// ReplaceSession stores a session and deletes the digest that it had before.
func (s Operators) ReplaceSession(ctx context.Context, before []byte, n operator.Session) error {
	origin, err := s.keys.Seal(sessionPlace(n.Digest), []byte(n.From))
	if err != nil {
		return fmt.Errorf("seal session: %w", err)
	}
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		if before != nil {
			if _, err := tx.ExecContext(ctx, `DELETE FROM operator_session WHERE digest = $1`, before); err != nil {
				return fmt.Errorf("forget session: %w", err)
			}
		}
		return execStatement(ctx, tx, "insert session", `INSERT INTO operator_session (digest, operator_id, created_at, seen_at, proved_at, origin, mac)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, n.Digest, string(n.Operator), toMicros(n.CreatedAt), toMicros(n.SeenAt), toMicros(n.ProvedAt), origin,
			s.grantMAC("operator_session", sessionGrant(n)))
	})
}

const sessionColumns = `n.digest, n.operator_id, n.created_at, n.seen_at, n.proved_at, n.origin, n.mac`

// sessionRow is the columns of a session on their way in.
type sessionRow struct {
	session operator.Session
	times   [3]int64
	origin  []byte
	mac     []byte
}

// scanTargets returns where the columns of a session are scanned to.
func (r *sessionRow) scanTargets() []any {
	return []any{&r.session.Digest, &r.session.Operator, &r.times[0], &r.times[1], &r.times[2], &r.origin, &r.mac}
}

// openSession unseals and checks a session. One that this program did not write is an error: it would grant access.
func (s Operators) openSession(r *sessionRow) (operator.Session, error) {
	from, err := s.keys.Unseal(sessionPlace(r.session.Digest), r.origin)
	if err != nil {
		return r.session, fmt.Errorf("open session: %w", err)
	}
	n := r.session
	n.From = string(from)
	n.CreatedAt, n.SeenAt, n.ProvedAt = fromMicros(r.times[0]), fromMicros(r.times[1]), fromMicros(r.times[2])
	if !s.isGenuine("operator_session", sessionGrant(n), r.mac) {
		return operator.Session{}, forgedRowError("operator_session of", string(n.Operator))
	}
	return n, nil
}

// SessionByDigest returns a session and its operator.
func (s Operators) SessionByDigest(ctx context.Context, digest []byte) (operator.Session, operator.Operator, error) {
	var r sessionRow
	o, err := s.scanOperator(s.readQuerier().QueryRowContext(ctx, `SELECT `+operatorColumns+`, `+sessionColumns+`
		FROM operator_session n JOIN operator o ON o.id = n.operator_id WHERE n.digest = $1`, digest), r.scanTargets()...)
	if err != nil {
		return operator.Session{}, o, readError("read session", err, operator.ErrNoSession)
	}
	if o.Forged {
		return operator.Session{}, operator.Operator{}, forgedRowError("operator", string(o.ID))
	}
	n, err := s.openSession(&r)
	return n, o, err
}

// UpdateSession stores the times of a session; one that is gone stays gone.
func (s Operators) UpdateSession(ctx context.Context, n operator.Session) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		return execStatement(ctx, tx, "update session", `UPDATE operator_session SET seen_at = $2, proved_at = $3, mac = $4 WHERE digest = $1`,
			n.Digest, toMicros(n.SeenAt), toMicros(n.ProvedAt), s.grantMAC("operator_session", sessionGrant(n)))
	})
}

// DeleteSession ends a session.
func (s Operators) DeleteSession(ctx context.Context, digest []byte) error {
	_, err := s.deleteSessions(ctx, `digest = $1`, digest)
	return err
}

// DeleteSessions ends all sessions of an operator.
func (s Operators) DeleteSessions(ctx context.Context, id operator.ID) (int64, error) {
	return s.deleteSessions(ctx, `operator_id = $1`, string(id))
}

// SweepSessions removes sessions made or last used before the limits.
func (s Operators) SweepSessions(ctx context.Context, created, seen time.Time) (int64, error) {
	return s.deleteSessions(ctx, `created_at <= $1 OR seen_at <= $2`, toMicros(created), toMicros(seen))
}

// deleteSessions deletes the sessions that match and returns how many there were.
func (s Operators) deleteSessions(ctx context.Context, where string, args ...any) (n int64, err error) {
	err = s.runInTx(ctx, func(tx *sqldb.Tx) error {
		res, err := tx.ExecContext(ctx, `DELETE FROM operator_session WHERE `+where, args...)
		if err != nil {
			return fmt.Errorf("delete sessions: %w", err)
		}
		n, err = res.RowsAffected()
		return err
	})
	return n, err
}

// ListSessions returns an operator's sessions, newest first.
func (s Operators) ListSessions(ctx context.Context, id operator.ID) ([]operator.Session, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner) (operator.Session, error) {
		var r sessionRow
		if err := row.Scan(r.scanTargets()...); err != nil {
			return r.session, err
		}
		return s.openSession(&r)
	}, `SELECT `+sessionColumns+` FROM operator_session n WHERE n.operator_id = $1 ORDER BY n.created_at DESC, n.digest`, string(id))
}
