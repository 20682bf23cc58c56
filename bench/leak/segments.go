package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/corpora"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/segment"
)

// shares is how many of a thousand people of a made-up dump have each set of classes.
var shares = []int{480, 210, 110, 70, 40, 30, 20, 15, 10, 5, 4, 3, 2, 1}

// labelOf draws a set of classes.
func labelOf(random *rand.Rand) byte {
	at := random.IntN(1000)
	for i, share := range shares {
		if at -= share; at < 0 {
			return byte(i)
		}
	}
	return 0
}

// labels compares a segment with labels and one of the same keys without.
func labels(ctx context.Context) {
	plain := load.File("plain.seg")
	a := site.Segment(ctx, plain, segment.Bits64, rising(1, *keys))
	site.Bits("segment", a, 42)
	secret := load.Must(seal.OpenOrCreate(load.File("keys.json")))
	table := segment.NewLabels(segment.LabelRules{Unite: func(a, _ []byte) []byte { return a }})
	path, random := load.File("labelled.seg"), rand.New(rand.NewPCG(1, 1))
	w := load.Must(segment.CreateLabelled(path, segment.Options{Width: segment.Bits64}, table, secret.SealTable))
	rising(1, *keys)(func(key uint64) {
		label := labelOf(random)
		load.Check(w.AddEntry(key, table.LabelID([]byte{label})))
	})
	load.Must(w.Commit(ctx))
	b := site.OpenSegment(path)
	load.Check(b.OpenLabels(secret.OpenTable))
	bits := func(r *segment.Reader) float64 { return float64(r.Size()) * 8 / float64(r.Count()) }
	fmt.Printf("labels: %d keys: %.2f bits a key without, %.2f with\n", b.Count(), bits(a), bits(b))
	askBoth(ctx, a, b, plain, random)
}

// askMain is put into a checkout as a program: it looks keys up in a segment, all at once or one after the other, a
// second time once all pages were checked, and prints how many nanoseconds of processor time that took.
const askMain = `package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"

	"MODULE/internal/segment"
)

func main() {
	text, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	keys := make([]uint64, len(text)/8)
	for i := range keys {
		keys[i] = binary.LittleEndian.Uint64(text[i*8:])
	}
	r, err := segment.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	ask(r, keys)
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	ask(r, keys)
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	fmt.Println(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
}

func ask(r *segment.Reader, keys []uint64) {
	var found []uint64
	for len(keys) > 0 {
		n, err := 1, error(nil)
		if os.Args[3] == "sorted" {
			n = min(len(keys), 50_000)
			found, err = r.Intersect(found[:0], keys[:n])
		} else {
			_, err = r.Contains(keys[0])
		}
		if err != nil {
			panic(err)
		}
		keys = keys[n:]
	}
}
`

// elsewhere is a side that has another checkout look keys up in the segment at path.
func elsewhere(ctx context.Context, path, how string, keys []uint64) load.Side {
	asker, list := program(ctx, load.Must(filepath.Abs(load.Against)), askMain), load.File("asked")
	text := make([]byte, 0, len(keys)*8)
	for _, k := range keys {
		text = binary.LittleEndian.AppendUint64(text, k)
	}
	load.Check(os.WriteFile(list, text, 0o600))
	return load.Side{Name: "without, other checkout", Run: func() load.Result {
		cmd := exec.CommandContext(ctx, asker, path, list, how)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		spent := time.Duration(load.Must(strconv.Atoi(strings.TrimSpace(string(site.Output(cmd))))))
		return load.Result{Requests: len(keys), Elapsed: spent, Spent: spent}
	}}
}

