package store

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ cyber.PaceStore = Monitoring{}

// Paces returns what each partner added by the hour: see cyber.PaceStore. The operator's question: it names no partner.
func (s Monitoring) Paces(ctx context.Context, since int64) (map[partner.ID][]cyber.HourPace, map[partner.ID]int64, error) {
	hours, active := map[partner.ID][]cyber.HourPace{}, map[partner.ID]int64{}
	_, err := collect(ctx, s.reader(), func(row scanner) (struct{}, error) {
		var id partner.ID
		var h cyber.HourPace
		var n int64
		err := row.Scan(numbered(&id), &h.Hour, &h.Taken, &h.Hits, &n)
		hours[id], active[id] = append(hours[id], h), n
		return struct{}{}, err
	}, `SELECT p.partner_id, p.hour, p.taken, p.hits, coalesce(c.active, 0) FROM asset_pace p
		LEFT JOIN subscription_counter c ON c.partner_id = p.partner_id WHERE p.hour > $1 ORDER BY p.partner_id, p.hour`, since)
	if err != nil {
		return nil, nil, fmt.Errorf("read paces: %w", err)
	}
	return hours, active, nil
}

// PacesOf returns what one partner added by the hour.
func (s Monitoring) PacesOf(ctx context.Context, id partner.ID, since int64) ([]cyber.HourPace, error) {
	return collect(ctx, s.reader(), scanPace, `SELECT hour, taken, hits FROM asset_pace WHERE partner_id = $1 AND hour > $2 ORDER BY hour`, number(id), since)
}

// TellUnusual keeps what is unusual and says what turned: see cyber.PaceStore.
func (s Monitoring) TellUnusual(ctx context.Context, now []cyber.Unusual) (begun, over []cyber.Unusual, err error) {
	type key struct {
		id   partner.ID
		what cyber.Measure
	}
	err = s.inTx(ctx, func(tx *sqldb.Tx) error {
		begun, over = nil, nil
		before, err := s.unusual(ctx, tx)
		if err != nil {
			return err
		}
		still := map[key]bool{}
		for _, u := range now {
			still[key{u.Partner, u.What}] = true
			n, err := affected(tx.ExecContext(ctx, `INSERT INTO asset_unusual (partner_id, what, since, seen, usual) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (partner_id, what) DO NOTHING`, number(u.Partner), string(u.What), micros(s.now()), u.Seen, u.Usual))
			if err != nil {
				return err
			}
			if n == 1 { // and not another replica
				begun = append(begun, u)
			}
		}
		for _, u := range before {
			if still[key{u.Partner, u.What}] {
				continue
			}
			n, err := affected(tx.ExecContext(ctx, `DELETE FROM asset_unusual WHERE partner_id = $1 AND what = $2`, number(u.Partner), string(u.What)))
			if err != nil {
				return err
			}
			if n == 1 {
				over = append(over, u)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("keep unusual paces: %w", err)
	}
	return begun, over, nil
}

// Unusual returns the partners whose pace is not as usual.
func (s Monitoring) Unusual(ctx context.Context) ([]cyber.Unusual, error) {
	return s.unusual(ctx, s.reader())
}

func (s Monitoring) unusual(ctx context.Context, q querier) ([]cyber.Unusual, error) {
	return collect(ctx, q, func(row scanner) (cyber.Unusual, error) {
		var u cyber.Unusual
		var since int64
		err := row.Scan(numbered(&u.Partner), &u.What, &since, &u.Seen, &u.Usual)
		u.Since = fromMicros(since)
		return u, err
	}, `SELECT partner_id, what, since, seen, usual FROM asset_unusual ORDER BY partner_id, what`)
}
