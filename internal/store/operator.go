package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/vigiahq/vigia/internal/operator"
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

// operatorGrant covers everything that decides about an operator's access: the role, the credentials, the lock, the
// invitation.
func operatorGrant(o operator.Operator) *grant {
	return new(grant).addTexts(string(o.ID), o.Email, string(o.Role), string(o.Partner)).addBools(o.Disabled).
		addTexts(o.Password).addBytes(o.TOTP).addBools(o.TOTPOn).addNumbers(o.TOTPStep).addBytes(o.Invite).
		addNumbers(toMicros(o.InviteUntil), int64(o.Failures), toMicros(o.LockedUntil)).
		addNumbers(toMicros(o.CreatedAt), toMicros(o.LastLogin)).
		addBytes(o.Recovery...).addNumbers(toMicros(o.NoticedAt))
}
