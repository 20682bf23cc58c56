package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Bounds of a password: long is what counts, so there are no rules of composition.
const (
	MinPassword = 12
	MaxPassword = 128
)

// contextWords are the words that an attacker who knows the product would try first.
var contextWords = []string{"vigia", "console", "operador", "operator", "admin", "administrador", "senha", "password"}

// withoutContext returns a password without those words and the parts of the operator's address.
func withoutContext(password, email string) string {
	password = strings.ToLower(password)
	name, domain, _ := strings.Cut(strings.ToLower(email), "@")
	for _, word := range append([]string{name, strings.Split(domain, ".")[0]}, contextWords...) {
		if len(word) > 2 {
			password = strings.ReplaceAll(password, word, "")
		}
	}
	return password
}

// minUnpredictable is how many characters of a password must not follow from those before.
const minUnpredictable = 5

// keyboardRows are neighbours on a keyboard.
var keyboardRows = []string{"1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"}

// countUnpredictable counts the characters of a password that do not follow from the two before: that are not the
// same, the next or the one before in the alphabet, or beside on the keyboard. Of a text that repeats a shorter one,
// it counts the shorter one's.
func countUnpredictable(password string) int {
	text := []rune(strings.ToLower(password))
	for period := 1; period <= len(text)/2; period++ {
		if slices.Equal(text[period:], text[:len(text)-period]) {
			text = text[:period]
			break
		}
	}
	count := 0
	for i, r := range text {
		if !slices.ContainsFunc(text[max(i-2, 0):i], func(before rune) bool { return areNeighbours(before, r) }) {
			count++
		}
	}
	return count
}

// areNeighbours reports whether two characters are the same or beside each other.
func areNeighbours(a, b rune) bool {
	if d := a - b; d >= -1 && d <= 1 {
		return true
	}
	for _, row := range keyboardRows {
		i, j := strings.IndexRune(row, a), strings.IndexRune(row, b)
		if i >= 0 && j >= 0 && (i-j == 1 || j-i == 1) {
			return true
		}
	}
	return false
}

// checkPassword holds a new password against the rules.
func (r *Registry) checkPassword(password, email string) error {
	if n := utf8.RuneCountInString(password); !utf8.ValidString(password) || n < MinPassword || n > MaxPassword {
		return ErrPassword.With("password", fault.LengthBetween, MinPassword, MaxPassword)
	}
	if name, _, _ := strings.Cut(email, "@"); strings.EqualFold(password, email) || strings.EqualFold(password, name) {
		return ErrPassword.With("password", fault.PasswordIsEmail)
	}
	left := withoutContext(password, email)
	if utf8.RuneCountInString(left) < MinPassword*2/3 ||
		trimToWords(left) == "" && left != password && utf8.RuneCountInString(left) < MinPassword {
		return ErrPassword.With("password", fault.PasswordGuessable)
	}
	// The first administrator chooses a password before any corpus of breached ones is there.
	if countUnpredictable(password) < minUnpredictable {
		return ErrPassword.With("password", fault.PasswordGuessable)
	}
	tried := []string{password}
	// A known password with digits before or behind it is guessed as soon as the known one, unless they are many.
	if core := trimToWords(password); core != "" &&
		utf8.RuneCountInString(password)-utf8.RuneCountInString(core) < MinPassword {
		tried = append(tried, core, strings.ToLower(core))
	}
	slices.Sort(tried)
	for _, text := range slices.Compact(tried) {
		exposed, err := r.exposed(text)
		if err != nil {
			return fmt.Errorf("look the password up in breaches: %w", err)
		}
		if exposed {
			return ErrPasswordExposed
		}
	}
	return nil
}

// encodeNewPassword returns the hash of a new password that follows the rules.
func (r *Registry) encodeNewPassword(ctx context.Context, password, email string) (string, error) {
	if err := r.checkPassword(password, email); err != nil {
		return "", err
	}
	return r.hasher.hashPassword(ctx, password)
}

// trimToWords returns a text without the digits and signs before and behind its letters.
func trimToWords(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}
