package container

import "errors"

// usualPasswords are those that samples, combo lists and stealer logs are passed around with.
var usualPasswords = []string{
	"infected", "malware", "virus", "password", "123456", "1234", "12345", "123", "123456789", "novirus", "leak", "leaks", "breach", "combo", "admin", "qwerty", "senha", "",
}

var (
	errEncrypted   = errors.New("encrypted: none of the passwords fits")
	errDerivations = errors.New("encrypted: trying more passwords would take too long")
)

// passwords are those to try, the likeliest first.
func (w *walker) passwords() []string {
	all := make([]string, 0, len(w.options.Passwords)+len(usualPasswords)+1)
	seen := map[string]bool{}
	add := func(p string) {
		if !seen[p] {
			seen[p] = true
			all = append(all, p)
		}
	}
	if w.fitted != "" {
		add(w.fitted)
	}
	for _, p := range w.options.Passwords {
		add(p)
	}
	for _, p := range usualPasswords {
		add(p)
	}
	return all
}

// derive accounts for the making of a key before it is made: a file says itself how long that takes.
func (w *walker) derive(rounds int64) error {
	if rounds < 0 || rounds > w.limits.Derivations-w.derived {
		return errDerivations
	}
	w.derived += rounds
	return w.ctx.Err()
}
