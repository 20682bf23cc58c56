package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// sessionPlace binds the origin of a session to its digest.
func sessionPlace(digest []byte) seal.Place {
	return seal.Place{Table: "operator_session", Column: "origin", Row: string(digest)}
}

// sessionGrant covers a session's owner, its origin and its times, so that a session can be neither moved nor
// prolonged.
func sessionGrant(n operator.Session) *grant {
	return new(grant).addBytes(n.Digest).addTexts(string(n.Operator), n.From).
		addNumbers(toMicros(n.CreatedAt), toMicros(n.SeenAt), toMicros(n.ProvedAt))
}

// InsertSession stores a new session.
func (s Operators) InsertSession(ctx context.Context, n operator.Session) error {
	return s.ReplaceSession(ctx, nil, n)
}

// ReplaceSession stores a session and deletes the digest that it had before.
func (s Operators) ReplaceSession(ctx context.Context, before []byte, n operator.Session) error {
	origin, err := s.sealValue(sessionPlace(n.Digest), n.From)
	if err != nil {
		return err
	}
	return s.runAll(
		ctx,
		sqldb.NewStatement(`DELETE FROM operator_session WHERE digest = $1`, orEmptyBytes(before)),
		sqldb.NewStatement(
			`INSERT INTO operator_session (digest, operator_id, created_at, seen_at, proved_at, origin, mac)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			n.Digest,
			n.Operator,
			n.CreatedAt,
			n.SeenAt,
			n.ProvedAt,
			origin,
			s.grantMAC("operator_session", sessionGrant(n)),
		),
	)
}

// sessionColumns are those that scanning a session expects, in its order.
const sessionColumns = `n.digest, n.operator_id, n.created_at, n.seen_at, n.proved_at, n.origin, n.mac`

// sessionTargets returns where the columns of a session are scanned to. One that this program did not write is an
// error: it would grant access.
func (s Operators) sessionTargets(n *operator.Session) []any {
	return []any{
		&n.Digest,
		&n.Operator,
		&n.CreatedAt,
		&n.SeenAt,
		&n.ProvedAt,
		s.unseals(&n.From, func() seal.Place { return sessionPlace(n.Digest) }),
		scanFunc(func(mac []byte) error {
			if !s.isGenuine("operator_session", sessionGrant(*n), mac) {
				return forgedRowError("operator_session of", string(n.Operator))
			}
			return nil
		}),
	}
}

func (s Operators) SessionByDigest(
	ctx context.Context,
	digest []byte,
) (n operator.Session, o operator.Operator, err error) {
	err = readColumns(
		ctx,
		s.readQuerier(),
		append(s.operatorTargets(&o), s.sessionTargets(&n)...),
		`SELECT `+operatorColumns+`, `+sessionColumns+`
		FROM operator_session n JOIN operator o ON o.id = n.operator_id WHERE n.digest = $1`,
		digest,
	)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = operator.ErrNoSession
	case o.Forged:
		err = forgedRowError("operator", string(o.ID))
	}
	if err != nil {
		return operator.Session{}, operator.Operator{}, err
	}
	return n, o, nil
}

// UpdateSession stores the times of a session; one that is gone stays gone.
func (s Operators) UpdateSession(ctx context.Context, n operator.Session) error {
	return s.execAlone(ctx, `UPDATE operator_session SET seen_at = $2, proved_at = $3, mac = $4 WHERE digest = $1`,
		n.Digest,
		n.SeenAt,
		n.ProvedAt,
		s.grantMAC("operator_session", sessionGrant(n)),
	)
}

func (s Operators) DeleteSession(ctx context.Context, digest []byte) error {
	_, err := s.deleteSessions(ctx, `digest = $1`, digest)
	return err
}

func (s Operators) DeleteSessions(ctx context.Context, id operator.ID) (int64, error) {
	return s.deleteSessions(ctx, `operator_id = $1`, id)
}

// SweepSessions removes sessions made or last used before the limits.
func (s Operators) SweepSessions(ctx context.Context, created, seen time.Time) (int64, error) {
	return s.deleteSessions(ctx, `created_at <= $1 OR seen_at <= $2`, created, seen)
}

// deleteSessions deletes the sessions that match and returns how many there were.
func (s Operators) deleteSessions(ctx context.Context, where string, args ...any) (int64, error) {
	return s.countAlone(ctx, `DELETE FROM operator_session WHERE `+where, args...)
}

// ListSessions returns an operator's sessions, newest first.
func (s Operators) ListSessions(ctx context.Context, id operator.ID) ([]operator.Session, error) {
	return collectRows(
		ctx,
		s.readQuerier(),
		func(row scanner, n *operator.Session) error { return row.Scan(s.sessionTargets(n)...) },
		`SELECT `+sessionColumns+` FROM operator_session n WHERE n.operator_id = $1
		ORDER BY n.created_at DESC, n.digest`,
		id,
	)
}
