package scan

import (
	"bytes"
	"context"
	"testing"

	"vigia/internal/identifier"
	"vigia/internal/scan/scantest"
)

// score compares a scan with the truth of a dump, value by value, counting how often each comes.
type score struct {
	meant, allowed, got map[string]int
}

func newScore() *score {
	return &score{meant: map[string]int{}, allowed: map[string]int{}, got: map[string]int{}}
}

func (s *score) truth(kind identifier.Kind, normal []byte, meant bool) {
	if meant {
		s.meant[kind.String()+" "+string(normal)]++
		return
	}
	s.allowed[kind.String()+" "+string(normal)]++
}

func (s *score) found(kind identifier.Kind, normal []byte) { s.got[kind.String()+" "+string(normal)]++ }

func (s *score) check(t *testing.T) {
	t.Helper()
	total, right, wrong, second := 0, 0, 0, 0
	for value, n := range s.meant {
		total += n
		if s.got[value] < n {
			t.Errorf("written %d times, found %d times: %s", n, s.got[value], value)
		}
	}
	for value, n := range s.got {
		ok := min(n, s.meant[value])
		also := min(n-ok, s.allowed[value])
		right, second, wrong = right+ok, second+also, wrong+n-ok-also
		if n > ok+also && wrong < 20 {
			t.Logf("found, never written: %s", value)
		}
	}
	if total == 0 {
		t.Fatal("an empty truth")
	}
	precision := float64(right+second) / float64(right+second+wrong)
	t.Logf("%d written, %d found, %d of them second readings, %d wrong: precision %.5f", total, right+second+wrong, second, wrong, precision)
	if precision < 0.999 {
		t.Errorf("precision %.5f", precision)
	}
}

func TestTruthOfDumps(t *testing.T) {
	for name, make := range map[string]func(uint64, scantest.Truth) *scantest.Dump{"dense": scantest.NewDense, "sparse": scantest.NewSparse} {
		t.Run(name, func(t *testing.T) {
			s := newScore()
			dump := make(7, s.truth).Append(nil, 16<<20)
			if _, err := NewScanner(s.found).Scan(context.Background(), bytes.NewReader(dump)); err != nil {
				t.Fatal(err)
			}
			s.check(t)
		})
	}
}

func BenchmarkDense(b *testing.B)  { benchmark(b, scantest.NewDense) }
func BenchmarkSparse(b *testing.B) { benchmark(b, scantest.NewSparse) }

func benchmark(b *testing.B, make func(uint64, scantest.Truth) *scantest.Dump) {
	dump := make(7, func(identifier.Kind, []byte, bool) {}).Append(nil, 8<<20)
	var tally [8]int
	s := NewScanner(func(k identifier.Kind, _ []byte) { tally[k]++ })
	b.SetBytes(int64(len(dump)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Scan(context.Background(), bytes.NewReader(dump)); err != nil {
			b.Fatal(err)
		}
	}
}
