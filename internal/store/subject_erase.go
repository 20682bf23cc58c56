package store

import (
	"context"
	"crypto/hmac"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subject"
)

// erasedTables are all that an erasure deletes from.
var erasedTables = []string{
	"subscription",
	"person",
	"person_name",
	"asset",
	"asset_history",
	"finding",
	"finding_step",
	"support_case",
	"case_move",
	"case_booking",
	"epp_key",
	"epp_holder",
	"content_answer",
	"score_day",
	"event",
	"delivery",
	"attempt",
	"idempotency",
	"operator_export",
	"operator_export_part",
}

// keptTrail is what the sealed column of an erasure holds.
type keptTrail struct {
	Reason string   `json:"reason"`
	IDs    []string `json:"ids,omitempty"`
	// Found is how many records the erasure found; see countFound.
	Found int `json:"found,omitempty"`
}

// trailPlace binds what is kept of an erasure to its row.
func trailPlace(id partner.ID, erasure string) seal.Place {
	return seal.Place{Table: "erasure", Column: "trail", Partner: string(id), Row: erasure}
}

// insideTx returns the same area in a transaction.
func (s Subjects) insideTx(tx *sqldb.Tx) Subjects { return Subjects{s.withTransaction(tx)} }

// EraseRows deletes all rows about a person, and keeps the tombstone and what record adds to the audit trail: see
// subject.Store. A person with few rows is erased in one transaction. With more rows the erasure is recorded first, so
// that it is completed even after a crash; then rows are deleted in small transactions, and the last one makes the
// tombstone count and writes its audit line.
func (s Subjects) EraseRows(
	ctx context.Context,
	h subject.Held,
	p subject.Person,
	reason string,
	record recorder,
) (subject.Erased, subject.Tombstone, error) {
	x, err := s.computeIndexes(ctx, s.readQuerier(), h.Partner.ID, p)
	if err != nil {
		return subject.Erased{}, subject.Tombstone{}, err
	}
	u, err := s.findBegunErasure(ctx, h.Partner.ID, s.erasedReference(h.Partner.ID, p))
	if err != nil {
		return subject.Erased{}, subject.Tombstone{}, err
	}
	u.indexes, u.upTo = x, math.MaxInt64
	if u.ID != "" {
		return s.continueErasure(ctx, u, record)
	}
	u.Tombstone = subject.Tombstone{
		ID:       "er_" + uuid.Must(uuid.NewV7()).String(),
		Partner:  h.Partner.ID,
		Person:   s.erasedReference(h.Partner.ID, p),
		CPF:      x.cpf,
		User256:  x.user256,
		User512:  x.user512,
		Watched:  x.value,
		ErasedAt: toMicros(s.now()),
	}
	u.kept = keptTrail{Reason: reason, IDs: namesOfHeld(h), Found: countFound(h)}
	few, err := s.hasFewRows(ctx, x)
	if err != nil {
		return subject.Erased{}, u.Tombstone, err
	}
	if few {
		return s.finishErasure(ctx, u, nil, record)
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		_, err := s.keepTombstone(ctx, tx, u.Tombstone, u.kept, false)
		return err
	})
	if err != nil {
		return subject.Erased{}, u.Tombstone, err
	}
	return s.continueErasure(ctx, u, record)
}

// recorder keeps the line of an erasure in its last transaction.
type recorder = func(operator.Ledger, subject.Erased, subject.Tombstone) error

// begun is an erasure that was begun.
type begun struct {
	subject.Tombstone
	kept    keptTrail
	indexes indexes
	// upTo is the time of the newest rows that go.
	upTo int64
}

// continueErasure erases what there is in small transactions, and ends the erasure.
func (s Subjects) continueErasure(
	ctx context.Context,
	u begun,
	record recorder,
) (subject.Erased, subject.Tombstone, error) {
	ahead, err := s.eraseAhead(ctx, u.indexes, u.upTo)
	if err == nil {
		// The rows are gone, so their values can no longer be searched for in stored answers: such answers are emptied
		// as a whole.
		err = s.emptyAnswers(ctx, u.indexes)
	}
	if err != nil {
		return subject.Erased{Partner: u.Partner, Counts: ahead}, u.Tombstone, err
	}
	return s.finishErasure(ctx, u, ahead, record)
}

