package seal

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

var home = Place{Table: "asset", Column: "value", Partner: "p1", Row: "r1"}

func TestSealOpensWhereItWasMade(t *testing.T) {
	k := fresh(t)
	for _, plain := range []string{"", "x", "maria@exemplo.com.br", strings.Repeat("á", 40000)} {
		sealed := mustSeal(t, k, home, plain)
		if len(sealed) != len(plain)+Overhead {
			t.Errorf("%d bytes became %d, want %d more", len(plain), len(sealed), Overhead)
		}
		if len(plain) > 8 && bytes.Contains(sealed, []byte(plain)) {
			t.Error("the plaintext is visible")
		}
		mustUnseal(t, k, home, sealed, plain)
		mustUnseal(t, reopen(t, k), home, sealed, plain)
	}
}

// Parts chosen so that joining them without lengths, or with a separator, would make many places look alike.
var parts = []string{"", "a", "b", "ab", "ba", "a|b", "|", "\x00", "\x01a", "\x01", "a\x00b"}

func TestPlacesNeverShareAnEncoding(t *testing.T) {
	seen := make(map[string]Place)
	for _, tb := range parts {
		for _, c := range parts {
			for _, p := range parts {
				for _, r := range parts {
					at := Place{tb, c, p, r}
					if other, ok := seen[string(at.encodePlace())]; ok {
						t.Fatalf("%q and %q share an encoding", at, other)
					}
					seen[string(at.encodePlace())] = at
				}
			}
		}
	}
	long := Place{Table: strings.Repeat("t", 300), Row: strings.Repeat("r", 20000)}
	if n := len(long.encodePlace()); n != 1+2+300+1+1+3+20000 {
		t.Errorf("a long place takes %d bytes", n)
	}
}

