package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ cyber.CaseStore = Cases{}

// keptCase is what the sealed column holds: free text of a person may say anything about them.
type keptCase struct {
	User         string   `json:"user"`
	Appointments []string `json:"appointments,omitempty"`
	Answers      []string `json:"answers,omitempty"`
}

func casePlace(id partner.ID, cs cyber.CaseID) seal.Place {
	return seal.Place{Table: "support_case", Column: "details", Partner: string(id), Row: string(cs)}
}

func notePlace(id partner.ID, cs cyber.CaseID, number int64) seal.Place {
	return seal.Place{Table: "case_move", Column: "note", Partner: string(id), Row: string(cs) + "/" + strconv.FormatInt(number, 10)}
}

const caseColumns = `c.id, c.partner_id, c.service_id, c.status, c.assignee, c.details, c.target, c.clock_used, c.clock_since, c.created_at,
	c.changed_at, coalesce((SELECT min(sl.starts_at) FROM case_booking b JOIN case_slot sl ON sl.id = b.slot_id WHERE b.partner_id = c.partner_id AND b.case_id = c.id), 0)`

func (s Cases) scanCase(row scanner) (cyber.Case, error) {
	var c cyber.Case
	var sealed []byte
	var target, used, since, created, changed, booked int64
	err := row.Scan(&c.ID, numbered(&c.Partner), &c.Service, &c.Status, &c.Assignee, &sealed, &target, &used, &since, &created, &changed, &booked)
	if err != nil {
		return c, err
	}
	c.Clock = cyber.Clock{
		Target: time.Duration(target) * time.Microsecond, Used: time.Duration(used) * time.Microsecond, Since: fromMicros(since),
	}
	c.CreatedAt, c.ChangedAt, c.Booked = fromMicros(created), fromMicros(changed), fromMicros(booked)
	plain, err := s.keys.Unseal(casePlace(c.Partner, c.ID), sealed)
	if err != nil {
		return c, fmt.Errorf("open case: %w", err)
	}
	var kept keptCase
	if err := json.Unmarshal(plain, &kept); err != nil {
		return c, fmt.Errorf("read case: %w", err)
	}
	c.User, c.Appointments, c.Answers = partner.UserHash(kept.User), kept.Appointments, kept.Answers
	return c, nil
}

// InsertCase keeps a new case and books its slot: see cyber.CaseStore.
func (s Cases) InsertCase(ctx context.Context, id partner.ID, c cyber.Case, wishes cyber.Wishes) (cyber.Case, error) {
	plain, err := json.Marshal(keptCase{User: string(c.User), Appointments: c.Appointments, Answers: c.Answers})
	if err != nil {
		return c, fmt.Errorf("keep case: %w", err)
	}
	sealed, err := s.keys.Seal(casePlace(id, c.ID), plain)
	if err != nil {
		return c, fmt.Errorf("seal case: %w", err)
	}
	err = s.inTx(ctx, func(tx *sqldb.Tx) error {
		u, err := s.named(ctx, tx, id, c.User)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO support_case (id, partner_id, user_index, service_id, status, assignee, details, target,
			clock_used, clock_since, due_at, created_at, changed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
			string(c.ID), number(id), u.write, string(c.Service), string(c.Status), c.Assignee, sealed, c.Clock.Target.Microseconds(),
			c.Clock.Used.Microseconds(), micros(c.Clock.Since), dueMicros(c), micros(c.CreatedAt), micros(c.ChangedAt))
		if err != nil {
			return fmt.Errorf("insert case: %w", err)
		}
		if err := s.insertMove(ctx, tx, c, cyber.CaseMove{Number: 1, To: c.Status, At: c.CreatedAt}); err != nil {
			return err
		}
		c.Booked, err = s.book(ctx, tx, c, u, wishes)
		return err
	})
	return c, err
}