// finishErasure takes away what is left, and makes the tombstone count. When another process was quicker, the line in
// the trail is that one's.
func (s Subjects) finishErasure(
	ctx context.Context,
	u begun,
	ahead tallies,
	record recorder,
) (erased subject.Erased, t subject.Tombstone, err error) {
	files, err := s.dropNamedExports(ctx, u.Partner, u.upTo)
	if err != nil {
		return erased, u.Tombstone, err
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		t = u.Tombstone
		if u.upTo == math.MaxInt64 {
			t.ErasedAt = toMicros(s.now())
		}
		t.MAC = s.tombstoneMAC(t)
		inside := s.insideTx(tx)
		// Before the events, as everybody locks them.
		if err := s.joinOpenRequests(ctx, tx, u.indexes, t, u.kept.Found); err != nil {
			return err
		}
		var err error
		if erased, err = inside.eraseRowsOf(ctx, tx, u.indexes, u.upTo); err != nil {
			return err
		}
		ahead.addToCounts(erased.Counts)
		files.addToCounts(erased.Counts)
		over, err := execCounting(
			ctx,
			tx,
			`UPDATE erasure SET done = TRUE, erased_at = $3 WHERE partner_id = $1 AND id = $2 AND NOT done`,
			t.Partner,
			t.ID,
			t.ErasedAt,
		)
		if err != nil {
			return err
		}
		if over == 0 {
			kept, err := s.keepTombstone(ctx, tx, t, u.kept, true)
			if err != nil || kept == 0 {
				return err
			}
		}
		return record(Audit(inside), erased, t)
	})
	return erased, t, err
}

// findBegunErasure returns a person's erasure that has not ended yet; its ID is empty when there is none.
func (s Subjects) findBegunErasure(ctx context.Context, id partner.ID, person string) (begun, error) {
	list, err := s.begunErasures(ctx, ` AND partner_id = $1 AND person = $2`, id, person)
	if err != nil || len(list) == 0 {
		return begun{}, err
	}
	return list[0], nil
}

// begunErasures returns those that have not ended.
func (s Subjects) begunErasures(ctx context.Context, which string, args ...any) ([]begun, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, u *begun) error {
		place := func() seal.Place { return trailPlace(u.Partner, u.ID) }
		err := s.scanTombstone(row, &u.Tombstone, s.unseals(&u.kept, place))
		u.indexes, u.upTo = indexesOf(u.Tombstone), u.ErasedAt
		return err
	}, `SELECT `+tombstoneColumns+`, trail FROM erasure WHERE NOT done`+which+` ORDER BY erased_at, id`, args...)
}

// indexesOf returns the keys that a tombstone names.
func indexesOf(t subject.Tombstone) indexes {
	return indexes{
		partner: t.Partner,
		cpf:     orEmptyBytes(t.CPF),
		user256: t.User256,
		user512: t.User512,
		value:   orEmptyBytes(t.Watched),
	}
}

// abandonedAfter is how long ago an erasure must have begun for others to go on with it: longer than a command takes.
const abandonedAfter = 5 * time.Minute

// ResumeErasures goes on with erasures whose process ended half way: see subject.Store. What a partner enrolled since
// they began stays.
func (s Subjects) ResumeErasures(ctx context.Context,
	record func(in operator.Ledger, person string, erased subject.Erased, stone subject.Tombstone) error,
) ([]subject.Tombstone, error) {
	list, err := s.begunErasures(ctx, ` AND erased_at <= $1`, s.now().Add(-abandonedAfter))
	var over []subject.Tombstone
	for _, u := range list {
		_, t, err := s.continueErasure(
			ctx,
			u,
			func(in operator.Ledger, erased subject.Erased, stone subject.Tombstone) error {
				return record(in, userReference(stone.User512), erased, stone)
			},
		)
		if err != nil {
			return over, err
		}
		over = append(over, t)
	}
	return over, err
}

// beingErased reports whether an erasure of the person was begun and has not ended: nothing of them is shown any more.
func (s Subjects) beingErased(ctx context.Context, q querier, x indexes) (yes bool, err error) {
	return readValue[bool](ctx, q, `SELECT EXISTS (SELECT 1 FROM erasure WHERE NOT done AND partner_id = $1
		AND (user_512 IN ($2, $3) OR user_256 IN ($2, $3)))`,
		x.userArguments()...,
	)
}

