package operator

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // RFC 6238 as authenticator apps implement it
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"time"
)

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
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(o.TOTP)
}

// TOTPAddress returns the text of the QR code.
func (o Operator) TOTPAddress() string {
	q := url.Values{"secret": {o.TOTPSecretText()}, "issuer": {"Vigia"}}
	return (&url.URL{Scheme: "otpauth", Host: "totp", Path: "/Vigia:" + o.Email, RawQuery: q.Encode()}).String()
}
