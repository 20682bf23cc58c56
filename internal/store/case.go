package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
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

// sealedCasePlace binds the sealed members of a case to its row.
func sealedCasePlace(id partner.ID, cs cyber.CaseID) seal.Place {
	return seal.Place{Table: "support_case", Column: "details", Partner: string(id), Row: string(cs)}
}

// sealedNotePlace binds a sealed note to its row.
func sealedNotePlace(id partner.ID, cs cyber.CaseID, number int64) seal.Place {
	return seal.Place{Table: "case_move", Column: "note", Partner: string(id), Row: string(cs) + "/" + strconv.FormatInt(number, 10)}
}

// caseColumns are those that scanCase expects, in its order.
const caseColumns = `c.id, c.partner_id, c.service_id, c.status, c.assignee, c.details, c.target, c.clock_used, c.clock_since, c.created_at,
	c.changed_at, c.rating, c.short, c.spoke, c.spoke_at, c.ending_to, c.ending_by, c.ending_at, c.writer, c.writing_at, coalesce((SELECT min(sl.starts_at) FROM case_booking b JOIN case_slot sl ON sl.id = b.slot_id WHERE b.partner_id = c.partner_id AND b.case_id = c.id), c.made_up_at)`

// scanCase reads a case's columns and unseals what may name the person: the user hash, the appointments and the
// answers.
func (s Cases) scanCase(row scanner) (cyber.Case, error) {
	var c cyber.Case
	var sealed []byte
	var target, used, since, created, changed, booked, spoke, ending, writing int64
	err := row.Scan(&c.ID, scanPartnerID(&c.Partner), &c.Service, &c.Status, &c.Assignee, &sealed, &target, &used, &since, &created, &changed, &c.Rating,
		&c.Short, &c.Spoke, &spoke, &c.Ending.To, &c.Ending.Actor, &ending, &c.Writer, &writing, &booked)
	if err != nil {
		return c, err
	}
	c.Clock = cyber.Clock{
		Target: time.Duration(target) * time.Microsecond, Used: time.Duration(used) * time.Microsecond, Since: fromMicros(since),
	}
	c.CreatedAt, c.ChangedAt, c.Booked = fromMicros(created), fromMicros(changed), fromMicros(booked)
	c.SpokeAt, c.Ending.At, c.WritingAt = fromMicros(spoke), fromMicros(ending), fromMicros(writing)
	plain, err := s.keys.Unseal(sealedCasePlace(c.Partner, c.ID), sealed)
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

// InsertCase stores a new case and books its slot: see cyber.CaseStore.
func (s Cases) InsertCase(ctx context.Context, id partner.ID, c cyber.Case, wishes cyber.Wishes) (cyber.Case, error) {
	plain, err := json.Marshal(keptCase{User: string(c.User), Appointments: c.Appointments, Answers: c.Answers})
	if err != nil {
		return c, fmt.Errorf("keep case: %w", err)
	}
	sealed, err := s.keys.Seal(sealedCasePlace(id, c.ID), plain)
	if err != nil {
		return c, fmt.Errorf("seal case: %w", err)
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		u, err := s.findAndNameUser(ctx, tx, id, c.User)
		if err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, `UPDATE counter SET value = value + 1 WHERE name = 'cases' RETURNING value`).Scan(&c.Short); err != nil {
			return fmt.Errorf("number case: %w", err)
		}
		if err := execStatement(ctx, tx, "insert case", `INSERT INTO support_case (id, partner_id, user_index, service_id, status, assignee, details, target,
			clock_used, clock_since, due_at, created_at, changed_at, rating, short, spoke_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, $14, $15)`,
			string(c.ID), partnerNumber(id), u.write, string(c.Service), string(c.Status), c.Assignee, sealed, c.Clock.Target.Microseconds(),
			c.Clock.Used.Microseconds(), toMicros(c.Clock.Since), dueTimeMicros(c), toMicros(c.CreatedAt), toMicros(c.ChangedAt), c.Short, toMicros(c.SpokeAt)); err != nil {
			return err
		}
		if err := s.insertMove(ctx, tx, c, cyber.CaseMove{Number: 1, To: c.Status, At: c.CreatedAt}); err != nil {
			return err
		}
		c.Booked, err = s.bookSlot(ctx, tx, c, u, wishes, c.CreatedAt)
		return err
	})
	return c, err
}

