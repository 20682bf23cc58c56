package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ operator.Store = Operators{}

// operatorPlace binds a sealed column to the operator, so that a password or a TOTP secret cannot be moved to another
// account.
func operatorPlace(column string, id operator.ID) seal.Place {
	return seal.Place{Table: "operator", Column: column, Row: string(id)}
}

// ofOperator returns the place of a sealed column of the table operator.
func ofOperator(column string) func([]any) seal.Place {
	return func(key []any) seal.Place { return operatorPlace(column, operator.ID(formatKeyPart(key[0]))) }
}

// emailIndex returns the blind index of an e-mail address, by which an operator signs in.
func (s Operators) emailIndex(email string) []byte {
	return s.keys.BlindIndex("operator.email", "", []byte(email))
}

// sealedOperator is the sealed columns of an operator; nil where there is nothing to seal.
type sealedOperator struct{ email, password, totp, recovery []byte }

// sealOperator seals the sensitive columns; those that are empty stay NULL, so that nothing has to be unsealed.
func (s Operators) sealOperator(o operator.Operator) (sealedOperator, error) {
	var out sealedOperator
	for _, c := range []struct {
		column string
		plain  []byte
		to     *[]byte
	}{{"email", []byte(o.Email), &out.email}, {"password", []byte(o.Password), &out.password}, {"totp", o.TOTP, &out.totp}, {"recovery", bytes.Join(o.Recovery, nil), &out.recovery}} {
		if len(c.plain) == 0 {
			continue
		}
		var err error
		if *c.to, err = s.keys.Seal(operatorPlace(c.column, o.ID), c.plain); err != nil {
			return out, fmt.Errorf("seal operator: %w", err)
		}
	}
	return out, nil
}

