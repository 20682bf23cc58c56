package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/operator"
)

// operatorPage is the data of an operator's page.
type operatorPage struct {
	operator.Operator
	Sessions []operator.Session
	Self     bool
	Locked   bool
	Roles    []operator.Role
}

// showOperator shows an operator with their sessions and the roles that the viewer may give them.
func showOperator(c *Console, r *request) (answer, error) {
	page, err := c.gatherOperator(r.Context(), r.viewer, operator.ID(r.PathValue("id")))
	return newView("operator", page.Email, page, err)
}

func (c *Console) gatherOperator(ctx context.Context, v viewer, id operator.ID) (operatorPage, error) {
	o, err := c.Rules.Operators.OperatorByID(ctx, id)
	if err != nil {
		return operatorPage{}, err
	}
	sessions, err := c.Rules.Operators.ListSessions(ctx, id)
	if err != nil {
		return operatorPage{}, err
	}
	roles := operator.ListRoles()
	if o.Partner != "" {
		roles = v.givableRoles()
	}
	return operatorPage{
		Operator: o,
		Sessions: sessions,
		Self:     id == v.who.ID,
		Locked:   c.Now().Before(o.LockedUntil),
		Roles:    roles,
	}, nil
}

// changeRole changes what an operator may do.
var changeRole = changeOperator("operator.role", "operator.role",
	func(r *request, in *Rules, id operator.ID) (string, error) {
		who, err := in.Operators.OperatorByID(r.Context(), id)
		if err != nil {
			return "", err
		}
		role, err := who.ParseRole(r.trimmedField("role"))
		if err != nil {
			return "", err
		}
		_, err = in.Operators.ChangeRole(r.Context(), id, role)
		return string(role), err
	})

// disableOperator disables an operator and ends their sessions. The account stays for the audit trail.
var disableOperator = changeOperator(
	"operator.disable", "operator.disabled", byOperatorID((*operator.Registry).DisableOperator),
)

// enableOperator lets a disabled operator log in again.
var enableOperator = changeOperator(
	"operator.enable", "operator.enabled", byOperatorID((*operator.Registry).EnableOperator),
)

// endSessions logs another operator out everywhere.
var endSessions = changeOperator(
	"operator.logout", "operator.logged_out", byOperatorID((*operator.Registry).DeleteSessions),
)

// operatorChange changes an operator and returns the detail of its line in the trail.
type operatorChange func(r *request, in *Rules, id operator.ID) (string, error)

// changeOperator makes the handler of a change of another operator's access, which refuses a change of one's own.
func changeOperator(action, done string, change operatorChange) handler {
	return changeHandler(action, "id", "/operators/{id}", done,
		func(r *request, in *Rules, id operator.ID) (string, error) {
			if id == r.who.ID {
				return "", errSelf
			}
			return change(r, in, id)
		})
}

// byOperatorID returns a change that needs nothing but the id.
func byOperatorID[T any](change func(*operator.Registry, context.Context, operator.ID) (T, error)) operatorChange {
	return func(r *request, in *Rules, id operator.ID) (string, error) {
		_, err := change(in.Operators, r.Context(), id)
		return "", err
	}
}

// resetOperator removes an operator's password and second factor and shows a one-time link to set new ones.
func resetOperator(c *Console, r *request) (answer, error) {
	var o operator.Operator
	var token string
	reset := changeOperator("operator.reset", "", func(r *request, in *Rules, id operator.ID) (_ string, err error) {
		o, token, err = in.Operators.ResetAccess(r.Context(), id)
		return "", err
	})
	if _, err := reset(c, r); err != nil {
		return nil, err
	}
	return c.oneTimeLink(r, o, "Acesso redefinido", token)
}
