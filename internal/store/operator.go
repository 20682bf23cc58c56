package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/operator"
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
	return func(key []any) seal.Place { return operatorPlace(column, operator.ID(keyText(key[0]))) }
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
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
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
	err := s.runInTx(ctx, func(tx *sqldb.Tx) error {
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
