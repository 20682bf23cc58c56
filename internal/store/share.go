package store

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// shareOf is a partner's share and what stands beside it.
type shareOf struct {
	cyber.Share
	// usedByAll counts what all partners took, owed what others have reserved and not taken yet.
	usedByAll, owed int64
	// several is whether more than one live partner takes.
	several bool
}

// lockShare makes those who take for one partner take turns, and returns its share.
func lockShare(ctx context.Context, tx *sqldb.Tx, id partner.ID, of cyber.Resource) (shareOf, error) {
	_, err := tx.ExecContext(ctx, `INSERT INTO share (partner_id, resource, quota, reserved, used) VALUES ($1, $2, 0, 0, 0)
		ON CONFLICT (partner_id, resource) DO UPDATE SET used = share.used`, number(id), string(of))
	if err != nil {
		return shareOf{}, fmt.Errorf("lock share: %w", err)
	}
	s := shareOf{Share: cyber.Share{Partner: id, Resource: of}}
	var live int64
	err = tx.QueryRowContext(ctx, `SELECT m.quota, m.reserved, m.used, (SELECT sum(a.used) FROM share a WHERE a.resource = $2),
			(SELECT coalesce(sum(o.reserved - o.used), 0) FROM share o WHERE o.resource = $2 AND o.partner_id <> $1 AND o.reserved > o.used),
			(SELECT count(*) FROM partner p WHERE p.mode = 'live' AND NOT p.suspended)
		FROM share m WHERE m.partner_id = $1 AND m.resource = $2`, number(id), string(of)).
		Scan(&s.Quota, &s.Reserved, &s.Used, &s.usedByAll, &s.owed, &live)
	if err != nil {
		return s, fmt.Errorf("read share: %w", err)
	}
	s.several = live > 1
	return s, nil
}

// takeShare counts a key that a partner is about to take from a pool against its share.
func (s Devices) takeShare(ctx context.Context, tx *sqldb.Tx, id partner.ID, r cyber.DeviceRequest) error {
	share, err := lockShare(ctx, tx, id, cyber.PoolResource(r.System))
	if err != nil {
		return err
	}
	if share.owed > 0 { // what is left is counted: nobody else may take meanwhile
		if _, err := tx.ExecContext(ctx, `UPDATE epp_source SET low = low WHERE system = $1`, string(r.System)); err != nil {
			return fmt.Errorf("lock pool: %w", err)
		}
	}
	// No more keys are counted than matter: a pool may hold millions.
	enough := max(share.owed+1, 2*(share.Used+1)-share.usedByAll, 1)
	var free int64
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM epp_pool WHERE system = $1 AND taken_at = 0
		AND (expires_at = 0 OR expires_at > $2) LIMIT $3) f`, string(r.System), micros(s.now()), enough).Scan(&free)
	if err != nil {
		return fmt.Errorf("count keys: %w", err)
	}
	inAll := share.usedByAll + free
	if !share.several {
		inAll = max(inAll, share.Used+1) // all of it is the partner's
	}
	switch {
	case share.Used >= share.Most(r.Mode, share.several, inAll):
		return cyber.ErrShareUsed.With("operatingSystem: this partner has had its share of the keys for this system")
	case share.Used >= share.Reserved && free <= share.owed:
		return cyber.ErrPoolEmpty.With("operatingSystem: no key left for this system")
	}
	_, err = tx.ExecContext(ctx, `UPDATE share SET used = used + 1 WHERE partner_id = $1 AND resource = $2`,
		number(id), string(share.Resource))
	if err != nil {
		return fmt.Errorf("use share: %w", err)
	}
	return nil
}

// checkSlotShare refuses an appointment beyond a partner's share of those to come.
func checkSlotShare(ctx context.Context, tx *sqldb.Tx, c cyber.Case, mode partner.Mode, now time.Time) error {
	share, err := lockShare(ctx, tx, c.Partner, cyber.SlotResource)
	if err != nil {
		return err
	}
	var held, inAll int64
	err = tx.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE b.partner_id = $1), count(*) FROM case_slot sl
		LEFT JOIN case_booking b ON b.slot_id = sl.id WHERE sl.starts_at > $2`, number(c.Partner), micros(now)).Scan(&held, &inAll)
	if err != nil {
		return fmt.Errorf("count appointments: %w", err)
	}
	if held >= share.Most(mode, share.several, inAll) {
		return cyber.ErrShareUsed.With("appointments: this partner holds its share of the coming ones")
	}
	return nil
}

// Shares returns what was set or used: see cyber.ShareStore. The operator's question: it names no partner.
func (s Devices) Shares(ctx context.Context) ([]cyber.Share, error) {
	return collect(ctx, s.reader(), func(row scanner) (cyber.Share, error) {
		var h cyber.Share
		err := row.Scan(numbered(&h.Partner), &h.Resource, &h.Quota, &h.Reserved, &h.Used)
		return h, err
	}, `SELECT partner_id, resource, quota, reserved, used FROM share ORDER BY resource, partner_id`)
}

// SetShare changes a partner's share: see cyber.ShareStore.
func (s Devices) SetShare(ctx context.Context, id partner.ID, of cyber.Resource, quota, reserved *int64) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		if _, err := s.partnerByID(ctx, tx, id); err != nil {
			return err
		}
		share, err := lockShare(ctx, tx, id, of)
		if err != nil {
			return err
		}
		if quota != nil {
			share.Quota = *quota
		}
		if reserved != nil {
			share.Reserved = *reserved
		}
		_, err = tx.ExecContext(ctx, `UPDATE share SET quota = $3, reserved = $4 WHERE partner_id = $1 AND resource = $2`,
			number(id), string(of), share.Quota, share.Reserved)
		if err != nil {
			return fmt.Errorf("set share: %w", err)
		}
		return nil
	})
}
