package partner_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vigiahq/vigia/internal/partner"
)

// TestUserHashVectors: all published spellings of a person's hash are two digests, and Digests makes both.
func TestUserHashVectors(t *testing.T) {
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []map[string]string
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 3 {
		t.Fatal("too few vectors")
	}
	for _, v := range vectors {
		d256, d512 := partner.PersonDigests(v["cpf"], v["salt"])
		for name, want := range map[string][]byte{
			"blake2b512_hex": d512, "blake2b512_base64url": d512, "blake2b256_hex": d256, "blake2b256_base64": d256,
		} {
			for _, spelling := range []string{v[name], strings.ToUpper(v[name])} {
				if strings.Contains(name, "base64") && spelling != v[name] {
					continue // base64 has two cases
				}
				if got := partner.UserHash(spelling).Canonical(); string(got) != string(want) {
					t.Errorf("cpf %s: %s is not recognised", v["cpf"], name)
				}
			}
		}
	}
}

func TestUserHashSpellings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{32, 64}).Draw(t, "size")
		d := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "digest")
		want := string(partner.UserHash(hex.EncodeToString(d)).Canonical())
		for _, s := range []string{
			strings.ToUpper(hex.EncodeToString(d)), base64.StdEncoding.EncodeToString(d), base64.RawStdEncoding.EncodeToString(d),
			base64.URLEncoding.EncodeToString(d), base64.RawURLEncoding.EncodeToString(d),
		} {
			if string(partner.UserHash(s).Canonical()) != want {
				t.Fatalf("%s is another user", s)
			}
		}
	})
}

func TestUserHashOthers(t *testing.T) {
	seen := map[string]string{}
	for _, s := range []string{
		"a", "A", "usuario-1", strings.Repeat("f", 63), strings.Repeat("f", 65), strings.Repeat("f", 64), strings.Repeat("g", 64),
		"d" + strings.Repeat("\x01", 32), strings.Repeat("A", 43), strings.Repeat("A", 44), strings.Repeat("A", 42) + "B",
	} {
		c := string(partner.UserHash(s).Canonical())
		if other, taken := seen[c]; taken {
			t.Errorf("%q and %q are one user", s, other)
		}
		seen[c] = s
	}
	for s, ok := range map[string]bool{
		"": false, "a b": true, "é": true, strings.Repeat("é", 256): true, strings.Repeat("x", 257): false, "a\nb": false, "a\x00": false, "\xff": false, "\u202e": false,
	} {
		if _, err := partner.ParseUserHash("userHash", s); (err == nil) != ok {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestParseScopes(t *testing.T) {
	if s, err := partner.ParseScopes(nil); err != nil ||
		!slices.Equal(s, []partner.Scope{partner.ScopeCyber, partner.ScopeSubscriptions}) {
		t.Error(s, err)
	}
	if _, err := partner.ParseScopes([]string{"cyber", "admin"}); !errors.Is(err, partner.ErrInvalid) {
		t.Error(err)
	}
	reader := partner.Key{Scopes: []partner.Scope{partner.ScopeCyberRead}}
	if !reader.HasScope(partner.ScopeCyberRead) || reader.HasScope(partner.ScopeCyber) ||
		reader.HasScope(partner.ScopeSubscriptionsRead) {
		t.Error("a read-only key")
	}
	full := partner.Key{Scopes: []partner.Scope{partner.ScopeCyber}}
	if !full.HasScope(partner.ScopeCyberRead) || !full.HasScope(partner.ScopeCyber) ||
		full.HasScope(partner.ScopeSubscriptions) {
		t.Error("a full key")
	}
}
