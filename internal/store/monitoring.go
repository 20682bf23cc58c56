package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

var _ cyber.MonitoringStore = Monitoring{}

// sealedAsset is what the sealed column of a watched value holds.
type sealedAsset struct {
	Value string           `json:"value"`
	User  partner.UserHash `json:"userHash"`
}

func assetPlace(id partner.ID, asset cyber.AssetID) seal.Place {
	return seal.Place{Table: "asset", Column: "value", Partner: string(id), Row: string(asset)}
}

func (s Monitoring) sealAsset(id partner.ID, a cyber.Asset) ([]byte, error) {
	plain, err := json.Marshal(sealedAsset{Value: a.Value, User: a.User})
	if err != nil {
		return nil, fmt.Errorf("seal asset: %w", err)
	}
	sealed, err := s.keys.Seal(assetPlace(id, a.ID), plain)
	if err != nil {
		return nil, fmt.Errorf("seal asset: %w", err)
	}
	return sealed, nil
}

func (s Monitoring) openAsset(a *cyber.Asset, sealed []byte) error {
	plain, err := s.keys.Unseal(assetPlace(a.Partner, a.ID), sealed)
	if err != nil {
		return fmt.Errorf("open asset: %w", err)
	}
	var v sealedAsset
	if err := json.Unmarshal(plain, &v); err != nil {
		return fmt.Errorf("open asset: %w", err)
	}
	a.Value, a.User = v.Value, v.User
	return nil
}

// valueIndex is how a person's value is recognised when it is added again.
func (s Monitoring) valueIndex(id partner.ID, kind identifier.Kind, normal string) []byte {
	return s.keys.BlindIndex("asset", string(id), append([]byte{byte(kind)}, normal...))
}

// InsertAsset keeps a new watched value: see cyber.MonitoringStore.
func (s Monitoring) InsertAsset(ctx context.Context, id partner.ID, a cyber.NewAsset, limit int) (cyber.Kept, error) {
	sealed, err := s.sealAsset(id, a.Asset)
	if err != nil {
		return cyber.Kept{}, err
	}
	var kept cyber.Kept
	err = s.inTx(ctx, func(tx *sqldb.Tx) error {
		kept = cyber.Kept{}
		if a.OwnCPF != "" {
			if err := s.linkPerson(ctx, tx, id, a.OwnCPF, a.Salt); err != nil {
				return err
			}
		}
		if kept, err = s.insertAsset(ctx, tx, id, a, sealed, limit); err != nil || !kept.Added || len(a.Seen.Breaches) == 0 {
			return err
		}
		if a.Caps != nil {
			if err := s.noteHit(ctx, tx, id); err != nil {
				return err
			}
		}
		return s.addFindings(ctx, tx, id, hitsOf(a.ID, a.Seen.Breaches))
	})
	return kept, err
}

