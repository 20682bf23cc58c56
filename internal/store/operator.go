package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
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
		return execExpecting(
			ctx,
			tx,
			operator.ErrExists.With("email", fault.OperatorExists),
			`INSERT INTO operator (id, email_index, email, role, disabled, password, totp,
			totp_on, totp_step, invite, invite_until, failures, locked_until, created_at, last_login, recovery,
			noticed_at, mac, works_for)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
			ON CONFLICT (email_index) DO NOTHING`,
			o.ID,
			s.emailIndex(o.Email),
			email,
			o.Role,
			o.Disabled,
			password,
			totp,
			o.TOTPOn,
			o.TOTPStep,
			o.Invite,
			o.InviteUntil,
			o.Failures,
			o.LockedUntil,
			o.CreatedAt,
			o.LastLogin,
			recovery,
			o.NoticedAt,
			s.grantMAC("operator", operatorGrant(o)),
			numberOrNull(o.Partner),
		)
	})
}

// operatorColumns are those that scanning an operator expects, in its order.
const operatorColumns = `o.id, o.email, o.role, o.disabled, o.password, o.totp, o.totp_on, o.totp_step, o.invite,
	o.invite_until, o.failures,
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
		&o.ID,
		opens(&o.Email, "email"),
		&o.Role,
		&o.Disabled,
		opens(&o.Password, "password"),
		opens(&o.TOTP, "totp"),
		&o.TOTPOn,
		&o.TOTPStep,
		&o.Invite,
		&o.InviteUntil,
		&o.Failures,
		&o.LockedUntil,
		&o.CreatedAt,
		&o.LastLogin,
		opens(&codes, "recovery"),
		&o.NoticedAt,
		&o.Partner,
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
	o, err := readRow(
		ctx,
		s.readQuerier(),
		s.scanOperator,
		operator.ErrNotFound,
		`SELECT `+operatorColumns+` FROM operator o WHERE `+where,
		arg,
	)
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
	change func(o *operator.Operator, all []operator.Operator) error,
) (operator.Operator, error) {
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
	return execStatement(
		ctx,
		tx,
		`UPDATE operator SET role = $2, disabled = $3, password = $4, totp = $5, totp_on = $6, totp_step = $7,
		invite = $8, invite_until = $9, failures = $10, locked_until = $11, last_login = $12, recovery = $13,
		noticed_at = $14,
		mac = $15 WHERE id = $1`,
		o.ID,
		o.Role,
		o.Disabled,
		password,
		totp,
		o.TOTPOn,
		o.TOTPStep,
		o.Invite,
		o.InviteUntil,
		o.Failures,
		o.LockedUntil,
		o.LastLogin,
		recovery,
		o.NoticedAt,
		s.grantMAC("operator", operatorGrant(o)),
	)
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
	return s.sealValue(
		passkeyPlace(p.ID, string(p.Operator)),
		passkeyContent{p.Site, p.Name, toMicros(p.UsedAt), p.Credential},
	)
}

// InsertPasskey stores a new passkey. It returns operator.ErrPasskey when the ID is already registered, by any
// operator.
func (s Operators) InsertPasskey(ctx context.Context, p operator.Passkey) error {
	sealed, err := s.sealPasskey(p)
	if err != nil {
		return err
	}
	return s.expectAlone(
		ctx,
		operator.ErrPasskey.Because(errors.New("credential id: somebody has it already")),
		`INSERT INTO operator_passkey
		(id, operator_id, created_at, credential) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING`,
		p.ID,
		p.Operator,
		p.CreatedAt,
		sealed,
	)
}

// ListPasskeys returns an operator's, oldest first.
func (s Operators) ListPasskeys(ctx context.Context, id operator.ID) ([]operator.Passkey, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, p *operator.Passkey) error {
		var content passkeyContent
		err := row.Scan(
			&p.ID,
			&p.Operator,
			&p.CreatedAt,
			s.unseals(&content, func() seal.Place { return passkeyPlace(p.ID, string(p.Operator)) }),
		)
		p.Site, p.Name, p.Credential, p.UsedAt = content.Site, content.Name, content.Credential, fromMicros(
			content.UsedAt,
		)
		return err
	}, `SELECT id, operator_id, created_at, credential FROM operator_passkey WHERE operator_id = $1
		ORDER BY created_at, id`,
		id,
	)
}

// UpdatePasskey stores the counter of a passkey; one that is gone stays gone.
func (s Operators) UpdatePasskey(ctx context.Context, p operator.Passkey) error {
	sealed, err := s.sealPasskey(p)
	if err != nil {
		return err
	}
	return s.execAlone(
		ctx,
		`UPDATE operator_passkey SET credential = $3 WHERE id = $1 AND operator_id = $2`,
		p.ID,
		p.Operator,
		sealed,
	)
}

// DeletePasskeys deletes one passkey of an operator, or all of them when id is nil.
func (s Operators) DeletePasskeys(ctx context.Context, owner operator.ID, id []byte) (int64, error) {
	return s.countAlone(
		ctx,
		`DELETE FROM operator_passkey WHERE operator_id = $1 AND ($3 OR id = $2)`,
		owner,
		orEmptyBytes(id),
		id == nil,
	)
}

// InsertCeremony stores the challenge that an authenticator's answer is checked against, and deletes expired
// challenges.
func (s Operators) InsertCeremony(ctx context.Context, digest, state []byte, until time.Time) error {
	sealed, err := s.sealValue(ceremonyPlace(digest), state)
	if err != nil {
		return err
	}
	return s.runAll(
		ctx,
		sqldb.NewStatement(`DELETE FROM operator_ceremony WHERE until <= $1`, s.now()),
		sqldb.NewStatement(
			`INSERT INTO operator_ceremony (digest, state, until) VALUES ($1, $2, $3)`,
			digest,
			sealed,
			until,
		),
	)
}

// TakeCeremony returns what was kept and forgets it: an answer counts once.
func (s Operators) TakeCeremony(ctx context.Context, digest []byte, now time.Time) (state []byte, err error) {
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		return s.readSealed(ctx, tx, ceremonyPlace(digest), &state, operator.ErrNotFound,
			`DELETE FROM operator_ceremony WHERE digest = $1 AND until > $2 RETURNING state`,
			digest,
			now,
		)
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
		EXISTS (SELECT 1 FROM erasure WHERE partner_id = $1 AND erased_at >= $4 AND (user_512 IN ($2, $3)
		OR user_256 IN ($2, $3)))`,
		id,
		who.write,
		who.other,
		since,
	)
	return (held || who.cpf != nil) && !erased && err == nil, err
}

