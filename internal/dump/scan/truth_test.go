package scan

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
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

// check compares. In tables nearly every number has one reading, by its column; where nothing like it stands around a
// number, both are kept, and that is no mistake.
func (s *score) check(t *testing.T, tables bool) {
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
		if strings.HasPrefix(value, identifier.CNPJ.String()) { // which its column tells
			ok, also = ok+also, 0
		}
		right, second, wrong = right+ok, second+also, wrong+n-ok-also
		if n > ok+also && wrong < 20 {
			t.Logf("found, never written: %s", value)
		}
	}
	if total == 0 {
		t.Fatal("an empty truth")
	}
	found := float64(right + second + wrong)
	precision, strict := float64(right+second)/found, float64(right)/found
	t.Logf(
		"%d written, %.0f found, %d of them second readings, %d wrong: precision %.5f, %.5f if second readings are "+
			"wrong",
		total,
		found,
		second,
		wrong,
		precision,
		strict,
	)
	if precision < 0.999 || tables && strict < 0.999 {
		t.Errorf("precision %.5f, %.5f if second readings are wrong", precision, strict)
	}
}

// TestTruthOfDumps: no identifier is missed in 16 MiB of tables, 4 of them in the usual run, nor with all lines
// shuffled; second readings counted as wrong, 99.997 % are right.
func TestTruthOfDumps(t *testing.T) {
	for name, c := range map[string]struct {
		make     func(uint64, Truth) *Dump
		shuffled bool
	}{
		"dense": {make: NewDense}, "dense, lines shuffled": {
			make:     NewDense,
			shuffled: true,
		}, "sparse": {make: NewSparse},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScore()
			dump := c.make(7, s.truth).Append(nil, sized(4<<20, 16<<20))
			if c.shuffled { // the lines around a number say nothing about it then, or the wrong thing
				lines := bytes.SplitAfter(dump, []byte("\n"))
				rand.New(rand.NewPCG(1, 1)).Shuffle(len(lines),
					func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
				dump = bytes.Join(lines, nil)
			}
			if _, err := NewScanner(s.found).Scan(context.Background(), bytes.NewReader(dump)); err != nil {
				t.Fatal(err)
			}
			s.check(t, name == "dense")
		})
	}
}

func BenchmarkDense(b *testing.B)  { benchmark(b, NewDense) }
func BenchmarkSparse(b *testing.B) { benchmark(b, NewSparse) }

func benchmark(b *testing.B, make func(uint64, Truth) *Dump) {
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

func BenchmarkDenseRecords(b *testing.B)  { benchmarkRecords(b, NewDense) }
func BenchmarkSparseRecords(b *testing.B) { benchmarkRecords(b, NewSparse) }

func benchmarkRecords(b *testing.B, make func(uint64, Truth) *Dump) {
	dump := make(7, func(identifier.Kind, []byte, bool) {}).Append(nil, 8<<20)
	var tally [8]int
	r := NewRecorder(func(s *record.Sighting) { tally[s.Kind]++ })
	b.SetBytes(int64(len(dump)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Scan(context.Background(), bytes.NewReader(dump), "dump"); err != nil {
			b.Fatal(err)
		}
	}
}
