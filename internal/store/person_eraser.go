package store

import (
	"context"
	"slices"
	"strconv"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subject"
)

// eraser is one transaction of an erasure. After an error it reads and deletes nothing more.
type eraser struct {
	ctx    context.Context //nolint:containedctx // lives for one transaction
	err    error
	in     Subjects
	tx     *sqldb.Tx
	x      indexes
	upTo   int64
	erased subject.Erased
	// told are the events that the erasure itself causes; they name no person.
	told []alert.Event
}

// newEraser returns what deletes a person's rows in a transaction.
func (s Subjects) newEraser(ctx context.Context, tx *sqldb.Tx, x indexes, upTo int64) eraser {
	return eraser{
		ctx:    ctx,
		in:     s.insideTx(tx),
		tx:     tx,
		x:      x,
		upTo:   upTo,
		erased: subject.Erased{Partner: x.partner, Counts: map[string]int64{}},
	}
}

// eraseStep takes up to limit rows of one kind away, with what hangs on them, and tells how many it took; none ends it,
// and so does an error, which the eraser keeps.
type eraseStep struct {
	// atOnce is how many may go in one transaction.
	atOnce int64
	take   func(e *eraser, limit int64) int64
}

// eraseSteps are in the order in which everybody takes locks: subscriptions, then what a person has, then events.
var eraseSteps = []eraseStep{
	{100, (*eraser).subscriptions},
	{100, (*eraser).deleteValues},
	{100, (*eraser).deleteCases},
	{50, (*eraser).deleteDevices},
	{200, (*eraser).deleteAnswers},
	{200, (*eraser).deleteScores},
	{50, (*eraser).deleteEvents},
}

// hasFewRows reports whether a person can be erased in one transaction without keeping others waiting.
func (s Subjects) hasFewRows(ctx context.Context, x indexes) (bool, error) {
	user := x.userArguments()
	for _, of := range []struct {
		rows string
		most int64
		args []any
	}{
		{`SELECT 1 FROM event WHERE partner_id = $1 AND person IN ($2, $3)`, 50, user},
		{`SELECT 1 FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3)`, 50, user},
		{`SELECT 1 FROM score_day WHERE partner_id = $1 AND user_index IN ($2, $3)`, 200, user},
		{`SELECT 1 FROM case_move WHERE partner_id = $1 AND case_id IN (SELECT id FROM support_case
			WHERE partner_id = $1 AND user_index IN ($2, $3))`, 100, user},
		{`SELECT 1 FROM finding WHERE partner_id = $1 AND asset_id IN ` + assetIDsOfPerson, 100, x.assetArguments()},
		{`SELECT 1 FROM asset_history WHERE partner_id = $1
			AND asset_id IN ` + assetIDsOfPerson, 100, x.assetArguments()},
		{`SELECT 1 FROM subscription WHERE partner_id = $1 AND cpf = $2
			AND ended_at <> 0`, 50, []any{x.partner, x.cpf}},
	} {
		args := append(slices.Clone(of.args), of.most)
		query := `SELECT EXISTS (` + of.rows + ` LIMIT 1 OFFSET $` + strconv.Itoa(len(args)) + `)`
		if more, err := readValue[bool](ctx, s.readQuerier(), query, args...); err != nil || more {
			return false, err
		}
	}
	return true, nil
}

// tallies are rows that went, by what they were.
type tallies map[string]int64

func (t tallies) addToCounts(counts map[string]int64) {
	for what, n := range t {
		counts[what] += n
	}
}