// askBoth looks the same values up in both, half of which they hold, on one core. What labels may cost is counted from
// look-ups without them as they were before there were any, so it has a bar where there is another checkout.
func askBoth(ctx context.Context, a, b *segment.Reader, path string, random *rand.Rand) {
	oneCore()
	sorted := half(a, *probes)
	scattered := slices.Clone(sorted[:min(len(sorted), 1_000_000)])
	step := max(1, len(sorted)/len(scattered))
	for i := range scattered {
		scattered[i] = sorted[i*step]
	}
	random.Shuffle(len(scattered), func(i, j int) { scattered[i], scattered[j] = scattered[j], scattered[i] })
	each := func(what, how string, keys []uint64, least float64, without, with func()) []load.Series {
		sides := []load.Side{load.Timed("without labels", 0, len(keys), without), load.Timed("with", 0, len(keys), with)}
		if load.Against != "" {
			sides[1].Least = least
			sides = append([]load.Side{elsewhere(ctx, path, how, keys)}, sides...)
		}
		took := load.Compare(what, "a second of CPU", load.Result.OfCPU, sides...)
		return took[len(took)-2:]
	}
	each("look-ups", "scattered", scattered, 0.8, func() {
		for _, k := range scattered {
			load.Must(a.Contains(k))
		}
	}, func() {
		for _, k := range scattered {
			load.Must2(b.LookUp(k))
		}
	})
	const batch = 50_000
	found, entries := make([]uint64, 0, batch), make([]segment.Entry, 0, batch)
	took := each("sorted probes", "sorted", sorted, 1/1.3, func() {
		for some := range slices.Chunk(sorted, batch) {
			found = load.Must(a.Intersect(found[:0], some))
		}
	}, func() {
		for some := range slices.Chunk(sorted, batch) {
			entries = load.Must(b.LookUpAll(entries[:0], some))
		}
	})
	for i, name := range []string{"without labels", "with"} {
		seconds := load.Median(took[i].Values(func(r load.Result) float64 { return r.Elapsed.Seconds() }))
		load.Bar(seconds < 20, "probe: %d watched values in %d keys %s: %.2f s on one core; less than 20 for 10 million in 100 million", len(sorted),
			a.Count(), name, seconds)
	}
}

// half returns n sorted keys, every second of which the segment holds.
func half(r *segment.Reader, n int) []uint64 {
	asked, every, i := make([]uint64, 0, n), max(1, 2*int(r.Count())/n), 0
	for k, err := range r.AllKeys() {
		load.Check(err)
		if i++; i%every == 0 && len(asked) < n/2 {
			asked = append(asked, k)
		}
	}
	for range len(asked) {
		asked = append(asked, rand.Uint64())
	}
	slices.Sort(asked)
	return asked
}

// overlap counts what two segments have in common, and what one has in common with many.
func overlap(ctx context.Context) {
	shared := uint64(0)
	part := func(which int) *segment.Reader { // of all keys a third is its own, a third is both's
		random := rand.New(rand.NewPCG(2, 2))
		shared = 0
		return write(ctx, func(add func(key uint64)) {
			rising(2, *compared*3/2)(func(key uint64) {
				whose := random.IntN(3)
				if whose == 2 {
					shared++
				}
				if whose == which || whose == 2 {
					add(key)
				}
			})
		})
	}
	a, b := part(0), part(1)
	oneCore()
	var got segment.Overlap
	took := load.Time(1, func() { got = load.Must(a.CompareWith(ctx, []*segment.Reader{b})) })
	load.Bar(got.Any == shared && took.Spent < 4*time.Second, "overlap: %d with %d keys: %.2f s of CPU, %d in common, "+
		"all of them counted (bar: 4 s on one core at 20 million)", a.Count(), b.Count(), took.Spent.Seconds(), got.Any)
	earlier := []*segment.Reader{b}
	const others = 100
	for i := range others {
		earlier = append(earlier, write(ctx, rising(uint64(i)+10, max(1, *compared/others))))
	}
	took = load.Time(1, func() { got = load.Must(a.CompareWith(ctx, earlier)) })
	load.Bar(got.Each[0] == shared, "overlap: %d keys with %d segments that have %d: %.2f s of CPU, %d known",
		a.Count(), len(earlier), 2**compared, took.Spent.Seconds(), got.Any)
}

