package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ cyber.CaseStore = Cases{}

// keptCase is what the sealed column holds: free text of a person may say anything about them.
type keptCase struct {
	User         string   `json:"user"`
	Appointments []string `json:"appointments,omitempty"`
	Answers      []string `json:"answers,omitempty"`
}

// sealedCasePlace binds the sealed members of a case to its row and its service: who moves a case to another service in
// the database makes it one that does not open.
func sealedCasePlace(id partner.ID, cs cyber.CaseID, service cyber.ServiceID) seal.Place {
	return seal.Place{
		Table:   "support_case",
		Column:  "details",
		Partner: string(id),
		Row:     string(cs) + "/" + string(service),
	}
}

// sealedNotePlace binds a sealed note to its row.
func sealedNotePlace(id partner.ID, cs cyber.CaseID, number int64) seal.Place {
	return seal.Place{
		Table:   "case_move",
		Column:  "note",
		Partner: string(id),
		Row:     string(cs) + "/" + strconv.FormatInt(number, 10),
	}
}

// caseColumns are those that scanCase expects, in its order.
const caseColumns = `c.id, c.partner_id, c.service_id, c.status, c.assignee, c.details, c.target, c.clock_used,
	c.clock_since, c.created_at, c.changed_at, c.rating, c.short, c.spoke, c.spoke_at, c.ending_to, c.ending_by,
	c.ending_at, c.writer, c.writing_at, coalesce((
		SELECT min(sl.starts_at) FROM case_booking b JOIN case_slot sl ON sl.id = b.slot_id
		WHERE b.partner_id = c.partner_id AND b.case_id = c.id), c.made_up_at)`

// scanCase reads a case's columns and unseals what may name the person: the user hash, the appointments and the
// answers.
func (s Cases) scanCase(row scanner, c *cyber.Case) error {
	var kept keptCase
	err := row.Scan(
		&c.ID,
		&c.Partner,
		&c.Service,
		&c.Status,
		&c.Assignee,
		s.unseals(&kept, func() seal.Place { return sealedCasePlace(c.Partner, c.ID, c.Service) }),
		&c.Clock.Target,
		&c.Clock.Used,
		&c.Clock.Since,
		&c.CreatedAt,
		&c.ChangedAt,
		&c.Rating,
		&c.Short,
		&c.Spoke,
		&c.SpokeAt,
		&c.Ending.To,
		&c.Ending.Actor,
		&c.Ending.At,
		&c.Writer,
		&c.WritingAt,
		&c.Booked,
	)
	c.User, c.Appointments, c.Answers = partner.UserHash(kept.User), kept.Appointments, kept.Answers
	if err == nil && c.Status == "" { // other columns may be without one
		return fmt.Errorf("%w: the status of a case", sqldb.ErrUnknownValue)
	}
	return err
}

