package intake

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPasswordPrefixes: passwords of every length that fits, digested together, come out as one by one.
func TestPasswordPrefixes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for length := range longestPassword + 1 {
		var block passwordBlock
		var want [lanes]uint64
		for lane := range lanes {
			password := make([]byte, (length+lane*lane)%(longestPassword+1))
			for i := range password {
				password[i] = byte(random.Uint32())
			}
			block.put(lane, password)
			want[lane] = passwordPrefix(password)
		}
		if got := block.prefixesPortable(); got != want {
			t.Fatalf("one by one: %x, want %x", got, want)
		}
		if got := block.prefixes(); got != want {
			t.Fatalf("together: %x, want %x", got, want)
		}
	}
}

// TestPairsWait: whatever the order of values and passwords, long ones and repeated ones among them, each pair comes
// out once, before or at the end.
func TestPairsWait(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	pair := func(value, password uint64) uint64 { return value<<40 ^ password }
	var got, want []uint64
	c := pairCollector{pair: pair, flush: func(full pairKeys) pairKeys {
		got = append(got, full...)
		return make(pairKeys, 0, 7)
	}}
	for n := range 5_000 {
		password := bytes.Repeat([]byte{byte('a' + n%26)}, 1+random.IntN(longestPassword+10))
		for range 1 + random.IntN(3)*random.IntN(30) {
			value := random.Uint64()
			c.add(value, password)
			want = append(want, pair(value, passwordPrefix(password)))
		}
	}
	c.end()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%d pairs, want %d", len(got), len(want))
	}
}

func BenchmarkPasswordPrefixes(b *testing.B) {
	var block passwordBlock
	for b.Loop() {
		for lane := range lanes {
			block.put(lane, []byte("Praia2020"))
		}
		block.prefixes()
	}
}
