package console

import (
	"context"

	"vigia/internal/password"
)

// Passwords are the corpora of breached passwords.
type Passwords interface {
	Status() ([]password.Corpus, error)
	Verify(ctx context.Context) error
}

type passwordsPage struct {
	Corpora []password.Corpus
	// Checked says that every byte was read, Damage what was wrong.
	Checked bool
	Damage  string
}

func showPasswords(c *Console, _ *request) (answer, error) {
	corpora, err := c.Rules.Passwords.Status()
	if err != nil {
		return nil, err
	}
	return view{"passwords", "Senhas vazadas", passwordsPage{Corpora: corpora}}, nil
}

func verifyPasswords(c *Console, r *request) (answer, error) {
	if err := c.note(r, "passwords.verify", "", ""); err != nil {
		return nil, err
	}
	corpora, err := c.Rules.Passwords.Status()
	if err != nil {
		return nil, err
	}
	page := passwordsPage{Corpora: corpora, Checked: true}
	if err := c.Rules.Passwords.Verify(r.Context()); err != nil {
		page.Damage = err.Error()
	}
	return view{"passwords", "Senhas vazadas", page}, nil
}
