package operator

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // RFC 6238 as authenticator apps implement it
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Bounds of a password: long is what counts, so there are no rules of composition.
const (
	MinPassword = 12
	MaxPassword = 128
)

// argonCost is the cost of a hash: 19 MiB, two passes and one lane is what OWASP recommends as the least. Nothing but
// the tests of this package, which hash hundreds, ever changes it.
var argonCost = struct{ memory, passes uint32 }{memory: 19 << 10, passes: 2} // KiB

// The parameters of Argon2id that OWASP recommends for 19 MiB.
const (
	argonThreads = 1
	argonKey     = 32
	argonSalt    = 16
	// hashesAtOnce bounds memory and processor time: without it a flood of log-ins would be an outage.
	hashesAtOnce = 2
	// hashesWaiting is how many more may queue; the rest are refused and may retry.
	hashesWaiting = 16
)

// hasher runs Argon2id for few at once.
type hasher struct {
	running chan struct{}
	waiting chan struct{}
	// key is Argon2id; tests count its calls.
	key func(password, salt []byte) []byte
}

// newHasher returns a hasher that bounds the hashes at work and in the queue, since each one takes much memory.
func newHasher() *hasher {
	return &hasher{
		running: make(chan struct{}, hashesAtOnce), waiting: make(chan struct{}, hashesAtOnce+hashesWaiting),
		key: func(password, salt []byte) []byte {
			return argon2.IDKey(password, salt, argonCost.passes, argonCost.memory, argonThreads, argonKey)
		},
	}
}

// deriveKey returns the Argon2 hash of a password.
func (h *hasher) deriveKey(ctx context.Context, password string, salt []byte) ([]byte, error) {
	select {
	case h.waiting <- struct{}{}:
		defer func() { <-h.waiting }()
	default:
		return nil, ErrBusy
	}
	select {
	case h.running <- struct{}{}:
		defer func() { <-h.running }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return h.key([]byte(password), salt), nil
}

// encodedPrefix names the parameters in each stored hash, so that they can be raised later.
const encodedPrefix = "$argon2id$v=19$m=19456,t=2,p=1$"

// hashPassword hashes a password with a fresh salt, in the usual text form.
func (h *hasher) hashPassword(ctx context.Context, password string) (string, error) {
	salt := randomBytes(argonSalt)
	key, err := h.deriveKey(ctx, password, salt)
	if err != nil {
		return "", err
	}
	encode := base64.RawStdEncoding.EncodeToString
	return encodedPrefix + encode(salt) + "$" + encode(key), nil
}

// matchesHash compares a password with an encoded hash. An empty or foreign hash costs the same and never matches, so
// that an unknown operator cannot be distinguished from a wrong password by timing.
func (h *hasher) matchesHash(ctx context.Context, password, encoded string) (bool, error) {
	salt, want := make([]byte, argonSalt), make([]byte, argonKey)
	known := false
	if rest, ok := strings.CutPrefix(encoded, encodedPrefix); ok {
		s, k, _ := strings.Cut(rest, "$")
		salt2, err1 := base64.RawStdEncoding.DecodeString(s)
		want2, err2 := base64.RawStdEncoding.DecodeString(k)
		if err1 == nil && err2 == nil && len(want2) == argonKey {
			salt, want, known = salt2, want2, true
		}
	}
	key, err := h.deriveKey(ctx, password, salt)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(key, want) == 1 && known, nil
}

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
	if left := withoutContext(
		password,
		email,
	); utf8.RuneCountInString(left) < MinPassword*2/3 ||
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

// Recovery codes stand in for an authenticator app that was lost. Each has 120 random bits, so a fast digest is enough,
// and works once.
const (
	recoveryCodes = 10
	recoveryBytes = 15
)

// recoveryText spells recovery codes in letters and digits that are not mistaken for each other.
var recoveryText = base32.StdEncoding.WithPadding(base32.NoPadding)

// RecoveryCodes gives an operator new recovery codes in the place of those before, and returns them to be shown once.
func (r *Registry) RecoveryCodes(ctx context.Context, id ID) ([]string, error) {
	codes, digests := make([]string, recoveryCodes), make([][]byte, recoveryCodes)
	for i := range codes {
		text := recoveryText.EncodeToString(randomBytes(recoveryBytes))
		codes[i], digests[i] = text[:6]+"-"+text[6:12]+"-"+text[12:18]+"-"+text[18:], r.store.TokenDigest(text)
	}
	_, err := r.store.UpdateOperator(ctx, id, KeepSessions, func(o *Operator, _ []Operator) error {
		if !o.TOTPOn {
			return ErrInvalid.With("recovery", fault.NoSecondFactor)
		}
		o.Recovery = digests
		return nil
	})
	return codes, err
}

// secondFactor reports whether a code is right, and uses it up: that of the app, or one of the recovery codes.
func (r *Registry) secondFactor(o *Operator, code string, now time.Time, recovered *bool) bool {
	if !o.TOTPOn {
		return true
	}
	if step, ok := findStep(o.TOTP, code, now, o.TOTPStep); ok {
		o.TOTPStep = step
		return true
	}
	given := r.store.TokenDigest(strings.ToUpper(strings.ReplaceAll(code, "-", "")))
	for i, digest := range o.Recovery {
		if subtle.ConstantTimeCompare(digest, given) == 1 {
			o.Recovery, *recovered = slices.Delete(slices.Clone(o.Recovery), i, i+1), true
			return true
		}
	}
	return false
}

// The second factor is TOTP (RFC 6238) with what every authenticator app assumes: HMAC-SHA-1, 30 seconds, six digits.
const (
	totpPeriod = 30
	totpDigits = 6
	totpSecret = 20
)

// codeOfStep returns the code of one time step.
func codeOfStep(secret []byte, step int64) string {
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(step))
	mac := hmac.New(sha1.New, secret)
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0x0f
	value := binary.BigEndian.Uint32(sum[offset:]) & 0x7fffffff
	return fmt.Sprintf("%0*d", totpDigits, value%1_000_000)
}

// findStep returns the step whose code was given: the present one, or a neighbour for clocks that differ a little.
// Steps up to and including last were used already.
func findStep(secret []byte, code string, now time.Time, last int64) (int64, bool) {
	current := now.Unix() / totpPeriod
	found, ok := int64(0), false
	for step := current - 1; step <= current+1; step++ {
		if subtle.ConstantTimeCompare([]byte(codeOfStep(secret, step)), []byte(code)) == 1 && step > last {
			found, ok = step, true
		}
	}
	return found, ok
}

// AuthenticatorCode returns the code that an authenticator app shows at a moment.
func AuthenticatorCode(secret []byte, t time.Time) string {
	return codeOfStep(secret, t.Unix()/totpPeriod)
}

// TOTPSecretText returns the secret as a person types it into an app.
func (o Operator) TOTPSecretText() string {
	return recoveryText.EncodeToString(o.TOTP)
}

// TOTPAddress returns the text of the QR code.
func (o Operator) TOTPAddress() string {
	q := url.Values{"secret": {o.TOTPSecretText()}, "issuer": {"Vigia"}}
	return (&url.URL{Scheme: "otpauth", Host: "totp", Path: "/Vigia:" + o.Email, RawQuery: q.Encode()}).String()
}
