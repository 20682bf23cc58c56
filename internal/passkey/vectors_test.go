package passkey

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestVectors tries the test vectors of the specification. Of each the signature holds, or its algorithm is one that is
// not offered; and a ceremony is taken unless it breaks a rule of ours, mostly that the person is verified.
func TestVectors(t *testing.T) {
	expected := func(name string, challenge []byte, flags byte) string {
		switch {
		case strings.HasSuffix(name, "crossOrigin") || strings.HasSuffix(name, "topOrigin"):
			return "inside a page of another origin"
		case len(challenge) != challengeSize: // ours have one size
			return "another challenge"
		case flags&userVerified == 0:
			return "the person was not verified"
		case !strings.Contains(name, "es256") && !strings.Contains(name, "rs256") && !strings.Contains(name, "eddsa"):
			return "not offered"
		}
		return ""
	}
	s, err := NewSite("https://example.org")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	user := []byte("op_ana")
	judge := func(name string, got error, want string) {
		if (got == nil) != (want == "") || got != nil && !strings.Contains(got.Error(), want) {
			t.Errorf("%s: %v, expected %q", name, got, want)
		}
	}
	count, held, taken := 0, 0, 0
	for line := range strings.Lines(string(text)) {
		field := strings.Fields(line)
		if field[0] == "#" {
			continue
		}
		count++
		name, raw := field[0], [][]byte{}
		for _, f := range field[1:] {
			raw = append(raw, must(hex.DecodeString(f)))
		}
		id, challenge, client, object := octets(raw[0]), raw[1], octets(raw[2]), octets(raw[3])
		challenge2, client2, data, signature := raw[4], octets(raw[5]), octets(raw[6]), octets(raw[7])
		attestation, err := attested(object)
		if err != nil {
			t.Fatal(name, err)
		}
		key := attestation[32+1+4+16+2+len(id):]
		verify, err := verifier(key)
		seen := sha256.Sum256(client2)
		if err == nil {
			if held++; !verify(slices.Concat(data, seen[:]), signature) {
				t.Errorf("%s: the signature does not hold", name)
			}
		}
		answer := must(json.Marshal(map[string]any{
			"id": id, "rawId": id, "type": publicKey, "response": map[string]any{"clientDataJSON": client, "attestationObject": object},
		}))
		made, err := s.Register(Ceremony{challenge, user}, user, answer)
		judge(name+", registration", err, expected(name, challenge, attestation[32]))
		if err != nil {
			made = Credential{ID: id, Key: key, BackupEligible: attestation[32]&backupEligible != 0}
		}
		answer = must(json.Marshal(map[string]any{
			"id": id, "rawId": id, "type": publicKey,
			"response": map[string]any{"clientDataJSON": client2, "authenticatorData": data, "signature": signature, "userHandle": octets(user)},
		}))
		a, err := ReadAssertion(answer)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err = s.Verify(Ceremony{Challenge: challenge2}, a, user, made); err == nil {
			taken++
		}
		judge(name+", log-in", err, expected(name, challenge2, data[32]))
	}
	if count != 15 || held != 12 || taken != 3 {
		t.Errorf("%d vectors, %d signatures, %d taken log-ins", count, held, taken)
	}
}
