package webhook

import (
	"crypto/hmac"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ErrSignature means that a call was not signed by the expected sender, or not recently. It never says which of the
// two: an attacker who guesses learns nothing.
var ErrSignature = fault.New(fault.Unauthenticated, "webhook.signature")

// Tolerance is how far the time of a signed call may be from ours, either way. Within it an eavesdropper can replay the
// call, so a handler must tolerate repetition.
const Tolerance = 5 * time.Minute

// maxSignatures bounds the work on one call: a sender signs once, or twice while a secret is changed.
const maxSignatures = 8

// VerifyRequest returns ErrSignature unless a call that came in was signed in the form of Sign by the holder of one of
// the secrets. Every header must be there once; signatures are compared in constant time.
func VerifyRequest(header http.Header, body []byte, now time.Time, secrets []Secret) error {
	id, timestamp, signature := header.Values(HeaderID), header.Values(HeaderTimestamp), header.Values(HeaderSignature)
	if len(id) != 1 || len(timestamp) != 1 || len(signature) != 1 || !validEventID(id[0]) {
		return ErrSignature
	}
	seconds, err := strconv.ParseInt(timestamp[0], 10, 64)
	if err != nil || strconv.FormatInt(seconds, 10) != timestamp[0] {
		return ErrSignature
	}
	if off := now.Sub(time.Unix(seconds, 0)); off > Tolerance || off < -Tolerance {
		return ErrSignature
	}
	given := strings.Split(signature[0], " ")
	if len(given) > maxSignatures {
		return ErrSignature
	}
	content := append([]byte(id[0]+"."+timestamp[0]+"."), body...)
	right := false
	for _, secret := range secrets {
		if !isUsableKey(secret) {
			continue
		}
		want := []byte(secret.Scheme() + "," + base64.StdEncoding.EncodeToString(secret.signContent(content)))
		for _, one := range given {
			right = hmac.Equal(want, []byte(one)) || right
		}
	}
	if !right {
		return ErrSignature
	}
	return nil
}