// insertMove stores one line of a case's history; its note is sealed, and NULL when there is none.
func (s Cases) insertMove(ctx context.Context, tx *sqldb.Tx, c cyber.Case, m cyber.CaseMove) error {
	var note []byte
	if m.Note != "" {
		var err error
		if note, err = s.keys.Seal(sealedNotePlace(c.Partner, c.ID, m.Number), []byte(m.Note)); err != nil {
			return fmt.Errorf("seal note: %w", err)
		}
	}
	return execStatement(ctx, tx, "keep move", `INSERT INTO case_move (partner_id, case_id, number, kind, from_status, to_status, actor, note, moved_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		partnerNumber(c.Partner), string(c.ID), m.Number, string(m.Kind), string(m.From), string(m.To), m.Actor, note, toMicros(m.At))
}

// ListCases returns the newest cases that fit. The operator's question: it may name no partner.
func (s Cases) ListCases(ctx context.Context, f cyber.CaseFilter) ([]cyber.Case, error) {
	return collectRows(ctx, s.readQuerier(), s.scanCase, `SELECT `+caseColumns+` FROM support_case c
		WHERE ($1 = 0 OR c.partner_id = $1) AND ($2 = '' OR c.service_id = $2) AND ($3 = '' OR c.status = $3)
			AND ($4 = '' OR c.assignee = $4) AND (NOT $5 OR c.status IN (`+openStatuses+`))
		ORDER BY c.created_at DESC, c.id DESC LIMIT $6`,
		partnerNumber(f.Partner), string(f.Service), string(f.Status), f.Assignee, f.OpenOnly, int64(f.Limit))
}

// ListPersonCases returns a person's newest cases.
func (s Cases) ListPersonCases(ctx context.Context, id partner.ID, hash partner.UserHash, limit int) ([]cyber.Case, error) {
	u, err := s.findUser(ctx, s.readQuerier(), id, hash)
	if err != nil {
		return nil, err
	}
	return collectRows(ctx, s.readQuerier(), s.scanCase, `SELECT `+caseColumns+` FROM support_case c
		WHERE c.partner_id = $1 AND c.user_index IN ($2, $3) ORDER BY c.created_at DESC, c.id DESC LIMIT $4`,
		partnerNumber(id), u.write, u.other, int64(limit))
}

// PersonCase returns a person's case and its history.
func (s Cases) PersonCase(ctx context.Context, key cyber.CaseKey) (cyber.Case, []cyber.CaseMove, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, key.Partner, key.User)
	if err != nil {
		return cyber.Case{}, nil, err
	}
	c, err := s.scanCase(q.QueryRowContext(ctx, `SELECT `+caseColumns+` FROM support_case c
		WHERE c.partner_id = $1 AND c.id = $2 AND c.user_index IN ($3, $4)`, partnerNumber(key.Partner), string(key.ID), u.write, u.other))
	if err = nameCaseError(err); err != nil {
		return c, nil, err
	}
	moves, err := s.readHistory(ctx, q, c)
	return c, moves, err
}

// GetCase returns a case and its history.
func (s Cases) GetCase(ctx context.Context, id cyber.CaseID) (cyber.Case, []cyber.CaseMove, error) {
	q := s.readQuerier()
	owner, err := s.caseOwner(ctx, id)
	if err != nil {
		return cyber.Case{}, nil, err
	}
	c, err := s.readCase(ctx, q, owner, id)
	if err != nil {
		return c, nil, err
	}
	moves, err := s.readHistory(ctx, q, c)
	return c, moves, err
}

// readHistory returns the lines of a case's history.
func (s Cases) readHistory(ctx context.Context, q querier, c cyber.Case) ([]cyber.CaseMove, error) {
	moves, err := collectRows(ctx, q, func(row scanner) (cyber.CaseMove, error) {
		var m cyber.CaseMove
		var note []byte
		var at int64
		if err := row.Scan(&m.Number, &m.Kind, &m.From, &m.To, &m.Actor, &note, &at); err != nil {
			return m, err
		}
		m.At = fromMicros(at)
		if note == nil {
			return m, nil
		}
		plain, err := s.keys.Unseal(sealedNotePlace(c.Partner, c.ID, m.Number), note)
		m.Note = string(plain)
		return m, err
	}, `SELECT number, kind, from_status, to_status, actor, note, moved_at FROM case_move WHERE partner_id = $1 AND case_id = $2
		ORDER BY number`, partnerNumber(c.Partner), string(c.ID))
	return moves, wrapError("read moves", err)
}

// caseOwner finds whose a case is. Operators name cases by their ids alone; what follows is about one partner.
func (s Cases) caseOwner(ctx context.Context, id cyber.CaseID) (partner.ID, error) {
	var owner partner.ID
	err := s.readQuerier().QueryRowContext(ctx, `SELECT partner_id FROM support_case WHERE id = $1`, string(id)).Scan(scanPartnerID(&owner))
	return owner, nameCaseError(err)
}

// readCase returns a case of a partner.
func (s Cases) readCase(ctx context.Context, q querier, owner partner.ID, id cyber.CaseID) (cyber.Case, error) {
	c, err := s.scanCase(q.QueryRowContext(ctx, `SELECT `+caseColumns+` FROM support_case c WHERE c.partner_id = $1 AND c.id = $2`,
		partnerNumber(owner), string(id)))
	return c, nameCaseError(err)
}

// nameCaseError names what reading one case may meet.
func nameCaseError(err error) error {
	return readError("read case", err, cyber.ErrCaseNotFound.With("case", fault.NoSuchID))
}

// lockCase makes changes of one case wait for each other, so that each sees the last; a partner's have to be of the
// person it names.
func (s Cases) lockCase(ctx context.Context, tx *sqldb.Tx, owner partner.ID, key cyber.CaseKey) (user, error) {
	if key.Partner == "" {
		_, err := tx.ExecContext(ctx, `UPDATE support_case SET assignee = assignee WHERE partner_id = $1 AND id = $2`, partnerNumber(owner), string(key.ID))
		return user{}, wrapError("lock case", err)
	}
	u, err := s.findAndNameUser(ctx, tx, key.Partner, key.User)
	if err != nil {
		return u, err
	}
	res, err := tx.ExecContext(ctx, `UPDATE support_case SET assignee = assignee WHERE partner_id = $1 AND id = $2 AND user_index IN ($3, $4)`,
		partnerNumber(key.Partner), string(key.ID), u.write, u.other)
	if err != nil {
		return u, fmt.Errorf("lock case: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return u, errors.Join(err, cyber.ErrCaseNotFound.With("case", fault.NoSuchID))
	}
	return u, nil
}

// UpdateCase changes a case: see cyber.CaseStore.
func (s Cases) UpdateCase(ctx context.Context, key cyber.CaseKey, change func(*cyber.Case) (cyber.CaseChange, error)) (cyber.Case, error) {
	var c cyber.Case
	owner, err := key.Partner, error(nil)
	if owner == "" {
		if owner, err = s.caseOwner(ctx, key.ID); err != nil {
			return c, err
		}
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		u, err := s.lockCase(ctx, tx, owner, key)
		if err != nil {
			return err
		}
		if c, err = s.readCase(ctx, tx, owner, key.ID); err != nil {
			return err
		}
		done, err := change(&c)
		if err != nil {
			return err
		}
		if err := execStatement(ctx, tx, "update case", `UPDATE support_case SET status = $2, assignee = $3, clock_used = $4, clock_since = $5, changed_at = $6,
			due_at = $8, rating = $9, spoke = $10, spoke_at = $11, ending_to = $12, ending_by = $13, ending_at = $14, writing_at = $15 WHERE id = $1 AND partner_id = $7`, string(c.ID), string(c.Status), c.Assignee, c.Clock.Used.Microseconds(),
			toMicros(c.Clock.Since), toMicros(c.ChangedAt), partnerNumber(c.Partner), dueTimeMicros(c), c.Rating, c.Spoke, toMicros(c.SpokeAt),
			string(c.Ending.To), c.Ending.Actor, toMicros(c.Ending.At), toMicros(c.WritingAt)); err != nil {
			return err
		}
		if done.Book != nil {
			if err := s.rebookSlot(ctx, tx, &c, u, *done.Book); err != nil {
				return err
			}
		}
		return s.addHistoryLines(ctx, tx, &c, done)
	})
	return c, err
}

// addHistoryLines stores new lines of a case's history, frees the slot of a case that is not open any more, and tells
// the partner.
func (s Cases) addHistoryLines(ctx context.Context, tx *sqldb.Tx, c *cyber.Case, done cyber.CaseChange) error {
	if len(done.Lines) == 0 {
		return nil
	}
	var last int64
	err := tx.QueryRowContext(ctx, `SELECT max(number) FROM case_move WHERE partner_id = $1 AND case_id = $2`,
		partnerNumber(c.Partner), string(c.ID)).Scan(&last)
	if err != nil {
		return fmt.Errorf("number move: %w", err)
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
	events, err := alert.CaseEvents(*c, done.Lines)
	if err != nil {
		return err
	}
	return s.alertsArea().addPartnerEvents(ctx, tx, c.Partner, events...)
}

// nothingDue stands where a time to be ready by would: after every other.
const nothingDue = math.MaxInt64

// openStatuses are the statuses of cases that still need work.
const openStatuses = `'` + string(cyber.CaseOpen) + `', '` + string(cyber.CaseInProgress) + `', '` + string(cyber.CaseWaiting) + `'`

// dueTimeMicros returns when a case is due, as its column keeps it.
func dueTimeMicros(c cyber.Case) int64 {
	if due, ok := c.Clock.Due(); ok {
		return toMicros(due)
	}
	return nothingDue
}

// ListLane returns a page of the cases in one status: see cyber.CaseStore. The operator's question: it may name no partner.
func (s Cases) ListLane(ctx context.Context, f cyber.LaneFilter) (cyber.Lane, error) {
	lane := cyber.Lane{Status: f.Status}
	c, err := s.casesThatFit(ctx, f)
	if err != nil {
		return lane, err
	}
	counted := c
	counted.args = slices.Clone(c.args)
	err = s.readQuerier().QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 AS one FROM support_case c WHERE true`+counted.text+counted.addLimit(cyber.MaxLaneTotal)+`) AS lane`,
		counted.args...).Scan(&lane.Total)
	if err != nil {
		return lane, classifyError(fmt.Errorf("count lane: %w", err))
	}
	column, turned, at := `c.due_at`, !f.Status.Open(), int64(nothingDue)
	if f.Order != cyber.LaneUrgent {
		column, turned = `c.created_at`, f.Order == cyber.LaneNewest
	}
	order, past := ` ORDER BY `+column+`, c.id`, `>`
	if turned {
		order, past = ` ORDER BY `+column+` DESC, c.id DESC`, `<`
	}
	if !f.After.Due.IsZero() {
		at = toMicros(f.After.Due)
	}
	if f.After.ID != "" {
		c.addPastCondition(column+`, c.id`, past, at, string(f.After.ID))
	}
	lane.Cases, err = collectRows(ctx, s.readQuerier(), s.scanCase, `SELECT `+caseColumns+` FROM support_case c WHERE true`+c.text+order+c.addLimit(f.Limit), c.args...)
	return lane, wrapError("read lane", err)
}