// tombstoneMAC shows later that the service wrote a tombstone: a log kept elsewhere could otherwise be made to erase
// anybody.
func (s Subjects) tombstoneMAC(t subject.Tombstone) []byte {
	at := binary.BigEndian.AppendUint64(nil, uint64(t.ErasedAt))
	return s.keys.MAC(
		"erasure",
		[]byte(t.ID),
		[]byte(t.Partner),
		[]byte(t.Person),
		t.CPF,
		t.User256,
		t.User512,
		t.Watched,
		at,
	)
}

// keepTombstone stores a tombstone that is not there yet and returns how many rows it added. It counts once the erasure
// is done.
func (s Subjects) keepTombstone(
	ctx context.Context,
	tx *sqldb.Tx,
	t subject.Tombstone,
	kept keptTrail,
	done bool,
) (int64, error) {
	sealed, err := s.sealValue(trailPlace(t.Partner, t.ID), kept)
	if err != nil {
		return 0, err
	}
	return execCounting(
		ctx,
		tx,
		`INSERT INTO erasure (id, partner_id, person, cpf, user_256, user_512, watched, erased_at, trail, done)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (partner_id, id) DO NOTHING`,
		t.ID,
		t.Partner,
		t.Person,
		orEmptyBytes(t.CPF),
		t.User256,
		t.User512,
		orEmptyBytes(t.Watched),
		t.ErasedAt,
		sealed,
		done,
	)
}

// ReplayErasure erases again what is older than the erasure: see subject.Store.
func (s Subjects) ReplayErasure(ctx context.Context, t subject.Tombstone) (subject.Erased, error) {
	var erased subject.Erased
	if !hmac.Equal(t.MAC, s.tombstoneMAC(t)) {
		return erased, subject.ErrForeign.Note("this service did not write the line")
	}
	x := indexesOf(t)
	ahead, err := s.eraseAhead(ctx, x, t.ErasedAt)
	if err != nil {
		return erased, err
	}
	files, err := s.dropNamedExports(ctx, t.Partner, t.ErasedAt)
	if err != nil {
		return erased, err
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) (err error) {
		if err = s.joinOpenRequests(ctx, tx, x, t, 0); err != nil {
			return err
		}
		if erased, err = s.insideTx(tx).eraseRowsOf(ctx, tx, x, t.ErasedAt); err != nil {
			return err
		}
		ahead.addToCounts(erased.Counts)
		files.addToCounts(erased.Counts)
		_, err = s.keepTombstone(ctx, tx, t, keptTrail{Reason: "replayed"}, true)
		return err
	})
	return erased, err
}

// tombstoneColumns are what stays of an erased person: keyed hashes, so that a restored backup erases them again.
const tombstoneColumns = `id, partner_id, person, cpf, user_256, user_512, watched, erased_at`

// scanTombstone reads a tombstone, and more columns behind it, and computes its MAC anew from the columns.
func (s Subjects) scanTombstone(row scanner, t *subject.Tombstone, more ...any) error {
	columns := []any{&t.ID, &t.Partner, &t.Person, &t.CPF, &t.User256, &t.User512, &t.Watched, &t.ErasedAt}
	err := row.Scan(append(columns, more...)...)
	t.MAC = s.tombstoneMAC(*t)
	return err
}

// Tombstones returns all erasures that have ended, oldest first.
func (s Subjects) Tombstones(ctx context.Context) ([]subject.Tombstone, error) {
	return collectRows(
		ctx,
		s.readQuerier(),
		func(row scanner, t *subject.Tombstone) error { return s.scanTombstone(row, t) },
		`SELECT `+tombstoneColumns+` FROM erasure WHERE done ORDER BY erased_at, id`,
	)
}

