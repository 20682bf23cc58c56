package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subject"
)

// requestLease is how long a process that claimed a request has it to itself. One that takes longer is joined by
// another, which does no harm: every step may be repeated.
const requestLease = 5 * time.Minute

// ClaimDueErasures claims requests for this process: see subject.Store.
func (s Subjects) ClaimDueErasures(ctx context.Context, sandboxes bool, limit int) ([]subject.DueErasure, error) {
	type dueRow struct {
		subject.ErasureRequest
		next int64
	}
	now := s.now()
	rows, err := collectRows(ctx, s.readQuerier(), func(row scanner, r *dueRow) error {
		return row.Scan(&r.Partner, &r.ID, &r.next)
	}, `SELECT partner_id, id, next_at FROM erasure_request WHERE ended_at = 0 AND next_at <= $1
		AND partner_id IN (SELECT id FROM partner WHERE NOT suspended AND (mode = $2 OR NOT $3))
		ORDER BY next_at LIMIT $4`,
		now,
		partner.Sandbox,
		sandboxes,
		limit,
	)
	if err != nil {
		return nil, err
	}
	var claimed []subject.DueErasure
	for _, r := range rows {
		taken, err := s.countAlone(
			ctx,
			`UPDATE erasure_request SET next_at = $4 WHERE partner_id = $1 AND id = $2 AND next_at = $3
			AND ended_at = 0`,
			r.Partner,
			r.ID,
			r.next,
			now.Add(requestLease),
		)
		if err != nil {
			return claimed, err
		}
		if taken == 0 {
			continue // by another process, or cancelled
		}
		request, err := s.ErasureRequestByID(ctx, r.Partner, r.ID)
		if err != nil {
			return claimed, err
		}
		begun := request.State == subject.RequestErasing
		claimed = append(claimed, subject.DueErasure{ErasureRequest: request, Begun: begun})
	}
	return claimed, nil
}

// BeginErasureRequest notes the erasure of a request as begun, in one transaction with its state: what a killed process
// leaves is gone on with by its tombstone.
func (s Subjects) BeginErasureRequest(
	ctx context.Context, h subject.Held, p subject.Person, r subject.ErasureRequest,
) error {
	kept := keptTrail{Reason: r.Reason, IDs: namesOfHeld(h), Found: countFound(h)}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		x, err := s.computeIndexes(ctx, tx, r.Partner, p)
		if err != nil {
			return err
		}
		err = execExpecting(
			ctx,
			tx,
			subject.ErrRequestNotFound,
			`UPDATE erasure_request SET state = $3, erasure = $2, removed = $4
			WHERE partner_id = $1 AND id = $2 AND state = $5`,
			r.Partner,
			r.ID,
			subject.RequestErasing,
			kept.Found,
			subject.RequestPending,
		)
		if err != nil {
			return err
		}
		t := subject.Tombstone{
			ID:       r.ID,
			Partner:  r.Partner,
			Person:   s.erasedReference(r.Partner, p),
			CPF:      x.cpf,
			User256:  x.user256,
			User512:  x.user512,
			Watched:  x.value,
			ErasedAt: toMicros(s.now()),
		}
		_, err = s.keepTombstone(ctx, tx, t, kept, false)
		return err
	})
}

// CarryOutErasure goes on with the erasure of a request until nothing is left: see subject.Store.
func (s Subjects) CarryOutErasure(
	ctx context.Context,
	id partner.ID,
	request string,
	record func(in operator.Ledger, person string, erased subject.Erased, stone subject.Tombstone) error,
) (subject.Tombstone, error) {
	erasure, err := readRow(
		ctx,
		s.readQuerier(),
		scanValue[string],
		subject.ErrRequestNotFound,
		`SELECT erasure FROM erasure_request WHERE partner_id = $1 AND id = $2 AND ended_at = 0`,
		id,
		request,
	)
	if err != nil {
		return subject.Tombstone{}, err
	}
	left, err := s.begunErasures(ctx, ` AND partner_id = $1 AND id = $2`, id, erasure)
	if err != nil {
		return subject.Tombstone{}, err
	}
	if len(left) > 0 {
		_, stone, err := s.continueErasure(
			ctx,
			left[0],
			func(in operator.Ledger, erased subject.Erased, stone subject.Tombstone) error {
				return record(in, userReference(stone.User512), erased, stone)
			},
		)
		return stone, err
	}
	return readRow(
		ctx,
		s.readQuerier(),
		func(row scanner, t *subject.Tombstone) error { return s.scanTombstone(row, t) },
		subject.ErrRequestNotFound,
		`SELECT `+tombstoneColumns+` FROM erasure WHERE partner_id = $1 AND id = $2 AND done`,
		id,
		erasure,
	)
}

// CompleteErasureRequest ends a request whose erasure is over: see subject.Store. The event names no person.
func (s Subjects) CompleteErasureRequest(ctx context.Context, id partner.ID, request string) (bool, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (bool, error) {
		r, err := readRow(
			ctx,
			tx,
			s.scanRequest,
			subject.ErrRequestNotFound,
			`SELECT `+requestColumns+` FROM erasure_request WHERE partner_id = $1 AND id = $2`+s.db.LockRows(),
			id,
			request,
		)
		if err != nil || r.State != subject.RequestErasing {
			return false, err
		}
		now := s.now()
		if err := s.endRequest(ctx, tx, id, request, subject.RequestCompleted, now); err != nil {
			return false, err
		}
		event := alert.NewErasureCompletion(id, request, r.Removed, now)
		return true, Alerts(s.insideTx(tx)).addPartnerEvents(ctx, tx, id, event)
	})
}

// joinOpenRequests makes an erasure carry out the requests that were pending for the same person: otherwise they would
// erase later what the partner enrols after it. A worker completes them.
func (s Subjects) joinOpenRequests(
	ctx context.Context, tx *sqldb.Tx, x indexes, t subject.Tombstone, removed int,
) error {
	return execStatement(
		ctx,
		tx,
		`UPDATE erasure_request SET state = $4, erasure = $5, next_at = 0, removed = $6
		WHERE partner_id = $1 AND person IN ($2, $3) AND state = $7 AND requested_at <= $8 AND ended_at = 0`,
		x.partner,
		x.user512,
		x.user256,
		subject.RequestErasing,
		t.ID,
		removed,
		subject.RequestPending,
		t.ErasedAt,
	)
}
