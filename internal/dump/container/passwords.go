package container

import (
	"errors"
	"slices"
)

// usualPasswords are those that samples, combo lists and stealer logs are passed around with.
var usualPasswords = []string{
	"infected",
	"malware",
	"virus",
	"password",
	"123456",
	"1234",
	"12345",
	"123",
	"123456789",
	"novirus",
	"leak",
	"leaks",
	"breach",
	"combo",
	"admin",
	"qwerty",
	"senha",
	"",
}

// errEncrypted is the verdict on a member that none of the given passwords opens.
var errEncrypted = errors.New("encrypted: none of the passwords fits")

// passwords returns the passwords to try, the likeliest first, each once.
func (w *walker) passwords() (all []string) {
	for _, p := range slices.Concat([]string{w.fitted}, w.options.Passwords, usualPasswords) {
		if !slices.Contains(all, p) && (p != "" || len(all) > 0) {
			all = append(all, p)
		}
	}
	return all
}

// findPassword returns the first password that fits, and remembers it for what comes after.
func (w *walker) findPassword(fits func(password string) bool) (string, error) {
	for _, password := range w.passwords() {
		if err := w.ctx.Err(); err != nil {
			return "", err
		}
		if fits(password) {
			w.fitted = password
			return password, nil
		}
	}
	return "", errEncrypted
}
