package store

import (
	"context"
	"crypto/hmac"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subject"
)

// takenByErased is what a vendor's key says of the key that took it when that one was erased: it stays taken.
const takenByErased = "erased"

// erasedTables are all that an erasure deletes from.
var erasedTables = []string{
	"subscription", "person", "person_name", "asset", "asset_stranger", "asset_history", "finding", "match_hit", "support_case", "case_move", "case_booking", "epp_key",
	"epp_holder", "content_answer", "score_day", "event", "delivery", "attempt", "idempotency",
}

// keptTrail is what the sealed column of an erasure holds.
type keptTrail struct {
	Reason string   `json:"reason"`
	IDs    []string `json:"ids,omitempty"`
}

// inside is the same area in a transaction.
func (s Subjects) inside(tx *sqldb.Tx) Subjects { return Subjects{s.within(tx)} }

// EraseRows takes away all rows about a person and keeps the tombstone and what record adds to the trail, in one
// transaction.
func (s Subjects) EraseRows(ctx context.Context, h subject.Held, p subject.Person, reason string,
	record func(operator.Ledger, subject.Erased, subject.Tombstone) error,
) (subject.Erased, subject.Tombstone, error) {
	var erased subject.Erased
	var t subject.Tombstone
	x, err := s.indexesOf(ctx, s.reader(), h.Partner.ID, p)
	if err != nil {
		return erased, t, err
	}
	ahead, err := s.eraseEventsAhead(ctx, x, math.MaxInt64)
	if err != nil {
		return erased, t, err
	}
	err = s.inTx(ctx, func(tx *sqldb.Tx) error {
		inside := s.inside(tx)
		x, err := inside.indexesOf(ctx, tx, h.Partner.ID, p)
		if err != nil {
			return err
		}
		made, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("make erasure id: %w", err)
		}
		t = subject.Tombstone{
			ID: "er_" + made.String(), Partner: h.Partner.ID, Person: s.erasedRef(h.Partner.ID, p), CPF: x.cpf, User256: x.user256, User512: x.user512,
			Watched: x.value, ErasedAt: micros(s.now()),
		}
		t.MAC = s.tombstoneMAC(t)
		if erased, err = inside.eraseRows(ctx, tx, x, math.MaxInt64); err != nil {
			return err
		}
		ahead.addTo(erased.Counts)
		if err := s.keepTombstone(ctx, tx, t, keptTrail{reason, idsOf(h)}); err != nil {
			return err
		}
		return record(inside.audit(), erased, t)
	})
	return erased, t, err
}

// tombstoneMAC shows later that the service wrote a tombstone: a log kept elsewhere could otherwise be made to erase
// anybody.
func (s Subjects) tombstoneMAC(t subject.Tombstone) []byte {
	at := binary.BigEndian.AppendUint64(nil, uint64(t.ErasedAt))
	return s.keys.MAC("erasure", []byte(t.ID), []byte(t.Partner), []byte(t.Person), t.CPF, t.User256, t.User512, t.Watched, at)
}

