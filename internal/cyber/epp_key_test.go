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
		if !keyForm.MatchString(key) || !IsValidKey(key) || seen[key] {
			t.Fatalf("key %q", key)
		}
		seen[key] = true
		if !IsValidKey(strings.ToLower(strings.ReplaceAll(key, "-", " "))) {
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
		if IsValidKey(string(wrong)) != (wrong[i] == text[i]) {
			t.Fatalf("%s and %s", text, wrong)
		}
		j := rapid.IntRange(0, keyLength-1).Draw(t, "other place")
		swapped := bytes.Clone(text)
		swapped[i], swapped[j] = text[j], text[i]
		if IsValidKey(string(swapped)) != (text[i] == text[j]) {
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
		if IsValidKey(bad) {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}
