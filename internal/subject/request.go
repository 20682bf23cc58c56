package subject

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErasureDelay is how long a partner may change its mind about an erasure. It also bounds what a stolen key can do: the
// partner is told of each request and cancels what it did not ask for.
const ErasureDelay = 24 * time.Hour

// Faults of requests.
var (
	// ErrRequestNotFound is the answer to an id of another partner, too.
	ErrRequestNotFound = fault.New(fault.NotFound, "erasure.not_found")
	// ErrRequestBegun refuses to cancel what has begun or is over.
	ErrRequestBegun = fault.New(fault.Conflict, "erasure.begun")
)

// RequestState is how far a request has come.
type RequestState string

// The states. A request is open until it is completed or cancelled.
const (
	RequestPending   RequestState = "pending"
	RequestErasing   RequestState = "erasing"
	RequestCompleted RequestState = "completed"
	RequestCancelled RequestState = "cancelled"
)

// ErasureRequest is an erasure that a partner asked for.
type ErasureRequest struct {
	// ID also names the erasure in the log of erasures.
	ID      string
	Partner partner.ID
	// User, CPF and Reason are empty once the request is over: what stays names no person.
	User partner.UserHash
	// CPF is known when the request named the person by it.
	CPF         string
	Reason      string
	State       RequestState
	RequestedAt time.Time
	DueAt       time.Time
	EndedAt     time.Time // zero while it is open
	// Removed counts the records that the erasure found; it is known once the erasure has begun.
	Removed int64
}

// person returns who is to be erased.
func (r ErasureRequest) person() Person {
	if r.CPF != "" {
		return Person{CPF: r.CPF, Partner: r.Partner}
	}
	return Person{User: r.User, Partner: r.Partner}
}

// RequestStore keeps requests.
type RequestStore interface {
	PersonReference(p Person) string
	// UserOfCPF returns the user hash of a person of a partner, enrolled or not.
	UserOfCPF(ctx context.Context, id partner.ID, cpf string) (partner.UserHash, error)
	// InsertErasureRequest keeps a request with its event and the line that record adds to the trail. When the person
	// has an open request already, that one is returned and nothing is written.
	InsertErasureRequest(
		ctx context.Context,
		id partner.ID,
		r ErasureRequest,
		record func(operator.Ledger) error,
	) (ErasureRequest, error)
	// CancelErasureRequest ends a pending request with its event and the line that record adds to the trail. It returns
	// ErrRequestBegun for one that is under way or completed; one that was cancelled before is returned as it is.
	CancelErasureRequest(
		ctx context.Context,
		id partner.ID,
		request string,
		record func(operator.Ledger, ErasureRequest) error,
	) (ErasureRequest, error)
	// ErasureRequestByID returns ErrRequestNotFound when the partner has no such request.
	ErasureRequestByID(ctx context.Context, id partner.ID, request string) (ErasureRequest, error)
	// OpenErasureRequests returns a partner's requests that are not over, those due first at the beginning.
	OpenErasureRequests(ctx context.Context, id partner.ID) ([]ErasureRequest, error)
	// ErasureRequestPage returns a partner's requests that are not over, from place offset on, newest first, and how
	// many there are.
	ErasureRequestPage(ctx context.Context, id partner.ID, offset int64, limit int) ([]ErasureRequest, int64, error)
}

// Erasures are what a partner asks for about its own people, and may take back until the erasure begins.
type Erasures struct {
	store RequestStore
	now   func() time.Time
}

// NewErasures joins the rules to a store and a clock.
func NewErasures(store RequestStore, now func() time.Time) *Erasures { return &Erasures{store, now} }

// RequestErasure asks for the erasure of what the person's partner holds about them when ErasureDelay has passed. A
// person who has an open request gets no second one. Whether the partner knows the person is not looked up: the answer
// is the same, and the tombstone also cleans a restored backup that holds more than the database does today.
func (e *Erasures) RequestErasure(
	ctx context.Context, who operator.Actor, p Person, reason string,
) (ErasureRequest, error) {
	reason, err := checkErasureReason(reason)
	if err != nil {
		return ErasureRequest{}, err
	}
	if p.CPF != "" {
		if p.User, err = e.store.UserOfCPF(ctx, p.Partner, p.CPF); err != nil {
			return ErasureRequest{}, err
		}
	}
	r := ErasureRequest{
		ID:          "er_" + uuid.Must(uuid.NewV7()).String(),
		Partner:     p.Partner,
		User:        p.User,
		CPF:         p.CPF,
		Reason:      reason,
		State:       RequestPending,
		RequestedAt: e.now(),
	}
	r.DueAt = r.RequestedAt.Add(ErasureDelay)
	return e.store.InsertErasureRequest(ctx, p.Partner, r, func(in operator.Ledger) error {
		return e.recordLine(ctx, in, who, "subject.erase", r, r.ID+", "+reason)
	})
}

// CancelErasure takes a request back that has not begun.
func (e *Erasures) CancelErasure(
	ctx context.Context, who operator.Actor, id partner.ID, request string,
) (ErasureRequest, error) {
	return e.store.CancelErasureRequest(
		ctx,
		id,
		request,
		func(in operator.Ledger, was ErasureRequest) error {
			return e.recordLine(ctx, in, who, "subject.erase_cancel", was, was.ID)
		},
	)
}

// recordLine adds a line about a request and its person to the audit trail.
func (e *Erasures) recordLine(
	ctx context.Context, in operator.Ledger, who operator.Actor, action string, r ErasureRequest, detail string,
) error {
	person := e.store.PersonReference(r.person())
	return operator.NewTrail(in, e.now).RecordAction(ctx, who, action, person, detail)
}

// FindErasure returns a request of a partner.
func (e *Erasures) FindErasure(ctx context.Context, id partner.ID, request string) (ErasureRequest, error) {
	return e.store.ErasureRequestByID(ctx, id, request)
}

// ListOpenErasures returns a partner's requests that are not over, those due first at the beginning.
func (e *Erasures) ListOpenErasures(ctx context.Context, id partner.ID) ([]ErasureRequest, error) {
	return e.store.OpenErasureRequests(ctx, id)
}

// MaxErasurePage is the most that a page of requests holds.
const MaxErasurePage = 100

// ListErasurePage returns one page of a partner's requests that are not over, newest first, and how many there are.
// Pages count from 1.
func (e *Erasures) ListErasurePage(
	ctx context.Context, id partner.ID, page int64, size int,
) ([]ErasureRequest, int64, error) {
	size = min(size, MaxErasurePage)
	const beyond = 1 << 40 // far more pages than there can be: keeps the product below from overflowing
	return e.store.ErasureRequestPage(ctx, id, min(page-1, beyond)*int64(size), size)
}

// checkErasureReason returns a reason without spaces around it, or refuses it.
func checkErasureReason(reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	if !partner.Paragraphs(reason, 1, 1000) {
		return "", ErrNoReason.With("reason", fault.ErasureReason)
	}
	return reason, nil
}