// InsertCase stores a new case and books its slot: see cyber.CaseStore.
func (s Cases) InsertCase(ctx context.Context, id partner.ID, c cyber.Case, wishes cyber.Wishes) (cyber.Case, error) {
	sealed, err := s.sealValue(
		sealedCasePlace(id, c.ID, c.Service),
		keptCase{User: string(c.User), Appointments: c.Appointments, Answers: c.Answers},
	)
	if err != nil {
		return c, err
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		u, err := s.findAndNameUser(ctx, tx, id, c.User)
		if err != nil {
			return err
		}
		if c.Short, err = readValue[int64](
			ctx,
			tx,
			`UPDATE counter SET value = value + 1 WHERE name = 'cases' RETURNING value`,
		); err != nil {
			return err
		}
		if err := execStatement(
			ctx,
			tx,
			`INSERT INTO support_case (id, partner_id, user_index, service_id, status, assignee, details, target,
			clock_used, clock_since, due_at, created_at, changed_at, rating, short, spoke_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, $14, $15)`,
			c.ID,
			id,
			u.write,
			c.Service,
			c.Status,
			c.Assignee,
			sealed,
			c.Clock.Target,
			c.Clock.Used,
			c.Clock.Since,
			dueTimeMicros(c),
			c.CreatedAt,
			c.ChangedAt,
			c.Short,
			c.SpokeAt,
		); err != nil {
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

// ListCases returns the newest cases that fit. The operator's question: it may name no partner.
func (s Cases) ListCases(ctx context.Context, f cyber.CaseFilter) ([]cyber.Case, error) {
	return collectRows(ctx, s.readQuerier(), s.scanCase, `SELECT `+caseColumns+` FROM support_case c
		WHERE ($1 = 0 OR c.partner_id = $1) AND ($2 = '' OR c.service_id = $2) AND ($3 = '' OR c.status = $3)
			AND ($4 = '' OR c.assignee = $4) AND (NOT $5 OR c.status IN (`+openStatuses+`))
		ORDER BY c.created_at DESC, c.id DESC LIMIT $6`,
		f.Partner,
		f.Service,
		f.Status,
		f.Assignee,
		f.OpenOnly,
		f.Limit,
	)
}

// ListPersonCases returns a person's newest cases.
func (s Cases) ListPersonCases(
	ctx context.Context,
	id partner.ID,
	hash partner.UserHash,
	limit int,
) ([]cyber.Case, error) {
	return collectOfUser(ctx, s.core, id, hash, s.scanCase, `SELECT `+caseColumns+` FROM support_case c
		WHERE c.partner_id = $1 AND c.user_index IN ($2, $3) ORDER BY c.created_at DESC, c.id DESC LIMIT $4`,
		limit,
	)
}

// PersonCase returns a person's case and its history.
func (s Cases) PersonCase(ctx context.Context, key cyber.CaseKey) (cyber.Case, []cyber.CaseMove, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, key.Partner, key.User)
	if err != nil {
		return cyber.Case{}, nil, err
	}
	c, err := readRow(ctx, q, s.scanCase, errNoCase, `SELECT `+caseColumns+` FROM support_case c
		WHERE c.partner_id = $1 AND c.id = $2 AND c.user_index IN ($3, $4)`,
		key.Partner,
		key.ID,
		u.write,
		u.other,
	)
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
	}, `SELECT number, kind, from_status, to_status, actor, note, moved_at FROM case_move
		WHERE partner_id = $1 AND case_id = $2
		ORDER BY number`,
		c.Partner,
		c.ID,
	)
}

// caseOwner finds whose a case is. Operators name cases by their ids alone; what follows is about one partner.
func (s Cases) caseOwner(ctx context.Context, id cyber.CaseID) (partner.ID, error) {
	return findValue[partner.ID](
		ctx,
		s.readQuerier(),
		errNoCase,
		`SELECT partner_id FROM support_case WHERE id = $1`,
		id,
	)
}

func (s Cases) readCase(ctx context.Context, q querier, owner partner.ID, id cyber.CaseID) (cyber.Case, error) {
	return readRow(
		ctx,
		q,
		s.scanCase,
		errNoCase,
		`SELECT `+caseColumns+` FROM support_case c WHERE c.partner_id = $1 AND c.id = $2`,
		owner,
		id,
	)
}

// errNoCase is the answer to a case that is not there.
var errNoCase = cyber.ErrCaseNotFound.With("case", fault.NoSuchID)

// lockCase makes changes of one case wait for each other, so that each sees the last; a partner's have to be of the
// person it names.
func (s Cases) lockCase(ctx context.Context, tx *sqldb.Tx, owner partner.ID, key cyber.CaseKey) (user, error) {
	if key.Partner == "" {
		return user{}, execStatement(
			ctx,
			tx,
			`UPDATE support_case SET assignee = assignee WHERE partner_id = $1 AND id = $2`,
			owner,
			key.ID,
		)
	}
	u, err := s.findAndNameUser(ctx, tx, key.Partner, key.User)
	if err != nil {
		return u, err
	}
	return u, execExpecting(
		ctx,
		tx,
		errNoCase,
		`UPDATE support_case SET assignee = assignee WHERE partner_id = $1 AND id = $2 AND user_index IN ($3, $4)`,
		key.Partner,
		key.ID,
		u.write,
		u.other,
	)
}