// InsertOperator stores a new operator.
func (s Operators) InsertOperator(ctx context.Context, o operator.Operator) error {
	sealed, err := s.sealOperator(o)
	if err != nil {
		return err
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO operator (id, email_index, email, role, disabled, password, totp, totp_on, totp_step,
			invite, invite_until, failures, locked_until, created_at, last_login, recovery, noticed_at, mac, works_for)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) ON CONFLICT (email_index) DO NOTHING`,
			string(o.ID), s.emailIndex(o.Email), sealed.email, string(o.Role), o.Disabled, sealed.password, sealed.totp, o.TOTPOn, o.TOTPStep,
			o.Invite, toMicros(o.InviteUntil), int64(o.Failures), toMicros(o.LockedUntil), toMicros(o.CreatedAt), toMicros(o.LastLogin),
			sealed.recovery, toMicros(o.NoticedAt), s.grantMAC("operator", operatorGrant(o)), numberOrNull(o.Partner))
		if err != nil {
			return fmt.Errorf("insert operator: %w", err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(operator.ErrExists.With("email", fault.OperatorExists), err)
		}
		return nil
	})
}

// operatorColumns are those that scanning an operator expects, in its order.
const operatorColumns = `o.id, o.email, o.role, o.disabled, o.password, o.totp, o.totp_on, o.totp_step, o.invite, o.invite_until, o.failures,
	o.locked_until, o.created_at, o.last_login, o.recovery, o.noticed_at, o.mac, o.works_for`

// scanOperator reads operatorColumns and opens what is sealed; more are the columns selected after them.
func (s Operators) scanOperator(row scanner, more ...any) (operator.Operator, error) {
	var o operator.Operator
	var sealed sealedOperator
	var mac []byte
	var inviteUntil, failures, locked, created, last, noticed int64
	err := row.Scan(append([]any{&o.ID, &sealed.email, &o.Role, &o.Disabled, &sealed.password, &sealed.totp, &o.TOTPOn, &o.TOTPStep, &o.Invite,
		&inviteUntil, &failures, &locked, &created, &last, &sealed.recovery, &noticed, &mac, scanPartnerID(&o.Partner)}, more...)...)
	if err != nil {
		return o, err
	}
	o.InviteUntil, o.Failures, o.LockedUntil = fromMicros(inviteUntil), int(failures), fromMicros(locked)
	o.CreatedAt, o.LastLogin = fromMicros(created), fromMicros(last)
	o.NoticedAt = fromMicros(noticed)
	for _, c := range []struct {
		column string
		sealed []byte
		to     func([]byte)
	}{
		{"email", sealed.email, func(b []byte) { o.Email = string(b) }},
		{"password", sealed.password, func(b []byte) { o.Password = string(b) }},
		{"totp", sealed.totp, func(b []byte) { o.TOTP = b }},
		{"recovery", sealed.recovery, func(b []byte) { o.Recovery = slices.Collect(slices.Chunk(b, seal.MACSize)) }},
	} {
		if c.sealed == nil {
			continue
		}
		plain, err := s.keys.Unseal(operatorPlace(c.column, o.ID), c.sealed)
		if err != nil {
			return o, fmt.Errorf("open operator: %w", err)
		}
		c.to(plain)
	}
	o.Forged = !s.isGenuine("operator", operatorGrant(o), mac)
	return o, nil
}

// TokenDigest returns what is kept of a token.
func (s Operators) TokenDigest(token string) []byte { return s.keyedDigest("operator", []byte(token)) }

// ListOperators returns all operators, oldest first, forged ones too.
func (s Operators) ListOperators(ctx context.Context) ([]operator.Operator, error) {
	return s.readOperators(ctx, s.readQuerier())
}

// readOperators is ListOperators for a querier.
func (s Operators) readOperators(ctx context.Context, q querier) ([]operator.Operator, error) {
	return collectRows(ctx, q, func(row scanner) (operator.Operator, error) { return s.scanOperator(row) },
		`SELECT `+operatorColumns+` FROM operator o ORDER BY o.created_at, o.id`)
}

// OperatorByID returns one operator.
func (s Operators) OperatorByID(ctx context.Context, id operator.ID) (operator.Operator, error) {
	return s.operatorBy(ctx, `o.id = $1`, string(id))
}

// OperatorByEmail returns one operator by the normal form of the e-mail.
func (s Operators) OperatorByEmail(ctx context.Context, email string) (operator.Operator, error) {
	return s.operatorBy(ctx, `o.email_index = $1`, s.emailIndex(email))
}

// OperatorByInvite returns the operator whose one-time link has this digest.
func (s Operators) OperatorByInvite(ctx context.Context, digest []byte) (operator.Operator, error) {
	return s.operatorBy(ctx, `o.invite = $1`, digest)
}

// operatorBy returns operator.ErrNotFound when no row matches, and refuses a forged row: it could grant any role.
func (s Operators) operatorBy(ctx context.Context, where string, arg any) (operator.Operator, error) {
	o, err := s.scanOperator(s.readQuerier().QueryRowContext(ctx, `SELECT `+operatorColumns+` FROM operator o WHERE `+where, arg))
	if err != nil {
		return o, readError("read operator", err, operator.ErrNotFound)
	}
	if o.Forged {
		return operator.Operator{}, forgedRowError("operator", string(o.ID))
	}
	return o, nil
}

// UpdateOperator changes one operator under the lock of all of them.
func (s Operators) UpdateOperator(ctx context.Context, id operator.ID, end operator.EndSessions,
	change func(o *operator.Operator, all []operator.Operator) error) (operator.Operator, error) {
	var changed operator.Operator
	err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE counter SET value = value + 1 WHERE name = 'operators'`); err != nil {
			return fmt.Errorf("lock operators: %w", err)
		}
		all, err := s.readOperators(ctx, tx)
		if err != nil {
			return err
		}
		found := false
		for _, o := range all {
			if o.ID == id {
				changed, found = o, true
			}
		}
		if !found {
			return operator.ErrNotFound
		}
		if changed.Forged {
			return forgedRowError("operator", string(id))
		}
		if err := change(&changed, all); err != nil {
			return err
		}
		if err := s.writeOperator(ctx, tx, changed); err != nil {
			return err
		}
		if end == operator.DropSessions {
			_, err = tx.ExecContext(ctx, `DELETE FROM operator_session WHERE operator_id = $1`, string(id))
		}
		return err
	})
	return changed, err
}

