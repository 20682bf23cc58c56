package console

import "github.com/vigiahq/vigia/internal/operator"

// accountPage is the data of one's own page.
type accountPage struct {
	Sessions []operator.Session
	Current  string
	Min      int
	Passkeys []operator.Passkey
}

// showAccount shows the operator's own sessions and passkeys.
func showAccount(c *Console, r *request) (answer, error) {
	sessions, err := c.Rules.Operators.ListSessions(r.Context(), r.who.ID)
	if err != nil {
		return nil, err
	}
	passkeys, err := c.Rules.Operators.ListPasskeys(r.Context(), r.who.ID)
	return newView("account", "Minha conta", accountPage{
		Sessions: sessions,
		Current:  string(r.session.Digest),
		Min:      operator.MinPassword,
		Passkeys: passkeys,
	}, err)
}

// changePassword replaces the operator's password and ends their other sessions.
func changePassword(c *Console, r *request) (answer, error) {
	next := r.PostFormValue("password")
	if next != r.PostFormValue("again") {
		return nil, errMismatch
	}
	if err := c.recordAction(r, "account.password", string(r.who.ID), ""); err != nil {
		return nil, err
	}
	token, err := c.Rules.Operators.ChangePassword(r.Context(), r.session, r.PostFormValue("present"), next)
	if err != nil {
		return nil, err
	}
	r.cookie = sessionCookie(token)
	return redirect{"/account", "account.password"}, nil
}

// logoutEverywhere ends all sessions of the operator, this one included.
func logoutEverywhere(c *Console, r *request) (answer, error) {
	if err := c.recordAction(r, "logout.everywhere", string(r.who.ID), ""); err != nil {
		return nil, err
	}
	if _, err := c.Rules.Operators.DeleteSessions(r.Context(), r.who.ID); err != nil {
		return nil, err
	}
	r.cookie = endCookie()
	return redirect{"/login", "session.ended"}, nil
}
