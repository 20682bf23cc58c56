package store

import (
	"context"
	"crypto/hmac"
	"database/sql"
	"errors"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// lookupLen is how much of a key's keyed digest stands in the unique index.
const lookupLen = 8

// InsertKey stores a new key.
func (s Partners) InsertKey(ctx context.Context, id partner.ID, k partner.Key) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if k.MadeBy != "" {
			// The epoch orders this after a revocation of the maker that has not seen the new key.
			if err := moveAccessEpoch(ctx, tx); err != nil {
				return err
			}
			maker, err := readRow(
				ctx,
				tx,
				s.scanKeyRow,
				partner.ErrUnauthorised,
				`SELECT `+keyColumns+` FROM api_key k WHERE k.partner_id = $1 AND k.id = $2`,
				id,
				k.MadeBy,
			)
			if err == nil && !maker.IsLiveAt(s.now()) {
				err = partner.ErrUnauthorised
			}
			if err != nil {
				return err
			}
		}
		return s.insertAPIKey(ctx, tx, id, k)
	})
}

// insertAPIKey stores a new key.
func (s Partners) insertAPIKey(ctx context.Context, tx *sqldb.Tx, id partner.ID, k partner.Key) error {
	k.Partner, k.Digest = id, s.keyedDigest("api_key", k.Digest)
	return execStatement(
		ctx,
		tx,
		`INSERT INTO api_key
		(id, partner_id, label, preview, lookup, digest, scopes, created_at, expires_at, revoked_at, made_by, line, mac)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		k.ID,
		id,
		k.Label,
		k.Preview,
		k.Digest[:lookupLen],
		k.Digest,
		joinTexts(k.Scopes),
		k.CreatedAt,
		k.ExpiresAt,
		k.RevokedAt,
		k.MadeBy,
		k.Line,
		s.grantMAC("api_key", apiKeyGrant(k)),
	)
}

// apiKeyGrant covers what an API key allows.
func apiKeyGrant(k partner.Key) *grant {
	return new(grant).addTexts(string(k.ID), string(k.Partner), k.Label, k.Preview).addBytes(k.Digest).
		addTexts(joinTexts(k.Scopes)).
		addNumbers(toMicros(k.CreatedAt), toMicros(k.ExpiresAt), toMicros(k.RevokedAt)).
		addTexts(string(k.MadeBy), string(k.Line))
}

// keyColumns are those that scanKeyRow expects, in its order.
const keyColumns = `k.id, k.partner_id, k.label, k.preview, k.digest, k.scopes, k.created_at, k.expires_at,
	k.revoked_at, k.made_by, k.line, k.mac`

func (s Partners) scanKeyRow(row scanner, k *partner.Key) error { return row.Scan(s.keyTargets(k)...) }

// keyTargets returns where the columns of a key are scanned to; it is noted whether this program wrote them.
func (s Partners) keyTargets(k *partner.Key) []any {
	return []any{
		&k.ID,
		&k.Partner,
		&k.Label,
		&k.Preview,
		&k.Digest,
		splitsTexts(&k.Scopes),
		&k.CreatedAt,
		&k.ExpiresAt,
		&k.RevokedAt,
		&k.MadeBy,
		&k.Line,
		s.checksMAC(&k.Forged, "api_key", func() *grant { return apiKeyGrant(*k) }),
	}
}

// ListKeys returns a partner's keys, oldest first.
func (s Partners) ListKeys(ctx context.Context, id partner.ID) ([]partner.Key, error) {
	return s.readKeys(ctx, s.readQuerier(), id)
}

// readKeys returns a partner's keys, oldest first.
func (s Partners) readKeys(ctx context.Context, q querier, id partner.ID) ([]partner.Key, error) {
	return collectRows(
		ctx,
		q,
		s.scanKeyRow,
		`SELECT `+keyColumns+` FROM api_key k WHERE k.partner_id = $1 ORDER BY k.created_at, k.id`,
		id,
	)
}

// KeyByDigest returns the key with this digest, and its partner. A row that this program did not write is no key.
func (s Partners) KeyByDigest(ctx context.Context, digest []byte) (k partner.Key, p partner.Partner, err error) {
	keyed := s.keyedDigest("api_key", digest)
	err = readColumns(
		ctx,
		s.db.ReadPool(),
		append(s.partnerTargets(&p), s.keyTargets(&k)...),
		`SELECT p.id, p.name, p.mode, p.suspended, p.rate_per_second,
		p.burst, p.default_plan, p.mask_cards, p.sites, p.watched_sites, p.people, p.first_looks_per_hour,
		p.sandbox_of, p.officer, p.created_at, p.mac, `+keyColumns+`
		FROM api_key k JOIN partner p ON p.id = k.partner_id WHERE k.lookup = $1`,
		keyed[:lookupLen],
	)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (k.Forged || p.Forged || !hmac.Equal(k.Digest, keyed)) {
		return partner.Key{}, partner.Partner{}, partner.ErrKeyNotFound
	}
	k.Digest = digest
	return k, p, err
}

// UpdateKeys stores the times that change sets of a partner's keys, and moves the access epoch.
func (s Partners) UpdateKeys(ctx context.Context, id partner.ID, change func(keys []partner.Key) error) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := moveAccessEpoch(ctx, tx); err != nil { // first: it also orders concurrent changes
			return err
		}
		keys, err := s.readKeys(ctx, tx, id)
		if err != nil {
			return err
		}
		before := slices.Clone(keys)
		if err := change(keys); err != nil {
			return err
		}
		for i, k := range keys {
			if k.ExpiresAt.Equal(before[i].ExpiresAt) && k.RevokedAt.Equal(before[i].RevokedAt) {
				continue
			}
			if k.Forged {
				return forgedRowError("api_key", string(k.ID))
			}
			err := execStatement(ctx, tx,
				`UPDATE api_key SET expires_at = $3, revoked_at = $4, mac = $5 WHERE partner_id = $1 AND id = $2`,
				id, k.ID, k.ExpiresAt, k.RevokedAt, s.grantMAC("api_key", apiKeyGrant(k)))
			if err != nil {
				return err
			}
		}
		return nil
	})
}
