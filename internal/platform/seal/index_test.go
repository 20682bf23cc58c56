package seal

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"slices"
	"testing"
)

func TestBlindIndexSeparatesFieldsPartnersAndInstallations(t *testing.T) {
	k, other := fresh(t), fresh(t)
	base := k.BlindIndex("cpf", "p1", []byte("52998224725"))
	if len(base) != IndexSize {
		t.Fatalf("%d bytes", len(base))
	}
	for what, index := range map[string][]byte{
		"field":        k.BlindIndex("phone", "p1", []byte("52998224725")),
		"partner":      k.BlindIndex("cpf", "p2", []byte("52998224725")),
		"value":        k.BlindIndex("cpf", "p1", []byte("11144477735")),
		"installation": other.BlindIndex("cpf", "p1", []byte("52998224725")),
		"bounds":       k.BlindIndex("cpf", "p15", []byte("2998224725")),
		"empty":        k.BlindIndex("cpf", "", []byte("p152998224725")),
	} {
		if bytes.Equal(index, base) {
			t.Errorf("another %s gives the same index", what)
		}
	}
	unkeyed := sha256.Sum256([]byte("52998224725"))
	if bytes.Equal(base, unkeyed[:IndexSize]) {
		t.Error("the index is a plain hash")
	}
	for _, same := range []*Keys{k, reopen(t, k)} {
		if !bytes.Equal(same.BlindIndex("cpf", "p1", []byte("52998224725")), base) {
			t.Error("the index is not stable")
		}
	}
	mustRotate(t, k)
	if !bytes.Equal(k.BlindIndex("cpf", "p1", []byte("52998224725")), base) {
		t.Error("a rotation changed an index: no row would be found")
	}
}

func TestMACKeepsBoundsAndPurposes(t *testing.T) {
	k := fresh(t)
	base := k.MAC("audit", []byte("ab"), []byte("c"))
	if len(base) != MACSize {
		t.Fatalf("%d bytes", len(base))
	}
	for what, mac := range map[string][]byte{
		"bounds":  k.MAC("audit", []byte("a"), []byte("bc")),
		"joined":  k.MAC("audit", []byte("abc")),
		"longer":  k.MAC("audit", []byte("ab"), []byte("c"), nil),
		"purpose": k.MAC("cursor", []byte("ab"), []byte("c")),
		"none":    k.MAC("audit"),
	} {
		if hmac.Equal(mac, base) {
			t.Errorf("%s: same MAC", what)
		}
	}
	if !hmac.Equal(k.MAC("audit", []byte("ab"), []byte("c")), base) {
		t.Error("not stable")
	}
	// One name used for an index and for a MAC must not give one key.
	if bytes.HasPrefix(k.MAC("x", []byte("v")), k.BlindIndex("x", "v", nil)) {
		t.Error("an index is a MAC")
	}
}

func TestResultsAreTheCallersOwn(t *testing.T) {
	k := fresh(t)
	a := k.BlindIndex("cpf", "p1", []byte("1"))
	was := slices.Clone(a)
	k.BlindIndex("cpf", "p1", []byte("2"))
	if !bytes.Equal(a, was) {
		t.Error("a later call changed an earlier result")
	}
}

// A ring pieced together from two installations would find nothing without failing, so each secret counts.
func TestBindingCoversEverySecret(t *testing.T) {
	base := goldenMaterial(t).bindingKey()
	for name, change := range map[string]func(*material){
		"index": func(m *material) { m.Index.Key[31] ^= 1 },
		"match": func(m *material) { m.Match.Key[0] ^= 1 },
		"mac":   func(m *material) { m.MAC.Key[5] ^= 1 },
		"swap":  func(m *material) { m.Index, m.Match = m.Match, m.Index },
	} {
		m := goldenMaterial(t)
		change(m)
		if m.bindingKey() == base {
			t.Errorf("%s does not matter", name)
		}
	}
}
