package main

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
)

// demoAdmin is the operator whose one-time link the demo prints.
const demoAdmin = "admin@exemplo.com.br"

// makeLogin makes the first administrator with a password that is printed at each start, and says how to get in: people
// may have chosen another password, or switched the second factor on.
func (w *world) makeLogin(ctx context.Context) (string, error) {
	o, err := w.app.Operators.FindByEmail(ctx, demoAdmin)
	switch {
	case errors.Is(err, operator.ErrNotFound):
		_, token, err := w.app.Operators.CreateOperator(ctx, demoAdmin, operator.Admin)
		if err != nil {
			return "", err
		}
		if o, err = w.choosePassword(ctx, token); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	}
	text := "log in as " + demoAdmin + ", password " + w.secrets.ConsolePassword
	if o.Password != w.secrets.ConsoleHash {
		return "log in as " + demoAdmin + " with the password that you chose (forgotten: vigia operator reset --data " +
			w.app.Config.Data + " " + demoAdmin + ")", nil
	}
	if o.TOTPOn {
		text += ", and the code of your app"
	}
	return text, nil
}

// choosePassword uses a one-time link up.
func (w *world) choosePassword(ctx context.Context, token string) (operator.Operator, error) {
	w.secrets.ConsolePassword = strings.ToLower(rand.Text())
	o, _, err := w.app.Operators.AcceptInvitation(ctx, token, w.secrets.ConsolePassword, "demo")
	if err != nil {
		return o, err
	}
	if _, err := w.app.Operators.DeleteSessions(ctx, o.ID); err != nil {
		return o, err
	}
	w.secrets.ConsoleHash = o.Password
	return o, w.secrets.writeSecrets(w.app.Config.Data)
}