func (s Subjects) keepTombstone(ctx context.Context, tx *sqldb.Tx, t subject.Tombstone, kept keptTrail) error {
	plain, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("keep erasure: %w", err)
	}
	sealed, err := s.keys.Seal(inPartner("erasure", "trail")([]any{number(t.Partner), t.ID}), plain)
	if err != nil {
		return fmt.Errorf("seal erasure: %w", err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO erasure (id, partner_id, person, cpf, user_256, user_512, watched, erased_at, trail)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (partner_id, id) DO NOTHING`,
		t.ID, number(t.Partner), t.Person, nonNil(t.CPF), t.User256, t.User512, nonNil(t.Watched), t.ErasedAt, sealed)
	if err != nil {
		return fmt.Errorf("keep erasure: %w", err)
	}
	return nil
}

// Replay erases again what is older than the erasure: see subject.Store.
func (s Subjects) Replay(ctx context.Context, t subject.Tombstone) (subject.Erased, error) {
	var erased subject.Erased
	if !hmac.Equal(t.MAC, s.tombstoneMAC(t)) {
		return erased, subject.ErrForeign.With("this service did not write the line")
	}
	x := indexes{partner: t.Partner, cpf: nonNil(t.CPF), user256: t.User256, user512: t.User512, value: nonNil(t.Watched)}
	ahead, err := s.eraseEventsAhead(ctx, x, t.ErasedAt)
	if err != nil {
		return erased, err
	}
	err = s.inTx(ctx, func(tx *sqldb.Tx) (err error) {
		if erased, err = s.inside(tx).eraseRows(ctx, tx, x, t.ErasedAt); err != nil {
			return err
		}
		ahead.addTo(erased.Counts)
		return s.keepTombstone(ctx, tx, t, keptTrail{Reason: "replayed"})
	})
	return erased, err
}

// Tombstones returns all erasures, oldest first.
func (s Subjects) Tombstones(ctx context.Context) ([]subject.Tombstone, error) {
	return collect(ctx, s.reader(), func(row scanner) (subject.Tombstone, error) {
		var t subject.Tombstone
		err := row.Scan(&t.ID, numbered(&t.Partner), &t.Person, &t.CPF, &t.User256, &t.User512, &t.Watched, &t.ErasedAt)
		t.MAC = s.tombstoneMAC(t)
		return t, err
	}, `SELECT id, partner_id, person, cpf, user_256, user_512, watched, erased_at FROM erasure ORDER BY erased_at, id`)
}

// eraseRows deletes what is about a person and not newer than upTo. Locks are taken in the order in which everybody
// takes them: subscriptions, then what a person has, then events.
func (s Subjects) eraseRows(ctx context.Context, tx *sqldb.Tx, x indexes, upTo int64) (subject.Erased, error) {
	e := eraser{tx: tx, x: x, upTo: upTo, erased: subject.Erased{Partner: x.partner, Counts: map[string]int64{}}}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return e.subscriptions(ctx, s) },
		e.monitoring, e.cases, e.devices, e.rest,
		func(ctx context.Context) error { return e.events(ctx, s, math.MaxInt64) },
		e.person,
	} {
		if err := step(ctx); err != nil {
			return e.erased, fmt.Errorf("erase: %w", err)
		}
	}
	return e.erased, nil
}

// eraser is one erasure under way.
type eraser struct {
	tx     *sqldb.Tx
	x      indexes
	upTo   int64
	erased subject.Erased
}

// delete runs a statement and counts what it took away.
func (e *eraser) delete(ctx context.Context, what, statement string, args ...any) error {
	n, err := affected(e.tx.ExecContext(ctx, statement, args...))
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if n > 0 {
		e.erased.Counts[what] += n
	}
	return nil
}

// user are the arguments of statements that begin with partner_id = $1 AND user_index IN ($2, $3), followed by the
// time.
func (e *eraser) user() []any { return append(e.x.userArgs(), e.upTo) }

func (e *eraser) subscriptions(ctx context.Context, s Subjects) error {
	if len(e.x.cpf) == 0 {
		return nil
	}
	if _, err := lockSubscriptions(ctx, e.tx, e.x.partner); err != nil {
		return err
	}
	live, err := collect(ctx, e.tx, scanSeat, `SELECT seq, expiry_day FROM subscription WHERE partner_id = $1 AND cpf = $2 AND created_at <= $3 AND ended_at = 0`,
		number(e.x.partner), e.x.cpf, e.upTo)
	if err != nil {
		return err
	}
	for _, half := range []string{`ended_at = 0`, `ended_at <> 0`} { // see unsubscribed
		err := e.delete(ctx, "subscriptions", `DELETE FROM subscription WHERE partner_id = $1 AND cpf = $2 AND created_at <= $3 AND `+half,
			number(e.x.partner), e.x.cpf, e.upTo)
		if err != nil {
			return err
		}
	}
	if len(live) == 0 {
		return nil
	}
	return s.subscriptions().removeActive(ctx, e.tx, e.x.partner, live)
}

// monitoring deletes watched values; findings, histories and hits go with them by the engine's hand.
func (e *eraser) monitoring(ctx context.Context) error {
	args := append(e.x.assetArgs(), e.upTo)
	for _, part := range []struct{ what, table string }{{"findings", "finding"}, {"status changes", "asset_history"}, {"hits", "match_hit"}} {
		err := e.delete(ctx, part.what, `DELETE FROM `+part.table+` WHERE partner_id = $1 AND asset_id IN (SELECT id FROM asset WHERE `+assetsOfPerson+` AND created_at <= $6)`, args...)
		if err != nil {
			return err
		}
	}
	// How many strangers there are is counted anew by the sweep: until then the place is not given back.
	_, err := e.tx.ExecContext(ctx, `DELETE FROM asset_stranger WHERE partner_id = $1 AND user_index IN ($2, $3) AND since <= $4`, e.user()...)
	if err != nil {
		return err
	}
	return e.delete(ctx, "watched values", `DELETE FROM asset WHERE `+assetsOfPerson+` AND created_at <= $6`, args...)
}

func (e *eraser) cases(ctx context.Context) error {
	const own = `partner_id = $1 AND user_index IN ($2, $3) AND created_at <= $4`
	cases, err := collect(ctx, e.tx, func(row scanner) (id string, err error) { return id, row.Scan(&id) },
		`SELECT id FROM support_case WHERE `+own, e.user()...)
	if err != nil {
		return err
	}
	for _, id := range cases { // one after the other, since bookings may be on another machine than cases
		if err := e.delete(ctx, "bookings", `DELETE FROM case_booking WHERE partner_id = $1 AND case_id = $2`, number(e.x.partner), id); err != nil {
			return err
		}
	}
	err = e.delete(ctx, "case moves", `DELETE FROM case_move WHERE partner_id = $1 AND case_id IN (SELECT id FROM support_case WHERE `+own+`)`, e.user()...)
	if err != nil {
		return err
	}
	return e.delete(ctx, "cases", `DELETE FROM support_case WHERE `+own, e.user()...)
}

func (e *eraser) devices(ctx context.Context) error {
	const own = `partner_id = $1 AND user_index IN ($2, $3) AND issued_at <= $4`
	_, err := e.tx.ExecContext(ctx, `UPDATE epp_pool SET taken_by = $5 WHERE key_index IN (SELECT key_index FROM epp_key WHERE `+own+`) AND taken_by <> ''`,
		append(e.user(), takenByErased)...)
	if err != nil {
		return fmt.Errorf("vendor keys: %w", err)
	}
	if err := e.delete(ctx, "devices", `DELETE FROM epp_key WHERE `+own, e.user()...); err != nil {
		return err
	}
	_, err = e.tx.ExecContext(ctx, `DELETE FROM epp_holder WHERE partner_id = $1 AND user_index IN ($2, $3) AND NOT EXISTS (
		SELECT 1 FROM epp_key k WHERE k.partner_id = $1 AND k.user_index IN ($2, $3))`, e.x.userArgs()...)
	return err
}

func (e *eraser) rest(ctx context.Context) error {
	if err := e.delete(ctx, "answers", `DELETE FROM content_answer WHERE partner_id = $1 AND user_index IN ($2, $3) AND answered_at <= $4`, e.user()...); err != nil {
		return err
	}
	// A score counts for its whole day: one of the day of the erasure goes too.
	return e.delete(ctx, "scores", `DELETE FROM score_day WHERE partner_id = $1 AND user_index IN ($2, $3) AND day <= $4`,
		append(e.x.userArgs(), e.upTo/dayMicros)...)
}

// eraseAtOnce is how many events of a person go in one transaction, with their deliveries and tries.
const eraseAtOnce = 50

// tallies are rows that went, by what they were.
type tallies map[string]int64

func (t tallies) addTo(counts map[string]int64) {
	for what, n := range t {
		counts[what] += n
	}
}

// eraseEventsAhead deletes the events of somebody who has so many that all of them in one transaction would keep others
// waiting. It leaves the last for the erasure itself: should this end half way, then what is left is erased when the
// same command is run again.
func (s Subjects) eraseEventsAhead(ctx context.Context, x indexes, upTo int64) (tallies, error) {
	ahead := tallies{}
	for {
		var more bool
		err := s.reader().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM event WHERE partner_id = $1 AND person IN ($2, $3) AND created_at <= $4
			LIMIT 1 OFFSET $5)`, append(x.userArgs(), upTo, int64(eraseAtOnce))...).Scan(&more)
		if err != nil || !more {
			return ahead, classify(err)
		}
		err = s.inTx(ctx, func(tx *sqldb.Tx) error {
			e := eraser{tx: tx, x: x, upTo: upTo, erased: subject.Erased{Counts: map[string]int64{}}}
			err := e.events(ctx, s.inside(tx), eraseAtOnce)
			tx.AfterCommit(func() { tallies(e.erased.Counts).addTo(ahead) })
			return err
		})
		if err != nil {
			return ahead, fmt.Errorf("erase: %w", err)
		}
	}
}