// EndPortalSession notes that a session on a person's page ended before its time, and forgets those whose time is over.
func (s Subjects) EndPortalSession(ctx context.Context, id partner.ID, session string, until time.Time) error {
	return s.runAll(
		ctx,
		sqldb.NewStatement(`DELETE FROM portal_ended WHERE partner_id = $1 AND until <= $2`, id, s.now()),
		sqldb.NewStatement(
			`INSERT INTO portal_ended (partner_id, session, until) VALUES ($1, $2, $3)
			ON CONFLICT (partner_id, session) DO NOTHING`,
			id,
			session,
			until,
		),
	)
}

// HasEnded reports whether a session on a person's page ended before its time.
func (s Subjects) HasEnded(ctx context.Context, id partner.ID, session string) (bool, error) {
	return readValue[bool](
		ctx,
		s.readQuerier(),
		`SELECT EXISTS (SELECT 1 FROM portal_ended WHERE partner_id = $1 AND session = $2)`,
		id,
		session,
	)
}

// filterPlace binds a filter to its owner: it may name a person.
func filterPlace(owner, id string) seal.Place {
	return seal.Place{Table: "operator_filter", Column: "content", Row: owner + "/" + id}
}

// exportPlace binds a part of an export to its file and its number, so that parts cannot be reordered.
func exportPlace(id, number string) seal.Place {
	return seal.Place{Table: "operator_export_part", Column: "body", Row: id + "/" + number}
}

