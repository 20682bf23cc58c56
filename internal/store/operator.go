package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
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

// sealOperator seals the sensitive columns: the e-mail, the password, the secret of one-time codes and recovery codes.
// Those that are empty stay NULL, so that nothing has to be unsealed.
func (s Operators) sealOperator(o operator.Operator) (email, password, totp, recovery []byte, err error) {
	email, err1 := s.sealOptional(operatorPlace("email", o.ID), o.Email)
	password, err2 := s.sealOptional(operatorPlace("password", o.ID), o.Password)
	totp, err3 := s.sealOptional(operatorPlace("totp", o.ID), string(o.TOTP))
	recovery, err4 := s.sealOptional(operatorPlace("recovery", o.ID), string(bytes.Join(o.Recovery, nil)))
	return email, password, totp, recovery, errors.Join(err1, err2, err3, err4)
}

// InsertOperator stores a new operator.
func (s Operators) InsertOperator(ctx context.Context, o operator.Operator) error {
	email, password, totp, recovery, err := s.sealOperator(o)
	if err != nil {
		return err
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		return execExpecting(ctx, tx, operator.ErrExists.With("email", fault.OperatorExists), `INSERT INTO operator (id, email_index, email, role, disabled, password, totp,
			totp_on, totp_step, invite, invite_until, failures, locked_until, created_at, last_login, recovery, noticed_at, mac, works_for)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) ON CONFLICT (email_index) DO NOTHING`,
			o.ID, s.emailIndex(o.Email), email, o.Role, o.Disabled, password, totp, o.TOTPOn, o.TOTPStep, o.Invite, o.InviteUntil, o.Failures, o.LockedUntil, o.CreatedAt,
			o.LastLogin, recovery, o.NoticedAt, s.grantMAC("operator", operatorGrant(o)), numberOrNull(o.Partner))
	})
}

// operatorColumns are those that scanning an operator expects, in its order.
const operatorColumns = `o.id, o.email, o.role, o.disabled, o.password, o.totp, o.totp_on, o.totp_step, o.invite, o.invite_until, o.failures,
	o.locked_until, o.created_at, o.last_login, o.recovery, o.noticed_at, o.works_for, o.mac`

// scanOperator reads operatorColumns.
func (s Operators) scanOperator(row scanner, o *operator.Operator) error {
	return row.Scan(s.operatorTargets(o)...)
}

// operatorTargets returns where the columns of an operator are scanned to; what is sealed is opened.
func (s Operators) operatorTargets(o *operator.Operator) []any {
	opens := func(into any, column string) sql.Scanner {
		return s.unseals(into, func() seal.Place { return operatorPlace(column, o.ID) })
	}
	var codes []byte
	return []any{
		&o.ID, opens(&o.Email, "email"), &o.Role, &o.Disabled, opens(&o.Password, "password"), opens(&o.TOTP, "totp"), &o.TOTPOn, &o.TOTPStep, &o.Invite,
		&o.InviteUntil, &o.Failures, &o.LockedUntil, &o.CreatedAt, &o.LastLogin, opens(&codes, "recovery"), &o.NoticedAt, &o.Partner,
		s.checksMAC(&o.Forged, "operator", func() *grant {
			o.Recovery = slices.Collect(slices.Chunk(codes, seal.MACSize))
			return operatorGrant(*o)
		}),
	}
}

// TokenDigest returns what is kept of a token.
func (s Operators) TokenDigest(token string) []byte { return s.keyedDigest("operator", []byte(token)) }

// ListOperators returns all operators, oldest first, forged ones too.
func (s Operators) ListOperators(ctx context.Context) ([]operator.Operator, error) {
	return s.readOperators(ctx, s.readQuerier())
}

// readOperators is ListOperators for a querier.
func (s Operators) readOperators(ctx context.Context, q querier) ([]operator.Operator, error) {
	return collectRows(ctx, q, s.scanOperator, `SELECT `+operatorColumns+` FROM operator o ORDER BY o.created_at, o.id`)
}

// OperatorByID returns one operator.
func (s Operators) OperatorByID(ctx context.Context, id operator.ID) (operator.Operator, error) {
	return s.operatorBy(ctx, `o.id = $1`, id)
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
	o, err := readRow(ctx, s.readQuerier(), s.scanOperator, operator.ErrNotFound, `SELECT `+operatorColumns+` FROM operator o WHERE `+where, arg)
	if err != nil {
		return o, err
	}
	if o.Forged {
		return operator.Operator{}, forgedRowError("operator", string(o.ID))
	}
	return o, nil
}

