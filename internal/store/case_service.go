package store

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ cyber.ServiceStore = Services{}

// serviceColumns are those that scanning a service expects, in its order.
const serviceColumns = `id, name, description, position, retired, created_at, mac`

// scanService reads serviceColumns. Of a forged row there is nothing but its ID, and it is not offered.
func (c core) scanService(row scanner, into *checked[cyber.Service]) error {
	sv := &into.value
	err := row.Scan(&sv.ID, &sv.Name, &sv.Description, &sv.Position, &sv.Retired, &sv.CreatedAt,
		c.checksMAC(&into.forged, "service", func() *grant { return serviceGrant(*sv) }))
	if into.row = "service " + string(sv.ID); into.forged {
		*sv = cyber.Service{ID: sv.ID, Retired: true, CreatedAt: sv.CreatedAt}
	}
	return err
}

// ListServices returns the whole catalogue in order.
func (s Services) ListServices(ctx context.Context) ([]cyber.Service, error) {
	rows, err := collectRows(ctx, s.readQuerier(), s.scanService, `SELECT `+serviceColumns+` FROM service ORDER BY position, id`)
	return valuesOf(rows), err
}

// InsertService stores a new service.
func (s Services) InsertService(ctx context.Context, sv cyber.Service) error {
	return s.runAll(ctx, s.serviceStatement(sv))
}

// serviceStatement stores a service; one whose ID exists already is left as it is.
func (s Services) serviceStatement(sv cyber.Service) sqldb.Statement {
	return sqldb.NewStatement(`INSERT INTO service (`+serviceColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`,
		sv.ID, sv.Name, sv.Description, sv.Position, sv.Retired, sv.CreatedAt, s.grantMAC("service", serviceGrant(sv)))
}

// SeedServices fills an empty catalogue; several replicas may do so at once.
func (s Services) SeedServices(ctx context.Context, list []cyber.Service) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		any, err := readValue[bool](ctx, tx, `SELECT EXISTS (SELECT 1 FROM service)`)
		if err != nil || any {
			return err
		}
		return tx.RunStatements(ctx, mapToList(list, s.serviceStatement))
	})
}

// UpdateService changes one service. A forged one begins with nothing, so that only what the operator says anew is kept.
func (s Services) UpdateService(ctx context.Context, id cyber.ServiceID, change func(*cyber.Service) error) (cyber.Service, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (sv cyber.Service, err error) {
		kept, err := readRow(ctx, tx, s.scanService, cyber.ErrServiceNotFound, `SELECT `+serviceColumns+` FROM service WHERE id = $1`, id)
		if err != nil {
			return sv, err
		}
		if sv = kept.value; kept.forged {
			sv.Retired = false
		}
		if err := change(&sv); err != nil {
			return sv, err
		}
		return sv, execStatement(ctx, tx, `UPDATE service SET name = $2, description = $3, position = $4, retired = $5, mac = $6 WHERE id = $1`,
			id, sv.Name, sv.Description, sv.Position, sv.Retired, s.grantMAC("service", serviceGrant(sv)))
	})
}

// ServiceTriage returns what an offered service asks and how its cases are timed. A service that is forged is not offered, and a
// forged question is not asked.
func (s Cases) ServiceTriage(ctx context.Context, service cyber.ServiceID) (cyber.Triage, error) {
	var t cyber.Triage
	missing := cyber.ErrServiceNotFound.With("serviceId", fault.NoSuchService)
	offered, err := readRow(ctx, s.readQuerier(), func(row scanner, into *checked[cyber.Service]) error {
		return s.scanService(leading{row, []any{&t.Target}}, into)
	}, missing, `SELECT coalesce(g.target, $2), v.id, v.name, v.description, v.position,
		v.retired, v.created_at, v.mac FROM service v LEFT JOIN case_target g ON g.service_id = v.id WHERE v.id = $1`, service, cyber.DefaultTarget)
	if err == nil && offered.value.Retired {
		err = missing
	}
	if err != nil {
		return cyber.Triage{}, err
	}
	t.Questions, err = s.ListQuestions(ctx, service)
	return t, err
}

// questionColumns are those that scanning a triage question expects, in its order.
const questionColumns = `q.id, q.service_id, q.question, q.required, q.options, q.created_at, q.mac`

// scanQuestion reads a question. Options that cannot be parsed count as forged, like a wrong MAC.
func (c core) scanQuestion(row scanner, into *checked[cyber.Question]) error {
	q := &into.value
	var options string
	err := row.Scan(&q.ID, &q.Service, &q.Text, &q.Required, &options, &q.CreatedAt, scanFunc(func(mac []byte) error {
		into.row = "case_question " + string(q.ID)
		into.forged = json.Unmarshal([]byte(options), &q.Options) != nil || !c.isGenuine("case_question", questionGrant(*q), mac)
		return nil
	}))
	return err
}

// InsertQuestion stores a question of an existing service.
func (s Cases) InsertQuestion(ctx context.Context, q cyber.Question) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := serviceExists(ctx, tx, q.Service); err != nil {
			return err
		}
		return execStatement(ctx, tx, `INSERT INTO case_question (id, service_id, question, required, options, created_at, mac) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			q.ID, q.Service, q.Text, q.Required, jsonArgument{append([]string{}, q.Options...)}, q.CreatedAt, s.grantMAC("case_question", questionGrant(q)))
	})
}