// UpdateCase changes a case: see cyber.CaseStore.
func (s Cases) UpdateCase(
	ctx context.Context,
	key cyber.CaseKey,
	change func(*cyber.Case) (cyber.CaseChange, error),
) (cyber.Case, error) {
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
		if err := execStatement(
			ctx,
			tx,
			`UPDATE support_case SET status = $2, assignee = $3, clock_used = $4, clock_since = $5, changed_at = $6,
			due_at = $8, rating = $9, spoke = $10, spoke_at = $11, ending_to = $12, ending_by = $13, ending_at = $14,
			writing_at = $15 WHERE id = $1 AND partner_id = $7`,
			c.ID,
			c.Status,
			c.Assignee,
			c.Clock.Used,
			c.Clock.Since,
			c.ChangedAt,
			c.Partner,
			dueTimeMicros(c),
			c.Rating,
			c.Spoke,
			c.SpokeAt,
			c.Ending.To,
			c.Ending.Actor,
			c.Ending.At,
			c.WritingAt,
		); err != nil {
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

// nothingDue stands where a time to be ready by would: after every other.
const nothingDue = math.MaxInt64

// openStatuses are the statuses of cases that still need work.
const openStatuses = `'` + string(cyber.CaseOpen) + `', '` +
	string(cyber.CaseInProgress) + `', '` +
	string(cyber.CaseWaiting) + `'`

// closedStatuses are the others.
const closedStatuses = `'` + string(cyber.CaseResolved) + `', '` +
	string(cyber.CaseClosed) + `', '` +
	string(cyber.CaseCancelled) + `'`

// dueTimeMicros returns when a case is due, as its column keeps it.
func dueTimeMicros(c cyber.Case) int64 {
	if due, ok := c.Clock.Due(); ok {
		return toMicros(due)
	}
	return nothingDue
}

// ListLane returns a page of the cases in one status: see cyber.CaseStore. The operator's question: it may name no
// partner.
func (s Cases) ListLane(ctx context.Context, f cyber.LaneFilter) (cyber.Lane, error) {
	lane := cyber.Lane{Status: f.Status}
	c, err := s.casesThatFit(ctx, f)
	if err != nil {
		return lane, err
	}
	counted := c
	counted.args = slices.Clone(c.args)
	if err := readColumns(
		ctx,
		s.readQuerier(),
		[]any{&lane.Total},
		`SELECT count(*) FROM (SELECT 1 AS one FROM support_case c WHERE true`+
			counted.text+counted.addLimit(cyber.MaxLaneTotal)+`) AS lane`,
		counted.args...,
	); err != nil {
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
	lane.Cases, err = collectRows(
		ctx,
		s.readQuerier(),
		s.scanCase,
		`SELECT `+caseColumns+` FROM support_case c WHERE true`+c.text+order+c.addLimit(f.Limit),
		c.args...,
	)
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
	c.addLiveOnly(`c.partner_id`, f.LiveOnly)
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

// WaitingCases counts what waits at the desk: see cyber.CaseStore. The rows that a number counts are those that Lane
// returns with the same filter.
func (s Cases) WaitingCases(
	ctx context.Context,
	f cyber.LaneFilter,
	assignee string,
	now, dayEnd time.Time,
) (cyber.WaitingCases, error) {
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
	err = readColumns(
		ctx,
		s.readQuerier(),
		[]any{&n.Late, &n.Today, &n.Free, &n.Mine, &n.Open},
		`SELECT `+open+` AND due_at < `+present+`), `+
			open+` AND due_at >= `+present+` AND due_at < `+end+`), `+open+` AND assignee = ''),
				`+open+` AND assignee = `+me+`), `+open+`)`,
		c.args...,
	)
	return n, err
}

// EndingCases returns cases whose final move is due: see cyber.CaseStore.
func (s Cases) EndingCases(ctx context.Context, now time.Time, limit int) ([]cyber.CaseID, error) {
	return collectValues[cyber.CaseID](
		ctx,
		s.readQuerier(),
		`SELECT id FROM support_case WHERE ending_at > 0 AND ending_at <= $1 ORDER BY ending_at LIMIT $2`,
		now,
		limit,
	)
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
	return s.execAlone(
		ctx,
		`UPDATE support_case SET writer = $3, writing_at = $4 WHERE partner_id = $1 AND id = $2`,
		owner,
		key.ID,
		writer,
		now,
	)
}

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
	rows, err := collectRows(
		ctx,
		s.readQuerier(),
		s.scanService,
		`SELECT `+serviceColumns+` FROM service ORDER BY position, id`,
	)
	return valuesOf(rows), err
}

// InsertService stores a new service.
func (s Services) InsertService(ctx context.Context, sv cyber.Service) error {
	return s.runAll(ctx, s.serviceStatement(sv))
}

// serviceStatement stores a service; one whose ID exists already is left as it is.
func (s Services) serviceStatement(sv cyber.Service) sqldb.Statement {
	return sqldb.NewStatement(
		`INSERT INTO service (`+serviceColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`,
		sv.ID,
		sv.Name,
		sv.Description,
		sv.Position,
		sv.Retired,
		sv.CreatedAt,
		s.grantMAC("service", serviceGrant(sv)),
	)
}

// SeedServices fills an empty catalogue; several replicas may do so at once.
func (s Services) SeedServices(ctx context.Context, list []cyber.Service) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		any, err := readValue[bool](ctx, tx, `SELECT EXISTS (SELECT 1 FROM service)`)
		if err != nil || any {
			return err
		}
		inserts := make([]sqldb.Statement, len(list))
		for i, sv := range list {
			inserts[i] = s.serviceStatement(sv)
		}
		return tx.RunStatements(ctx, inserts)
	})
}

// UpdateService changes one service. A forged one begins with nothing, so that only what the operator says anew is
// kept.
func (s Services) UpdateService(
	ctx context.Context,
	id cyber.ServiceID,
	change func(*cyber.Service) error,
) (cyber.Service, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (sv cyber.Service, err error) {
		kept, err := readRow(
			ctx,
			tx,
			s.scanService,
			cyber.ErrServiceNotFound,
			`SELECT `+serviceColumns+` FROM service WHERE id = $1`,
			id,
		)
		if err != nil {
			return sv, err
		}
		if sv = kept.value; kept.forged {
			sv.Retired = false
		}
		if err := change(&sv); err != nil {
			return sv, err
		}
		return sv, execStatement(
			ctx,
			tx,
			`UPDATE service SET name = $2, description = $3, position = $4, retired = $5, mac = $6 WHERE id = $1`,
			id,
			sv.Name,
			sv.Description,
			sv.Position,
			sv.Retired,
			s.grantMAC("service", serviceGrant(sv)),
		)
	})
}

// ServiceTriage returns what an offered service asks and how its cases are timed. A service that is forged is not
// offered, and a forged question is not asked.
func (s Cases) ServiceTriage(ctx context.Context, service cyber.ServiceID) (cyber.Triage, error) {
	var t cyber.Triage
	missing := cyber.ErrServiceNotFound.With("serviceId", fault.NoSuchService)
	offered, err := readRow(ctx, s.readQuerier(), func(row scanner, into *checked[cyber.Service]) error {
		return s.scanService(leading{row, []any{&t.Target}}, into)
	}, missing, `SELECT coalesce(g.target, $2), v.id, v.name, v.description, v.position,
		v.retired, v.created_at, v.mac FROM service v LEFT JOIN case_target g ON g.service_id = v.id WHERE v.id = $1`,
		service,
		cyber.DefaultTarget,
	)
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
		into.forged = json.Unmarshal([]byte(options), &q.Options) != nil ||
			!c.isGenuine("case_question", questionGrant(*q), mac)
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
		return execStatement(
			ctx,
			tx,
			`INSERT INTO case_question (id, service_id, question, required, options, created_at, mac)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			q.ID,
			q.Service,
			q.Text,
			q.Required,
			jsonArgument{append([]string{}, q.Options...)},
			q.CreatedAt,
			s.grantMAC("case_question", questionGrant(q)),
		)
	})
}

// serviceExists returns cyber.ErrServiceNotFound for an unknown service; retired services count as existing.
func serviceExists(ctx context.Context, q querier, service cyber.ServiceID) error {
	_, err := findValue[int64](
		ctx,
		q,
		cyber.ErrServiceNotFound.With("service", fault.NoSuchID),
		`SELECT 1 FROM service WHERE id = $1`,
		service,
	)
	return err
}

// ListQuestions returns what a service asks; every service's questions when service is empty.
func (s Cases) ListQuestions(ctx context.Context, service cyber.ServiceID) ([]cyber.Question, error) {
	return collectGenuine(
		ctx,
		s.readQuerier(),
		s.scanQuestion,
		`SELECT `+questionColumns+` FROM case_question q WHERE $1 = '' OR q.service_id = $1
		ORDER BY q.service_id, q.created_at, q.id`,
		service,
	)
}

// DeleteQuestion removes a question.
func (s Cases) DeleteQuestion(ctx context.Context, id cyber.QuestionID) error {
	return s.expectAlone(
		ctx,
		cyber.ErrQuestionNotFound.With("question", fault.NoSuchID),
		`DELETE FROM case_question WHERE id = $1`,
		id,
	)
}

// scanAnswer reads a ready answer and checks its MAC: it is text that people are sent.
func (c core) scanAnswer(row scanner, into *checked[cyber.ReadyAnswer]) error {
	a := &into.value
	err := row.Scan(
		&a.Title,
		&a.Text,
		c.checksMAC(&into.forged, "case_answer", func() *grant { return answerGrant(*a) }),
	)
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
			ON CONFLICT (title) DO UPDATE SET body = excluded.body, mac = excluded.mac`,
		a.Title,
		a.Text,
		s.grantMAC("case_answer", answerGrant(a)),
	)
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
			ON CONFLICT (service_id) DO UPDATE SET target = excluded.target`,
			service,
			target,
		)
	})
}

