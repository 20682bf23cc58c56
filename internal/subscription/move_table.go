package subscription

import (
	"context"
	"errors"
	"io"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// MovedTable is what moving the subscriptions of a table came to.
type MovedTable struct {
	Found, Changed, NotFound int
	// Lines are the lines whose subscription was not found.
	Lines []int
}

// MoveTable moves the subscriptions of a table (columns plan_id and cpf) one by one; one that is not there is reported
// and stops nothing. progress is told the lines read so far.
func (r *Registry) MoveTable(
	ctx context.Context, id partner.ID, table Source, move Move, progress func(lines int64, t MovedTable),
) (MovedTable, error) {
	var total MovedTable
	var draft Draft
	for n := int64(1); ; n++ {
		line, _, err := table.Next(&draft)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		moved, err := r.MoveSubscriptions(
			ctx,
			id,
			Selection{Plan: plan.ID(draft.PlanID.Value), CPF: draft.CPF.Value},
			move,
		)
		switch kind := fault.KindOf(err); {
		case err != nil && kind != fault.NotFound && kind != fault.Invalid:
			return total, err
		case err != nil:
			total.NotFound++
			total.Lines = append(total.Lines, line)
		}
		total.Found, total.Changed = total.Found+moved.Found, total.Changed+moved.Changed
		progress(n, total)
	}
}
