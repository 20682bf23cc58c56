package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// poolKeyPlace binds a sealed vendor key to its row.
func poolKeyPlace(row string) seal.Place {
	return seal.Place{Table: "epp_pool", Column: "vendor_key", Row: row}
}

// usesKeyPool reports whether the partner's keys of a system come from a pool.
func usesKeyPool(ctx context.Context, q querier, id partner.ID, system cyber.System) (bool, error) {
	pooled, err := readValue[bool](ctx, q, `SELECT EXISTS (SELECT 1 FROM epp_source WHERE system = $1 AND pooled)`, system)
	if err != nil || !pooled {
		return false, err
	}
	madeUp, err := hasMadeUpStock(ctx, q, id)
	return !madeUp, err
}

// returnKeyToPool puts a revoked key that no device used back into its pool, where the vendor allows that, and gives the partner
// its place in the pool back. The ended device keeps the key's text and loses its index: the key is the next device's.
func (s Devices) returnKeyToPool(ctx context.Context, tx *sqldb.Tx, d cyber.Device) error {
	n, err := execCounting(ctx, tx, `UPDATE epp_pool SET taken_at = 0, taken_by = '' WHERE key_index = $1 AND taken_by = $2
		AND EXISTS (SELECT 1 FROM epp_source WHERE system = $3 AND returns)`, s.activationKeyIndex(d.Key), d.ID, d.System)
	if err != nil || n == 0 {
		return err
	}
	return tx.RunStatements(ctx, []sqldb.Statement{
		sqldb.NewStatement(`UPDATE epp_key SET key_index = $3 WHERE partner_id = $1 AND id = $2`, d.Partner, d.ID, s.activationKeyIndex("returned "+string(d.ID))),
		sqldb.NewStatement(`UPDATE share SET used = used - 1 WHERE partner_id = $1 AND resource = $2 AND used > 0`, d.Partner, cyber.PoolResource(d.System)),
	})
}

// takeFromPool takes the oldest free key that its vendor has not ended. A key that another transaction is taking is
// passed over; should that one fail, the key is free again for the next request.
func (s Devices) takeFromPool(ctx context.Context, tx *sqldb.Tx, d cyber.Device) (cyber.VendorKey, error) {
	// The key is locked as it is found, so no other device gets it.
	return readRow(ctx, tx, func(row scanner, k *cyber.VendorKey) error {
		var id string
		return row.Scan(&id, s.unseals(&k.Key, func() seal.Place { return poolKeyPlace(id) }), &k.Expires)
	}, cyber.ErrPoolEmpty.With("operatingSystem", fault.NoKeyLeft), `UPDATE epp_pool SET taken_at = $2, taken_by = $3 WHERE id = (
		SELECT id FROM epp_pool WHERE system = $1 AND taken_at = 0 AND (expires_at = 0 OR expires_at > $2)
		ORDER BY loaded_at, id LIMIT 1`+s.db.SkipLocked()+`) RETURNING id, vendor_key, expires_at`, d.System, d.IssuedAt, d.ID)
}