// UpdateOperator changes one operator under the lock of all of them.
func (s Operators) UpdateOperator(ctx context.Context, id operator.ID, end operator.EndSessions,
	change func(o *operator.Operator, all []operator.Operator) error) (operator.Operator, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (changed operator.Operator, err error) {
		if err := execStatement(ctx, tx, `UPDATE counter SET value = value + 1 WHERE name = 'operators'`); err != nil {
			return changed, err
		}
		all, err := s.readOperators(ctx, tx)
		if err != nil {
			return changed, err
		}
		at := slices.IndexFunc(all, func(o operator.Operator) bool { return o.ID == id })
		if at < 0 {
			return changed, operator.ErrNotFound
		}
		if changed = all[at]; changed.Forged {
			return changed, forgedRowError("operator", string(id))
		}
		if err := change(&changed, all); err != nil {
			return changed, err
		}
		if err := s.writeOperator(ctx, tx, changed); err != nil {
			return changed, err
		}
		if end == operator.DropSessions {
			err = execStatement(ctx, tx, `DELETE FROM operator_session WHERE operator_id = $1`, id)
		}
		return changed, err
	})
}

// writeOperator stores all columns that can change after creation, under a new MAC. The e-mail address is not among
// them.
func (s Operators) writeOperator(ctx context.Context, tx *sqldb.Tx, o operator.Operator) error {
	_, password, totp, recovery, err := s.sealOperator(o)
	if err != nil {
		return err
	}
	return execStatement(ctx, tx, `UPDATE operator SET role = $2, disabled = $3, password = $4, totp = $5, totp_on = $6, totp_step = $7,
		invite = $8, invite_until = $9, failures = $10, locked_until = $11, last_login = $12, recovery = $13, noticed_at = $14,
		mac = $15 WHERE id = $1`, o.ID, o.Role, o.Disabled, password, totp, o.TOTPOn, o.TOTPStep, o.Invite, o.InviteUntil, o.Failures, o.LockedUntil,
		o.LastLogin, recovery, o.NoticedAt, s.grantMAC("operator", operatorGrant(o)))
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
	origin, err := s.sealValue(sessionPlace(n.Digest), n.From)
	if err != nil {
		return err
	}
	return s.runAll(ctx, sqldb.NewStatement(`DELETE FROM operator_session WHERE digest = $1`, orEmptyBytes(before)),
		sqldb.NewStatement(`INSERT INTO operator_session (digest, operator_id, created_at, seen_at, proved_at, origin, mac) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			n.Digest, n.Operator, n.CreatedAt, n.SeenAt, n.ProvedAt, origin, s.grantMAC("operator_session", sessionGrant(n))))
}

// sessionColumns are those that scanning a session expects, in its order.
const sessionColumns = `n.digest, n.operator_id, n.created_at, n.seen_at, n.proved_at, n.origin, n.mac`

// sessionTargets returns where the columns of a session are scanned to. One that this program did not write is an error:
// it would grant access.
func (s Operators) sessionTargets(n *operator.Session) []any {
	return []any{
		&n.Digest, &n.Operator, &n.CreatedAt, &n.SeenAt, &n.ProvedAt, s.unseals(&n.From, func() seal.Place { return sessionPlace(n.Digest) }),
		scanFunc(func(mac []byte) error {
			if !s.isGenuine("operator_session", sessionGrant(*n), mac) {
				return forgedRowError("operator_session of", string(n.Operator))
			}
			return nil
		}),
	}
}

// SessionByDigest returns a session and its operator.
func (s Operators) SessionByDigest(ctx context.Context, digest []byte) (n operator.Session, o operator.Operator, err error) {
	err = readColumns(ctx, s.readQuerier(), append(s.operatorTargets(&o), s.sessionTargets(&n)...), `SELECT `+operatorColumns+`, `+sessionColumns+`
		FROM operator_session n JOIN operator o ON o.id = n.operator_id WHERE n.digest = $1`, digest)
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
		n.Digest, n.SeenAt, n.ProvedAt, s.grantMAC("operator_session", sessionGrant(n)))
}

// DeleteSession ends a session.
func (s Operators) DeleteSession(ctx context.Context, digest []byte) error {
	_, err := s.deleteSessions(ctx, `digest = $1`, digest)
	return err
}

// DeleteSessions ends all sessions of an operator.
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
	return collectRows(ctx, s.readQuerier(), func(row scanner, n *operator.Session) error { return row.Scan(s.sessionTargets(n)...) },
		`SELECT `+sessionColumns+` FROM operator_session n WHERE n.operator_id = $1 ORDER BY n.created_at DESC, n.digest`, id)
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
	return s.sealValue(passkeyPlace(p.ID, string(p.Operator)), passkeyContent{p.Site, p.Name, toMicros(p.UsedAt), p.Credential})
}

// InsertPasskey stores a new passkey. It returns operator.ErrPasskey when the ID is already registered, by any
// operator.
func (s Operators) InsertPasskey(ctx context.Context, p operator.Passkey) error {
	sealed, err := s.sealPasskey(p)
	if err != nil {
		return err
	}
	return s.expectAlone(ctx, operator.ErrPasskey.Because(errors.New("credential id: somebody has it already")), `INSERT INTO operator_passkey
		(id, operator_id, created_at, credential) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING`, p.ID, p.Operator, p.CreatedAt, sealed)
}

// ListPasskeys returns an operator's, oldest first.
func (s Operators) ListPasskeys(ctx context.Context, id operator.ID) ([]operator.Passkey, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, p *operator.Passkey) error {
		var content passkeyContent
		err := row.Scan(&p.ID, &p.Operator, &p.CreatedAt, s.unseals(&content, func() seal.Place { return passkeyPlace(p.ID, string(p.Operator)) }))
		p.Site, p.Name, p.Credential, p.UsedAt = content.Site, content.Name, content.Credential, fromMicros(content.UsedAt)
		return err
	}, `SELECT id, operator_id, created_at, credential FROM operator_passkey WHERE operator_id = $1 ORDER BY created_at, id`, id)
}

// UpdatePasskey stores the counter of a passkey; one that is gone stays gone.
func (s Operators) UpdatePasskey(ctx context.Context, p operator.Passkey) error {
	sealed, err := s.sealPasskey(p)
	if err != nil {
		return err
	}
	return s.execAlone(ctx, `UPDATE operator_passkey SET credential = $3 WHERE id = $1 AND operator_id = $2`, p.ID, p.Operator, sealed)
}

// DeletePasskeys deletes one passkey of an operator, or all of them when id is nil.
func (s Operators) DeletePasskeys(ctx context.Context, owner operator.ID, id []byte) (int64, error) {
	return s.countAlone(ctx, `DELETE FROM operator_passkey WHERE operator_id = $1 AND ($3 OR id = $2)`, owner, orEmptyBytes(id), id == nil)
}

// InsertCeremony stores the challenge that an authenticator's answer is checked against, and deletes expired
// challenges.
func (s Operators) InsertCeremony(ctx context.Context, digest, state []byte, until time.Time) error {
	sealed, err := s.sealValue(ceremonyPlace(digest), state)
	if err != nil {
		return err
	}
	return s.runAll(ctx, sqldb.NewStatement(`DELETE FROM operator_ceremony WHERE until <= $1`, s.now()),
		sqldb.NewStatement(`INSERT INTO operator_ceremony (digest, state, until) VALUES ($1, $2, $3)`, digest, sealed, until))
}

// TakeCeremony returns what was kept and forgets it: an answer counts once.
func (s Operators) TakeCeremony(ctx context.Context, digest []byte, now time.Time) (state []byte, err error) {
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		return s.readSealed(ctx, tx, ceremonyPlace(digest), &state, operator.ErrNotFound,
			`DELETE FROM operator_ceremony WHERE digest = $1 AND until > $2 RETURNING state`, digest, now)
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
	err = readColumns(ctx, q, []any{&held, &erased}, `SELECT
		EXISTS (SELECT 1 FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3))
			OR EXISTS (SELECT 1 FROM support_case WHERE partner_id = $1 AND user_index IN ($2, $3))
			OR EXISTS (SELECT 1 FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3)),
		EXISTS (SELECT 1 FROM erasure WHERE partner_id = $1 AND erased_at >= $4 AND (user_512 IN ($2, $3) OR user_256 IN ($2, $3)))`,
		id, who.write, who.other, since)
	return (held || who.cpf != nil) && !erased && err == nil, err
}
