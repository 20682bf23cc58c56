package console

import "github.com/vigiahq/vigia/internal/operator"

// linkPage is the data of the page behind a one-time link.
type linkPage struct {
	Token, Email string
	Min          int
}

// showInvitation shows the page behind an invitation's link.
func showInvitation(c *Console, r *request) (answer, error) {
	token := r.PathValue("token")
	invited, err := c.Rules.Operators.FindInvited(r.Context(), token)
	return newView("link", "Escolha a sua senha", linkPage{token, invited.Email, operator.MinPassword}, err)
}

// acceptInvitation sets the password of an invited operator.
func acceptInvitation(c *Console, r *request) (answer, error) {
	if err := c.takeTry(r); err != nil {
		return nil, err
	}
	password := r.PostFormValue("password")
	if password != r.PostFormValue("again") {
		return nil, errMismatch
	}
	o, token, err := c.Rules.Operators.AcceptInvitation(r.Context(), r.PathValue("token"), password, r.from)
	if err != nil {
		return nil, err
	}
	r.who = o
	if err := c.recordAction(r, "link.used", string(o.ID), ""); err != nil {
		return nil, err
	}
	r.cookie = sessionCookie(token)
	return redirect{to: "/second-factor"}, nil
}
