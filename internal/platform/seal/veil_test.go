package seal_test

import (
	"testing"

	"github.com/vigiahq/vigia/internal/platform/seal"
)

// TestVeil: what is veiled comes back under the same partner, is different for another and for another installation,
// and is not what it was; one bit more in a fingerprint changes about half of the bits.
func TestVeil(t *testing.T) {
	k, other := seal.NewKeys(t), seal.NewKeys(t)
	seen, flipped := map[uint64]bool{}, 0
	const n = 2000
	for i := range uint64(n) {
		f := i * 0x9E3779B97F4A7C15
		v := k.PartnerVeil("prt_1").HideFingerprint(f)
		if k.PartnerVeil("prt_1").ShowFingerprint(v) != f {
			t.Fatalf("%x does not come back", f)
		}
		if v == f || v == k.PartnerVeil("prt_2").HideFingerprint(f) ||
			v == other.PartnerVeil("prt_1").HideFingerprint(f) ||
			seen[v] {
			t.Fatalf("%x is %x, which is something else too", f, v)
		}
		seen[v] = true
		for d := v ^ k.PartnerVeil("prt_1").HideFingerprint(f^1); d != 0; d &= d - 1 {
			flipped++
		}
	}
	if mean := float64(flipped) / n; mean < 31 || mean > 33 {
		t.Errorf("a bit changes %.1f bits, want 32", mean)
	}
}

func BenchmarkVeil(b *testing.B) {
	k := seal.NewKeys(b)
	var sink uint64
	veil := k.PartnerVeil("prt_1")
	for i := range uint64(b.N) {
		sink += veil.ShowFingerprint(i)
	}
	_ = sink
}