// events deletes what the partner was told, on its way or kept, and remembers the numbers: they are not losses. It
// deletes at most limit.
func (e *eraser) events(ctx context.Context, s Subjects, limit int64) error {
	if err := s.alerts().lockEvents(ctx, e.tx, e.x.partner); err != nil {
		return err
	}
	seqs, err := collect(ctx, e.tx, scanInt, `SELECT seq FROM event WHERE partner_id = $1 AND person IN ($2, $3) AND created_at <= $4 LIMIT $5`,
		append(e.user(), limit)...)
	if err != nil {
		return err
	}
	endpoints, err := deliveredTo(ctx, e.tx, e.x.partner)
	if err != nil {
		return err
	}
	return e.eraseEvents(ctx, seqs, endpoints)
}

// eraseEvents deletes events by their numbers.
func (e *eraser) eraseEvents(ctx context.Context, seqs []int64, endpoints []alert.EndpointID) error {
	for part := range slices.Chunk(seqs, hitBatch) {
		for _, endpoint := range endpoints {
			args := []any{number(e.x.partner), string(endpoint)}
			marks := seqMarks(&args, part)
			where := ` WHERE partner_id = $1 AND endpoint_id = $2 AND seq IN (` + marks + `)`
			for _, of := range []struct{ what, statement string }{
				{"attempts", `DELETE FROM attempt` + where}, {"attempts", `UPDATE delivery SET tried = NULL` + where + ` AND tried IS NOT NULL`},
				{"deliveries", `DELETE FROM delivery` + where},
			} {
				if err := e.delete(ctx, of.what, of.statement, args...); err != nil {
					return err
				}
			}
		}
		args := []any{number(e.x.partner)}
		marks := seqMarks(&args, part)
		if _, err := e.tx.ExecContext(ctx, `INSERT INTO event_gap (partner_id, seq) SELECT partner_id, seq FROM event
			WHERE partner_id = $1 AND seq IN (`+marks+`) ON CONFLICT (partner_id, seq) DO NOTHING`, args...); err != nil {
			return err
		}
		if err := e.delete(ctx, "events", `DELETE FROM event WHERE partner_id = $1 AND seq IN (`+marks+`)`, args...); err != nil {
			return err
		}
	}
	return nil
}

