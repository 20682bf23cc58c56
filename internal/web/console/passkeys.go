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
	if err := c.takeTry(r); err != nil {
		return nil, err
	}
	options, token, err := c.Rules.Operators.BeginPasskeyLogin(r.Context(), c.publicOrigin(r.Request))
	if err != nil {
		return nil, err
	}
	return document{ceremony{options, token}}, nil
}

// passkeyLogin finishes a log-in by passkey and records it in the audit trail in the same transaction.
func passkeyLogin(c *Console, r *request) (answer, error) {
	if err := c.takeTry(r); err != nil {
		return nil, err
	}
	ctx, origin, response := r.Context(), c.publicOrigin(r.Request), []byte(r.PostFormValue("response"))
	var o operator.Operator
	var token string
	err := c.InTx(ctx, func(in *Rules) (err error) {
		o, token, err = in.Operators.PasskeyLogin(ctx, origin, r.PostFormValue("token"), response, r.from)
		if err != nil {
			return err
		}
		who := operator.Actor{Name: string(o.ID), From: r.from}
		return in.Audit.RecordAction(ctx, who, "login", string(o.ID), "passkey")
	})
	if err != nil {
		return nil, err
	}
	return enterWith(r, o, token), nil
}

// beginPasskey starts the registration of a passkey for the operator.
func beginPasskey(c *Console, r *request) (answer, error) {
	options, token, err := c.Rules.Operators.BeginPasskey(r.Context(), r.who.ID, c.publicOrigin(r.Request))
	if err != nil {
		return nil, err
	}
	return document{ceremony{options, token}}, nil
}

// addPasskey finishes the registration of a passkey under the name that the operator gave it.
func addPasskey(c *Console, r *request) (answer, error) {
	origin, name := c.publicOrigin(r.Request), r.trimmedField("name")
	token, response := r.PostFormValue("token"), []byte(r.PostFormValue("response"))
	next := redirect{"/account", "account.passkey"}
	add := func(ctx context.Context, in *Rules) (string, string, error) {
		return string(r.who.ID), name, in.Operators.AddPasskey(ctx, r.who.ID, origin, token, name, response)
	}
	return c.changeAndRedirect(r, "account.passkey_added", next, add)
}

// removePasskey removes one of the operator's own passkeys.
func removePasskey(c *Console, r *request) (answer, error) {
	next := redirect{"/account", "account.passkey_removed"}
	remove := func(ctx context.Context, in *Rules) (string, string, error) {
		return string(r.who.ID), "", in.Operators.RemovePasskey(ctx, r.who.ID, r.PathValue("passkey"))
	}
	return c.changeAndRedirect(r, "account.passkey_removed", next, remove)
}
