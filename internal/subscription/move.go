package subscription

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Move is a step in a subscription's life.
type Move uint8

// The moves. An ended subscription stays ended. A suspended one still counts as active and keeps its place against a
// second enrolment; only its cover is paused until it is resumed. It ends by date like any other.
const (
	End Move = iota + 1
	Suspend
	Resume
)

func ParseMoveName(name string) (Move, error) {
	switch name {
	case "end":
		return End, nil
	case "suspend":
		return Suspend, nil
	case "resume":
		return Resume, nil
	}
	return 0, ErrEdit.With("move", fault.OneOf, "end, suspend, resume")
}

// ChangesSubscription reports whether a subscription is not already where the move leads.
func (m Move) ChangesSubscription(s Subscription) bool {
	switch m {
	case Suspend:
		return s.SuspendedAt.IsZero()
	case Resume:
		return !s.SuspendedAt.IsZero()
	case End:
	}
	return true
}

// Selection says which subscriptions, of those that have not ended, a move is about: exactly one of its three forms.
type Selection struct {
	// Plan and CPF name one.
	Plan plan.ID
	CPF  string
	// Holder is the CNPJ of a company: all subscriptions it pays for.
	Holder string
	// Over selects those whose expiry date lies before this day.
	Over Day
}

// Moved is what a step of MoveSubscriptions did.
type Moved struct {
	// Found counts the subscriptions selected, Changed those that were not already where the move leads.
	Found, Changed int
	// Last is the highest seq looked at; another step goes on from it. More tells whether there may be any.
	Last int64
	More bool
}

// ErrSelection means that a move was not told which subscriptions it is about.
var ErrSelection = fault.New(fault.Invalid, "subscription.selection")

// MoveSubscriptions takes the selected subscriptions a step on and returns how many were found and changed. Nothing
// found is ErrNotFound.
func (r *Registry) MoveSubscriptions(ctx context.Context, id partner.ID, which Selection, move Move) (Moved, error) {
	one, company := which.CPF != "" || which.Plan != "", which.Holder != ""
	switch {
	case which.Over != 0 || one == company || (one && (which.CPF == "" || which.Plan == "")):
		return Moved{}, ErrSelection.With("", fault.SubscriptionChoice)
	case company:
		if _, err := identifier.ParseCNPJ(which.Holder, identifier.Waived); err != nil {
			return Moved{}, ErrSelection.With("benefit holder", fault.CNPJFormat)
		}
	default:
		if _, err := identifier.ParseCPFDigits(which.CPF, identifier.Waived); err != nil {
			return Moved{}, ErrSelection.With("cpf", fault.ElevenDigits)
		}
	}
	total, err := r.moveInBatches(ctx, id, which, move)
	if err == nil && total.Found == 0 {
		err = ErrNotFound.With("", fault.NoSubscriptionMatches)
	}
	return total, err
}

// A move of many subscriptions is made in transactions of moveBatch.
const (
	moveBatch = 500
	movePause = 5 * time.Millisecond // lets waiting writers in between two batches
)

// moveInBatches works in batches, each a transaction: a company may have a hundred thousand.
func (r *Registry) moveInBatches(ctx context.Context, id partner.ID, which Selection, move Move) (Moved, error) {
	var total Moved
	for {
		step, err := r.store.MoveSubscriptions(ctx, id, which, move, total.Last, moveBatch)
		if err != nil {
			return total, err
		}
		total.Found, total.Changed, total.Last = total.Found+step.Found, total.Changed+step.Changed, step.Last
		if !step.More {
			return total, nil
		}
		select {
		case <-ctx.Done():
			return total, ctx.Err()
		case <-time.After(movePause):
		}
	}
}

// SweepExpired ends the subscriptions of every partner whose expiry date is over in São Paulo, and returns how many. It
// is for a chore that runs at least once a minute; many replicas may run it, and it catches up after a stop of any
// length.
func (r *Registry) SweepExpired(ctx context.Context) (int, error) {
	partners, err := r.tenants.ListPartners(ctx)
	if err != nil {
		return 0, fmt.Errorf("sweep subscriptions: %w", err)
	}
	ended := 0
	for _, p := range partners {
		moved, err := r.moveInBatches(ctx, p.ID, Selection{Over: DayInBrazil(r.now())}, End)
		ended += moved.Changed
		if err != nil {
			return ended, fmt.Errorf("sweep subscriptions: %w", err)
		}
	}
	return ended, nil
}