// seqMarks appends numbers to args and returns their marks for an IN list.
func seqMarks(args *[]any, seqs []int64) string {
	marks := make([]byte, 0, 6*len(seqs))
	for i, n := range seqs {
		if i > 0 {
			marks = append(marks, ", "...)
		}
		*args = append(*args, n)
		marks = strconv.AppendInt(append(marks, '$'), int64(len(*args)), 10)
	}
	return string(marks)
}

// person deletes how the partner spelt the person's hash, and the row that joins the forms of it unless a newer
// enrolment uses that.
func (e *eraser) person(ctx context.Context) error {
	if err := e.delete(ctx, "names", `DELETE FROM person_name WHERE partner_id = $1 AND user_index IN ($2, $3) AND named_at <= $4`, e.user()...); err != nil {
		return err
	}
	if len(e.x.cpf) == 0 {
		return nil
	}
	return e.delete(ctx, "person", `DELETE FROM person WHERE partner_id = $1 AND cpf = $2 AND created_at <= $3`+unsubscribed, number(e.x.partner), e.x.cpf, e.upTo)
}

// erasedQueries find rows of people who were erased that are older than their erasure.
func erasedQueries() []string {
	var list []string
	for _, of := range []struct{ table, match string }{
		{"subscription", `t.cpf = e.cpf AND length(e.cpf) > 0 AND t.created_at <= e.erased_at`},
		{"asset", `t.user_index IN (e.user_256, e.user_512) AND t.created_at <= e.erased_at`},
		{"asset_stranger", `t.user_index IN (e.user_256, e.user_512) AND t.since <= e.erased_at`},
		{"person_name", `t.user_index IN (e.user_256, e.user_512) AND t.named_at <= e.erased_at`},
		{"support_case", `t.user_index IN (e.user_256, e.user_512) AND t.created_at <= e.erased_at`},
		{"epp_key", `t.user_index IN (e.user_256, e.user_512) AND t.issued_at <= e.erased_at`},
		{"content_answer", `t.user_index IN (e.user_256, e.user_512) AND t.answered_at <= e.erased_at`},
		{"score_day", `t.user_index IN (e.user_256, e.user_512) AND (t.day + 1) * 86400000000 <= e.erased_at`},
		{"event", `t.person IN (e.user_256, e.user_512) AND t.created_at <= e.erased_at`},
	} {
		list = append(list, `SELECT '`+of.table+` of ' || e.partner_id, count(*) || ' rows of somebody who was erased (' || e.id || ') are back: replay the log of erasures'
			FROM erasure e JOIN `+of.table+` t ON t.partner_id = e.partner_id AND `+of.match+` GROUP BY e.partner_id, e.id ORDER BY 1`)
	}
	return list
}
