package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// passkeyPlace binds what a passkey grants to its ID and its operator. A row that this program did not write, or that
// was moved to another operator, cannot be unsealed.
func passkeyPlace(id []byte, owner string) seal.Place {
	return seal.Place{Table: "operator_passkey", Column: "credential", Row: owner + " " + hex.EncodeToString(id)}
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

// ceremonyPlace binds the state of a ceremony to the digest of its token.
func ceremonyPlace(digest []byte) seal.Place {
	return seal.Place{Table: "operator_ceremony", Column: "state", Row: hex.EncodeToString(digest)}
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
