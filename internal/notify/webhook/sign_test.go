package webhook

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type vector struct {
	Name       string   `json:"name"`
	SignWith   []string `json:"signWith"`
	VerifyWith []string `json:"verifyWith"`
	ID         string   `json:"webhook-id"`
	Timestamp  string   `json:"webhook-timestamp"`
	Body       string   `json:"body"`
	Signature  string   `json:"webhook-signature"`
}

type vectorFile struct {
	PublicKeys map[string]string `json:"publicKeys"`
	Valid      []vector          `json:"valid"`
}

func readVectors(t *testing.T) vectorFile {
	t.Helper()
	raw, err := os.ReadFile("../../../client/testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var f vectorFile
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func parseKeys(t *testing.T, texts []string) []Key {
	t.Helper()
	var keys []Key
	for _, text := range texts {
		var key Key
		var err error
		if strings.HasPrefix(text, secretPrefix) {
			key, err = ParseSecret(text)
		} else {
			key, err = ParseSigningKey(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

// TestVectors signs what the published file says and wants its signatures, byte for byte. The file was computed by
// another implementation (Python's hmac and cryptography), and two of its entries are those published with the
// standard.
func TestVectors(t *testing.T) {
	file := readVectors(t)
	if len(file.Valid) < 10 {
		t.Fatalf("only %d vectors", len(file.Valid))
	}
	for _, v := range file.Valid {
		t.Run(v.Name, func(t *testing.T) {
			var seconds int64
			if _, err := fmt.Sscan(v.Timestamp, &seconds); err != nil {
				t.Fatal(err)
			}
			header := http.Header{}
			at := time.Unix(seconds, 999_999_999)
			if err := SignHeaders(header, v.ID, at, []byte(v.Body), parseKeys(t, v.SignWith)); err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]string{
				HeaderID: v.ID, HeaderTimestamp: v.Timestamp, HeaderSignature: v.Signature,
			} {
				if got := header.Get(name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
		})
	}
	for private, public := range file.PublicKeys {
		key, err := ParseSigningKey(private)
		if err != nil {
			t.Fatal(err)
		}
		if key.PublicText() != public || key.Reveal() != private {
			t.Errorf("key %s has public half %s, want %s", private, key.PublicText(), public)
		}
	}
}

// TestIndependentVerifiers hands random messages, signed by new keys of both schemes, to the standard's own library and
// to crypto/ed25519.
func TestIndependentVerifiers(t *testing.T) {
	var seed [32]byte
	random := rand.NewChaCha8(seed)
	for i := range 500 {
		secret, err := NewSecret(random)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := NewSigningKey(random)
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, i*7%900)
		_, _ = random.Read(body)
		id, at := fmt.Sprintf("evt_%d", i), time.Now()
		header := http.Header{}
		if err := SignHeaders(header, id, at, body, []Key{signer, secret}); err != nil {
			t.Fatal(err)
		}
		lib, err := standardwebhooks.NewWebhook(secret.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		if err := lib.Verify(body, header); err != nil {
			t.Fatalf("message %d: the library refuses it: %v", i, err)
		}
		first, _, _ := strings.Cut(header.Get(HeaderSignature), " ")
		signature, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(first, "v1a,"))
		public, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(signer.PublicText(), publicKeyPrefix))
		content := append([]byte(id+"."+header.Get(HeaderTimestamp)+"."), body...)
		if !ed25519.Verify(public, content, signature) {
			t.Fatalf("message %d: ed25519 refuses %q", i, first)
		}
	}
}

func TestSignRefuses(t *testing.T) {
	good := Secret{bytes.Repeat([]byte{1}, 32)}
	cases := map[string]struct {
		id   string
		keys []Key
	}{
		"no id":            {"", []Key{good}},
		"dot in id":        {"evt.1", []Key{good}},
		"space in id":      {"evt 1", []Key{good}},
		"line break in id": {"evt\r\nx: y", []Key{good}},
		"accent in id":     {"é", []Key{good}},
		"long id":          {strings.Repeat("a", 129), []Key{good}},
		"no key":           {"evt_1", nil},
		"zero secret":      {"evt_1", []Key{good, Secret{}}},
		"short secret":     {"evt_1", []Key{Secret{bytes.Repeat([]byte{1}, minSecret-1)}}},
		"zero signing key": {"evt_1", []Key{SigningKey{}}},
		"nil key":          {"evt_1", []Key{nil}},
	}
	for name, c := range cases {
		header := http.Header{}
		if err := SignHeaders(
			header,
			c.id,
			time.Unix(1, 0),
			nil,
			c.keys,
		); !errors.Is(err, ErrSign) ||
			len(header) != 0 {
			t.Errorf("%s: error %v, header %v", name, err, header)
		}
	}
}

func TestParseKeys(t *testing.T) {
	encode := func(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }
	secrets := map[string]bool{
		secretPrefix + encode(24):     true,
		secretPrefix + encode(32):     true,
		secretPrefix + encode(64):     true,
		secretPrefix + encode(23):     false,
		secretPrefix + encode(65):     false,
		secretPrefix:                  false,
		"":                            false,
		encode(32):                    false,
		"WHSEC_" + encode(32):         false,
		signingKeyPrefix + encode(32): false,
		secretPrefix + strings.TrimRight(encode(32), "="): false,
		secretPrefix + encode(32) + "\n":                  false,
		secretPrefix + "\n" + encode(32):                  false,
		" " + secretPrefix + encode(32):                   false,
		secretPrefix + strings.Repeat("_", 44):            false,
		// Stray bits: decodes to the same 32 bytes as the first spelling, but is another text.
		secretPrefix + strings.TrimSuffix(encode(32), "A=") + "B=": false,
	}
	for text, want := range secrets {
		if _, err := ParseSecret(text); (err == nil) != want {
			t.Errorf("ParseSecret(%q): %v", text, err)
		} else if err != nil && !errors.Is(err, ErrKey) {
			t.Errorf("ParseSecret(%q): wrong fault %v", text, err)
		}
	}
	pair := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	text := signingKeyPrefix + base64.StdEncoding.EncodeToString(pair)
	if _, err := ParseSigningKey(text); err != nil {
		t.Error(err)
	}
	pair[40] ^= 1 // public half of another key
	text = signingKeyPrefix + base64.StdEncoding.EncodeToString(pair)
	for _, bad := range []string{text, signingKeyPrefix + encode(32), publicKeyPrefix + encode(64), "", signingKeyPrefix + "!"} {
		if _, err := ParseSigningKey(bad); !errors.Is(err, ErrKey) {
			t.Errorf("ParseSigningKey(%q): %v", bad, err)
		}
	}
}

func TestKeysComeFromTheReader(t *testing.T) {
	source := func() *bytes.Reader { return bytes.NewReader(bytes.Repeat([]byte{9}, 32)) }
	a, _ := NewSecret(source())
	b, _ := NewSecret(source())
	c, _ := NewSigningKey(source())
	d, _ := NewSigningKey(source())
	if a.Reveal() != b.Reveal() || c.Reveal() != d.Reveal() || len(a.key) != newSecret {
		t.Error("keys do not follow their source")
	}
	if _, err := NewSecret(bytes.NewReader(make([]byte, 31))); err == nil {
		t.Error("a short source made a secret")
	}
	if _, err := NewSigningKey(bytes.NewReader(nil)); err == nil {
		t.Error("an empty source made a key")
	}
}

func TestKeysDoNotPrint(t *testing.T) {
	secret, _ := NewSecret(rand.NewChaCha8([32]byte{1}))
	signer, _ := NewSigningKey(rand.NewChaCha8([32]byte{2}))
	hidden := map[string]bool{secretPrefix + "[hidden]": true, signingKeyPrefix + "[hidden]": true}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, key := range []Key{secret, signer} {
			if got := fmt.Sprintf(verb, key); !hidden[got] {
				t.Errorf("%s prints %s", verb, got)
			}
		}
	}
	if raw, _ := json.Marshal(secret); string(raw) != "{}" { //nolint:staticcheck // that nothing of it is encoded is what is asked
		t.Errorf("JSON holds %s", raw)
	}
}

func TestKeyring(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	key := func(b byte) Secret { return Secret{bytes.Repeat([]byte{b}, 32)} }
	signer, _ := NewSigningKey(rand.NewChaCha8([32]byte{3}))
	first, second := key(1), key(2)
	ring := Keyring{{Key: first}, {Key: signer}}

	ring, err := ring.RotateKey(second, now, RotationOverlap)
	if err != nil {
		t.Fatal(err)
	}
	names := func(at time.Time) string {
		var s []string
		for _, k := range ring.LiveKeys(at) {
			switch k := k.(type) {
			case Secret:
				s = append(s, fmt.Sprint(k.key[0]))
			case SigningKey:
				s = append(s, "ed")
			}
		}
		return strings.Join(s, " ")
	}
	if got := names(now.Add(24*time.Hour - 1)); got != "2 1 ed" {
		t.Errorf("within the overlap %q sign", got)
	}
	if got := names(now.Add(24 * time.Hour)); got != "2 ed" {
		t.Errorf("after the overlap %q sign", got)
	}
	// A stolen key: the new one at once, and no longer life for the older ones.
	if ring, err = ring.RotateKey(key(3), now.Add(time.Hour), 0); err != nil {
		t.Fatal(err)
	}
	if got := names(now.Add(time.Hour)); got != "3 ed" {
		t.Errorf("after a cut rotation %q sign", got)
	}
	for i := range byte(maxKeys - 1) {
		if ring, err = ring.RotateKey(key(10+i), now.Add(time.Hour), RotationOverlap); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = ring.RotateKey(key(99), now.Add(2*time.Hour), RotationOverlap); !errors.Is(err, ErrTooMany) {
		t.Errorf("sixth live key: %v", err)
	}
	if ring, err = ring.RotateKey(
		key(99),
		now.Add(25*time.Hour),
		RotationOverlap,
	); err != nil ||
		names(now.Add(25*time.Hour)) != "99 13 ed" {
		t.Errorf("a day later: %v, %q", err, names(now.Add(25*time.Hour)))
	}
}

func FuzzParseSecret(f *testing.F) {
	f.Add("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	f.Add("whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==")
	f.Add("whsec_")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseSecret(text); err == nil {
			if s.Reveal() != text || len(s.key) < minSecret || len(s.key) > maxSecret {
				t.Errorf("%q was taken as %q", text, s.Reveal())
			}
		}
		if k, err := ParseSigningKey(text); err == nil && k.Reveal() != text {
			t.Errorf("%q was taken as %q", text, k.Reveal())
		}
	})
}
