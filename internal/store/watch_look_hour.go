package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// countLooks writes down the first looks that were counted in this process.
func (s Monitoring) countLooks(ctx context.Context, tx *sqldb.Tx, id partner.ID) error {
	var held heldLook
	s.looks.changeHeld(id, func(l *heldLook) { held = *l })
	if held.looks == 0 {
		return nil
	}
	tx.AfterCommit(func() {
		s.looks.changeHeld(id, func(l *heldLook) {
			l.looks -= held.looks
			l.hits -= held.hits
		})
	})
	return s.addLookHour(ctx, tx, id, cyber.LookHour{Looks: held.looks, Hits: held.hits})
}

// addLookHour adds to the counts of the current hour, which operators compare.
func (s Monitoring) addLookHour(ctx context.Context, tx *sqldb.Tx, id partner.ID, h cyber.LookHour) error {
	return execStatement(ctx, tx, `INSERT INTO first_look_hour (partner_id, hour, looks, hits) VALUES ($1, $2, $3, $4)
		ON CONFLICT (partner_id, hour) DO UPDATE SET
			looks = first_look_hour.looks + excluded.looks,
			hits = first_look_hour.hits + excluded.hits`,
		id,
		cyber.HourNumber(s.now()),
		h.Looks,
		h.Hits,
	)
}

// ListLookHours returns what the first looks of all partners came to: see cyber.LookStore. The operator's question: it
// names no partner.
func (s Monitoring) ListLookHours(ctx context.Context, after int64) (map[partner.ID][]cyber.LookHour, error) {
	for _, id := range s.looks.heldPartners() {
		err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return s.countLooks(ctx, tx, id) })
		if err != nil {
			return nil, err
		}
	}
	hours := map[partner.ID][]cyber.LookHour{}
	err := eachRow(ctx, s.readQuerier(), func(row scanner) error {
		var id partner.ID
		var h cyber.LookHour
		err := row.Scan(&id, &h.Hour, &h.Looks, &h.Hits)
		hours[id] = append(hours[id], h)
		return err
	}, `SELECT partner_id, hour, looks, hits FROM first_look_hour WHERE hour > $1 ORDER BY partner_id, hour`, after)
	return hours, err
}

// ForgetLookHours deletes old hours: see cyber.LookStore.
func (s Monitoring) ForgetLookHours(ctx context.Context, before int64) error {
	return s.execAlone(ctx, `DELETE FROM first_look_hour WHERE hour < $1`, before)
}