// LoadKeyPool stores a batch of vendor keys: see cyber.PoolStore.
func (s Devices) LoadKeyPool(ctx context.Context, system cyber.System, keys []cyber.VendorKey) (int, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (loaded int, err error) {
		if err := execStatement(ctx, tx, `INSERT INTO epp_source (system, pooled, low_mark, low) VALUES ($1, $2, $3, $4)
			ON CONFLICT (system) DO UPDATE SET pooled = excluded.pooled`, system, true, cyber.DefaultLowMark, false); err != nil {
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
func (s Devices) insertPoolKey(ctx context.Context, tx *sqldb.Tx, system cyber.System, k cyber.VendorKey) (int64, error) {
	row := "vk_" + uuid.Must(uuid.NewV7()).String()
	sealed, err := s.sealValue(poolKeyPlace(row), k.Key)
	if err != nil {
		return 0, err
	}
	return execCounting(ctx, tx, `INSERT INTO epp_pool (id, system, key_index, vendor_key, loaded_at, taken_at, taken_by, expires_at)
		VALUES ($1, $2, $3, $4, $5, 0, '', $6) ON CONFLICT (key_index) DO NOTHING`, row, system, s.activationKeyIndex(k.Key), sealed, s.now(), k.Expires)
}

// endAsVendorSays gives a known key the end that its vendor states, in the pool and, if it was issued, on the device.
// An issued key is only ever shortened: what its partner was told is what its plan allows.
func (s Devices) endAsVendorSays(ctx context.Context, tx *sqldb.Tx, k cyber.VendorKey) error {
	index := s.activationKeyIndex(k.Key)
	return tx.RunStatements(ctx, []sqldb.Statement{
		sqldb.NewStatement(`UPDATE epp_pool SET expires_at = $2 WHERE key_index = $1`, index, k.Expires),
		sqldb.NewStatement(`UPDATE epp_key SET valid_until = $2, next_warning = $3 WHERE key_index = $1 AND ended_at = 0 AND valid_until > $2`,
			index, k.Expires, cyber.NextNotice(s.now(), k.Expires)),
	})
}

// ListSources returns every system's source.
func (s Devices) ListSources(ctx context.Context) ([]cyber.Source, error) {
	now := s.now()
	found, err := collectRows(ctx, s.readQuerier(), func(row scanner, src *cyber.Source) error {
		return row.Scan(&src.System, &src.Pooled, &src.LowMark, &src.ToldLow, &src.Returns, &src.Free, &src.Taken, &src.Expired)
	}, `SELECT y.system, coalesce(o.pooled, $1), coalesce(o.low_mark, $2), coalesce(o.low, $1), coalesce(o.returns, $1),
			(SELECT count(*) FROM epp_pool p WHERE p.system = y.system AND p.taken_at = 0 AND (p.expires_at = 0 OR p.expires_at > $3)),
			(SELECT count(*) FROM epp_pool p WHERE p.system = y.system AND p.taken_at > 0),
			(SELECT count(*) FROM epp_pool p WHERE p.system = y.system AND p.taken_at = 0 AND p.expires_at <> 0 AND p.expires_at <= $3)
		FROM (SELECT 'android' AS system UNION ALL SELECT 'ios' UNION ALL SELECT 'windows' UNION ALL SELECT 'macos') y
		LEFT JOIN epp_source o ON o.system = y.system`, false, cyber.DefaultLowMark, now)
	if err != nil {
		return nil, err
	}
	// Apart, since the pool is the service's and the keys are the partners'.
	return found, eachRow(ctx, s.readQuerier(), func(row scanner) error {
		var n cyber.Source
		err := row.Scan(&n.System, &n.Live, &n.Active)
		for i := range found {
			if found[i].System == n.System {
				found[i].Live, found[i].Active = n.Live, n.Active
			}
		}
		return err
	}, `SELECT system, count(*), count(*) FILTER (WHERE activated_at > 0) FROM epp_key WHERE ended_at = 0 AND valid_until > $1 GROUP BY system`, now)
}

// UpdateSource changes where a system's keys come from.
func (s Devices) UpdateSource(ctx context.Context, system cyber.System, change cyber.SourceChange) error {
	list := []sqldb.Statement{sqldb.NewStatement(`INSERT INTO epp_source (system, pooled, low_mark, low) VALUES ($1, $2, $3, $4)
		ON CONFLICT (system) DO NOTHING`, system, false, cyber.DefaultLowMark, false)}
	if change.Pooled != nil {
		list = append(list, sqldb.NewStatement(`UPDATE epp_source SET pooled = $2 WHERE system = $1`, system, *change.Pooled))
	}
	if change.LowMark != nil {
		list = append(list, sqldb.NewStatement(`UPDATE epp_source SET low_mark = $2 WHERE system = $1`, system, *change.LowMark))
	}
	if change.Returns != nil {
		list = append(list, sqldb.NewStatement(`UPDATE epp_source SET returns = $2 WHERE system = $1`, system, *change.Returns))
	}
	return s.runAll(ctx, list...)
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
		n, err := s.countAlone(ctx, `UPDATE epp_source SET low = $2 WHERE system = $1 AND low <> $2`, src.System, src.Low())
		if err != nil {
			return turned, err
		}
		if n == 1 { // and not another replica
			turned = append(turned, src)
		}
	}
	return turned, nil
}

// lockPartnerShare makes those who take for one partner take turns, and returns its share beside the others'.
func lockPartnerShare(ctx context.Context, tx *sqldb.Tx, id partner.ID, of cyber.Resource) (cyber.Taking, error) {
	if err := execStatement(ctx, tx, `INSERT INTO share (partner_id, resource, quota, reserved, used) VALUES ($1, $2, 0, 0, 0)
		ON CONFLICT (partner_id, resource) DO UPDATE SET used = share.used`, id, of); err != nil {
		return cyber.Taking{}, err
	}
	shares, err := collectRows(ctx, tx, scanShareRow, `SELECT `+shareColumns+` FROM share WHERE resource = $1`, of)
	if err != nil {
		return cyber.Taking{}, err
	}
	var t cyber.Taking
	byPartner := map[partner.ID]cyber.Share{}
	for _, h := range shares {
		t.ByAll += h.Used
		byPartner[h.Partner] = h
	}
	t.Share = byPartner[id]
	live, err := collectValues[partner.ID](ctx, tx, `SELECT id FROM partner WHERE mode = 'live' AND NOT suspended`)
	if err != nil {
		return t, err
	}
	for _, other := range live {
		if other != id {
			t.Others = append(t.Others, byPartner[other])
		}
	}
	return t, nil
}

// takeFromShare counts a key that a partner is about to take from a pool against its share.
func (s Devices) takeFromShare(ctx context.Context, tx *sqldb.Tx, id partner.ID, r cyber.DeviceRequest) error {
	share, err := lockPartnerShare(ctx, tx, id, cyber.PoolResource(r.System))
	if err != nil {
		return err
	}
	if len(share.Others) > 0 { // what is left for others is counted: they must not take meanwhile
		if err := execStatement(ctx, tx, `UPDATE epp_source SET low = low WHERE system = $1`, r.System); err != nil {
			return err
		}
	}
	// No more keys are counted than matter: a pool may hold millions.
	free, err := readValue[int64](ctx, tx, `SELECT count(*) FROM (SELECT 1 FROM epp_pool WHERE system = $1 AND taken_at = 0
		AND (expires_at = 0 OR expires_at > $2) LIMIT $3) f`, r.System, s.now(), share.MostCounted())
	if err != nil {
		return err
	}
	if err := share.CheckKey(free); err != nil {
		return err
	}
	return execStatement(ctx, tx, `UPDATE share SET used = used + 1 WHERE partner_id = $1 AND resource = $2`, id, share.Resource)
}

// checkSlotShare refuses an appointment beyond a partner's share of those to come.
func checkSlotShare(ctx context.Context, tx *sqldb.Tx, c cyber.Case, now time.Time) error {
	share, err := lockPartnerShare(ctx, tx, c.Partner, cyber.SlotResource)
	if err != nil {
		return err
	}
	var held, inAll int64
	err = readColumns(ctx, tx, []any{&held, &inAll}, `SELECT count(*) FILTER (WHERE b.partner_id = $1), count(*) FROM case_slot sl
		LEFT JOIN case_booking b ON b.slot_id = sl.id WHERE sl.starts_at > $2`, c.Partner, now)
	if err != nil {
		return err
	}
	return share.Appointment(held, inAll)
}

// ListShares returns what was set or used: see cyber.ShareStore. The operator's question: it names no partner.
func (s Devices) ListShares(ctx context.Context) ([]cyber.Share, error) {
	return collectRows(ctx, s.readQuerier(), scanShareRow, `SELECT `+shareColumns+` FROM share ORDER BY resource, partner_id`)
}

// shareColumns are those that scanning a share expects, in its order.
const shareColumns = `partner_id, resource, quota, reserved, used`

// scanShareRow reads a partner's share.
func scanShareRow(row scanner, h *cyber.Share) error {
	return row.Scan(&h.Partner, &h.Resource, &h.Quota, &h.Reserved, &h.Used)
}

// UpdateShare changes a partner's share: see cyber.ShareStore.
func (s Devices) UpdateShare(ctx context.Context, id partner.ID, of cyber.Resource, quota, reserved *int64) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if _, err := s.partnerByID(ctx, tx, id); err != nil {
			return err
		}
		share, err := lockPartnerShare(ctx, tx, id, of)
		if err != nil {
			return err
		}
		if quota != nil {
			share.Quota = *quota
		}
		if reserved != nil {
			share.Reserved = *reserved
		}
		return execStatement(ctx, tx, `UPDATE share SET quota = $3, reserved = $4 WHERE partner_id = $1 AND resource = $2`,
			id, of, share.Quota, share.Reserved)
	})
}