// filterContent is what is sealed of a filter.
type filterContent struct{ Name, Query string }

// KeepFilter stores a filter; it refuses an operator who has too many.
func (s Operators) KeepFilter(ctx context.Context, f operator.KeptFilter) error {
	text, err := s.sealValue(filterPlace(string(f.Operator), f.ID), filterContent{f.Name, f.Query})
	if err != nil {
		return err
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		n, err := readValue[int](ctx, tx, `SELECT count(*) FROM operator_filter WHERE operator_id = $1`, f.Operator)
		if err != nil {
			return err
		}
		if n >= operator.MaxFilters {
			return operator.ErrFilter.With("name", fault.FiltersAtMost, operator.MaxFilters)
		}
		return execStatement(
			ctx,
			tx,
			`INSERT INTO operator_filter (operator_id, id, list, content, created_at) VALUES ($1, $2, $3, $4, $5)`,
			f.Operator,
			f.ID,
			f.List,
			text,
			s.now(),
		)
	})
}

// KeptFilters returns an operator's, oldest first.
func (s Operators) KeptFilters(ctx context.Context, owner operator.ID) ([]operator.KeptFilter, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, f *operator.KeptFilter) error {
		var content filterContent
		err := row.Scan(
			&f.ID,
			&f.List,
			s.unseals(&content, func() seal.Place { return filterPlace(string(owner), f.ID) }),
			&f.CreatedAt,
		)
		f.Operator, f.Name, f.Query = owner, content.Name, content.Query
		return err
	}, `SELECT id, list, content, created_at FROM operator_filter WHERE operator_id = $1 ORDER BY created_at, id`,
		owner,
	)
}

func (s Operators) DropFilter(ctx context.Context, owner operator.ID, id string) error {
	return s.expectAlone(
		ctx,
		operator.ErrNoFilter,
		`DELETE FROM operator_filter WHERE operator_id = $1 AND id = $2`,
		owner,
		id,
	)
}

// BeginExport keeps the row of a file that is about to be written.
func (s Operators) BeginExport(ctx context.Context, e operator.Export) error {
	return s.execAlone(
		ctx,
		`INSERT INTO operator_export (id, operator_id, list, about, format, created_at, until, lines, parts, done)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, FALSE)`,
		e.ID,
		e.Operator,
		e.List,
		e.About,
		e.Format,
		e.CreatedAt,
		e.Until,
	)
}

// AddExportPart appends to a file; done says that this was the last part.
func (s Operators) AddExportPart(ctx context.Context, id string, number, lines int64, body []byte, done bool) error {
	sealed, err := s.sealValue(exportPlace(id, fmt.Sprint(number)), body)
	if err != nil {
		return err
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := execExpecting(
			ctx,
			tx,
			operator.ErrNoExport, // it was dropped while it was written
			`UPDATE operator_export SET lines = $2, parts = $3, done = $4 WHERE id = $1 AND until > 0`,
			id,
			lines,
			number,
			done,
		); err != nil {
			return err
		}
		return execStatement(
			ctx,
			tx,
			`INSERT INTO operator_export_part (export_id, number, body) VALUES ($1, $2, $3)`,
			id,
			number,
			sealed,
		)
	})
}

// exportColumns are those that scanning an export expects, in its order.
const exportColumns = `id, operator_id, list, about, format, created_at, until, lines, parts, done`

// scanExport reads the description of an export, without its parts.
func scanExport(row scanner, e *operator.Export) error {
	return row.Scan(
		&e.ID,
		&e.Operator,
		&e.List,
		&e.About,
		&e.Format,
		&e.CreatedAt,
		&e.Until,
		&e.Lines,
		&e.Parts,
		&e.Done,
	)
}