// erasedQueries find rows of people who were erased that are older than their erasure. A day of a score ends at
// midnight in Brasília, three hours after that of UTC.
func erasedQueries() []string {
	var list []string
	for _, of := range []struct{ table, match string }{
		{"subscription", `t.cpf = e.cpf AND length(e.cpf) > 0 AND t.created_at <= e.erased_at`},
		{"asset", `t.user_index IN (e.user_256, e.user_512) AND t.created_at <= e.erased_at`},
		{"person_name", `t.user_index IN (e.user_256, e.user_512) AND t.named_at <= e.erased_at`},
		{"support_case", `t.user_index IN (e.user_256, e.user_512) AND t.created_at <= e.erased_at`},
		{"epp_key", `t.user_index IN (e.user_256, e.user_512) AND t.issued_at <= e.erased_at`},
		{"content_answer", `t.user_index IN (e.user_256, e.user_512) AND t.answered_at <= e.erased_at`},
		{
			"score_day",
			`t.user_index IN (e.user_256, e.user_512) AND (t.day + 1) * 86400000000 + 10800000000 <= e.erased_at`,
		},
		{"event", `t.person IN (e.user_256, e.user_512) AND t.created_at <= e.erased_at`},
	} {
		list = append(
			list,
			`SELECT '`+of.table+` of ' || e.partner_id, count(*) || ' rows of somebody who was erased (' || e.id ||
			') are back: replay the log of erasures'
			FROM erasure e JOIN `+of.table+` t ON t.partner_id = e.partner_id
			AND `+of.match+` WHERE e.done GROUP BY e.partner_id, e.id ORDER BY 1`,
		)
	}
	return list
}

