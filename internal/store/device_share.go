package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// lockPartnerShare makes those who take for one partner take turns, and returns its share beside the others'.
func lockPartnerShare(ctx context.Context, tx *sqldb.Tx, id partner.ID, of cyber.Resource) (cyber.Taking, error) {
	err := execStatement(ctx, tx,
		`INSERT INTO share (partner_id, resource, quota, reserved, used) VALUES ($1, $2, 0, 0, 0)
		ON CONFLICT (partner_id, resource) DO UPDATE SET used = share.used`,
		id, of)
	if err != nil {
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
	free, err := readValue[int64](
		ctx,
		tx,
		`SELECT count(*) FROM (SELECT 1 FROM epp_pool WHERE system = $1 AND taken_at = 0
		AND (expires_at = 0 OR expires_at > $2) LIMIT $3) f`,
		r.System,
		s.now(),
		share.MostCounted(),
	)
	if err != nil {
		return err
	}
	if err := share.CheckKey(free); err != nil {
		return err
	}
	return execStatement(
		ctx,
		tx,
		`UPDATE share SET used = used + 1 WHERE partner_id = $1 AND resource = $2`,
		id,
		share.Resource,
	)
}

// checkSlotShare refuses an appointment beyond a partner's share of those to come.
func checkSlotShare(ctx context.Context, tx *sqldb.Tx, c cyber.Case, now time.Time) error {
	share, err := lockPartnerShare(ctx, tx, c.Partner, cyber.SlotResource)
	if err != nil {
		return err
	}
	var held, inAll int64
	err = readColumns(
		ctx,
		tx,
		[]any{&held, &inAll},
		`SELECT count(*) FILTER (WHERE b.partner_id = $1), count(*) FROM case_slot sl
		LEFT JOIN case_booking b ON b.slot_id = sl.id WHERE sl.starts_at > $2`,
		c.Partner,
		now,
	)
	if err != nil {
		return err
	}
	return share.Appointment(held, inAll)
}

// ListShares returns what was set or used: see cyber.ShareStore. The operator's question: it names no partner.
func (s Devices) ListShares(ctx context.Context) ([]cyber.Share, error) {
	return collectRows(
		ctx,
		s.readQuerier(),
		scanShareRow,
		`SELECT `+shareColumns+` FROM share ORDER BY resource, partner_id`,
	)
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
		return execStatement(
			ctx,
			tx,
			`UPDATE share SET quota = $3, reserved = $4 WHERE partner_id = $1 AND resource = $2`,
			id,
			of,
			share.Quota,
			share.Reserved,
		)
	})
}
