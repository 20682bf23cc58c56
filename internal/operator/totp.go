package operator

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // RFC 6238 as authenticator apps implement it
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The second factor is TOTP (RFC 6238) with what every authenticator app assumes: HMAC-SHA-1, 30 seconds, six digits.
const (
	totpPeriod = 30
	totpDigits = 6
	totpSecret = 20
)

// BeginTOTP gives an operator the secret of a second factor, or returns the one that waits to be confirmed.
func (r *Registry) BeginTOTP(ctx context.Context, id ID) (Operator, error) {
	return r.editOperator(ctx, id, KeepSessions, func(o *Operator) {
		if !o.TOTPOn && len(o.TOTP) == 0 {
			o.TOTP = randomBytes(totpSecret)
		}
	})
}

// ConfirmTOTP turns the second factor on when the code shows that the app has the secret.
func (r *Registry) ConfirmTOTP(ctx context.Context, id ID, code string) (Operator, error) {
	return r.store.UpdateOperator(ctx, id, KeepSessions, func(o *Operator, _ []Operator) error {
		if o.TOTPOn {
			return nil
		}
		step, ok := findStep(o.TOTP, code, r.now(), o.TOTPStep)
		if !ok || len(o.TOTP) == 0 {
			return ErrCode
		}
		o.TOTPOn, o.TOTPStep = true, step
		return nil
	})
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