// serviceExists returns cyber.ErrServiceNotFound for an unknown service; retired services count as existing.
func serviceExists(ctx context.Context, q querier, service cyber.ServiceID) error {
	_, err := findValue[int64](ctx, q, cyber.ErrServiceNotFound.With("service", fault.NoSuchID), `SELECT 1 FROM service WHERE id = $1`, service)
	return err
}

// ListQuestions returns what a service asks; every service's questions when service is empty.
func (s Cases) ListQuestions(ctx context.Context, service cyber.ServiceID) ([]cyber.Question, error) {
	return collectGenuine(ctx, s.readQuerier(), s.scanQuestion, `SELECT `+questionColumns+` FROM case_question q WHERE $1 = '' OR q.service_id = $1
		ORDER BY q.service_id, q.created_at, q.id`, service)
}

// DeleteQuestion removes a question.
func (s Cases) DeleteQuestion(ctx context.Context, id cyber.QuestionID) error {
	return s.expectAlone(ctx, cyber.ErrQuestionNotFound.With("question", fault.NoSuchID), `DELETE FROM case_question WHERE id = $1`, id)
}

// scanAnswer reads a ready answer and checks its MAC: it is text that people are sent.
func (c core) scanAnswer(row scanner, into *checked[cyber.ReadyAnswer]) error {
	a := &into.value
	err := row.Scan(&a.Title, &a.Text, c.checksMAC(&into.forged, "case_answer", func() *grant { return answerGrant(*a) }))
	into.row = "case_answer " + a.Title
	return err
}

// ReadyAnswers returns the answers that are kept ready, by title.
func (s Cases) ReadyAnswers(ctx context.Context) ([]cyber.ReadyAnswer, error) {
	return collectGenuine(ctx, s.readQuerier(), s.scanAnswer, `SELECT title, body, mac FROM case_answer ORDER BY title`)
}

// SaveReadyAnswer stores an answer in the place of the one that has its title.
func (s Cases) SaveReadyAnswer(ctx context.Context, a cyber.ReadyAnswer) error {
	return s.execAlone(ctx, `INSERT INTO case_answer (title, body, mac) VALUES ($1, $2, $3)
			ON CONFLICT (title) DO UPDATE SET body = excluded.body, mac = excluded.mac`, a.Title, a.Text, s.grantMAC("case_answer", answerGrant(a)))
}

// DeleteReadyAnswer removes an answer; one that is not there is as good as removed.
func (s Cases) DeleteReadyAnswer(ctx context.Context, title string) error {
	return s.execAlone(ctx, `DELETE FROM case_answer WHERE title = $1`, title)
}

