package console

import (
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// newInvite shows the form that invites one of a partner's people, with the roles that who asks may give.
func newInvite(c *Console, r *request) (answer, error) {
	p, err := c.partnerInPath(r)
	return newView("invite", "Convidar uma pessoa", inviteForm{p, r.givableRoles()}, err)
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
		p, err := in.Partners.PartnerByID(ctx, partnerOf(r))
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
