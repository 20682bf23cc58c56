package client

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
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

func (v vector) at() time.Time {
	seconds, _ := strconv.ParseInt(v.Timestamp, 10, 64)
	return time.Unix(seconds, 0)
}

func readVectors(t testing.TB) (valid, invalid, strict []vector) {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Valid, Invalid, Strict []vector }
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	return f.Valid, f.Invalid, f.Strict
}

func TestVectors(t *testing.T) {
	valid, invalid, strict := readVectors(t)
	if len(valid) < 10 || len(invalid) < 16 || len(strict) < 2 {
		t.Fatalf("%d valid, %d invalid, %d strict vectors", len(valid), len(invalid), len(strict))
	}
	for _, v := range valid {
		event, err := VerifyWebhook(v.VerifyWith, v.header(), []byte(v.Body), v.at())
		// The two vectors of the standard carry a body without type: they verify, and are then no events of ours.
		if published := strings.HasPrefix(v.Name, "published"); published && errors.Is(err, ErrBody) {
			err, event.ID, event.SentAt = nil, v.ID, v.at()
		}
		if err != nil || event.ID != v.ID || !event.SentAt.Equal(v.at()) {
			t.Errorf("%s: %v, %+v", v.Name, err, event)
		}
	}
	for _, v := range invalid {
		_, err := VerifyWebhook(v.VerifyWith, v.header(), []byte(v.Body), v.at())
		if !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", v.Name, err)
		}
	}
	for _, v := range strict {
		if _, err := VerifyWebhook(v.VerifyWith, v.header(), []byte(v.Body), v.at()); !errors.Is(err, ErrHeaders) {
			t.Errorf("%s: %v", v.Name, err)
		}
	}
}

// TestMutations changes one thing in a good message, 10,000 times: a bit, a byte, the length or the order of any part.
func TestMutations(t *testing.T) {
	valid, _, _ := readVectors(t)
	random := rand.New(rand.NewPCG(1, 2))
	passed, tried := 0, 0
	for tried < 10_000 {
		v := valid[random.IntN(len(valid))]
		m := v
		switch random.IntN(5) {
		case 0:
			m.ID = mutate(random, v.ID)
		case 1:
			m.Timestamp = strconv.FormatInt(v.at().Unix()+random.Int64N(601)-300, 10)
		case 2:
			m.Body = mutate(random, v.Body)
		default:
			m.Signature = mutateSignatures(random, v.Signature)
		}
		if m.ID == v.ID && m.Timestamp == v.Timestamp && m.Body == v.Body && m.Signature == v.Signature {
			continue
		}
		tried++
		_, err := VerifyWebhook(m.VerifyWith, m.header(), []byte(m.Body), v.at())
		if !errors.Is(err, ErrSignature) && !errors.Is(err, ErrHeaders) {
			passed++
			t.Errorf("%s: mutation passes (%v): %+v", v.Name, err, m)
		}
	}
	t.Logf("%d mutations tried, %d passed", tried, passed)
}

