package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/operator"
)

// ceremony is what an authenticator is asked, and the token under which its answer is expected.
type ceremony struct {
	Options any    `json:"options"`
	Token   string `json:"token"`
}

// beginPasskeyLogin starts a log-in by passkey. It is limited like other tries to log in.
func beginPasskeyLogin(c *Console, r *request) (answer, error) {
	c.takeTry(r)
	options, token := callRulePair(r, c.Rules.Operators.BeginPasskeyLogin, c.publicOrigin(r.Request))
	return document{ceremony{options, token}}, nil
}

// passkeyLogin finishes a log-in by passkey and records it in the audit trail in the same transaction.
func passkeyLogin(c *Console, r *request) (answer, error) {
	if c.takeTry(r); r.failure != nil {
		return nil, r.failure
	}
	var o operator.Operator
	var token string
	err := c.InTx(r.Context(), func(in *Rules) (err error) {
		o, token, err = in.Operators.PasskeyLogin(
			r.Context(),
			c.publicOrigin(r.Request),
			r.PostFormValue("token"),
			[]byte(r.PostFormValue("response")),
			r.from,
		)
		if err != nil {
			return err
		}
		return in.Audit.RecordAction(
			r.Context(),
			operator.Actor{Name: string(o.ID), From: r.from},
			"login",
			string(o.ID),
			"passkey",
		)
	})
	if err != nil {
		return nil, err
	}
	return enterWith(r, o, token), nil
}

// beginPasskey starts the registration of a passkey for the operator.
func beginPasskey(c *Console, r *request) (answer, error) {
	options, token, err := c.Rules.Operators.BeginPasskey(r.Context(), r.who.ID, c.publicOrigin(r.Request))
	return document{ceremony{options, token}}, err
}

// addPasskey finishes the registration of a passkey under the name that the operator gave it.
func addPasskey(c *Console, r *request) (answer, error) {
	return c.changeAndRedirect(r, "account.passkey_added", redirect{"/account", "account.passkey"}, func(ctx context.Context, in *Rules) (string, string, error) {
		return string(r.who.ID), r.trimmedField("name"), in.Operators.AddPasskey(ctx, r.who.ID, c.publicOrigin(r.Request), r.PostFormValue("token"), r.trimmedField("name"),
			[]byte(r.PostFormValue("response")))
	})
}

// removePasskey removes one of the operator's own passkeys.
func removePasskey(c *Console, r *request) (answer, error) {
	return c.changeAndRedirect(
		r,
		"account.passkey_removed",
		redirect{"/account", "account.passkey_removed"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			return string(r.who.ID), "", in.Operators.RemovePasskey(ctx, r.who.ID, r.PathValue("passkey"))
		},
	)
}