// eraseAhead deletes a person's rows up to a time, in transactions of a few rows. If it is interrupted, the process
// that resumes the erasure deletes the rest.
func (s Subjects) eraseAhead(ctx context.Context, x indexes, upTo int64) (tallies, error) {
	ahead := tallies{}
	for _, step := range eraseSteps {
		_, err := s.runInBatches(ctx, step.atOnce, func(tx *sqldb.Tx, _, limit int64) (int64, error) {
			e := s.newEraser(ctx, tx, x, upTo)
			n := step.take(&e, limit)
			e.tellPartner()
			tx.AfterCommit(func() { tallies(e.erased.Counts).addToCounts(ahead) })
			return n, e.err
		})
		if err != nil {
			return ahead, err
		}
	}
	return ahead, nil
}

// eraseRowsOf deletes what is about a person and not newer than upTo, in the transaction of the caller.
func (s Subjects) eraseRowsOf(ctx context.Context, tx *sqldb.Tx, x indexes, upTo int64) (subject.Erased, error) {
	e := s.newEraser(ctx, tx, x, upTo)
	e.lockPerson()
	for _, step := range eraseSteps {
		for more := e.err == nil; more; {
			more = step.take(&e, step.atOnce) > 0 && e.err == nil
		}
	}
	e.settleWatches()
	e.tellPartner()
	e.deletePersonRows()
	return e.erased, e.err
}

// settleWatches brings what is left in line where the person was enrolled again meanwhile: the new subscription may
// name a value that was older than the erasure and is gone, and an old one may have named a value that is newer.
func (e *eraser) settleWatches() {
	if e.err == nil && len(e.x.cpf) > 0 {
		e.err = Subscriptions(e.in).settleWatches(e.ctx, e.tx, e.x.partner, [][]byte{e.x.cpf}, nil)
	}
}

// lockPerson waits for transactions that store something of the person, so that it is seen and deleted, and keeps
// others out until the erasure is committed: see core.keepUser and findAndNameUser.
func (e *eraser) lockPerson() {
	if len(e.x.cpf) > 0 {
		if _, e.err = lockSubscriptions(e.ctx, e.tx, e.x.partner); e.err != nil {
			return
		}
	}
	lock := e.in.db.LockRows()
	for _, query := range []string{
		`SELECT 1 FROM person WHERE partner_id = $1 AND (user_512 IN ($2, $3) OR user_256 IN ($2, $3))`,
		`SELECT 1 FROM person_name WHERE partner_id = $1 AND user_index IN ($2, $3) ORDER BY user_index`,
	} {
		if _, e.err = collectValues[int64](e.ctx, e.tx, query+lock, e.x.userArguments()...); e.err != nil {
			return
		}
	}
}

// deleteRows runs a statement, counts what it took away and tells how much that was.
func (e *eraser) deleteRows(what, statement string, args ...any) (n int64) {
	if e.err == nil {
		n, e.err = execCounting(e.ctx, e.tx, statement, args...)
	}
	if n > 0 {
		e.erased.Counts[what] += n
	}
	return n
}

// changeRows runs a statement that takes no row of the person away.
func (e *eraser) changeRows(statement string, args ...any) {
	if e.err == nil {
		e.err = execStatement(e.ctx, e.tx, statement, args...)
	}
}

// tellPartner keeps the events that the erasure itself causes.
func (e *eraser) tellPartner() {
	if e.err == nil {
		e.err = Alerts(e.in).addPartnerEvents(e.ctx, e.tx, e.x.partner, e.told...)
	}
}

// userArguments returns the arguments of statements that begin with partner_id = $1 AND user_index IN ($2, $3),
// followed by the time and others.
func (e *eraser) userArguments(more ...any) []any {
	return append(append(e.x.userArguments(), e.upTo), more...)
}

func (e *eraser) readRowNames(query string, args ...any) (names []string) {
	if e.err == nil {
		names, e.err = collectValues[string](e.ctx, e.tx, query, args...)
	}
	return names
}

// namedArguments returns the arguments for rows of the partner that names lead to, and the condition for the names.
func (e *eraser) namedArguments(names []string) (args []any, isNamed string) {
	args = []any{e.x.partner}
	isNamed = inList(e.tx.EngineName(), &args, names)
	return args, isNamed
}
