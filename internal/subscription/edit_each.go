package subscription

import (
	"context"
	"strings"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// MaxMoves is the most that one request moves or edits.
const MaxMoves = 1000

// EditOf is an edit of one person's subscription.
type EditOf struct {
	CPF string `json:"cpf"`
	Edit
}

// EditEach changes the subscriptions of some people to one plan, each by an edit of its own, and tells what is wrong
// with those that were refused; one of them stops nothing.
func (r *Registry) EditEach(
	ctx context.Context, id partner.ID, p plan.ID, items []EditOf,
) (changed int, failed []Failure, err error) {
	for i, item := range items {
		problems, err := r.editPerson(ctx, id, p, item)
		switch {
		case err != nil:
			return changed, failed, err
		case len(problems) > 0:
			failed = append(failed, Failure{Item: i, Plan: string(p), Problems: problems})
		default:
			changed++
		}
	}
	return changed, failed, nil
}

// editPerson changes the subscription of one person.
func (r *Registry) editPerson(ctx context.Context, id partner.ID, p plan.ID, item EditOf) ([]Problem, error) {
	cpf, err := identifier.ParseCPFDigits(strings.TrimSpace(item.CPF), identifier.Waived)
	if err != nil {
		return []Problem{{FieldCPF, Rule(fault.CodeOf(err))}}, nil
	}
	if item.IsEmpty() {
		return []Problem{{FieldItem, RuleNothing}}, nil
	}
	_, problems, err := r.editSelected(ctx, id, Selection{Plan: p, CPF: cpf}, item.Edit)
	switch {
	case len(problems) > 0:
		return problems, nil
	case fault.KindOf(err) == fault.NotFound:
		return []Problem{{FieldCPF, RuleUnknown}}, nil
	}
	return nil, err
}

// MoveEach moves the subscriptions of some people to one plan, one by one, and tells what became of each; one that is
// not there stops nothing. Moved counts those that are where the move leads, changed or not.
func (r *Registry) MoveEach(
	ctx context.Context, id partner.ID, p plan.ID, cpfs []string, move Move,
) (moved int, failed []Failure, err error) {
	for i, cpf := range cpfs {
		cpf = strings.TrimSpace(cpf)
		problem := Problem{}
		if _, err := identifier.ParseCPFDigits(cpf, identifier.Waived); err != nil {
			problem = Problem{FieldCPF, Rule(fault.CodeOf(err))}
		} else {
			_, err := r.MoveSubscriptions(ctx, id, Selection{Plan: p, CPF: cpf}, move)
			switch {
			case fault.KindOf(err) == fault.NotFound:
				problem = Problem{FieldCPF, RuleUnknown}
			case err != nil:
				return moved, failed, err
			}
		}
		if problem == (Problem{}) {
			moved++
			continue
		}
		failed = append(
			failed,
			Failure{Item: i, CPF: truncateText(NewTextField(cpf)), Plan: string(p), Problems: []Problem{problem}},
		)
	}
	return moved, failed, nil
}
