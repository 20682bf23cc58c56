package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subject"
)

var _ subject.RequestStore = Subjects{}

// keptRequest is what the sealed column of a request holds while it is open.
type keptRequest struct {
	User   partner.UserHash `json:"user"`
	CPF    string           `json:"cpf,omitempty"`
	Reason string           `json:"reason"`
}

// requestPlace binds what is kept of a request to its row.
func requestPlace(id partner.ID, request string) seal.Place {
	return seal.Place{Table: "erasure_request", Column: "request", Partner: string(id), Row: request}
}

// UserOfCPF returns the user hash that a partner's salt makes of a CPF.
func (s Subjects) UserOfCPF(ctx context.Context, id partner.ID, cpf string) (partner.UserHash, error) {
	salt, err := Partners(s).OpenSalt(ctx, id)
	if err != nil {
		return "", err
	}
	return partner.LongUserHash(cpf, salt), nil
}

// requestColumns are those that scanRequest expects, in its order.
const requestColumns = `partner_id, id, state, request, requested_at, due_at, ended_at, removed`

// scanRequest reads requestColumns.
func (s Subjects) scanRequest(row scanner, r *subject.ErasureRequest) error {
	var kept keptRequest
	err := row.Scan(
		&r.Partner,
		&r.ID,
		&r.State,
		s.unseals(&kept, func() seal.Place { return requestPlace(r.Partner, r.ID) }),
		&r.RequestedAt,
		&r.DueAt,
		&r.EndedAt,
		&r.Removed,
	)
	r.User, r.CPF, r.Reason = kept.User, kept.CPF, kept.Reason
	return err
}

// insertTries is how often a request is inserted anew: the open one that was in its way may end before it is read.
const insertTries = 3

// InsertErasureRequest keeps a request, unless the person has an open one: see subject.RequestStore.
func (s Subjects) InsertErasureRequest(
	ctx context.Context, id partner.ID, r subject.ErasureRequest, record func(operator.Ledger) error,
) (subject.ErasureRequest, error) {
	sealed, err := s.sealValue(requestPlace(id, r.ID), keptRequest{User: r.User, CPF: r.CPF, Reason: r.Reason})
	if err != nil {
		return r, err
	}
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (subject.ErasureRequest, error) {
		user, err := s.findUser(ctx, tx, id, r.User)
		if err != nil {
			return r, err
		}
		for range insertTries {
			added, err := execCounting(
				ctx,
				tx,
				`INSERT INTO erasure_request (partner_id, id, state, person, request, requested_at, due_at, ended_at,
				next_at, erasure, removed) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $7, '', 0)
				ON CONFLICT (partner_id, person) WHERE ended_at = 0 DO NOTHING`,
				id,
				r.ID,
				r.State,
				user.write,
				sealed,
				r.RequestedAt,
				r.DueAt,
			)
			if err != nil {
				return r, err
			}
			if added == 1 {
				event := alert.NewErasureRequest(id, r.User, r.ID, r.RequestedAt, r.DueAt)
				if err := Alerts(s.insideTx(tx)).addPartnerEvents(ctx, tx, id, event); err != nil {
					return r, err
				}
				return r, record(Audit(s.insideTx(tx)))
			}
			open, err := collectRows(
				ctx,
				tx,
				s.scanRequest,
				`SELECT `+requestColumns+` FROM erasure_request
				WHERE partner_id = $1 AND person = $2 AND ended_at = 0`,
				id,
				user.write,
			)
			if err != nil {
				return r, err
			}
			if len(open) > 0 {
				return open[0], nil
			}
		}
		return r, ErrUnavailable
	})
}

// CancelErasureRequest ends a pending request: see subject.RequestStore.
func (s Subjects) CancelErasureRequest(
	ctx context.Context, id partner.ID, request string, record func(operator.Ledger, subject.ErasureRequest) error,
) (subject.ErasureRequest, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (subject.ErasureRequest, error) {
		was, err := readRow(
			ctx,
			tx,
			s.scanRequest,
			subject.ErrRequestNotFound,
			`SELECT `+requestColumns+` FROM erasure_request WHERE partner_id = $1 AND id = $2`+s.db.LockRows(),
			id,
			request,
		)
		switch {
		case err != nil:
			return was, err
		case was.State == subject.RequestCancelled:
			return was, nil
		case was.State != subject.RequestPending:
			return was, subject.ErrRequestBegun
		}
		now := s.now()
		if err := s.endRequest(ctx, tx, id, request, subject.RequestCancelled, now); err != nil {
			return was, err
		}
		event := alert.NewErasureCancellation(id, was.User, request, now)
		if err := Alerts(s.insideTx(tx)).addPartnerEvents(ctx, tx, id, event); err != nil {
			return was, err
		}
		if err := record(Audit(s.insideTx(tx)), was); err != nil {
			return was, err
		}
		was.State, was.EndedAt = subject.RequestCancelled, now
		was.User, was.CPF, was.Reason = "", "", ""
		return was, nil
	})
}

// endRequest makes a request name no person any more. The caller has locked the row.
func (s Subjects) endRequest(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, request string, state subject.RequestState, now time.Time,
) error {
	return execStatement(
		ctx,
		tx,
		`UPDATE erasure_request SET state = $3, ended_at = $4, person = $5, request = NULL
		WHERE partner_id = $1 AND id = $2`,
		id,
		request,
		state,
		now,
		[]byte{},
	)
}

// ErasureRequestByID returns a request of a partner.
func (s Subjects) ErasureRequestByID(
	ctx context.Context, id partner.ID, request string,
) (subject.ErasureRequest, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		s.scanRequest,
		subject.ErrRequestNotFound,
		`SELECT `+requestColumns+` FROM erasure_request WHERE partner_id = $1 AND id = $2`,
		id,
		request,
	)
}

// OpenErasureRequests returns a partner's requests that are not over.
func (s Subjects) OpenErasureRequests(ctx context.Context, id partner.ID) ([]subject.ErasureRequest, error) {
	return collectRows(
		ctx,
		s.readQuerier(),
		s.scanRequest,
		`SELECT `+requestColumns+` FROM erasure_request WHERE partner_id = $1 AND ended_at = 0 ORDER BY due_at, id`,
		id,
	)
}

// ErasureRequestPage returns some of a partner's requests that are not over: see subject.RequestStore.
func (s Subjects) ErasureRequestPage(
	ctx context.Context, id partner.ID, offset int64, limit int,
) (page []subject.ErasureRequest, total int64, err error) {
	err = s.readSnapshot(ctx, func(in core) error { // so that page and total are of one moment
		q := in.readQuerier()
		total, err = readValue[int64](
			ctx,
			q,
			`SELECT count(*) FROM erasure_request WHERE partner_id = $1 AND ended_at = 0`,
			id,
		)
		if err != nil {
			return err
		}
		page, err = collectRows(
			ctx,
			q,
			s.scanRequest,
			`SELECT `+requestColumns+` FROM erasure_request WHERE partner_id = $1 AND ended_at = 0
			ORDER BY requested_at DESC, id DESC LIMIT $2 OFFSET $3`,
			id,
			limit,
			offset,
		)
		return err
	})
	return page, total, err
}
