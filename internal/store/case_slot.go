package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// bookSlot takes the first wished slot that is free; the zero time when the service has no calendar or nothing was wished.
func (s Cases) bookSlot(ctx context.Context, tx *sqldb.Tx, c cyber.Case, u user, wishes cyber.Wishes, now time.Time) (time.Time, error) {
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
		covered, err := s.coverArea().readEntitled(ctx, tx, c.Partner, u)
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
		res, err := tx.ExecContext(ctx, `INSERT INTO case_booking (slot_id, partner_id, case_id)
			SELECT id, CAST($3 AS INTEGER), CAST($4 AS TEXT) FROM case_slot WHERE service_id = $1 AND starts_at = $2 AND starts_at > $5 AND kept_for IN (0, $3)
			ON CONFLICT (slot_id) DO NOTHING`,
			string(c.Service), toMicros(at), partnerNumber(c.Partner), string(c.ID), toMicros(now))
		if err != nil {
			return time.Time{}, fmt.Errorf("book slot: %w", err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return time.Time{}, fmt.Errorf("book slot: %w", err)
		}
		if n == 1 {
			return at, nil
		}
	}
	return time.Time{}, cyber.ErrAppointmentTaken.With("appointments", fault.NoTimeFree)
}

// hasCalendar reports whether a service has times that are to come.
func hasCalendar(ctx context.Context, q querier, service cyber.ServiceID, now time.Time) (has bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM case_slot WHERE service_id = $1 AND starts_at > $2)`,
		string(service), toMicros(now)).Scan(&has)
	return has, wrapError("read calendar", err)
}

// hasMadeUpStock reports whether a partner takes nothing that live partners share: its times and keys are made up.
func hasMadeUpStock(ctx context.Context, q querier, id partner.ID) (bool, error) {
	var mode partner.Mode
	err := q.QueryRowContext(ctx, `SELECT mode FROM partner WHERE id = $1`, partnerNumber(id)).Scan(&mode)
	return mode.Has(partner.MadeUpStock), wrapError("read partner", err)
}

// bookMadeUp takes the first wished time of a sandbox partner's made-up calendar that none of its cases has.
func (s Cases) bookMadeUp(ctx context.Context, tx *sqldb.Tx, c cyber.Case, wishes cyber.Wishes, now time.Time) (time.Time, error) {
	free, err := s.freeMadeUp(ctx, tx, c.Partner, c.Service, now)
	if err != nil {
		return time.Time{}, err
	}
	for _, at := range wishes.Times {
		if !slices.ContainsFunc(free, at.Equal) {
			continue
		}
		_, err := tx.ExecContext(ctx, `UPDATE support_case SET made_up_at = $3 WHERE partner_id = $1 AND id = $2`, partnerNumber(c.Partner), string(c.ID), toMicros(at))
		return at, wrapError("book made-up time", err)
	}
	return time.Time{}, cyber.ErrAppointmentTaken.With("appointments", fault.NoTimeFree)
}

// freeMadeUp returns the times of a sandbox partner's made-up calendar that none of its cases has.
func (s Cases) freeMadeUp(ctx context.Context, q querier, id partner.ID, service cyber.ServiceID, now time.Time) ([]time.Time, error) {
	taken, err := collectRows(ctx, q, scanInteger, `SELECT made_up_at FROM support_case WHERE partner_id = $1 AND service_id = $2 AND made_up_at > $3`,
		partnerNumber(id), string(service), toMicros(now))
	if err != nil {
		return nil, fmt.Errorf("read made-up times: %w", err)
	}
	return slices.DeleteFunc(cyber.SandboxTimes(now), func(at time.Time) bool { return slices.Contains(taken, toMicros(at)) }), nil
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
	_, err := tx.ExecContext(ctx, `DELETE FROM case_booking WHERE partner_id = $4 AND case_id = $1 AND slot_id IN (
		SELECT id FROM case_slot WHERE service_id = $2 AND starts_at > $3)`, string(c.ID), string(c.Service), toMicros(now), partnerNumber(c.Partner))
	if err == nil {
		_, err = tx.ExecContext(ctx, `UPDATE support_case SET made_up_at = 0 WHERE partner_id = $1 AND id = $2 AND made_up_at > $3`,
			partnerNumber(c.Partner), string(c.ID), toMicros(now))
	}
	if err != nil {
		return fmt.Errorf("release slot: %w", err)
	}
	if c.Booked.After(now) {
		c.Booked = time.Time{}
	}
	return nil
}

// InsertSlots stores new times of one service.
func (s Cases) InsertSlots(ctx context.Context, slots []cyber.Slot) (int, error) {
	total := 0
	err := s.runInTx(ctx, func(tx *sqldb.Tx) error {
		total = 0
		for i, sl := range slots {
			if i == 0 || sl.Service != slots[i-1].Service {
				if err := serviceExists(ctx, tx, sl.Service); err != nil {
					return err
				}
			}
			res, err := tx.ExecContext(ctx, `INSERT INTO case_slot (id, service_id, starts_at, kept_for) VALUES ($1, $2, $3, $4)
				ON CONFLICT (service_id, starts_at) DO NOTHING`, string(sl.ID), string(sl.Service), toMicros(sl.Starts), partnerNumber(sl.Partner))
			if err != nil {
				return fmt.Errorf("insert slot: %w", err)
			}
			n, err := res.RowsAffected()
			if err != nil {
				return fmt.Errorf("insert slot: %w", err)
			}
			total += int(n)
		}
		return nil
	})
	return total, err
}

// ListSlots returns a service's slots from a time on.
func (s Cases) ListSlots(ctx context.Context, service cyber.ServiceID, from time.Time) ([]cyber.Slot, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner) (cyber.Slot, error) {
		var sl cyber.Slot
		var starts int64
		err := row.Scan(&sl.ID, &sl.Service, &starts, &sl.Case, scanPartnerID(&sl.Partner))
		sl.Starts = fromMicros(starts)
		return sl, err
	}, `SELECT sl.id, sl.service_id, sl.starts_at, coalesce(b.case_id, ''), nullif(sl.kept_for, 0) FROM case_slot sl LEFT JOIN case_booking b ON b.slot_id = sl.id
		WHERE sl.service_id = $1 AND sl.starts_at >= $2 ORDER BY sl.starts_at`, string(service), toMicros(from))
}

// ListFreeSlots returns the times that a partner's people can have: see cyber.TriageStore.
func (s Cases) ListFreeSlots(ctx context.Context, id partner.ID, service cyber.ServiceID, after time.Time, limit int) ([]time.Time, error) {
	if madeUp, err := hasMadeUpStock(ctx, s.readQuerier(), id); err != nil {
		return nil, classifyError(err)
	} else if madeUp {
		return s.sandboxSlots(ctx, id, service, after)
	}
	return collectRows(ctx, s.readQuerier(), func(row scanner) (time.Time, error) {
		var starts int64
		err := row.Scan(&starts)
		return fromMicros(starts), err
	}, `SELECT sl.starts_at FROM case_slot sl LEFT JOIN case_booking b ON b.slot_id = sl.id
		WHERE sl.service_id = $1 AND sl.starts_at > $2 AND sl.kept_for IN (0, $3) AND b.slot_id IS NULL
		ORDER BY sl.starts_at LIMIT $4`, string(service), toMicros(after), partnerNumber(id), int64(limit))
}

// sandboxSlots returns the free made-up times of a service that has a calendar.
func (s Cases) sandboxSlots(ctx context.Context, id partner.ID, service cyber.ServiceID, after time.Time) ([]time.Time, error) {
	calendar, err := hasCalendar(ctx, s.readQuerier(), service, after)
	if err != nil || !calendar {
		return nil, classifyError(err)
	}
	return s.freeMadeUp(ctx, s.readQuerier(), id, service, after)
}

// DeleteSlot takes a free slot away.
func (s Cases) DeleteSlot(ctx context.Context, id cyber.SlotID) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		var holder string
		err := tx.QueryRowContext(ctx, `SELECT coalesce(b.case_id, '') FROM case_slot sl LEFT JOIN case_booking b ON b.slot_id = sl.id
			WHERE sl.id = $1`, string(id)).Scan(&holder)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return cyber.ErrSlotNotFound.With("slot", fault.NoSuchID)
		case err != nil:
			return fmt.Errorf("read slot: %w", err)
		case holder != "":
			return cyber.ErrSlotBooked.With("slot", fault.SlotHeld)
		}
		// A booking made since then refers to the slot, and the engine refuses to delete it.
		return execStatement(ctx, tx, "delete slot", `DELETE FROM case_slot WHERE id = $1`, string(id))
	})
}