// bookSlot takes the first wished slot that is free; the zero time when the service has no calendar or nothing was
// wished.
func (s Cases) bookSlot(
	ctx context.Context,
	tx *sqldb.Tx,
	c cyber.Case,
	u user,
	wishes cyber.Wishes,
	now time.Time,
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

// hasMadeUpStock reports whether a partner takes nothing that live partners share: its times and keys are made up.
func hasMadeUpStock(ctx context.Context, q querier, id partner.ID) (bool, error) {
	mode, err := readValue[partner.Mode](ctx, q, `SELECT mode FROM partner WHERE id = $1`, id)
	return mode.Has(partner.MadeUpStock), err
}

// bookMadeUp takes the first wished time of a sandbox partner's made-up calendar that none of its cases has.
func (s Cases) bookMadeUp(
	ctx context.Context,
	tx *sqldb.Tx,
	c cyber.Case,
	wishes cyber.Wishes,
	now time.Time,
) (time.Time, error) {
	free, err := s.freeMadeUp(ctx, tx, c.Partner, c.Service, now)
	if err != nil {
		return time.Time{}, err
	}
	for _, at := range wishes.Times {
		if !slices.ContainsFunc(free, at.Equal) {
			continue
		}
		return at, execStatement(
			ctx,
			tx,
			`UPDATE support_case SET made_up_at = $3 WHERE partner_id = $1 AND id = $2`,
			c.Partner,
			c.ID,
			at,
		)
	}
	return time.Time{}, cyber.ErrAppointmentTaken.With("appointments", fault.NoTimeFree)
}

// freeMadeUp returns the times of a sandbox partner's made-up calendar that none of its cases has.
func (s Cases) freeMadeUp(
	ctx context.Context,
	q querier,
	id partner.ID,
	service cyber.ServiceID,
	now time.Time,
) ([]time.Time, error) {
	taken, err := collectValues[int64](ctx, q, `SELECT made_up_at FROM support_case
		WHERE partner_id = $1 AND service_id = $2 AND made_up_at > $3`,
		id,
		service,
		now,
	)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(cyber.SandboxTimes(now), func(at time.Time) bool {
		return slices.Contains(taken, toMicros(at))
	}), nil
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
	ctx context.Context,
	id partner.ID,
	service cyber.ServiceID,
	after time.Time,
	limit int,
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

// sandboxSlots returns the free made-up times of a service that has a calendar.
func (s Cases) sandboxSlots(
	ctx context.Context,
	id partner.ID,
	service cyber.ServiceID,
	after time.Time,
) ([]time.Time, error) {
	calendar, err := hasCalendar(ctx, s.readQuerier(), service, after)
	if err != nil || !calendar {
		return nil, err
	}
	return s.freeMadeUp(ctx, s.readQuerier(), id, service, after)
}

// DeleteSlot takes a free slot away.
func (s Cases) DeleteSlot(ctx context.Context, id cyber.SlotID) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		holder, err := findValue[string](
			ctx,
			tx,
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
