package subject

import (
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/operator"
)

// DueErasure is a request that is to be carried out, or gone on with.
type DueErasure struct {
	ErasureRequest
	// Begun means that another process began it and did not come to the end.
	Begun bool
}

// dueBatch is how many requests share one scrub of the database's files.
const dueBatch = 100

// RunDueErasures carries out requests that are due, and goes on with those that a process left half way. keep is handed
// the tombstones, as in ErasePerson. A request is completed only when its tombstone is kept outside the database and
// the deleted bytes are gone: until then every step may be repeated, by any process. One that fails keeps no other
// waiting, and is tried again later. With sandboxes set it carries out those of sandboxes alone and scrubs nothing:
// their people are made up, and somebody waits for the answer.
func (d *Rights) RunDueErasures(ctx context.Context, sandboxes bool, keep func([]Tombstone) error) (int, error) {
	total := 0
	var failed error
	for {
		due, err := d.store.ClaimDueErasures(ctx, sandboxes, dueBatch)
		if err != nil || len(due) == 0 {
			return total, errors.Join(failed, err)
		}
		var stones []Tombstone
		var carriedOut []DueErasure
		for _, r := range due {
			stone, err := d.carryOutErasure(ctx, r)
			switch {
			case errors.Is(err, ErrRequestNotFound): // cancelled since it was claimed
			case err != nil:
				failed = errors.Join(failed, fmt.Errorf("carry out erasure %s: %w", r.ID, err))
			default:
				stones, carriedOut = append(stones, stone), append(carriedOut, r)
			}
		}
		if len(stones) == 0 {
			continue
		}
		if err := keep(stones); err != nil {
			return total, errors.Join(failed, fmt.Errorf("keep the erasure log: %w", err))
		}
		if !sandboxes {
			if err := d.store.ScrubErased(ctx); err != nil {
				return total, errors.Join(failed, fmt.Errorf("scrub what was erased: %w", err))
			}
		}
		for _, r := range carriedOut {
			completed, err := d.store.CompleteErasureRequest(ctx, r.Partner, r.ID)
			if err != nil {
				return total, errors.Join(failed, fmt.Errorf("complete erasure %s: %w", r.ID, err))
			}
			if completed {
				total++
			}
		}
	}
}

// carryOutErasure takes away what the partner of a request holds about the person.
func (d *Rights) carryOutErasure(ctx context.Context, r DueErasure) (Tombstone, error) {
	if !r.Begun {
		who, err := d.tenants.PartnerByID(ctx, r.Partner)
		if err != nil {
			return Tombstone{}, err
		}
		held, err := d.store.Held(ctx, who, r.person())
		if err != nil {
			return Tombstone{}, fmt.Errorf("read what is held: %w", err)
		}
		if err := d.store.BeginErasureRequest(ctx, held, r.person(), r.ErasureRequest); err != nil {
			return Tombstone{}, err
		}
	}
	return d.store.CarryOutErasure(
		ctx,
		r.Partner,
		r.ID,
		func(in operator.Ledger, person string, erased Erased, stone Tombstone) error {
			return d.recordErased(ctx, in, operator.Actor{Name: Worker}, person, erased, stone)
		},
	)
}
