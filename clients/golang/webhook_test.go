package golang_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/vigiahq/vigia/client"
)

type vector struct {
	Name       string   `json:"name"`
	VerifyWith []string `json:"verifyWith"`
	ID         string   `json:"webhook-id"`
	Timestamp  string   `json:"webhook-timestamp"`
	Body       string   `json:"body"`
	Signature  string   `json:"webhook-signature"`
}

func (v vector) header() http.Header {
	h := http.Header{}
	h.Set("webhook-id", v.ID)
	h.Set("webhook-timestamp", v.Timestamp)
	h.Set("webhook-signature", v.Signature)
	return h
}

// ours tells whether the client takes the message for signed. A body that is no event of ours may be.
func (v vector) ours() bool {
	seconds, _ := strconv.ParseInt(v.Timestamp, 10, 64)
	_, err := client.VerifyWebhook(v.VerifyWith, v.header(), []byte(v.Body), time.Unix(seconds, 0))
	return err == nil || errors.Is(err, client.ErrBody)
}

// theirs asks the standard's own library; it knows secrets only, and no clock but the system's, so the time is left
// out.
func (v vector) theirs(t *testing.T) (accepted, asked bool) {
	t.Helper()
	for _, key := range v.VerifyWith {
		if !strings.HasPrefix(key, "whsec_") {
			continue
		}
		lib, err := standardwebhooks.NewWebhook(key)
		if err != nil {
			t.Fatal(err)
		}
		asked = true
		accepted = accepted || lib.VerifyIgnoringTimestamp([]byte(v.Body), v.header()) == nil
	}
	return accepted, asked
}

// TestAgreesWithTheStandard: the client and the standard's library accept and refuse the same messages, among them
// 2,000 in which one bit of the body, the id or the signature was changed.
func TestAgreesWithTheStandard(t *testing.T) {
	raw, err := os.ReadFile("../../client/testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Valid, Invalid []vector }
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	messages := append(f.Valid, f.Invalid...)
	for range 2000 {
		m := f.Valid[random.IntN(len(f.Valid))]
		part := []*string{&m.Body, &m.ID, &m.Signature}[random.IntN(3)]
		changed := []byte(*part)
		changed[random.IntN(len(changed))] ^= 1 << random.IntN(7)
		*part = string(changed)
		messages = append(messages, m)
	}
	asked, accepted := 0, 0
	for _, m := range messages {
		theirs, known := m.theirs(t)
		if !known {
			continue
		}
		asked++
		if theirs {
			accepted++
		}
		// What the library takes and the client does not is a header that the standard does not allow, or a message for
		// a public key.
		if ours := m.ours(); ours && !theirs && !strings.Contains(strings.Join(m.VerifyWith, " "), "whpk_") {
			t.Errorf("%s: the client accepts what the library refuses: %+v", m.Name, m)
		}
	}
	for _, m := range f.Valid {
		if theirs, known := m.theirs(t); known && (!theirs || !m.ours()) {
			t.Errorf("%s: refused", m.Name)
		}
	}
	if asked < 500 || accepted < 5 {
		t.Errorf("%d messages compared, %d accepted", asked, accepted)
	}
}