// ListExports returns an operator's files, newest first.
func (s Operators) ListExports(ctx context.Context, owner operator.ID) ([]operator.Export, error) {
	return collectRows(
		ctx,
		s.readQuerier(),
		scanExport,
		`SELECT `+exportColumns+` FROM operator_export WHERE operator_id = $1 AND until > $2
		ORDER BY created_at DESC, id DESC LIMIT 100`,
		owner,
		s.now(),
	)
}

// GetExport returns one of an operator's own files that is all there.
func (s Operators) GetExport(ctx context.Context, owner operator.ID, id string) (operator.Export, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		scanExport,
		operator.ErrNoExport,
		`SELECT `+exportColumns+` FROM operator_export WHERE operator_id = $1 AND id = $2 AND until > $3 AND done`,
		owner,
		id,
		s.now(),
	)
}

// ExportPart returns a part of a file, from 1 on.
func (s Operators) ExportPart(ctx context.Context, id string, number int64) (body []byte, err error) {
	err = s.readSealed(ctx, s.readQuerier(), exportPlace(id, fmt.Sprint(number)), &body, operator.ErrNoExport,
		`SELECT body FROM operator_export_part WHERE export_id = $1 AND number = $2`,
		id,
		number,
	)
	return body, err
}

// DropExport removes one of an operator's own files before its time.
func (s Operators) DropExport(ctx context.Context, owner operator.ID, id string) error {
	_, err := s.dropExports(ctx, `operator_id = $1 AND id = $2`, owner, id)
	return err
}

// SweepExports removes files whose time is over.
func (s Operators) SweepExports(ctx context.Context, now time.Time) error {
	_, err := s.dropExports(ctx, `until <= $1`, now)
	return err
}

// dropNamedExports deletes operators' exports created up to a time that may name a person of the partner: files about
// the partner, and lists across all partners. They are sealed and cannot be searched for a person; their owners can
// create them again.
func (s Subjects) dropNamedExports(ctx context.Context, id partner.ID, upTo int64) (tallies, error) {
	n, err := s.dropExports(ctx, `about IN ('', $1) AND created_at <= $2`, string(id), upTo)
	if err != nil || n == 0 {
		return nil, err
	}
	return tallies{"files": n}, nil
}

// dropExports deletes files: each is marked as expired first, so that it can no longer be found, then its parts are
// deleted, a few at a time.
func (c core) dropExports(ctx context.Context, which string, args ...any) (total int64, err error) {
	files, err := collectValues[string](ctx, c.readQuerier(), `SELECT id FROM operator_export WHERE `+which, args...)
	if err != nil {
		return 0, err
	}
	for _, id := range files {
		if err := c.dropExport(ctx, id); err != nil {
			return total, err
		}
		total++
	}
	return total, nil
}

// partsAtOnce is how many parts of a file go in one transaction: each is large.
const partsAtOnce = 4

// dropExport deletes one file in three steps: it expires, its parts are deleted, its row is deleted. If it is
// interrupted, the next sweep finds it expired and goes on.
func (c core) dropExport(ctx context.Context, id string) error {
	err := c.execAlone(ctx, `UPDATE operator_export SET done = FALSE, until = 0 WHERE id = $1`, id)
	if err == nil {
		_, err = c.runBatches(ctx, partsAtOnce, func(tx *sqldb.Tx, _, limit int64) (int64, error) {
			return execCounting(ctx, tx, `DELETE FROM operator_export_part WHERE export_id = $1 AND number IN (
				SELECT number FROM operator_export_part WHERE export_id = $1 ORDER BY number LIMIT $2)`,
				id,
				limit,
			)
		})
	}
	if err == nil {
		err = c.execAlone(ctx, `DELETE FROM operator_export WHERE id = $1`, id)
	}
	return err
}
