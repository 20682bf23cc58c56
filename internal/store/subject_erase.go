package store

import (
	"context"
	"crypto/hmac"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subject"
)

// erasedTables are all that an erasure deletes from.
var erasedTables = []string{
	"subscription", "person", "person_name", "asset", "asset_history", "finding", "finding_step", "match_hit", "support_case", "case_move", "case_booking", "epp_key",
	"epp_holder", "content_answer", "score_day", "event", "delivery", "attempt", "idempotency", "operator_export", "operator_export_part",
}

// keptTrail is what the sealed column of an erasure holds.
type keptTrail struct {
	Reason string   `json:"reason"`
	IDs    []string `json:"ids,omitempty"`
}

// insideTx returns the same area in a transaction.
func (s Subjects) insideTx(tx *sqldb.Tx) Subjects { return Subjects{s.withTx(tx)} }

// EraseRows deletes all rows about a person, and keeps the tombstone and what record adds to the audit trail: see
// subject.Store. A person with few rows is erased in one transaction. With more rows the erasure is recorded first, so
// that it is completed even after a crash; then rows are deleted in small transactions, and the last one makes the
// tombstone count and writes its audit line.
func (s Subjects) EraseRows(ctx context.Context, h subject.Held, p subject.Person, reason string, record recorder) (subject.Erased, subject.Tombstone, error) {
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
	made, err := uuid.NewV7()
	if err != nil {
		return subject.Erased{}, subject.Tombstone{}, fmt.Errorf("make erasure id: %w", err)
	}
	u.Tombstone = subject.Tombstone{
		ID: "er_" + made.String(), Partner: h.Partner.ID, Person: s.erasedReference(h.Partner.ID, p), CPF: x.cpf, User256: x.user256, User512: x.user512,
		Watched: x.value, ErasedAt: toMicros(s.now()),
	}
	u.kept = keptTrail{Reason: reason, IDs: heldIDs(h)}
	few, err := s.hasFewRows(ctx, x)
	if err != nil {
		return subject.Erased{}, u.Tombstone, err
	}
	if few {
		return s.finishErasure(ctx, u, nil, record)
	}
	err = s.runInTx(ctx, func(tx *sqldb.Tx) error {
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
func (s Subjects) continueErasure(ctx context.Context, u begun, record recorder) (subject.Erased, subject.Tombstone, error) {
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

// finishErasure takes away what is left, and makes the tombstone count. When another process was quicker, the line in the
// trail is that one's.
func (s Subjects) finishErasure(ctx context.Context, u begun, ahead tallies, record recorder) (erased subject.Erased, t subject.Tombstone, err error) {
	files, err := s.dropNamedExports(ctx, u.Partner, u.upTo)
	if err != nil {
		return erased, u.Tombstone, err
	}
	err = s.runInTx(ctx, func(tx *sqldb.Tx) error {
		t = u.Tombstone
		if u.upTo == math.MaxInt64 {
			t.ErasedAt = toMicros(s.now())
		}
		t.MAC = s.tombstoneMAC(t)
		inside := s.insideTx(tx)
		var err error
		if erased, err = inside.eraseRowsOf(ctx, tx, u.indexes, u.upTo); err != nil {
			return err
		}
		ahead.addToCounts(erased.Counts)
		files.addToCounts(erased.Counts)
		over, err := rowsAffected(tx.ExecContext(ctx, `UPDATE erasure SET done = TRUE, erased_at = $3 WHERE partner_id = $1 AND id = $2 AND NOT done`,
			partnerNumber(t.Partner), t.ID, t.ErasedAt))
		if err != nil {
			return fmt.Errorf("end erasure: %w", err)
		}
		if over == 0 {
			kept, err := s.keepTombstone(ctx, tx, t, u.kept, true)
			if err != nil || kept == 0 {
				return err
			}
		}
		return record(inside.auditArea(), erased, t)
	})
	return erased, t, err
}

// findBegunErasure returns a person's erasure that has not ended yet; its ID is empty when there is none.
func (s Subjects) findBegunErasure(ctx context.Context, id partner.ID, person string) (begun, error) {
	list, err := s.begunErasures(ctx, ` AND partner_id = $1 AND person = $2`, partnerNumber(id), person)
	if err != nil || len(list) == 0 {
		return begun{}, err
	}
	return list[0], nil
}

// begunErasures returns those that have not ended.
func (s Subjects) begunErasures(ctx context.Context, which string, args ...any) ([]begun, error) {
	list, err := collectRows(ctx, s.readQuerier(), func(row scanner) (begun, error) {
		t, err := s.scanTombstone(row)
		x := indexes{partner: t.Partner, cpf: orEmptyBytes(t.CPF), user256: t.User256, user512: t.User512, value: orEmptyBytes(t.Watched)}
		return begun{Tombstone: t, indexes: x, upTo: t.ErasedAt}, err
	}, `SELECT `+tombstoneColumns+` FROM erasure WHERE NOT done`+which+` ORDER BY erased_at, id`, args...)
	return list, wrapError("read erasures", err)
}

// abandonedAfter is how long ago an erasure must have begun for others to go on with it: longer than a command takes.
const abandonedAfter = 5 * time.Minute

// ResumeErasures goes on with erasures whose process ended half way: see subject.Store. What a partner enrolled since they
// began stays.
func (s Subjects) ResumeErasures(ctx context.Context,
	record func(in operator.Ledger, person string, erased subject.Erased, stone subject.Tombstone) error,
) ([]subject.Tombstone, error) {
	list, err := s.begunErasures(ctx, ` AND erased_at <= $1`, toMicros(s.now().Add(-abandonedAfter)))
	var over []subject.Tombstone
	for _, u := range list {
		_, t, err := s.continueErasure(ctx, u, func(in operator.Ledger, erased subject.Erased, stone subject.Tombstone) error {
			return record(in, userReference(stone.User512), erased, stone)
		})
		if err != nil {
			return over, err
		}
		over = append(over, t)
	}
	return over, err
}

// beingErased reports whether an erasure of the person was begun and has not ended: nothing of them is shown any more.
func (s Subjects) beingErased(ctx context.Context, q querier, x indexes) (yes bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM erasure WHERE NOT done AND partner_id = $1
		AND (user_512 IN ($2, $3) OR user_256 IN ($2, $3)))`, x.userArguments()...).Scan(&yes)
	return yes, classifyError(err)
}

// tombstoneMAC shows later that the service wrote a tombstone: a log kept elsewhere could otherwise be made to erase
// anybody.
func (s Subjects) tombstoneMAC(t subject.Tombstone) []byte {
	at := binary.BigEndian.AppendUint64(nil, uint64(t.ErasedAt))
	return s.keys.MAC("erasure", []byte(t.ID), []byte(t.Partner), []byte(t.Person), t.CPF, t.User256, t.User512, t.Watched, at)
}

// keepTombstone stores a tombstone that is not there yet and returns how many rows it added. It counts once the erasure is
// done.
func (s Subjects) keepTombstone(ctx context.Context, tx *sqldb.Tx, t subject.Tombstone, kept keptTrail, done bool) (int64, error) {
	plain, err := json.Marshal(kept)
	if err != nil {
		return 0, fmt.Errorf("keep erasure: %w", err)
	}
	sealed, err := s.keys.Seal(placeInPartner("erasure", "trail")([]any{partnerNumber(t.Partner), t.ID}), plain)
	if err != nil {
		return 0, fmt.Errorf("seal erasure: %w", err)
	}
	n, err := rowsAffected(tx.ExecContext(ctx, `INSERT INTO erasure (id, partner_id, person, cpf, user_256, user_512, watched, erased_at, trail, done)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (partner_id, id) DO NOTHING`,
		t.ID, partnerNumber(t.Partner), t.Person, orEmptyBytes(t.CPF), t.User256, t.User512, orEmptyBytes(t.Watched), t.ErasedAt, sealed, done))
	return n, wrapError("keep erasure", err)
}

// ReplayErasure erases again what is older than the erasure: see subject.Store.
func (s Subjects) ReplayErasure(ctx context.Context, t subject.Tombstone) (subject.Erased, error) {
	var erased subject.Erased
	if !hmac.Equal(t.MAC, s.tombstoneMAC(t)) {
		return erased, subject.ErrForeign.Note("this service did not write the line")
	}
	x := indexes{partner: t.Partner, cpf: orEmptyBytes(t.CPF), user256: t.User256, user512: t.User512, value: orEmptyBytes(t.Watched)}
	ahead, err := s.eraseAhead(ctx, x, t.ErasedAt)
	if err != nil {
		return erased, err
	}
	files, err := s.dropNamedExports(ctx, t.Partner, t.ErasedAt)
	if err != nil {
		return erased, err
	}
	err = s.runInTx(ctx, func(tx *sqldb.Tx) (err error) {
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

const tombstoneColumns = `id, partner_id, person, cpf, user_256, user_512, watched, erased_at`

// scanTombstone reads a tombstone and computes its MAC anew from the columns.
func (s Subjects) scanTombstone(row scanner) (t subject.Tombstone, err error) {
	err = row.Scan(&t.ID, scanPartnerID(&t.Partner), &t.Person, &t.CPF, &t.User256, &t.User512, &t.Watched, &t.ErasedAt)
	t.MAC = s.tombstoneMAC(t)
	return t, err
}

// Tombstones returns all erasures that have ended, oldest first.
func (s Subjects) Tombstones(ctx context.Context) ([]subject.Tombstone, error) {
	return collectRows(ctx, s.readQuerier(), s.scanTombstone, `SELECT `+tombstoneColumns+` FROM erasure WHERE done ORDER BY erased_at, id`)
}

// erasedQueries find rows of people who were erased that are older than their erasure.
func erasedQueries() []string {
	var list []string
	for _, of := range []struct{ table, match string }{
		{"subscription", `t.cpf = e.cpf AND length(e.cpf) > 0 AND t.created_at <= e.erased_at`},
		{"asset", `t.user_index IN (e.user_256, e.user_512) AND t.created_at <= e.erased_at`},
		{"person_name", `t.user_index IN (e.user_256, e.user_512) AND t.named_at <= e.erased_at`},
		{"support_case", `t.user_index IN (e.user_256, e.user_512) AND t.created_at <= e.erased_at`},
		{"epp_key", `t.user_index IN (e.user_256, e.user_512) AND t.issued_at <= e.erased_at`},
		{"content_answer", `t.user_index IN (e.user_256, e.user_512) AND t.answered_at <= e.erased_at`},
		{"score_day", `t.user_index IN (e.user_256, e.user_512) AND (t.day + 1) * 86400000000 <= e.erased_at`},
		{"event", `t.person IN (e.user_256, e.user_512) AND t.created_at <= e.erased_at`},
	} {
		list = append(list, `SELECT '`+of.table+` of ' || e.partner_id, count(*) || ' rows of somebody who was erased (' || e.id || ') are back: replay the log of erasures'
			FROM erasure e JOIN `+of.table+` t ON t.partner_id = e.partner_id AND `+of.match+` WHERE e.done GROUP BY e.partner_id, e.id ORDER BY 1`)
	}
	return list
}
