package console

import (
	"context"
	"net/url"
	"slices"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// errSelf keeps people from shutting themselves out.
var errSelf = fault.New(fault.Conflict, "operator.self")

// listOperators shows the operators; for a partner's people, those of their partner only.
func listOperators(c *Console, r *request) (answer, error) {
	rows, err := c.Rules.Operators.ListOperators(r.Context())
	if err != nil {
		return nil, err
	}
	names, err := c.partnerNames(r.Context(), r.viewer)
	if err != nil {
		return nil, err
	}
	home := r.scope.home.ID
	return view{"operators", "Operadores", operatorsPage{rows, names, home, r.scope.at.ID == home}}, nil
}

// operatorsPage is the data of the list of operators.
type operatorsPage struct {
	Rows  []operator.Operator
	Names map[partner.ID]string
	// Invites is the partner whose people the page is about; empty for all of the service.
	Invites partner.ID
	// Home is false in the sandbox, which has no people of its own.
	Home bool
}

// newOperator shows an empty form for an operator of the service.
func newOperator(*Console, *request) (answer, error) {
	return view{"operator-new", "Novo operador", nil}, nil
}

// oneTimeLink returns the page that shows a link which works once.
func (c *Console) oneTimeLink(r *request, o operator.Operator, heading, token string) (answer, error) {
	help := "Quem o abrir escolhe a senha desta conta."
	if c.publicOrigin(r.Request) == "" {
		help += " Ponha antes dele o endereço deste console, que não foi informado em --public-url."
	}
	return showSecretsNext(r, secretPage{
		Heading:   heading,
		Text:      "Envie o link a " + o.Email + " por um canal seguro. Ele vale por 24 horas e funciona uma vez.",
		Secrets:   []shownSecret{{"Link de uso único", c.publicOrigin(r.Request) + "/link/" + token, help}},
		Back:      "/operators/" + url.PathEscape(string(o.ID)),
		BackLabel: "Copiei o link, continuar",
	})
}

// createOperator creates an operator and shows the one-time link with which they choose a password.
func createOperator(c *Console, r *request) (answer, error) {
	role, err := operator.ParseRole(r.trimmedField("role"))
	if err != nil {
		return nil, err
	}
	var made operator.Operator
	var token string
	err = c.changeWithAudit(r, "operator.create", func(ctx context.Context, in *Rules) (string, string, error) {
		var err error
		made, token, err = in.Operators.CreateOperator(ctx, r.trimmedField("email"), role)
		return string(made.ID), string(role), err
	})
	if err != nil {
		return nil, err
	}
	return c.oneTimeLink(r, made, "Operador criado", token)
}

// newInvite shows the form that invites one of a partner's people, with the roles that who asks may give.
func newInvite(c *Console, r *request) (answer, error) {
	p, err := c.Rules.Partners.GetPartner(r.Context(), partner.ID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	return view{"invite", "Convidar uma pessoa", inviteForm{p, r.givableRoles()}}, nil
}

func (v viewer) givableRoles() []operator.Role {
	return slices.DeleteFunc(operator.PartnerRoles(), func(role operator.Role) bool {
		return v.who.Partner != "" && !v.who.Role.MayGive(role)
	})
}

// inviteForm is the data of the page that invites a partner's person.
type inviteForm struct {
	partner.Partner
	// Roles are those that can be given.
	Roles []operator.Role
}

// Gives reports whether a role, by its name in forms, can be given.
func (f inviteForm) Gives(name string) bool {
	return slices.ContainsFunc(f.Roles, func(role operator.Role) bool { return role.Name() == name })
}

// inviteOperator makes an account for a partner's person.
func inviteOperator(c *Console, r *request) (answer, error) {
	role, err := operator.ParsePartnerRole(r.trimmedField("role"))
	if err != nil {
		return nil, err
	}
	var made operator.Operator
	var token string
	err = c.changeWithAudit(r, "operator.invite", func(ctx context.Context, in *Rules) (string, string, error) {
		p, err := in.Partners.GetPartner(ctx, partner.ID(r.PathValue("id")))
		if err != nil {
			return "", "", err
		}
		made, token, err = in.Operators.InvitePartnerOperator(ctx, p.ID, r.trimmedField("email"), role)
		return string(made.ID), string(p.ID) + " " + string(role), err
	})
	if err != nil {
		return nil, err
	}
	return c.oneTimeLink(r, made, "Convite pronto", token)
}

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
	if err != nil {
		return nil, err
	}
	return view{"operator", page.Email, page}, nil
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
	"operator.disable",
	"operator.disabled",
	byOperatorID((*operator.Registry).DisableOperator),
)

// enableOperator lets a disabled operator log in again.
var enableOperator = changeOperator(
	"operator.enable",
	"operator.enabled",
	byOperatorID((*operator.Registry).EnableOperator),
)

// endSessions logs another operator out everywhere.
var endSessions = changeOperator(
	"operator.logout",
	"operator.logged_out",
	byOperatorID((*operator.Registry).DeleteSessions),
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
