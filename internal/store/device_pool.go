package store

import (
	"context"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// poolKeyPlace binds a sealed vendor key to its row.
func poolKeyPlace(row string) seal.Place {
	return seal.Place{Table: "epp_pool", Column: "vendor_key", Row: row}
}

// usesKeyPool reports whether the partner's keys of a system come from a pool.
func usesKeyPool(ctx context.Context, q querier, id partner.ID, system cyber.System) (bool, error) {
	pooled, err := readValue[bool](
		ctx,
		q,
		`SELECT EXISTS (SELECT 1 FROM epp_source WHERE system = $1 AND pooled)`,
		system,
	)
	if err != nil || !pooled {
		return false, err
	}
	madeUp, err := hasMadeUpStock(ctx, q, id)
	return !madeUp, err
}

// LoadKeyPool stores a batch of vendor keys: see cyber.PoolStore.
func (s Devices) LoadKeyPool(ctx context.Context, system cyber.System, keys []cyber.VendorKey) (int, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (loaded int, err error) {
		err = execStatement(ctx, tx, `INSERT INTO epp_source (system, pooled, low_mark, low) VALUES ($1, $2, $3, $4)
			ON CONFLICT (system) DO UPDATE SET pooled = excluded.pooled`,
			system, true, cyber.DefaultLowMark, false)
		if err != nil {
			return 0, err
		}
		for _, k := range keys {
			n, err := s.insertPoolKey(ctx, tx, system, k)
			if err == nil && n == 0 && !k.Expires.IsZero() {
				err = s.endAsVendorSays(ctx, tx, k)
			}
			if err != nil {
				return 0, err
			}
			loaded += int(n)
		}
		return loaded, nil
	})
}

// insertPoolKey adds one vendor key and returns how many were new.
func (s Devices) insertPoolKey(
	ctx context.Context, tx *sqldb.Tx, system cyber.System, k cyber.VendorKey,
) (int64, error) {
	row := "vk_" + uuid.Must(uuid.NewV7()).String()
	sealed, err := s.sealValue(poolKeyPlace(row), k.Key)
	if err != nil {
		return 0, err
	}
	return execCounting(
		ctx,
		tx,
		`INSERT INTO epp_pool (id, system, key_index, vendor_key, loaded_at, taken_at, taken_by, expires_at)
		VALUES ($1, $2, $3, $4, $5, 0, '', $6) ON CONFLICT (key_index) DO NOTHING`,
		row,
		system,
		s.activationKeyIndex(k.Key),
		sealed,
		s.now(),
		k.Expires,
	)
}

// endAsVendorSays gives a known key the end that its vendor states, in the pool and, if it was issued, on the device.
// An issued key is only ever shortened: what its partner was told is what its plan allows.
func (s Devices) endAsVendorSays(ctx context.Context, tx *sqldb.Tx, k cyber.VendorKey) error {
	index := s.activationKeyIndex(k.Key)
	return tx.RunStatements(ctx, sqldb.Statements{
		sqldb.NewStatement(`UPDATE epp_pool SET expires_at = $2 WHERE key_index = $1`, index, k.Expires),
		sqldb.NewStatement(
			`UPDATE epp_key SET valid_until = $2, next_warning = $3
			WHERE key_index = $1 AND ended_at = 0 AND valid_until > $2`,
			index,
			k.Expires,
			cyber.NextNotice(s.now(), k.Expires),
		),
	})
}

// takeFromPool takes the oldest free key that its vendor has not ended. A key that another transaction is taking is
// passed over; should that one fail, the key is free again for the next request.
func (s Devices) takeFromPool(ctx context.Context, tx *sqldb.Tx, d cyber.Device) (cyber.VendorKey, error) {
	// The key is locked as it is found, so no other device gets it.
	return readRow(ctx, tx, func(row scanner, k *cyber.VendorKey) error {
		var id string
		return row.Scan(&id, s.unseals(&k.Key, func() seal.Place { return poolKeyPlace(id) }), &k.Expires)
	}, cyber.ErrPoolEmpty.With("operatingSystem", fault.NoKeyLeft), `UPDATE epp_pool SET taken_at = $2, taken_by = $3
		WHERE id = (
		SELECT id FROM epp_pool WHERE system = $1 AND taken_at = 0 AND (expires_at = 0 OR expires_at > $2)
		ORDER BY loaded_at, id LIMIT 1`+s.db.SkipLocked()+`) RETURNING id, vendor_key, expires_at`,
		d.System,
		d.IssuedAt,
		d.ID,
	)
}

// returnKeyToPool puts a revoked key that no device used back into its pool, where the vendor allows that, and gives
// the partner its place in the pool back. The ended device keeps the key's text and loses its index: the key is the
// next device's.
func (s Devices) returnKeyToPool(ctx context.Context, tx *sqldb.Tx, d cyber.Device) error {
	n, err := execCounting(
		ctx,
		tx,
		`UPDATE epp_pool SET taken_at = 0, taken_by = '' WHERE key_index = $1 AND taken_by = $2
		AND EXISTS (SELECT 1 FROM epp_source WHERE system = $3 AND returns)`,
		s.activationKeyIndex(d.Key),
		d.ID,
		d.System,
	)
	if err != nil || n == 0 {
		return err
	}
	return tx.RunStatements(ctx, sqldb.Statements{
		sqldb.NewStatement(
			`UPDATE epp_key SET key_index = $3 WHERE partner_id = $1 AND id = $2`,
			d.Partner,
			d.ID,
			s.activationKeyIndex("returned "+string(d.ID)),
		),
		sqldb.NewStatement(
			`UPDATE share SET used = used - 1 WHERE partner_id = $1 AND resource = $2 AND used > 0`,
			d.Partner,
			cyber.PoolResource(d.System),
		),
	})
}

// PoolsTurnedLow compares each pool with what was last told, and remembers: see cyber.PoolStore.
func (s Devices) PoolsTurnedLow(ctx context.Context) ([]cyber.Source, error) {
	sources, err := s.ListSources(ctx)
	if err != nil {
		return nil, err
	}
	var turned []cyber.Source
	for _, src := range sources {
		if src.Low() == src.ToldLow {
			continue
		}
		n, err := s.countAlone(
			ctx,
			`UPDATE epp_source SET low = $2 WHERE system = $1 AND low <> $2`,
			src.System,
			src.Low(),
		)
		if err != nil {
			return turned, err
		}
		if n == 1 { // and not another replica
			turned = append(turned, src)
		}
	}
	return turned, nil
}
