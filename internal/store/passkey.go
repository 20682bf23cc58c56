package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

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
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
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
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		return execStatement(ctx, tx, "update passkey", `UPDATE operator_passkey SET credential = $3 WHERE id = $1 AND operator_id = $2`, p.ID, string(p.Operator), sealed)
	})
}

// DeletePasskeys deletes one passkey of an operator, or all of them when id is nil.
func (s Operators) DeletePasskeys(ctx context.Context, owner operator.ID, id []byte) (n int64, err error) {
	err = s.runInTx(ctx, func(tx *sqldb.Tx) error {
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
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM operator_ceremony WHERE until <= $1`, toMicros(s.now())); err != nil {
			return fmt.Errorf("forget ceremonies: %w", err)
		}
		return execStatement(ctx, tx, "insert ceremony", `INSERT INTO operator_ceremony (digest, state, until) VALUES ($1, $2, $3)`, digest, sealed, toMicros(until))
	})
}

// TakeCeremony returns what was kept and forgets it: an answer counts once.
func (s Operators) TakeCeremony(ctx context.Context, digest []byte, now time.Time) (state []byte, err error) {
	err = s.runInTx(ctx, func(tx *sqldb.Tx) error {
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
