package console

import (
	"context"
	"net/url"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// listCaseOwners returns the e-mail addresses of the operators who may work on a case.
func (c *Console) listCaseOwners(ctx context.Context) ([]string, error) {
	operators, err := c.Rules.Operators.ListOperators(ctx)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, o := range operators {
		if o.Role.Covers(operator.Support) && !o.Disabled {
			list = append(list, o.Email)
		}
	}
	return list, nil
}

// assignMarkedCases gives the cases that were marked on the desk to one operator: all of them, or none.
func assignMarkedCases(c *Console, r *request) (answer, error) {
	rows := r.PostForm["row"]
	if len(rows) == 0 || len(rows) > perPage {
		return nil, errNothing.With("row", fault.LinesChosen, perPage)
	}
	ids := make([]cyber.CaseID, len(rows))
	for i, row := range rows {
		ids[i] = cyber.CaseID(row)
	}
	if err := c.assignTo(r, ids...); err != nil {
		return nil, err
	}
	back, _ := url.ParseQuery(r.trimmedField("back")) // what is no query is left out
	return redirect{"/cases?" + back.Encode(), "case.assigned"}, nil
}

// assignTo assigns cases to the operator in the form, with a line in the audit trail for each case. It is one
// transaction, so that a case that cannot be assigned leaves the others as they were and the refusal is true of all of
// them.
func (c *Console) assignTo(r *request, ids ...cyber.CaseID) error {
	to := r.trimmedField("assignee")
	if r.PostForm.Has("me") {
		to = r.who.Email
	} else {
		owners, err := c.listCaseOwners(r.Context())
		if err != nil {
			return err
		}
		if to != "" && !slices.Contains(owners, to) {
			return cyber.ErrCaseInvalid.With("assignee", fault.CaseOperator)
		}
	}
	ctx := r.Context()
	return c.InTx(ctx, func(in *Rules) error {
		for _, id := range ids {
			if _, err := in.Cases.AssignCase(ctx, id, to); err != nil {
				return err
			}
			if err := in.Audit.RecordAction(ctx, r.auditActor(), "case.assign", string(id), to); err != nil {
				return err
			}
		}
		return nil
	})
}