func (s Cases) insertMove(ctx context.Context, tx *sqldb.Tx, c cyber.Case, m cyber.CaseMove) error {
	var note []byte
	if m.Note != "" {
		var err error
		if note, err = s.keys.Seal(notePlace(c.Partner, c.ID, m.Number), []byte(m.Note)); err != nil {
			return fmt.Errorf("seal note: %w", err)
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO case_move (partner_id, case_id, number, from_status, to_status, actor, note, moved_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		number(c.Partner), string(c.ID), m.Number, string(m.From), string(m.To), m.Actor, note, micros(m.At))
	if err != nil {
		return fmt.Errorf("keep move: %w", err)
	}
	return nil
}

// Cases returns the newest cases that fit. The operator's question: it may name no partner.
func (s Cases) Cases(ctx context.Context, f cyber.CaseFilter) ([]cyber.Case, error) {
	return collect(ctx, s.reader(), s.scanCase, `SELECT `+caseColumns+` FROM support_case c
		WHERE ($1 = 0 OR c.partner_id = $1) AND ($2 = '' OR c.service_id = $2) AND ($3 = '' OR c.status = $3)
			AND ($4 = '' OR c.assignee = $4) AND (NOT $5 OR c.status IN (`+openStatuses+`))
		ORDER BY c.created_at DESC, c.id DESC LIMIT $6`,
		number(f.Partner), string(f.Service), string(f.Status), f.Assignee, f.OpenOnly, int64(f.Limit))
}

// CaseByID returns a case and its history.
func (s Cases) CaseByID(ctx context.Context, id cyber.CaseID) (cyber.Case, []cyber.CaseMove, error) {
	q := s.reader()
	owner, err := s.caseOwner(ctx, id)
	if err != nil {
		return cyber.Case{}, nil, err
	}
	c, err := s.caseOf(ctx, q, owner, id)
	if err != nil {
		return c, nil, err
	}
	moves, err := collect(ctx, q, func(row scanner) (cyber.CaseMove, error) {
		var m cyber.CaseMove
		var note []byte
		var at int64
		if err := row.Scan(&m.Number, &m.From, &m.To, &m.Actor, &note, &at); err != nil {
			return m, err
		}
		m.At = fromMicros(at)
		if note == nil {
			return m, nil
		}
		plain, err := s.keys.Unseal(notePlace(c.Partner, c.ID, m.Number), note)
		m.Note = string(plain)
		return m, err
	}, `SELECT number, from_status, to_status, actor, note, moved_at FROM case_move WHERE partner_id = $1 AND case_id = $2 ORDER BY number`,
		number(c.Partner), string(id))
	if err != nil {
		return c, nil, fmt.Errorf("read moves: %w", err)
	}
	return c, moves, nil
}

// caseOwner finds whose a case is. Operators name cases by their ids alone; what follows is about one partner.
func (s Cases) caseOwner(ctx context.Context, id cyber.CaseID) (partner.ID, error) {
	var owner partner.ID
	err := s.reader().QueryRowContext(ctx, `SELECT partner_id FROM support_case WHERE id = $1`, string(id)).Scan(numbered(&owner))
	return owner, caseError(err)
}

func (s Cases) caseOf(ctx context.Context, q querier, owner partner.ID, id cyber.CaseID) (cyber.Case, error) {
	c, err := s.scanCase(q.QueryRowContext(ctx, `SELECT `+caseColumns+` FROM support_case c WHERE c.partner_id = $1 AND c.id = $2`,
		number(owner), string(id)))
	return c, caseError(err)
}

// caseError names what reading one case may meet.
func caseError(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return cyber.ErrCaseNotFound.With("case: no such id")
	}
	if err != nil {
		return classify(fmt.Errorf("read case: %w", err))
	}
	return nil
}

// UpdateCase changes a case: see cyber.CaseStore.
func (s Cases) UpdateCase(ctx context.Context, id cyber.CaseID, change func(*cyber.Case) (cyber.CaseMove, error)) (cyber.Case, error) {
	var c cyber.Case
	owner, err := s.caseOwner(ctx, id)
	if err != nil {
		return c, err
	}
	err = s.inTx(ctx, func(tx *sqldb.Tx) error {
		// Taken first, so that changes of one case wait for each other and each sees the last.
		if _, err := tx.ExecContext(ctx, `UPDATE support_case SET assignee = assignee WHERE partner_id = $1 AND id = $2`, number(owner), string(id)); err != nil {
			return fmt.Errorf("lock case: %w", err)
		}
		var err error
		if c, err = s.caseOf(ctx, tx, owner, id); err != nil {
			return err
		}
		move, err := change(&c)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE support_case SET status = $2, assignee = $3, clock_used = $4, clock_since = $5, changed_at = $6,
			due_at = $8 WHERE id = $1 AND partner_id = $7`, string(id), string(c.Status), c.Assignee, c.Clock.Used.Microseconds(),
			micros(c.Clock.Since), micros(c.ChangedAt), number(c.Partner), dueMicros(c))
		if err != nil {
			return fmt.Errorf("update case: %w", err)
		}
		if move.To == "" {
			return nil
		}
		return s.moved(ctx, tx, &c, move)
	})
	return c, err
}

// moved keeps a move, frees the slot of a case that is not open any more, and tells the partner. A note moves nothing.
func (s Cases) moved(ctx context.Context, tx *sqldb.Tx, c *cyber.Case, move cyber.CaseMove) error {
	err := tx.QueryRowContext(ctx, `SELECT max(number) + 1 FROM case_move WHERE partner_id = $1 AND case_id = $2`,
		number(c.Partner), string(c.ID)).Scan(&move.Number)
	if err != nil {
		return fmt.Errorf("number move: %w", err)
	}
	if err := s.insertMove(ctx, tx, *c, move); err != nil {
		return err
	}
	if move.From == move.To { // a note
		return nil
	}
	if !c.Status.Open() {
		if err := release(ctx, tx, c, s.now()); err != nil {
			return err
		}
	}
	e, err := alert.CaseMoved(*c, move)
	if err != nil {
		return err
	}
	return s.alerts().addEvents(ctx, tx, c.Partner, e)
}