// writeOperator stores all columns that can change after creation, under a new MAC. The e-mail address is not among
// them.
func (s Operators) writeOperator(ctx context.Context, tx *sqldb.Tx, o operator.Operator) error {
	sealed, err := s.sealOperator(o)
	if err != nil {
		return err
	}
	return execStatement(ctx, tx, "update operator", `UPDATE operator SET role = $2, disabled = $3, password = $4, totp = $5, totp_on = $6, totp_step = $7,
		invite = $8, invite_until = $9, failures = $10, locked_until = $11, last_login = $12, recovery = $13, noticed_at = $14,
		mac = $15 WHERE id = $1`,
		string(o.ID), string(o.Role), o.Disabled, sealed.password, sealed.totp, o.TOTPOn, o.TOTPStep, o.Invite, toMicros(o.InviteUntil),
		int64(o.Failures), toMicros(o.LockedUntil), toMicros(o.LastLogin), sealed.recovery, toMicros(o.NoticedAt),
		s.grantMAC("operator", operatorGrant(o)))
}

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
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
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

// sessionColumns are those that scanning a session expects, in its order.
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
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
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
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
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

// passkeyPlace binds what a passkey grants to its ID and its operator. A row that this program did not write, or that
// was moved to another operator, cannot be unsealed.
func passkeyPlace(id []byte, owner string) seal.Place {
	return seal.Place{Table: "operator_passkey", Column: "credential", Row: owner + " " + hex.EncodeToString(id)}
}

// ceremonyPlace binds the state of a ceremony to the digest of its token.
func ceremonyPlace(digest []byte) seal.Place {
	return seal.Place{Table: "operator_ceremony", Column: "state", Row: hex.EncodeToString(digest)}
}

// passkeyContent is what is sealed of a passkey.
type passkeyContent struct {
	Site       string          `json:"rp_id"`
	Name       string          `json:"name"`
	UsedAt     int64           `json:"used_at"`
	Credential json.RawMessage `json:"credential"`
}

// sealPasskey seals what a passkey grants together with its name and the time of its last use.
func (s Operators) sealPasskey(p operator.Passkey) ([]byte, error) {
	text, err := json.Marshal(passkeyContent{p.Site, p.Name, toMicros(p.UsedAt), p.Credential})
	if err == nil {
		text, err = s.keys.Seal(passkeyPlace(p.ID, string(p.Operator)), text)
	}
	return text, wrapError("seal passkey", err)
}