// Property P5: a ciphertext moved to any other table, column, partner or row does not open there.
func TestMovedCiphertextIsRefused(t *testing.T) {
	k := fresh(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func() Place {
		return Place{
			parts[rnd.IntN(len(parts))],
			parts[rnd.IntN(len(parts))],
			parts[rnd.IntN(len(parts))],
			parts[rnd.IntN(len(parts))],
		}
	}
	const swaps = 10_000
	for done := 0; done < swaps; {
		from, to := pick(), pick()
		if done%2 == 0 { // half of them differ in one part only
			to = from
			*[]*string{&to.Table, &to.Column, &to.Partner, &to.Row}[done/2%4] = parts[rnd.IntN(len(parts))]
		}
		if from == to {
			continue
		}
		done++
		sealed := mustSeal(t, k, from, "52998224725")
		if plain, err := k.Unseal(to, sealed); !errors.Is(err, ErrSealBroken) || plain != nil {
			t.Fatalf("sealed at %q, opened at %q: %v", from, to, err)
		}
		mustUnseal(t, k, from, sealed, "52998224725")
	}
}

func TestAlteredCiphertextIsRefused(t *testing.T) {
	k := fresh(t)
	mustRotate(t, k)
	sealed := mustSeal(t, k, home, "maria@exemplo.com.br")
	refused := func(what string, s []byte) {
		t.Helper()
		if _, err := k.Unseal(home, s); !errors.Is(err, ErrSealBroken) || fault.KindOf(err) != fault.Internal {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for bit := range len(sealed) * 8 {
		bad := slices.Clone(sealed)
		bad[bit/8] ^= 1 << (bit % 8)
		refused(fmt.Sprintf("bit %d", bit), bad)
	}
	for n := range len(sealed) {
		refused(fmt.Sprintf("cut to %d", n), sealed[:n])
	}
	refused("longer", append(slices.Clone(sealed), 0))
	refused("nil", nil)
	// The prefix of another key of the same file: the body must not open under it.
	refused("prefix of the old key", append(SealedPrefix(k.ListKeyIDs()[0]), sealed[PrefixSize:]...))
	refused("other installation", mustSeal(t, fresh(t), home, "x"))
}

func TestNoncesDoNotRepeat(t *testing.T) {
	const nonceSize = Overhead - PrefixSize - 16
	count := 200_000
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		count = 1_000_000
	}
	k := fresh(t)
	nonces := make([][nonceSize]byte, count)
	for i := range nonces {
		nonces[i] = [nonceSize]byte(mustSeal(t, k, home, "")[PrefixSize:])
	}
	slices.SortFunc(nonces, func(a, b [nonceSize]byte) int { return bytes.Compare(a[:], b[:]) })
	if n := len(slices.Compact(nonces)); n != count {
		t.Fatalf("%d of %d nonces repeat", count-n, count)
	}
}

func TestSealedWithNamesTheKey(t *testing.T) {
	k := fresh(t)
	old := mustSeal(t, k, home, "x")
	mustRotate(t, k)
	now := mustSeal(t, k, home, "x")
	for i, sealed := range [][]byte{old, now} {
		id, ok := SealedWith(sealed)
		if !ok || id != k.ListKeyIDs()[i] || !bytes.Equal(sealed[:PrefixSize], SealedPrefix(id)) {
			t.Errorf("value %d: key %08x, %v; the file has %08x", i, id, ok, k.ListKeyIDs())
		}
	}
	if !bytes.Equal(k.PrimaryPrefix(), now[:PrefixSize]) || bytes.Equal(k.PrimaryPrefix(), old[:PrefixSize]) {
		t.Error("PrimaryPrefix is not that of the newest value")
	}
	for _, bad := range [][]byte{nil, {}, {tinkByte}, now[:Overhead-1], append([]byte{0}, now[1:]...)} {
		if _, ok := SealedWith(bad); ok {
			t.Errorf("%d bytes pass for a sealed value", len(bad))
		}
	}
}

func TestErrorsDoNotQuoteTheValue(t *testing.T) {
	k := fresh(t)
	at := Place{Table: "asset", Column: "value", Partner: "partner-secret", Row: "52998224725"}
	_, err := k.Unseal(at, mustSeal(t, k, home, "maria@exemplo.com.br"))
	for _, word := range []string{"maria", "partner-secret", "52998224725"} {
		if err == nil || strings.Contains(err.Error(), word) {
			t.Errorf("the error quotes %q: %v", word, err)
		}
	}
}

func TestKeysPrintNothing(t *testing.T) {
	k := goldenKeys(t)
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&out, verb+"\n", k)
		fmt.Fprintf(&out, verb+"\n", struct{ Keys *Keys }{k})
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Info("start", "keys", k, "in", slog.GroupValue(slog.Any("k", k)))
	slog.New(slog.NewTextHandler(&out, nil)).Info("start", "keys", k)
	fmt.Fprintf(&out, "%v %+v %#v %s %x", k.root, k.root, k.root, k.root, struct{ Root *Root }{k.root})
	if err := json.NewEncoder(&out).Encode(struct{ Keys *Keys }{k}); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(&out, k.String(), k.GoString(), k.LogValue())
	assertNoSecret(t, out.String())
	if n := strings.Count(out.String(), redacted); n < 8 {
		t.Errorf("only %d prints are redacted:\n%s", n, out.String())
	}
}

// assertNoSecret looks for the golden secrets and their derived keys in the encodings a print would use.
func assertNoSecret(t *testing.T, text string) {
	t.Helper()
	m := goldenMaterial(t)
	bind := m.bindingKey()
	for name, s := range map[string][]byte{"index": m.Index.Key, "match": m.Match.Key, "mac": m.MAC.Key, "bind": bind[:], "aead": goldenAEADKey, "root": counting(0x80)} {
		for _, form := range []string{
			string(s[:8]), hex.EncodeToString(s[:8]), strings.ToUpper(hex.EncodeToString(s[:8])),
			base64.StdEncoding.EncodeToString(s[:9]), strings.Trim(fmt.Sprint(s[:8]), "[]"), strings.Trim(fmt.Sprintf("%#v", s[:4]), "[]byte{}"),
		} {
			if strings.Contains(text, form) {
				t.Errorf("the %s secret is in the text as %q", name, form)
			}
		}
	}
}