// takenByErased is what a vendor's key says of the key that took it when that one was erased: it stays taken.
const takenByErased = "erased"

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
		_, err := s.runBatches(ctx, step.atOnce, func(tx *sqldb.Tx, _, limit int64) (int64, error) {
			e := s.newEraser(ctx, tx, x, upTo)
			n := step.take(&e, limit)
			e.tellPartner()
			tx.AfterCommit(func() { tallies(e.erased.Counts).addToCounts(ahead) })
			return n, e.err
		})
		if err != nil {
			return ahead, classifyError(err)
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

// subscriptions deletes up to limit subscriptions of the CPF and takes the live ones off the partner's counts. The
// partner's counter is locked first, as every change of subscriptions does.
func (e *eraser) subscriptions(limit int64) int64 {
	if len(e.x.cpf) == 0 {
		return 0
	}
	if _, e.err = lockSubscriptions(e.ctx, e.tx, e.x.partner); e.err != nil {
		return 0
	}
	for _, half := range []string{`ended_at = 0`, `ended_at <> 0`} { // see unsubscribed
		var seats []seat
		seats, e.err = collectRows(
			e.ctx,
			e.tx,
			func(row scanner, s *seat) error { return row.Scan(&s.seq, &s.expiry) },
			`SELECT seq, expiry_day FROM subscription WHERE partner_id = $1 AND cpf = $2 AND created_at <= $3
			AND `+half+`
			LIMIT $4`,
			e.x.partner,
			e.x.cpf,
			e.upTo,
			limit,
		)
		if e.err != nil {
			return 0
		}
		if len(seats) == 0 {
			continue
		}
		args := []any{e.x.partner}
		seqs := make([]int64, len(seats))
		for i, s := range seats {
			seqs[i] = s.seq
		}
		n := e.deleteRows(
			"subscriptions",
			`DELETE FROM subscription WHERE partner_id = $1 AND seq `+e.tx.EngineName().NumbersCondition(&args, seqs),
			args...,
		)
		if e.err == nil && half == `ended_at = 0` {
			e.err = Subscriptions(e.in).removeActive(e.ctx, e.tx, e.x.partner, seats)
		}
		return n
	}
	return 0
}

// valuesAtOnce is how many watched values, or cases, are looked at for what hangs on them.
const valuesAtOnce = 20

// deleteValues deletes watched values: first what hangs on some of them, then these.
func (e *eraser) deleteValues(limit int64) int64 {
	values := e.readRowNames(
		`SELECT id FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3) AND created_at <= $4 LIMIT $5`,
		e.userArguments(valuesAtOnce)...,
	)
	if len(values) == 0 { // the person's CPF, where others watch it
		args := e.x.assetArguments()
		values = e.readRowNames(
			`SELECT id FROM asset WHERE partner_id = $1 AND kind = $2 AND value_index = $3 AND created_at <= $4
			LIMIT $5`,
			args[0],
			args[3],
			args[4],
			e.upTo,
			valuesAtOnce,
		)
	}
	if len(values) == 0 {
		return 0
	}
	args, isNamed := e.namedArguments(values)
	findings := e.readRowNames(
		`SELECT id FROM finding WHERE partner_id = $1 AND asset_id `+isNamed+appendLimit(&args, limit),
		args...,
	)
	if len(findings) > 0 {
		args, isNamed := e.namedArguments(findings)
		e.deleteRows("steps", `DELETE FROM finding_step WHERE partner_id = $1 AND finding_id `+isNamed, args...)
		return e.deleteRows("findings", `DELETE FROM finding WHERE partner_id = $1 AND id `+isNamed, args...)
	}
	args, isNamed = e.namedArguments(values)
	if n := e.deleteRows("status changes", `DELETE FROM asset_history WHERE partner_id = $1 AND (asset_id, seq) IN (
		SELECT asset_id, seq FROM asset_history WHERE partner_id = $1
		AND asset_id `+isNamed+appendLimit(&args, limit)+`)`,
		args...,
	); n > 0 {
		return n
	}
	args, isNamed = e.namedArguments(values)
	return e.deleteRows("watched values", `DELETE FROM asset WHERE partner_id = $1 AND id `+isNamed, args...)
}

// appendLimit appends how many rows are wanted at most.
func appendLimit(args *[]any, limit int64) string {
	*args = append(*args, limit)
	return ` LIMIT $` + strconv.Itoa(len(*args))
}

// deleteCases deletes cases: first the moves of some of them, then these.
func (e *eraser) deleteCases(limit int64) int64 {
	cases := e.readRowNames(
		`SELECT id FROM support_case WHERE partner_id = $1 AND user_index IN ($2, $3) AND created_at <= $4 LIMIT $5`,
		e.userArguments(valuesAtOnce)...,
	)
	if len(cases) == 0 {
		return 0
	}
	args, isNamed := e.namedArguments(cases)
	if n := e.deleteRows("case moves", `DELETE FROM case_move WHERE partner_id = $1 AND (case_id, number) IN (
		SELECT case_id, number FROM case_move WHERE partner_id = $1
		AND case_id `+isNamed+appendLimit(&args, limit)+`)`,
		args...,
	); n > 0 {
		return n
	}
	for _, id := range cases { // one after the other, since bookings may be on another machine than cases
		e.deleteRows("bookings", `DELETE FROM case_booking WHERE partner_id = $1 AND case_id = $2`, e.x.partner, id)
	}
	args, isNamed = e.namedArguments(cases)
	return e.deleteRows("cases", `DELETE FROM support_case WHERE partner_id = $1 AND id `+isNamed, args...)
}

// deleteDevices deletes keys. Keys that were live end with it, and the partner that installed them is told, by the
// key's ID alone.
func (e *eraser) deleteDevices(limit int64) int64 {
	keys := e.readRowNames(
		`SELECT id FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3) AND issued_at <= $4 LIMIT $5`,
		e.userArguments(limit)...,
	)
	if len(keys) == 0 {
		return 0
	}
	e.addEndEvents(keys, e.in.now())
	args, isNamed := e.namedArguments(keys)
	args = append(args, takenByErased)
	e.changeRows(`UPDATE epp_pool SET taken_by = $`+strconv.Itoa(len(args))+` WHERE key_index IN (
		SELECT key_index FROM epp_key WHERE partner_id = $1 AND id `+isNamed+`) AND taken_by <> ''`,
		args...,
	)
	args, isNamed = e.namedArguments(keys)
	return e.deleteRows("devices", `DELETE FROM epp_key WHERE partner_id = $1 AND id `+isNamed, args...)
}

// addEndEvents makes the events of keys that were live.
func (e *eraser) addEndEvents(keys []string, now time.Time) {
	args, isNamed := e.namedArguments(keys)
	args = append(args, now)
	var live []cyber.Device
	live, e.err = collectRows(
		e.ctx,
		e.tx,
		Devices(e.in).scanDevice,
		`SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND id `+isNamed+`
		AND ended_at = 0 AND valid_until > $`+strconv.Itoa(len(args)),
		args...,
	)
	for _, d := range live {
		d.EndedAt, d.EndReason = now, cyber.EndErased
		e.told = append(e.told, alert.NewKeyEndEvent(d, now, ""))
	}
}

// deleteAnswers deletes answers to questions of the content.
func (e *eraser) deleteAnswers(limit int64) int64 {
	return e.deleteRows(
		"answers",
		`DELETE FROM content_answer WHERE partner_id = $1 AND (user_index, content_id) IN (SELECT user_index, content_id
		FROM content_answer WHERE partner_id = $1 AND user_index IN ($2, $3) AND answered_at <= $4 LIMIT $5)`,
		e.userArguments(limit)...,
	)
}

// deleteScores deletes days. A score counts for its whole day: one of the day of the erasure goes too.
func (e *eraser) deleteScores(limit int64) int64 {
	return e.deleteRows(
		"scores",
		`DELETE FROM score_day WHERE partner_id = $1 AND (user_index, day) IN (SELECT user_index, day
		FROM score_day WHERE partner_id = $1 AND user_index IN ($2, $3) AND day <= $4 LIMIT $5)`,
		append(e.x.userArguments(), dayOfMicros(e.upTo), limit)...,
	)
}

// deleteEvents deletes what the partner was told, on its way or kept, and remembers the numbers: they are not losses.
func (e *eraser) deleteEvents(limit int64) int64 {
	if e.err = Alerts(e.in).lockEvents(e.ctx, e.tx, e.x.partner); e.err != nil {
		return 0
	}
	var seqs []int64
	seqs, e.err = collectValues[int64](
		e.ctx,
		e.tx,
		`SELECT seq FROM event WHERE partner_id = $1 AND person IN ($2, $3) AND created_at <= $4 LIMIT $5`,
		e.userArguments(limit)...,
	)
	if len(seqs) == 0 {
		return 0
	}
	var endpoints []alert.EndpointID
	endpoints, e.err = deliveredTo(e.ctx, e.tx, e.x.partner)
	e.eraseEvents(seqs, endpoints)
	return int64(len(seqs))
}

// eraseEvents deletes events by their numbers.
func (e *eraser) eraseEvents(seqs []int64, endpoints []alert.EndpointID) {
	for _, endpoint := range endpoints {
		args := []any{e.x.partner, endpoint}
		isErased := e.tx.EngineName().NumbersCondition(&args, seqs)
		e.deleteRows(
			"attempts",
			`UPDATE delivery SET tried = NULL WHERE partner_id = $1 AND endpoint_id = $2
			AND seq `+isErased+` AND tried IS NOT NULL`,
			args...,
		)
		e.deleteRows(
			"deliveries",
			`DELETE FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND seq `+isErased,
			args...,
		)
		e.deleteRows(
			"attempts",
			`DELETE FROM attempt WHERE partner_id = $1 AND endpoint_id = $2 AND seq `+isErased,
			args...) // see deleteDelivery
	}
	args := []any{e.x.partner}
	isErased := e.tx.EngineName().NumbersCondition(&args, seqs)
	e.changeRows(`INSERT INTO event_gap (partner_id, seq) SELECT partner_id, seq FROM event
		WHERE partner_id = $1 AND seq `+isErased+` ON CONFLICT (partner_id, seq) DO NOTHING`,
		args...,
	)
	e.deleteRows("events", `DELETE FROM event WHERE partner_id = $1 AND seq `+isErased, args...)
}

// deletePersonRows deletes what is one row of a person's: holder of keys, how the partner spelt the hash, and the row
// that joins the forms of it unless a newer enrolment uses that.
func (e *eraser) deletePersonRows() {
	e.changeRows(`DELETE FROM epp_holder WHERE partner_id = $1 AND user_index IN ($2, $3) AND NOT EXISTS (
		SELECT 1 FROM epp_key k WHERE k.partner_id = $1 AND k.user_index IN ($2, $3))`,
		e.x.userArguments()...,
	)
	e.deleteRows(
		"names",
		`DELETE FROM person_name WHERE partner_id = $1 AND user_index IN ($2, $3) AND named_at <= $4`,
		e.userArguments()...,
	)
	if len(e.x.cpf) > 0 {
		e.deleteRows(
			"person",
			`DELETE FROM person WHERE partner_id = $1 AND cpf = $2 AND created_at <= $3`+unsubscribed,
			e.x.partner,
			e.x.cpf,
			e.upTo,
		)
	}
}
