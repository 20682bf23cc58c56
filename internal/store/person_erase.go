package store

import (
	"context"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subject"
)

var _ subject.Store = Subjects{}

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
	ctx context.Context, h subject.Held, p subject.Person, reason string, record recorder,
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
	ctx context.Context, u begun, record recorder,
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
	ctx context.Context, u begun, ahead tallies, record recorder,
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

// ScrubErased takes what was deleted out of the database's files.
func (s Subjects) ScrubErased(ctx context.Context) error {
	return s.db.ScrubDeleted(ctx, erasedTables...)
}