// SetTarget keeps the working time of a service's new cases.
func (s Cases) SetTarget(ctx context.Context, service cyber.ServiceID, target time.Duration) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := serviceExists(ctx, tx, service); err != nil {
			return err
		}
		return execStatement(ctx, tx, `INSERT INTO case_target (service_id, target) VALUES ($1, $2)
			ON CONFLICT (service_id) DO UPDATE SET target = excluded.target`, service, target)
	})
}

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
			SELECT id, CAST($3 AS INTEGER), CAST($4 AS TEXT) FROM case_slot WHERE service_id = $1 AND starts_at = $2 AND starts_at > $5 AND kept_for IN (0, $3)
			ON CONFLICT (slot_id) DO NOTHING`, c.Service, at, c.Partner, c.ID, now)
		if err != nil || n == 1 {
			return at, err
		}
	}
	return time.Time{}, cyber.ErrAppointmentTaken.With("appointments", fault.NoTimeFree)
}

// hasCalendar reports whether a service has times that are to come.
func hasCalendar(ctx context.Context, q querier, service cyber.ServiceID, now time.Time) (has bool, err error) {
	return readValue[bool](ctx, q, `SELECT EXISTS (SELECT 1 FROM case_slot WHERE service_id = $1 AND starts_at > $2)`, service, now)
}

// hasMadeUpStock reports whether a partner takes nothing that live partners share: its times and keys are made up.
func hasMadeUpStock(ctx context.Context, q querier, id partner.ID) (bool, error) {
	mode, err := readValue[partner.Mode](ctx, q, `SELECT mode FROM partner WHERE id = $1`, id)
	return mode.Has(partner.MadeUpStock), err
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
		return at, execStatement(ctx, tx, `UPDATE support_case SET made_up_at = $3 WHERE partner_id = $1 AND id = $2`, c.Partner, c.ID, at)
	}
	return time.Time{}, cyber.ErrAppointmentTaken.With("appointments", fault.NoTimeFree)
}

// freeMadeUp returns the times of a sandbox partner's made-up calendar that none of its cases has.
func (s Cases) freeMadeUp(ctx context.Context, q querier, id partner.ID, service cyber.ServiceID, now time.Time) ([]time.Time, error) {
	taken, err := collectValues[int64](ctx, q, `SELECT made_up_at FROM support_case WHERE partner_id = $1 AND service_id = $2 AND made_up_at > $3`, id, service, now)
	return slices.DeleteFunc(cyber.SandboxTimes(now), func(at time.Time) bool { return slices.Contains(taken, toMicros(at)) }), err
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
	return tx.RunStatements(ctx, []sqldb.Statement{
		sqldb.NewStatement(`DELETE FROM case_booking WHERE partner_id = $4 AND case_id = $1 AND slot_id IN (
			SELECT id FROM case_slot WHERE service_id = $2 AND starts_at > $3)`, c.ID, c.Service, now, c.Partner),
		sqldb.NewStatement(`UPDATE support_case SET made_up_at = 0 WHERE partner_id = $1 AND id = $2 AND made_up_at > $3`, c.Partner, c.ID, now),
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
			n, err := execCounting(ctx, tx, `INSERT INTO case_slot (id, service_id, starts_at, kept_for) VALUES ($1, $2, $3, $4)
				ON CONFLICT (service_id, starts_at) DO NOTHING`, sl.ID, sl.Service, sl.Starts, sl.Partner)
			if total += int(n); err != nil {
				return total, err
			}
		}
		return total, nil
	})
}

// ListSlots returns a service's slots from a time on.
func (s Cases) ListSlots(ctx context.Context, service cyber.ServiceID, from time.Time) ([]cyber.Slot, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, sl *cyber.Slot) error {
		return row.Scan(&sl.ID, &sl.Service, &sl.Starts, &sl.Case, &sl.Partner)
	}, `SELECT sl.id, sl.service_id, sl.starts_at, coalesce(b.case_id, ''), nullif(sl.kept_for, 0) FROM case_slot sl LEFT JOIN case_booking b ON b.slot_id = sl.id
		WHERE sl.service_id = $1 AND sl.starts_at >= $2 ORDER BY sl.starts_at`, service, from)
}

// ListFreeSlots returns the times that a partner's people can have: see cyber.TriageStore.
func (s Cases) ListFreeSlots(ctx context.Context, id partner.ID, service cyber.ServiceID, after time.Time, limit int) ([]time.Time, error) {
	if madeUp, err := hasMadeUpStock(ctx, s.readQuerier(), id); err != nil {
		return nil, err
	} else if madeUp {
		return s.sandboxSlots(ctx, id, service, after)
	}
	return collectValues[time.Time](ctx, s.readQuerier(), `SELECT sl.starts_at FROM case_slot sl LEFT JOIN case_booking b ON b.slot_id = sl.id
		WHERE sl.service_id = $1 AND sl.starts_at > $2 AND sl.kept_for IN (0, $3) AND b.slot_id IS NULL
		ORDER BY sl.starts_at LIMIT $4`, service, after, id, limit)
}

// sandboxSlots returns the free made-up times of a service that has a calendar.
func (s Cases) sandboxSlots(ctx context.Context, id partner.ID, service cyber.ServiceID, after time.Time) ([]time.Time, error) {
	calendar, err := hasCalendar(ctx, s.readQuerier(), service, after)
	if err != nil || !calendar {
		return nil, err
	}
	return s.freeMadeUp(ctx, s.readQuerier(), id, service, after)
}

// DeleteSlot takes a free slot away.
func (s Cases) DeleteSlot(ctx context.Context, id cyber.SlotID) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		holder, err := findValue[string](ctx, tx, cyber.ErrSlotNotFound.With("slot", fault.NoSuchID),
			`SELECT coalesce(b.case_id, '') FROM case_slot sl LEFT JOIN case_booking b ON b.slot_id = sl.id WHERE sl.id = $1`, id)
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
