package seal

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	tinkmac "github.com/tink-crypto/tink-go/v2/mac/subtle"
)

// tag is plain CMAC of a message that is not empty.
func (m *matcher) tag(msg []byte) []byte {
	f := &Fingerprints{matcher: m}
	f.Add(msg[0], msg[1:])
	f.AppendTo(nil)
	tag := make([]byte, aes.BlockSize)
	last := (len(msg) - 1) / aes.BlockSize
	f.lengths[last][last][:1][0].store(tag)
	return tag
}

func newTestMatcher(t testing.TB, key []byte) *matcher {
	t.Helper()
	m, err := newMatcher(key)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// RFC 4493 section 4 (AES-128) and NIST SP 800-38B appendix D.3 (AES-256).
func TestCMACVectors(t *testing.T) {
	msg := unhex(t, "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"+
		"30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
	for _, c := range []struct {
		name, key, k1, k2 string
		tags              map[int]string
	}{
		{
			"RFC 4493", "2b7e151628aed2a6abf7158809cf4f3c",
			"fbeed618357133667c85e08f7236a8de", "f7ddac306ae266ccf90bc11ee46d513b",
			map[int]string{
				16: "070a16b46b4d4144f79bdd9dd04a287c",
				40: "dfa66747de9ae63030ca32611497c827", 64: "51f0bebf7e3b9d92fc49741779363cfe",
			},
		},
		{
			"SP 800-38B", "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
			"cad1ed03299eedac2e9a99808621502f", "95a3da06533ddb585d3533010c42a0d9",
			map[int]string{
				16: "28a7023f452e8f82bd4bf28d8c37c35c",
				40: "aaf3d8f1de5640c232f5b169b9c911e6", 64: "e1992190549f6ed5696a2c056c315410",
			},
		},
	} {
		m := newTestMatcher(t, unhex(t, c.key))
		if m.k1 != load(unhex(t, c.k1)) || m.k2 != load(unhex(t, c.k2)) {
			t.Errorf("%s: subkeys %x %x", c.name, m.k1, m.k2)
		}
		for n, want := range c.tags {
			if got := m.tag(msg[:n]); !bytes.Equal(got, unhex(t, want)) {
				t.Errorf("%s, %d bytes: %x, want %s", c.name, n, got, want)
			}
		}
	}
}

func TestFingerprintIsTinksCMACCutShort(t *testing.T) {
	k := reopen(t, writeGolden(t))
	ref, err := tinkmac.NewAESCMAC(goldenMaterial(t).Match.Key, aes.BlockSize)
	if err != nil {
		t.Fatal(err)
	}
	together, all := k.Fingerprints(), []uint64(nil)
	rnd := rand.New(rand.NewPCG(3, 4))
	for n := range 200 {
		msg := make([]byte, 1+n)
		for i := range msg {
			msg[i] = byte(rnd.Uint32())
		}
		tag, err := ref.ComputeMAC(msg)
		if err != nil {
			t.Fatal(err)
		}
		want := binary.BigEndian.Uint64(tag)
		if got := k.Fingerprint(msg[0], msg[1:]); got != want {
			t.Fatalf("%d bytes: %016x, tink has %016x", n, got, want)
		}
		together.Add(msg[0], msg[1:])
		all = append(all, want)
		if n%70 == 0 || n == 199 {
			if got := together.AppendTo(nil); !slices.Equal(got, all) || together.Len() != 0 {
				t.Fatalf("%d values together: %x, tink has %x", len(all), got, all)
			}
			all = all[:0]
		}
	}
}

func TestFingerprintTellsKindsAndInstallationsApart(t *testing.T) {
	k, other := fresh(t), fresh(t)
	v := []byte("11987654321")
	if k.Fingerprint('p', v) == k.Fingerprint('c', v) {
		t.Error("the kind does not matter")
	}
	if k.Fingerprint('p', v) == other.Fingerprint('p', v) {
		t.Error("the key does not matter")
	}
	if k.Fingerprint('p', nil) == k.Fingerprint('p', []byte{0}) {
		t.Error("padding is ambiguous")
	}
	was := k.Fingerprint('p', v)
	mustRotate(t, k)
	if k.Fingerprint('p', v) != was || reopen(t, k.Path()).Fingerprint('p', v) != was {
		t.Error("a rotation changed a fingerprint: every segment would be void")
	}
}

func TestFingerprintAllocatesNothing(t *testing.T) {
	k := fresh(t)
	v := []byte("maria.silva@exemplo.com.br")
	together, sums := k.Fingerprints(), make([]uint64, 0, 1)
	if n := testing.AllocsPerRun(2000, func() { together.Add('e', v); sums = together.AppendTo(sums[:0]) }); n != 0 {
		t.Errorf("%v allocations a call of what is used again", n)
	}
	if underRace {
		return // the pool behind the next one then forgets at random
	}
	var sum uint64
	// AllocsPerRun rounds down, so a pool that the collector empties in between does not count.
	if n := testing.AllocsPerRun(2000, func() { sum ^= k.Fingerprint('e', v) }); n != 0 {
		t.Errorf("%v allocations a call (%x)", n, sum)
	}
}
