package container

import "errors"

// usualPasswords are those that samples, combo lists and stealer logs are passed around with.
var usualPasswords = []string{
	"infected", "malware", "virus", "password", "123456", "1234", "12345", "123", "123456789", "novirus", "leak", "leaks", "breach", "combo", "admin", "qwerty", "senha", "",
}

var errEncrypted = errors.New("encrypted: none of the passwords fits")

// passwords returns the passwords to try, the likeliest first.
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
