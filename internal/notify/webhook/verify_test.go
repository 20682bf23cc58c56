package webhook

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestVerify: what Sign signed is taken within five minutes, and nothing else: not another body, time, id or secret,
// nor a header twice.
func TestVerify(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	body := []byte(`{"eppKey":"K7M2Q","report":"activated"}`)
	secret, err := NewSecret(strings.NewReader(strings.Repeat("s", newSecret)))
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewSecret(strings.NewReader(strings.Repeat("o", newSecret)))
	if err != nil {
		t.Fatal(err)
	}
	signed := func(at time.Time, keys ...Key) http.Header {
		h := http.Header{}
		if err := SignHeaders(h, "call_1", at, body, keys); err != nil {
			t.Fatal(err)
		}
		return h
	}
	for name, h := range map[string]http.Header{
		"now": signed(now, secret), "a little late": signed(now.Add(-Tolerance), secret), "a little early": signed(now.Add(Tolerance), secret),
		"by two secrets": signed(now, other, secret),
	} {
		if err := VerifyRequest(h, body, now, []Secret{secret}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := VerifyRequest(signed(now, secret), body, now, []Secret{other, secret}); err != nil {
		t.Error("an older secret that still counts:", err)
	}
	with := func(name, value string) http.Header {
		h := signed(now, secret)
		h.Set(name, value)
		return h
	}
	twice := signed(now, secret)
	twice.Add(HeaderSignature, twice.Get(HeaderSignature))
	right := signed(now, secret).Get(HeaderSignature)
	for name, h := range map[string]http.Header{
		"no headers": {}, "another secret": signed(now, other), "too late": signed(now.Add(-Tolerance-time.Second), secret),
		"too early": signed(now.Add(Tolerance+time.Second), secret), "another id": with(HeaderID, "call_2"), "an id with a dot": with(HeaderID, "call.1"),
		"another time":           with(HeaderTimestamp, strconv.FormatInt(now.Unix()+1, 10)),
		"a time spelt otherwise": with(HeaderTimestamp, "+"+strconv.FormatInt(now.Unix(), 10)),
		"no time":                with(HeaderTimestamp, ""), "another scheme": with(HeaderSignature, strings.Replace(right, "v1,", "v1a,", 1)),
		"half a signature": with(HeaderSignature, right[:len(right)/2]), "no signature": with(HeaderSignature, ""), "a header twice": twice,
		"a list of guesses": with(HeaderSignature, strings.Repeat("v1,AAAA ", maxSignatures)+right),
	} {
		if err := VerifyRequest(h, body, now, []Secret{secret}); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := VerifyRequest(signed(now, secret), append(body, ' '), now, []Secret{secret}); !errors.Is(err, ErrSignature) {
		t.Error("another body:", err)
	}
	for name, secrets := range map[string][]Secret{"no secret": nil, "an empty secret": {{}}} {
		if err := VerifyRequest(signed(now, secret), body, now, secrets); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
