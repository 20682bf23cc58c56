package cyber

import (
	"bytes"
	"crypto/rand"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var keyForm = regexp.MustCompile(`^([2346789ACDFGHJKMNPQRTVWXY]{5}-){4}[2346789ACDFGHJKMNPQRTVWXY]{5}$`)

func TestGeneratedKeys(t *testing.T) {
	seen := map[string]bool{}
	for range 2000 {
		key, err := generateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if !keyForm.MatchString(key) || !isValidKey(key) || seen[key] {
			t.Fatalf("key %q", key)
		}
		seen[key] = true
		if !isValidKey(strings.ToLower(strings.ReplaceAll(key, "-", " "))) {
			t.Fatalf("%q as a person types it is refused", key)
		}
	}
	if _, err := generateKey(bytes.NewReader(nil)); err == nil {
		t.Error("a key was made without randomness")
	}
}

// TestCheckCharacter: one wrong character and any two exchanged ones are always noticed.
func TestCheckCharacter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := rapid.SliceOfN(rapid.Byte(), 400, 400).Draw(t, "random")
		key, err := generateKey(bytes.NewReader(source))
		if err != nil {
			t.Skip("the bytes ran out")
		}
		text := []byte(strings.ReplaceAll(key, "-", ""))
		i := rapid.IntRange(0, keyLength-1).Draw(t, "place")
		wrong := bytes.Clone(text)
		wrong[i] = rapid.SampledFrom([]byte(keyAlphabet)).Draw(t, "character")
		if isValidKey(string(wrong)) != (wrong[i] == text[i]) {
			t.Fatalf("%s and %s", text, wrong)
		}
		j := rapid.IntRange(0, keyLength-1).Draw(t, "other place")
		swapped := bytes.Clone(text)
		swapped[i], swapped[j] = text[j], text[i]
		if isValidKey(string(swapped)) != (text[i] == text[j]) {
			t.Fatalf("%s and %s", text, swapped)
		}
	})
}

func TestKeysThatAreNone(t *testing.T) {
	key, err := generateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "-", key[:len(key)-1], key + "2", "O" + key[1:], strings.Repeat("0", 25)} {
		if isValidKey(bad) {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}

// isValidKey reports whether text is a key that this service can have generated: its form and check character are
// right. Case, spaces and hyphens do not matter, as people copy keys by hand. It says nothing about keys of a vendor.
func isValidKey(text string) bool {
	bare := make([]byte, 0, keyLength)
	for _, c := range []byte(strings.ToUpper(text)) {
		if c == '-' || c == ' ' {
			continue
		}
		if len(bare) == keyLength {
			return false
		}
		bare = append(bare, c)
	}
	sum, ok := keyChecksum(bare)
	return ok && len(bare) == keyLength && sum == 0
}
