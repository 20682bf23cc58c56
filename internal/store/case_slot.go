package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// bookSlot takes the first wished slot that is free; the zero time when the service has no calendar or nothing was
// wished.
func (s Cases) bookSlot(
	ctx context.Context, tx *sqldb.Tx, c cyber.Case, u user, wishes cyber.Wishes, now time.Time,
) (time.Time, error) {
	if len(wishes.Times) == 0 {
		return time.Time{}, nil
	}
	calendar, err := hasCalendar(ctx, tx, c.Service, now)
	if err != nil || !calendar {
		return time.Time{}, err
	}
	if madeUp, err := hasMadeUpStock(ctx, tx, c.Partner); err != nil {
		return time.Time{}, err
	} else if madeUp {
		return s.bookMadeUp(ctx, tx, c, wishes, now)
	}
	if wishes.Mode != "" {
		covered, err := Cover(s).readEntitled(ctx, tx, c.Partner, u)
		if err != nil {
			return time.Time{}, err
		}
		if len(covered.Subscribed) == 0 {
			return time.Time{}, cyber.ErrNotCovered.With("userHash", fault.AppointmentsForCovered)
		}
		if err := checkSlotShare(ctx, tx, c, now); err != nil {
			return time.Time{}, err
		}
	}
	for _, at := range wishes.Times {
		// The booking's primary key decides between two cases at once: the second waits for the first and then adds
		// nothing.
		n, err := execCounting(ctx, tx, `INSERT INTO case_booking (slot_id, partner_id, case_id)
			SELECT id, CAST($3 AS INTEGER), CAST($4 AS TEXT) FROM case_slot
			WHERE service_id = $1 AND starts_at = $2 AND starts_at > $5 AND kept_for IN (0, $3)
			ON CONFLICT (slot_id) DO NOTHING`,
			c.Service,
			at,
			c.Partner,
			c.ID,
			now,
		)
		if err != nil || n == 1 {
			return at, err
		}
	}
	return time.Time{}, cyber.ErrAppointmentTaken.With("appointments", fault.NoTimeFree)
}

// hasCalendar reports whether a service has times that are to come.
func hasCalendar(ctx context.Context, q querier, service cyber.ServiceID, now time.Time) (has bool, err error) {
	return readValue[bool](
		ctx,
		q,
		`SELECT EXISTS (SELECT 1 FROM case_slot WHERE service_id = $1 AND starts_at > $2)`,
		service,
		now,
	)
}

// rebookSlot gives back what the case holds and takes the first of the wished times that is free.
func (s Cases) rebookSlot(ctx context.Context, tx *sqldb.Tx, c *cyber.Case, u user, wishes cyber.Wishes) error {
	now := s.now()
	if err := releaseSlot(ctx, tx, c, now); err != nil {
		return err
	}
	at, err := s.bookSlot(ctx, tx, *c, u, wishes, now)
	if err == nil && at.IsZero() {
		err = cyber.ErrNoCalendar.With("appointments", fault.NoCalendar)
	}
	c.Booked = at
	return err
}

// releaseSlot gives back a slot that is still to come.
func releaseSlot(ctx context.Context, tx *sqldb.Tx, c *cyber.Case, now time.Time) error {
	if c.Booked.After(now) {
		c.Booked = time.Time{}
	}
	return tx.RunStatements(ctx, sqldb.Statements{
		sqldb.NewStatement(`DELETE FROM case_booking WHERE partner_id = $4 AND case_id = $1 AND slot_id IN (
			SELECT id FROM case_slot WHERE service_id = $2 AND starts_at > $3)`,
			c.ID,
			c.Service,
			now,
			c.Partner,
		),
		sqldb.NewStatement(
			`UPDATE support_case SET made_up_at = 0 WHERE partner_id = $1 AND id = $2 AND made_up_at > $3`,
			c.Partner,
			c.ID,
			now,
		),
	})
}

// InsertSlots stores new times of one service.
func (s Cases) InsertSlots(ctx context.Context, slots []cyber.Slot) (int, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (total int, err error) {
		for i, sl := range slots {
			if i == 0 || sl.Service != slots[i-1].Service {
				if err := serviceExists(ctx, tx, sl.Service); err != nil {
					return total, err
				}
			}
			n, err := execCounting(
				ctx,
				tx,
				`INSERT INTO case_slot (id, service_id, starts_at, kept_for) VALUES ($1, $2, $3, $4)
				ON CONFLICT (service_id, starts_at) DO NOTHING`,
				sl.ID,
				sl.Service,
				sl.Starts,
				sl.Partner,
			)
			if total += int(n); err != nil {
				return total, err
			}
		}
		return total, nil
	})
}

func (s Cases) ListSlots(ctx context.Context, service cyber.ServiceID, from time.Time) ([]cyber.Slot, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, sl *cyber.Slot) error {
		return row.Scan(&sl.ID, &sl.Service, &sl.Starts, &sl.Case, &sl.Partner)
	}, `SELECT sl.id, sl.service_id, sl.starts_at, coalesce(b.case_id, ''), nullif(sl.kept_for, 0) FROM case_slot sl
		LEFT JOIN case_booking b ON b.slot_id = sl.id
		WHERE sl.service_id = $1 AND sl.starts_at >= $2 ORDER BY sl.starts_at`,
		service,
		from,
	)
}

// ListFreeSlots returns the times that a partner's people can have: see cyber.TriageStore.
func (s Cases) ListFreeSlots(
	ctx context.Context, id partner.ID, service cyber.ServiceID, after time.Time, limit int,
) ([]time.Time, error) {
	if madeUp, err := hasMadeUpStock(ctx, s.readQuerier(), id); err != nil {
		return nil, err
	} else if madeUp {
		return s.sandboxSlots(ctx, id, service, after)
	}
	return collectValues[time.Time](
		ctx,
		s.readQuerier(),
		`SELECT sl.starts_at FROM case_slot sl LEFT JOIN case_booking b ON b.slot_id = sl.id
		WHERE sl.service_id = $1 AND sl.starts_at > $2 AND sl.kept_for IN (0, $3) AND b.slot_id IS NULL
		ORDER BY sl.starts_at LIMIT $4`,
		service,
		after,
		id,
		limit,
	)
}

// DeleteSlot takes a free slot away.
func (s Cases) DeleteSlot(ctx context.Context, id cyber.SlotID) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		holder, err := readRow(
			ctx,
			tx,
			scanValue[string],
			cyber.ErrSlotNotFound.With("slot", fault.NoSuchID),
			`SELECT coalesce(b.case_id, '') FROM case_slot sl LEFT JOIN case_booking b ON b.slot_id = sl.id
			WHERE sl.id = $1`,
			id,
		)
		if err == nil && holder != "" {
			err = cyber.ErrSlotBooked.With("slot", fault.SlotHeld)
		}
		if err != nil {
			return err
		}
		// A booking made since then refers to the slot, and the engine refuses to delete it.
		return execStatement(ctx, tx, `DELETE FROM case_slot WHERE id = $1`, id)
	})
}
