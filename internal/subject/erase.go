package subject

import (
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// Erased counts what an erasure took away, by what it was.
type Erased struct {
	Partner partner.ID
	Counts  map[string]int64
}

// Total returns how many rows were taken away or rewritten.
func (e Erased) Total() (n int64) {
	for _, c := range e.Counts {
		n += c
	}
	return n
}

// Outcome is what an erasure came to.
type Outcome struct {
	Partners   []Erased
	Tombstones []Tombstone
	// Scrubbed says that the deleted bytes are out of the database's files too.
	Scrubbed bool
}

// ErasePerson takes everything away that is held about a person. Partners that held nothing get a tombstone too: an
// older backup may hold more. keep is handed the tombstones before anything is scrubbed, so that they are also kept
// outside the database.
func (d *Rights) ErasePerson(
	ctx context.Context, who operator.Actor, p Person, reason string, keep func([]Tombstone) error,
) (Outcome, error) {
	var out Outcome
	reason, err := checkErasureReason(reason)
	if err != nil {
		return out, err
	}
	all, err := d.readHeld(ctx, p)
	if err != nil {
		return out, err
	}
	for _, h := range all {
		erased, stone, err := d.store.EraseRows(
			ctx,
			h,
			p,
			reason,
			func(in operator.Ledger, erased Erased, stone Tombstone) error {
				return d.recordErased(ctx, in, who, d.store.PersonReference(p), erased, stone)
			},
		)
		if err != nil {
			return out, fmt.Errorf("erase: %w", err)
		}
		// After the rows, so that no request can repeat from them what was just redacted.
		rewritten, err := d.store.RedactAnswers(ctx, h, p)
		if err != nil {
			return out, fmt.Errorf("redact kept answers: %w", err)
		}
		if rewritten > 0 {
			erased.Counts["kept answers"] = rewritten
		}
		out.Partners, out.Tombstones = append(out.Partners, erased), append(out.Tombstones, stone)
	}
	if err := keep(out.Tombstones); err != nil {
		return out, fmt.Errorf("keep the erasure log: %w", err)
	}
	if err := d.store.ScrubErased(ctx); err != nil {
		return out, fmt.Errorf("the rows are gone, but not yet all of their bytes; run the same command again: %w", err)
	}
	out.Scrubbed = true
	return out, nil
}

// recordErased keeps the line of an erasure.
func (d *Rights) recordErased(
	ctx context.Context, in operator.Ledger, who operator.Actor, person string, erased Erased, stone Tombstone,
) error {
	detail := fmt.Sprintf("partner %s, erasure %s, %d rows", stone.Partner, stone.ID, erased.Total())
	return operator.NewTrail(in, d.now).RecordAction(ctx, who, "subject.erased", person, detail)
}

// Worker is who ends erasures that were left half way.
const Worker = "worker"

// ResumeErasures ends erasures whose process ended half way; keep is handed their tombstones, as in Erase. It returns
// how many.
func (d *Rights) ResumeErasures(ctx context.Context, keep func([]Tombstone) error) (int, error) {
	stones, err := d.store.ResumeErasures(
		ctx,
		func(in operator.Ledger, person string, erased Erased, stone Tombstone) error {
			return d.recordErased(ctx, in, operator.Actor{Name: Worker}, person, erased, stone)
		},
	)
	if len(stones) == 0 {
		return 0, err
	}
	if err := errors.Join(err, keep(stones)); err != nil {
		return len(stones), fmt.Errorf("end erasures: %w", err)
	}
	return len(stones), d.store.ScrubErased(ctx)
}