// InsertPasskey stores a new passkey. It returns operator.ErrPasskey when the ID is already registered, by any
// operator.
func (s Operators) InsertPasskey(ctx context.Context, p operator.Passkey) error {
	sealed, err := s.sealPasskey(p)
	if err != nil {
		return err
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO operator_passkey (id, operator_id, created_at, credential) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING`,
			p.ID, string(p.Operator), toMicros(p.CreatedAt), sealed)
		if err != nil {
			return fmt.Errorf("insert passkey: %w", err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return operator.ErrPasskey.Because(errors.Join(errors.New("credential id: somebody has it already"), err))
		}
		return nil
	})
}

// ListPasskeys returns an operator's, oldest first.
func (s Operators) ListPasskeys(ctx context.Context, id operator.ID) ([]operator.Passkey, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner) (operator.Passkey, error) {
		var p operator.Passkey
		var created int64
		var sealed []byte
		if err := row.Scan(&p.ID, &p.Operator, &created, &sealed); err != nil {
			return p, err
		}
		text, err := s.keys.Unseal(passkeyPlace(p.ID, string(p.Operator)), sealed)
		var content passkeyContent
		if err == nil {
			err = json.Unmarshal(text, &content)
		}
		if err != nil {
			return p, fmt.Errorf("open passkey: %w", err)
		}
		p.Site, p.Name, p.Credential, p.CreatedAt, p.UsedAt = content.Site, content.Name, content.Credential, fromMicros(created), fromMicros(content.UsedAt)
		return p, nil
	}, `SELECT id, operator_id, created_at, credential FROM operator_passkey WHERE operator_id = $1 ORDER BY created_at, id`, string(id))
}

// UpdatePasskey stores the counter of a passkey; one that is gone stays gone.
func (s Operators) UpdatePasskey(ctx context.Context, p operator.Passkey) error {
	sealed, err := s.sealPasskey(p)
	if err != nil {
		return err
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		return execStatement(ctx, tx, "update passkey", `UPDATE operator_passkey SET credential = $3 WHERE id = $1 AND operator_id = $2`, p.ID, string(p.Operator), sealed)
	})
}

// DeletePasskeys deletes one passkey of an operator, or all of them when id is nil.
func (s Operators) DeletePasskeys(ctx context.Context, owner operator.ID, id []byte) (n int64, err error) {
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		query, args := `DELETE FROM operator_passkey WHERE operator_id = $1`, []any{string(owner)}
		if id != nil {
			query, args = query+` AND id = $2`, append(args, id)
		}
		res, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return fmt.Errorf("delete passkeys: %w", err)
		}
		n, err = res.RowsAffected()
		return err
	})
	return n, err
}

// InsertCeremony stores the challenge that an authenticator's answer is checked against, and deletes expired
// challenges.
func (s Operators) InsertCeremony(ctx context.Context, digest, state []byte, until time.Time) error {
	sealed, err := s.keys.Seal(ceremonyPlace(digest), state)
	if err != nil {
		return fmt.Errorf("seal ceremony: %w", err)
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM operator_ceremony WHERE until <= $1`, toMicros(s.now())); err != nil {
			return fmt.Errorf("forget ceremonies: %w", err)
		}
		return execStatement(ctx, tx, "insert ceremony", `INSERT INTO operator_ceremony (digest, state, until) VALUES ($1, $2, $3)`, digest, sealed, toMicros(until))
	})
}

// TakeCeremony returns what was kept and forgets it: an answer counts once.
func (s Operators) TakeCeremony(ctx context.Context, digest []byte, now time.Time) (state []byte, err error) {
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		var sealed []byte
		err := tx.QueryRowContext(ctx, `DELETE FROM operator_ceremony WHERE digest = $1 AND until > $2 RETURNING state`, digest, toMicros(now)).Scan(&sealed)
		if err != nil {
			return readError("take ceremony", err, operator.ErrNotFound)
		}
		if state, err = s.keys.Unseal(ceremonyPlace(digest), sealed); err != nil {
			return fmt.Errorf("open ceremony: %w", err)
		}
		return nil
	})
	return state, err
}

var _ cyber.PortalStore = Subjects{}

// IsStillHeld reports whether anything is held about a person, and nothing was erased of them since a time.
func (s Subjects) IsStillHeld(ctx context.Context, id partner.ID, u partner.UserHash, since time.Time) (bool, error) {
	q := s.readQuerier()
	who, err := s.findUser(ctx, q, id, u)
	if err != nil {
		return false, err
	}
	var held, erased bool
	err = q.QueryRowContext(ctx, `SELECT
		EXISTS (SELECT 1 FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3))
			OR EXISTS (SELECT 1 FROM support_case WHERE partner_id = $1 AND user_index IN ($2, $3))
			OR EXISTS (SELECT 1 FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3)),
		EXISTS (SELECT 1 FROM erasure WHERE partner_id = $1 AND erased_at >= $4 AND (user_512 IN ($2, $3) OR user_256 IN ($2, $3)))`,
		partnerNumber(id), who.write, who.other, toMicros(since)).Scan(&held, &erased)
	if err != nil {
		return false, classifyError(fmt.Errorf("find what is held: %w", err))
	}
	return (held || who.cpf != nil) && !erased, nil
}
