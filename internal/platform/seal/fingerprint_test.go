package seal

import "testing"

// The message and key of appendix A of the paper of SipHash (Aumasson and Bernstein, 2012).
func TestSipHashVector(t *testing.T) {
	msg := counting(0)[:15]
	key := sipKey{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	if got := key.hashMessage(msg); got != 0xa129ca6149be45e5 {
		t.Errorf("%016x", got)
	}
}

// A pair names its value, its password and that it is a pair: none of them may be left out of the hash.
func TestPairsAreToldApart(t *testing.T) {
	k, other := fresh(t), fresh(t)
	const value, password = 0x0123456789abcdef, 0x5baa61e4c9
	pair := k.PairFingerprint(value, password)
	for what, p := range map[string]uint64{
		"another value": k.PairFingerprint(value+1, password), "another password": k.PairFingerprint(value, password+1),
		"exchanged": k.PairFingerprint(password, value), "another installation": other.PairFingerprint(value, password),
	} {
		if p == pair {
			t.Errorf("%s gives the same pair", what)
		}
	}
	if reopen(t, k).PairFingerprint(value, password) != pair {
		t.Error("a pair does not outlive its process")
	}
	first, last := k.PairRange(value)
	if pair < first || pair > last || last-first != 1<<24-1 {
		t.Errorf("%x is not among the pairs %x to %x of its value", pair, first, last)
	}
	if p := k.PairFingerprint(value, password+1); p < first || p > last {
		t.Error("another password of the value is not among its pairs")
	}
	if p := k.PairFingerprint(value+1, password); p >= first && p <= last {
		t.Error("another value's pair is among them")
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
	if k.Fingerprint('p', v) != was || reopen(t, k).Fingerprint('p', v) != was {
		t.Error("a rotation changed a fingerprint: every segment would be void")
	}
}

func TestFingerprintAllocatesNothing(t *testing.T) {
	k := fresh(t)
	v := []byte("maria.silva@exemplo.com.br")
	var sum uint64
	if n := testing.AllocsPerRun(2000, func() { sum ^= k.PairFingerprint(k.Fingerprint('e', v), sum) }); n != 0 {
		t.Errorf("%v allocations a call (%x)", n, sum)
	}
}