func mutate(random *rand.Rand, s string) string {
	if s == "" {
		return "x"
	}
	b := []byte(s)
	i := random.IntN(len(b))
	switch random.IntN(4) {
	case 0:
		b[i] ^= 1 << random.IntN(8)
	case 1:
		b = append(b[:i], b[i+1:]...)
	case 2:
		b = append(b[:i], append([]byte{byte(random.IntN(256))}, b[i:]...)...)
	default:
		j := random.IntN(len(b))
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// mutateSignatures changes every signature of the list: one left whole would rightly verify.
func mutateSignatures(random *rand.Rand, header string) string {
	list := strings.Split(header, " ")
	for i, s := range list {
		for {
			changed := mutate(random, s)
			// A separator put before the last character of padding leaves no whole signature behind; one put at either
			// end does.
			if changed != s && !strings.Contains(" "+changed+" ", " "+s+" ") && !strings.HasPrefix(changed, s+",") {
				list[i] = changed
				break
			}
		}
	}
	return strings.Join(list, " ")
}

func TestTolerance(t *testing.T) {
	valid, _, _ := readVectors(t)
	v := valid[0]
	for offset, want := range map[time.Duration]error{
		0:                          nil,
		300 * time.Second:          nil,
		-300 * time.Second:         nil,
		300*time.Second + 1:        ErrTimestamp,
		-300*time.Second - 1:       ErrTimestamp,
		400 * 24 * time.Hour:       ErrTimestamp,
		-400 * 24 * time.Hour:      ErrTimestamp,
		290 * 365 * 24 * time.Hour: ErrTimestamp,
	} {
		if _, err := VerifyWebhook(v.VerifyWith, v.header(), []byte(v.Body), v.at().Add(offset)); !errors.Is(err, want) {
			t.Errorf("at %v: %v, want %v", offset, err, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	valid, _, _ := readVectors(t)
	v := valid[0]
	cases := map[string]func(http.Header){
		"no id":               func(h http.Header) { h.Del("webhook-id") },
		"no timestamp":        func(h http.Header) { h.Del("webhook-timestamp") },
		"no signature":        func(h http.Header) { h.Del("webhook-signature") },
		"empty id":            func(h http.Header) { h.Set("webhook-id", "") },
		"two ids":             func(h http.Header) { h.Add("webhook-id", "evt_02") },
		"two timestamps":      func(h http.Header) { h.Add("webhook-timestamp", "1") },
		"signed timestamp":    func(h http.Header) { h.Set("webhook-timestamp", "+1767225600") },
		"negative timestamp":  func(h http.Header) { h.Set("webhook-timestamp", "-1") },
		"timestamp with text": func(h http.Header) { h.Set("webhook-timestamp", "1767225600s") },
		"huge timestamp":      func(h http.Header) { h.Set("webhook-timestamp", "99999999999999999999") },
		"many signatures":     func(h http.Header) { h.Set("webhook-signature", strings.Repeat("v1,x ", 33)+v.Signature) },
	}
	for name, change := range cases {
		h := v.header()
		change(h)
		if _, err := VerifyWebhook(v.VerifyWith, h, []byte(v.Body), v.at()); !errors.Is(err, ErrHeaders) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h := v.header()
	h.Set("webhook-signature", "v9,abc nonsense  ,,, "+v.Signature+" v1,")
	if _, err := VerifyWebhook(v.VerifyWith, h, []byte(v.Body), v.at()); err != nil {
		t.Errorf("a good signature among foreign ones: %v", err)
	}
}

func TestKeys(t *testing.T) {
	valid, _, _ := readVectors(t)
	v := valid[0]
	encode := func(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }
	for name, keys := range map[string][]string{
		"none":              nil,
		"empty":             {""},
		"no prefix":         {encode(32)},
		"empty secret":      {"whsec_"},
		"short secret":      {"whsec_" + encode(23)},
		"long secret":       {"whsec_" + encode(65)},
		"private key":       {"whsk_" + encode(64)},
		"short public key":  {"whpk_" + encode(31)},
		"line break":        {"whsec_" + encode(32) + "\n"},
		"good and bad ones": append([]string{"whsec_"}, v.VerifyWith...),
	} {
		_, err := VerifyWebhook(keys, v.header(), []byte(v.Body), v.at())
		if !errors.Is(err, ErrKey) {
			t.Errorf("%s: %v", name, err)
		}
		for _, key := range keys {
			if len(key) > 6 && strings.Contains(err.Error(), key) {
				t.Errorf("%s: the error repeats the key", name)
			}
		}
	}
}

func TestBody(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.NewChaCha8([32]byte{}))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1767225600, 0)
	for body, want := range map[string]error{
		`{"type":"a.b","timestamp":"2026-01-01T00:00:00.000Z","data":{"id":"1"}}`: nil,
		`{"timestamp":"2026-01-01T00:00:00Z"}`:                                    ErrBody,
		`{"type":"a","timestamp":"yesterday"}`:                                    ErrBody,
		`[]`:                                                                      ErrBody,
		``:                                                                        ErrBody,
		"\xff\xfe":                                                                ErrBody,
	} {
		signature := ed25519.Sign(private, []byte("evt_1.1767225600."+body))
		h := vector{
			ID:        "evt_1",
			Timestamp: "1767225600",
			Signature: "v1a," + base64.StdEncoding.EncodeToString(signature),
		}.header()
		keys := []string{"whpk_" + base64.StdEncoding.EncodeToString(public)}
		event, err := VerifyWebhook(keys, h, []byte(body), now)
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", body, err, want)
		}
		if err == nil &&
			(event.Body.Type != "a.b" || fmt.Sprintf("%s", event.Body.Data) != `{"id":"1"}` || event.Body.Timestamp.Year() != 2026) {
			t.Errorf("event %+v", event)
		}
		if err != nil && fmt.Sprint(event) != fmt.Sprint(WebhookEvent{}) {
			t.Errorf("%q: a refused body gives %+v", body, event)
		}
	}
}

// FuzzHeaders looks for headers that verify without being the signed ones, and for panics.
func FuzzHeaders(f *testing.F) {
	valid, invalid, strict := readVectors(f)
	for _, v := range append(append(valid, invalid...), strict...) {
		f.Add(v.ID, v.Timestamp, v.Signature)
	}
	good := valid[3] // the only vector under its key: no other seed may verify
	f.Fuzz(func(t *testing.T, id, timestamp, signature string) {
		m := good
		m.ID, m.Timestamp, m.Signature = id, timestamp, signature
		event, err := VerifyWebhook(m.VerifyWith, m.header(), []byte(m.Body), good.at())
		whole := strings.Contains(" "+signature+" ", " "+good.Signature+" ")
		if err == nil && (id != good.ID || timestamp != good.Timestamp || !whole) {
			t.Errorf("verifies as %+v: %+v", event, m)
		}
	})
}