// pairs puts pairs of a value and a password into a segment of their own, and asks for pairs that are not in it: of a
// value with another password, and of another value with the password.
func pairs(ctx context.Context) {
	secret := load.Must(seal.OpenOrCreate(load.File("keys.json")))
	random := rand.New(rand.NewPCG(3, 3))
	const prefix = 1<<40 - 1
	type pair struct{ value, password uint64 }
	kept := make([]pair, 0, 1_000_000)
	every := max(1, *paired/cap(kept))
	r := write(ctx, func(add func(key uint64)) {
		for i := range *paired {
			p := pair{random.Uint64(), random.Uint64() & prefix}
			if i%every == 0 && len(kept) < cap(kept) {
				kept = append(kept, p)
			}
			add(secret.PairFingerprint(p.value, p.password))
		}
	})
	oneCore()
	holds := func(value, password uint64) int {
		if load.Must(r.Contains(secret.PairFingerprint(value, password))) {
			return 1
		}
		return 0
	}
	found, wrong, asked := 0, 0, 3*len(kept)
	took := load.Time(asked, func() {
		for _, p := range kept {
			found += holds(p.value, p.password)
			wrong += holds(p.value, (p.password+1)&prefix) + holds(p.value+1, p.password)
		}
	})
	missing := len(kept) - found
	load.Bar(missing == 0 && wrong == 0, "pairs: %d in %.1f MB, %.2f bits a pair; %.2f million look-ups a second of CPU, "+
		"the fingerprint included; of %d asked %d not found, %d found wrongly", r.Count(), float64(r.Size())/1e6,
		float64(r.Size())*8/float64(r.Count()), took.OfCPU()/1e6, asked, missing, wrong)
}

// oneCore has all that is left of the scope run on one.
func oneCore() {
	before := runtime.GOMAXPROCS(1)
	load.Defer(func() { runtime.GOMAXPROCS(before) })
}

// rising adds n keys that rise, evenly spread.
func rising(seed uint64, n int) func(add func(key uint64)) {
	return func(add func(key uint64)) {
		random, gap, key := rand.New(rand.NewPCG(seed, 1)), 2*(^uint64(0)/uint64(n+1)), uint64(0)
		for range n {
			step := random.Uint64N(gap) + 1
			if key+step < key {
				return // the end of the numbers
			}
			key += step
			add(key)
		}
	}
}

// write makes a segment of the keys that fill adds.
func write(ctx context.Context, fill func(add func(key uint64))) *segment.Reader {
	return site.Segment(ctx, load.File("keys.seg"), segment.Bits64, fill)
}

// onlySegments is a store of nothing but segments.
type onlySegments struct {
	leak.Store
	segments []leak.Segment
}

func (s *onlySegments) CorporaEpoch(context.Context) (int64, error) { return 1, nil }

func (s *onlySegments) ListSegments(context.Context) ([]leak.Segment, int64, error) {
	return s.segments, 1, nil
}

// newValue looks values up in many segments, as the request that adds one does.
func newValue(ctx context.Context) {
	s, folder := &onlySegments{}, load.Folder()
	const each, lookUps = 50_000, 2000
	for i := range *segments {
		load.Scope(func() { // closed again
			file := fmt.Sprintf("b%05d.seg", i)
			r := site.Segment(ctx, folder+"/"+file, segment.Bits64, rising(uint64(i), each))
			s.segments = append(s.segments, leak.Segment{Breach: file, File: file, Digest: r.Digest().String()})
		})
	}
	l := leak.NewLibrary(s, load.Must(corpora.OpenFiles(folder, "")), nil, slog.New(slog.DiscardHandler))
	opened := load.Time(1, func() { load.Check(l.LoadPublished(ctx)) })
	load.Defer(func() { load.Check(l.Close()) })
	var times []time.Duration
	for i := range 2 * lookUps {
		value, start := rand.Uint64(), time.Now()
		l.ProbeFingerprint(value)
		if i >= lookUps { // warm: most pages of most segments have been touched
			times = append(times, time.Since(start))
		}
	}
	// The median: on a machine that does other work too, the tail measures that work.
	p50 := load.Median(times)
	load.Bar(p50 < 5*time.Millisecond, "new value: %d segments of %d keys: p50 %v, p99 %v (bar: 5 ms warm); opened in %v",
		*segments, each, p50, load.Percentile(times, 99), opened.Elapsed.Round(time.Millisecond))
}