// casesThatFit returns the conditions of a filter; lists and counts both use them, so that they agree.
func (s Cases) casesThatFit(ctx context.Context, f cyber.LaneFilter) (c conditions, err error) {
	if f.Status != "" {
		c.addCondition(`c.status = `, string(f.Status))
	} else {
		c.text += ` AND c.status IN (` + openStatuses + `)`
	}
	if f.Partner != "" {
		c.addCondition(`c.partner_id = `, partnerNumber(f.Partner))
	}
	if f.User != "" {
		u, err := s.findUser(ctx, s.readQuerier(), f.Partner, f.User)
		if err != nil {
			return c, err
		}
		c.addEither(`c.user_index`, u.write, u.other)
	}
	if f.Service != "" {
		c.addCondition(`c.service_id = `, string(f.Service))
	}
	if f.Assignee != "" {
		c.addCondition(`c.assignee = `, f.Assignee)
	}
	if f.Unassigned {
		c.addCondition(`c.assignee = `, "")
	}
	c.addPeriod(`c.created_at`, f.From, f.To)
	c.addPeriod(`c.due_at`, f.DueFrom, f.DueTo)
	return c, nil
}

// WaitingCases counts what waits at the desk: see cyber.CaseStore. The rows that a number counts are those that Lane returns with
// the same filter.
func (s Cases) WaitingCases(ctx context.Context, f cyber.LaneFilter, assignee string, now, dayEnd time.Time) (cyber.WaitingCases, error) {
	var n cyber.WaitingCases
	c, err := s.casesThatFit(ctx, f)
	if err != nil {
		return n, err
	}
	mark := func(arg any) string {
		c.args = append(c.args, arg)
		return `$` + strconv.Itoa(len(c.args))
	}
	present, end, me := mark(toMicros(now)), mark(toMicros(dayEnd)), mark(assignee)
	// Each from a range of an index: most cases are neither late nor mine.
	open := `(SELECT count(*) FROM support_case c WHERE true` + c.text
	err = s.readQuerier().QueryRowContext(ctx, `SELECT `+open+` AND due_at < `+present+`), `+open+` AND due_at >= `+present+` AND due_at < `+end+`), `+open+` AND assignee = ''), `+
		open+` AND assignee = `+me+`), `+open+`)`, c.args...).Scan(&n.Late, &n.Today, &n.Free, &n.Mine, &n.Open)
	return n, classifyError(wrapError("count cases", err))
}

// EndingCases returns cases whose final move is due: see cyber.CaseStore.
func (s Cases) EndingCases(ctx context.Context, now time.Time, limit int) ([]cyber.CaseID, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner) (id cyber.CaseID, err error) { return id, row.Scan(&id) },
		`SELECT id FROM support_case WHERE ending_at > 0 AND ending_at <= $1 ORDER BY ending_at LIMIT $2`, toMicros(now), int64(limit))
}

// SetWriter notes who is writing: see cyber.CaseStore.
func (s Cases) SetWriter(ctx context.Context, key cyber.CaseKey, writer string, now time.Time) error {
	owner, err := s.caseOwner(ctx, key.ID)
	if err == nil && key.Partner != "" && owner != key.Partner {
		err = cyber.ErrCaseNotFound.With("case", fault.NoSuchID)
	}
	if err != nil {
		return err
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE support_case SET writer = $3, writing_at = $4 WHERE partner_id = $1 AND id = $2`, partnerNumber(owner), string(key.ID), writer, toMicros(now))
		return err
	})
}
