package store

import (
	"context"
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
func (s Cases) scanCase(row scanner, c *cyber.Case) error {
	var kept keptCase
	err := row.Scan(&c.ID, &c.Partner, &c.Service, &c.Status, &c.Assignee, s.unseals(&kept, func() seal.Place { return sealedCasePlace(c.Partner, c.ID) }),
		&c.Clock.Target, &c.Clock.Used, &c.Clock.Since, &c.CreatedAt, &c.ChangedAt, &c.Rating, &c.Short, &c.Spoke, &c.SpokeAt, &c.Ending.To, &c.Ending.Actor,
		&c.Ending.At, &c.Writer, &c.WritingAt, &c.Booked)
	c.User, c.Appointments, c.Answers = partner.UserHash(kept.User), kept.Appointments, kept.Answers
	return err
}

// InsertCase stores a new case and books its slot: see cyber.CaseStore.
func (s Cases) InsertCase(ctx context.Context, id partner.ID, c cyber.Case, wishes cyber.Wishes) (cyber.Case, error) {
	sealed, err := s.sealValue(sealedCasePlace(id, c.ID), keptCase{User: string(c.User), Appointments: c.Appointments, Answers: c.Answers})
	if err != nil {
		return c, err
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		u, err := s.findAndNameUser(ctx, tx, id, c.User)
		if err != nil {
			return err
		}
		if c.Short, err = readValue[int64](ctx, tx, `UPDATE counter SET value = value + 1 WHERE name = 'cases' RETURNING value`); err != nil {
			return err
		}
		if err := execStatement(ctx, tx, `INSERT INTO support_case (id, partner_id, user_index, service_id, status, assignee, details, target,
			clock_used, clock_since, due_at, created_at, changed_at, rating, short, spoke_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, $14, $15)`,
			c.ID, id, u.write, c.Service, c.Status, c.Assignee, sealed, c.Clock.Target, c.Clock.Used, c.Clock.Since, dueTimeMicros(c), c.CreatedAt,
			c.ChangedAt, c.Short, c.SpokeAt); err != nil {
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
	note, err := s.sealOptional(sealedNotePlace(c.Partner, c.ID, m.Number), m.Note)
	if err != nil {
		return err
	}
	return execStatement(ctx, tx, `INSERT INTO case_move (partner_id, case_id, number, kind, from_status, to_status, actor, note, moved_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, c.Partner, c.ID, m.Number, m.Kind, m.From, m.To, m.Actor, note, m.At)
}

// ListCases returns the newest cases that fit. The operator's question: it may name no partner.
func (s Cases) ListCases(ctx context.Context, f cyber.CaseFilter) ([]cyber.Case, error) {
	return collectRows(ctx, s.readQuerier(), s.scanCase, `SELECT `+caseColumns+` FROM support_case c
		WHERE ($1 = 0 OR c.partner_id = $1) AND ($2 = '' OR c.service_id = $2) AND ($3 = '' OR c.status = $3)
			AND ($4 = '' OR c.assignee = $4) AND (NOT $5 OR c.status IN (`+openStatuses+`))
		ORDER BY c.created_at DESC, c.id DESC LIMIT $6`, f.Partner, f.Service, f.Status, f.Assignee, f.OpenOnly, f.Limit)
}

// ListPersonCases returns a person's newest cases.
func (s Cases) ListPersonCases(ctx context.Context, id partner.ID, hash partner.UserHash, limit int) ([]cyber.Case, error) {
	return collectOfUser(ctx, s.core, id, hash, s.scanCase, `SELECT `+caseColumns+` FROM support_case c
		WHERE c.partner_id = $1 AND c.user_index IN ($2, $3) ORDER BY c.created_at DESC, c.id DESC LIMIT $4`, limit)
}

// PersonCase returns a person's case and its history.
func (s Cases) PersonCase(ctx context.Context, key cyber.CaseKey) (cyber.Case, []cyber.CaseMove, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, key.Partner, key.User)
	if err != nil {
		return cyber.Case{}, nil, err
	}
	c, err := readRow(ctx, q, s.scanCase, errNoCase, `SELECT `+caseColumns+` FROM support_case c
		WHERE c.partner_id = $1 AND c.id = $2 AND c.user_index IN ($3, $4)`, key.Partner, key.ID, u.write, u.other)
	if err != nil {
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
	return collectRows(ctx, q, func(row scanner, m *cyber.CaseMove) error {
		note := s.unseals(&m.Note, func() seal.Place { return sealedNotePlace(c.Partner, c.ID, m.Number) })
		return row.Scan(&m.Number, &m.Kind, &m.From, &m.To, &m.Actor, note, &m.At)
	}, `SELECT number, kind, from_status, to_status, actor, note, moved_at FROM case_move WHERE partner_id = $1 AND case_id = $2
		ORDER BY number`, c.Partner, c.ID)
}

// caseOwner finds whose a case is. Operators name cases by their ids alone; what follows is about one partner.
func (s Cases) caseOwner(ctx context.Context, id cyber.CaseID) (partner.ID, error) {
	return findValue[partner.ID](ctx, s.readQuerier(), errNoCase, `SELECT partner_id FROM support_case WHERE id = $1`, id)
}

// readCase returns a case of a partner.
func (s Cases) readCase(ctx context.Context, q querier, owner partner.ID, id cyber.CaseID) (cyber.Case, error) {
	return readRow(ctx, q, s.scanCase, errNoCase, `SELECT `+caseColumns+` FROM support_case c WHERE c.partner_id = $1 AND c.id = $2`, owner, id)
}

// errNoCase is the answer to a case that is not there.
var errNoCase = cyber.ErrCaseNotFound.With("case", fault.NoSuchID)

// lockCase makes changes of one case wait for each other, so that each sees the last; a partner's have to be of the
// person it names.
func (s Cases) lockCase(ctx context.Context, tx *sqldb.Tx, owner partner.ID, key cyber.CaseKey) (user, error) {
	if key.Partner == "" {
		return user{}, execStatement(ctx, tx, `UPDATE support_case SET assignee = assignee WHERE partner_id = $1 AND id = $2`, owner, key.ID)
	}
	u, err := s.findAndNameUser(ctx, tx, key.Partner, key.User)
	if err != nil {
		return u, err
	}
	return u, execExpecting(ctx, tx, errNoCase, `UPDATE support_case SET assignee = assignee WHERE partner_id = $1 AND id = $2 AND user_index IN ($3, $4)`,
		key.Partner, key.ID, u.write, u.other)
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
		if err := execStatement(ctx, tx, `UPDATE support_case SET status = $2, assignee = $3, clock_used = $4, clock_since = $5, changed_at = $6,
			due_at = $8, rating = $9, spoke = $10, spoke_at = $11, ending_to = $12, ending_by = $13, ending_at = $14,
			writing_at = $15 WHERE id = $1 AND partner_id = $7`, c.ID, c.Status, c.Assignee, c.Clock.Used, c.Clock.Since, c.ChangedAt, c.Partner, dueTimeMicros(c),
			c.Rating, c.Spoke, c.SpokeAt, c.Ending.To, c.Ending.Actor, c.Ending.At, c.WritingAt); err != nil {
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
	last, err := readValue[int64](ctx, tx, `SELECT max(number) FROM case_move WHERE partner_id = $1 AND case_id = $2`, c.Partner, c.ID)
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
	if err := readColumns(ctx, s.readQuerier(), []any{&lane.Total}, `SELECT count(*) FROM (SELECT 1 AS one FROM support_case c WHERE true`+
		counted.text+counted.addLimit(cyber.MaxLaneTotal)+`) AS lane`, counted.args...); err != nil {
		return lane, err
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
		c.addPastCondition(column+`, c.id`, past, at, f.After.ID)
	}
	lane.Cases, err = collectRows(ctx, s.readQuerier(), s.scanCase, `SELECT `+caseColumns+` FROM support_case c WHERE true`+c.text+order+c.addLimit(f.Limit), c.args...)
	return lane, err
}

// casesThatFit returns the conditions of a filter; lists and counts both use them, so that they agree.
func (s Cases) casesThatFit(ctx context.Context, f cyber.LaneFilter) (c conditions, err error) {
	if f.Status != "" {
		c.addCondition(`c.status = `, f.Status)
	} else {
		c.text += ` AND c.status IN (` + openStatuses + `)`
	}
	addFilter(&c, `c.partner_id = `, f.Partner)
	err = s.addPerson(ctx, &c, `c.user_index`, f.Partner, f.User)
	addFilter(&c, `c.service_id = `, f.Service)
	addFilter(&c, `c.assignee = `, f.Assignee)
	if f.Unassigned {
		c.addCondition(`c.assignee = `, "")
	}
	c.addPeriod(`c.created_at`, f.From, f.To)
	c.addPeriod(`c.due_at`, f.DueFrom, f.DueTo)
	return c, err
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
	present, end, me := mark(now), mark(dayEnd), mark(assignee)
	// Each from a range of an index: most cases are neither late nor mine.
	open := `(SELECT count(*) FROM support_case c WHERE true` + c.text
	err = readColumns(ctx, s.readQuerier(), []any{&n.Late, &n.Today, &n.Free, &n.Mine, &n.Open}, `SELECT `+open+` AND due_at < `+present+`), `+
		open+` AND due_at >= `+present+` AND due_at < `+end+`), `+open+` AND assignee = ''), `+open+` AND assignee = `+me+`), `+open+`)`, c.args...)
	return n, err
}

// EndingCases returns cases whose final move is due: see cyber.CaseStore.
func (s Cases) EndingCases(ctx context.Context, now time.Time, limit int) ([]cyber.CaseID, error) {
	return collectValues[cyber.CaseID](ctx, s.readQuerier(), `SELECT id FROM support_case WHERE ending_at > 0 AND ending_at <= $1 ORDER BY ending_at LIMIT $2`, now, limit)
}

// SetWriter notes who is writing: see cyber.CaseStore.
func (s Cases) SetWriter(ctx context.Context, key cyber.CaseKey, writer string, now time.Time) error {
	owner, err := s.caseOwner(ctx, key.ID)
	if err == nil && key.Partner != "" && owner != key.Partner {
		err = errNoCase
	}
	if err != nil {
		return err
	}
	return s.execAlone(ctx, `UPDATE support_case SET writer = $3, writing_at = $4 WHERE partner_id = $1 AND id = $2`, owner, key.ID, writer, now)
}