func (s Monitoring) insertAsset(ctx context.Context, tx *sqldb.Tx, id partner.ID, a cyber.NewAsset, sealed []byte, limit int) (cyber.Kept, error) {
	u, err := s.named(ctx, tx, id, a.User)
	if err != nil {
		return cyber.Kept{}, err
	}
	index := s.valueIndex(id, a.Kind, a.Normal)
	has, err := s.watchedBy(ctx, tx, id, u, a.Kind, index)
	if err != nil || has.twins > 0 {
		return cyber.Kept{}, err
	}
	if has.all >= int64(limit) {
		return cyber.Kept{}, cyber.ErrAssetLimit.With("userHash: at most %d values of one person", limit)
	}
	var kept cyber.Kept
	if a.Caps != nil {
		if kept.Left, err = s.capAsset(ctx, tx, id, u, has, a.Caps.For(has.active)); err != nil {
			return kept, err
		}
	}
	fingerprint, pending, err := s.probing(ctx, tx, id, a)
	if err != nil {
		return kept, err
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO asset
		(id, partner_id, user_index, kind, value_index, fingerprint, pending, value, status, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (partner_id, user_index, kind, value_index) DO NOTHING`,
		string(a.ID), number(id), u.write, int64(a.Kind), index, fingerprint, pending, sealed, string(cyber.StatusMonitored),
		micros(a.AddedAt))
	if err != nil {
		return kept, fmt.Errorf("insert asset: %w", err)
	}
	n, err := res.RowsAffected()
	kept.Added = n == 1
	return kept, err
}

// standing is how a person stands before a value is added.
type standing struct {
	// twins are the same value, all everything that is watched of the person.
	twins, all int64
	// enrolled is whether a subscription in force names the person, stranger whether the person counts as unknown.
	enrolled, stranger bool
	// active are the partner's subscriptions.
	active int64
}

// watchedBy is one question for everything that decides on a new value. The limit is a quota: two requests at the same
// instant may pass it by one. Twins are what the constraint forbids.
func (s Monitoring) watchedBy(ctx context.Context, tx *sqldb.Tx, id partner.ID, u user, kind identifier.Kind, index []byte) (standing, error) {
	var h standing
	err := tx.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE kind = $4 AND value_index = $5), count(*),
			EXISTS (SELECT 1 FROM subscription b WHERE b.partner_id = $1 AND b.cpf = $6 AND b.ended_at = 0 AND (b.expiry_day = 0 OR b.expiry_day >= $7)),
			EXISTS (SELECT 1 FROM asset_stranger g WHERE g.partner_id = $1 AND g.user_index IN ($2, $3)),
			coalesce((SELECT c.active FROM subscription_counter c WHERE c.partner_id = $1), 0)
		FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3)`,
		number(id), u.write, u.other, int64(kind), index, nonNil(u.cpf), int64(subscription.DayOf(s.now()))).
		Scan(&h.twins, &h.all, &h.enrolled, &h.stranger, &h.active)
	if err != nil {
		return h, fmt.Errorf("count assets: %w", err)
	}
	return h, nil
}

// Enrolled tells whether a subscription in force names the person.
func (s Monitoring) Enrolled(ctx context.Context, id partner.ID, hash partner.UserHash) (bool, error) {
	q := s.reader()
	u, err := s.userOf(ctx, q, id, hash)
	if err != nil || u.cpf == nil {
		return false, err
	}
	var enrolled bool
	err = q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM subscription WHERE partner_id = $1 AND cpf = $2 AND ended_at = 0
		AND (expiry_day = 0 OR expiry_day >= $3))`, number(id), u.cpf, int64(subscription.DayOf(s.now()))).Scan(&enrolled)
	if err != nil {
		return false, classify(fmt.Errorf("find subscription: %w", err))
	}
	return enrolled, nil
}

// probing says what to keep for the match. A value whose sighting is older than the corpora is pending: a worker probes
// it again. A breach that is published while this transaction runs is the match's own business: see leak.Matcher.
func (s Monitoring) probing(ctx context.Context, q querier, id partner.ID, a cyber.NewAsset) (fingerprint sql.NullInt64, pending bool, err error) {
	if !a.Matched {
		return fingerprint, false, nil
	}
	epoch, err := corporaEpoch(ctx, q)
	return sql.NullInt64{Int64: s.veil(id, a.Fingerprint), Valid: true}, a.Seen.Epoch < epoch, err
}

// AssetsOfUser returns a person's values in the order added, each once even if it was added under both digests before
// these were known as one person.
func (s Monitoring) AssetsOfUser(ctx context.Context, id partner.ID, hash partner.UserHash) ([]cyber.Asset, error) {
	q := s.reader()
	u, err := s.userOf(ctx, q, id, hash)
	if err != nil {
		return nil, err
	}
	type row struct {
		cyber.Asset
		twin string
	}
	rows, err := collect(ctx, q, func(row_ scanner) (row, error) {
		r := row{Asset: cyber.Asset{Partner: id}}
		var created int64
		var index, sealed []byte
		if err := row_.Scan(&r.ID, &r.Kind, &index, &sealed, &r.Status, &created); err != nil {
			return r, err
		}
		r.AddedAt, r.twin = fromMicros(created), string(index)
		return r, s.openAsset(&r.Asset, sealed)
	}, `SELECT id, kind, value_index, value, status, created_at FROM asset
		WHERE partner_id = $1 AND user_index IN ($2, $3) ORDER BY created_at, id`, number(id), u.write, u.other)
	if err != nil {
		return nil, fmt.Errorf("list assets: %w", err)
	}
	assets, seen := make([]cyber.Asset, 0, len(rows)), make(map[string]bool, len(rows))
	for _, r := range rows {
		if !seen[r.twin] {
			seen[r.twin] = true
			assets = append(assets, r.Asset)
		}
	}
	return assets, nil
}

// FingerprintsOfUser returns the fingerprints of a person's values, under both digests, each once.
func (s Monitoring) FingerprintsOfUser(ctx context.Context, id partner.ID, hash partner.UserHash) ([]uint64, error) {
	q := s.reader()
	u, err := s.userOf(ctx, q, id, hash)
	if err != nil {
		return nil, err
	}
	found, err := collect(ctx, q, func(row scanner) (uint64, error) {
		var veiled int64
		err := row.Scan(&veiled)
		return s.unveil(id, veiled), err
	}, `SELECT DISTINCT fingerprint FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3) AND fingerprint IS NOT NULL ORDER BY fingerprint`,
		number(id), u.write, u.other)
	if err != nil {
		return nil, fmt.Errorf("read fingerprints: %w", err)
	}
	return found, nil
}

// DeleteAsset erases a value of one of the kinds, its findings and its history; what was added under the person's other
// digest goes with it.
func (s Monitoring) DeleteAsset(ctx context.Context, id partner.ID, hash partner.UserHash, asset cyber.AssetID, kinds []identifier.Kind) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		u, err := s.named(ctx, tx, id, hash)
		if err != nil {
			return err
		}
		var kind int64
		var index []byte
		err = tx.QueryRowContext(ctx, `SELECT kind, value_index FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3) AND id = $4`,
			number(id), u.write, u.other, string(asset)).Scan(&kind, &index)
		if errors.Is(err, sql.ErrNoRows) || err == nil && !slices.Contains(kinds, identifier.Kind(kind)) {
			return cyber.ErrAssetNotFound
		}
		if err != nil {
			return fmt.Errorf("delete asset: %w", err)
		}
		res, err := tx.ExecContext(ctx, `DELETE FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3) AND kind = $4 AND value_index = $5`,
			number(id), u.write, u.other, kind, index)
		if err != nil {
			return fmt.Errorf("delete asset: %w", err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 { // a twin request was faster
			return errors.Join(cyber.ErrAssetNotFound, err)
		}
		return nil
	})
}
