package store

import (
	"context"
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// sealedNotePlace binds a sealed note to its row.
func sealedNotePlace(id partner.ID, cs cyber.CaseID, number int64) seal.Place {
	return seal.Place{
		Table:   "case_move",
		Column:  "note",
		Partner: string(id),
		Row:     string(cs) + "/" + strconv.FormatInt(number, 10),
	}
}

// insertMove stores one line of a case's history; its note is sealed, and NULL when there is none.
func (s Cases) insertMove(ctx context.Context, tx *sqldb.Tx, c cyber.Case, m cyber.CaseMove) error {
	note, err := s.sealOptional(sealedNotePlace(c.Partner, c.ID, m.Number), m.Note)
	if err != nil {
		return err
	}
	return execStatement(
		ctx,
		tx,
		`INSERT INTO case_move (partner_id, case_id, number, kind, from_status, to_status, actor, note, moved_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		c.Partner,
		c.ID,
		m.Number,
		m.Kind,
		m.From,
		m.To,
		m.Actor,
		note,
		m.At,
	)
}

// readHistory returns the lines of a case's history.
func (s Cases) readHistory(ctx context.Context, q querier, c cyber.Case) ([]cyber.CaseMove, error) {
	return collectRows(ctx, q, func(row scanner, m *cyber.CaseMove) error {
		note := s.unseals(&m.Note, func() seal.Place { return sealedNotePlace(c.Partner, c.ID, m.Number) })
		return row.Scan(&m.Number, &m.Kind, &m.From, &m.To, &m.Actor, note, &m.At)
	}, `SELECT number, kind, from_status, to_status, actor, note, moved_at FROM case_move
		WHERE partner_id = $1 AND case_id = $2
		ORDER BY number`,
		c.Partner,
		c.ID,
	)
}

// addHistoryLines stores new lines of a case's history, frees the slot of a case that is not open any more, and tells
// the partner.
func (s Cases) addHistoryLines(ctx context.Context, tx *sqldb.Tx, c *cyber.Case, done cyber.CaseChange) error {
	if len(done.Lines) == 0 {
		return nil
	}
	last, err := readValue[int64](
		ctx,
		tx,
		`SELECT max(number) FROM case_move WHERE partner_id = $1 AND case_id = $2`,
		c.Partner,
		c.ID,
	)
	if err != nil {
		return err
	}
	if err := done.CheckRoom(last); err != nil {
		return err
	}
	for _, m := range done.Lines {
		last++
		m.Number = last
		if err := s.insertMove(ctx, tx, *c, m); err != nil {
			return err
		}
	}
	if !c.Status.Open() {
		if err := releaseSlot(ctx, tx, c, s.now()); err != nil {
			return err
		}
	}
	return Alerts(s).addPartnerEvents(ctx, tx, c.Partner, alert.CaseEvents(*c, done.Lines)...)
}
