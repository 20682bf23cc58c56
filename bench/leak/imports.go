package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/bench/dump"

	"github.com/vigiahq/vigia/internal/corpora"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/scan/scantest"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

// place is a service without listeners.
type place struct {
	store    *store.Store
	keys     *seal.Keys
	depot    *corpora.Depot
	importer *intake.Importer
}

func (b *bench) open(ctx context.Context, name string) (*place, error) {
	dir := filepath.Join(b.folder, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	keys, err := seal.OpenOrCreate(filepath.Join(dir, "keys.json"))
	if err != nil {
		return nil, err
	}
	db, err := sqldb.Open(ctx, filepath.Join(dir, "vigia.db"), sqldb.Options{MaxConns: 4})
	if err != nil {
		return nil, err
	}
	if _, err := store.Migrate(ctx, db, time.Now()); err != nil {
		return nil, err
	}
	depot, err := corpora.Open(filepath.Join(dir, "corpora"), "")
	if err != nil {
		return nil, err
	}
	p := &place{store: store.New(db, keys, time.Now), keys: keys, depot: depot}
	p.importer = &intake.Importer{Store: p.store.Breaches, Jobs: p.store.Jobs, Depot: depot, Dir: filepath.Join(dir, "import"), Fingerprints: keys.Fingerprints, Now: time.Now}
	return p, p.store.CheckKeys(ctx)
}

func breach(name string) cyber.Breach {
	return cyber.Breach{Name: name, Title: name, Date: time.Now().AddDate(0, -1, 0), Exposes: []cyber.Exposed{cyber.ExposedEmail}}
}

// dump writes a made-up dump: dense, sparse, or mixed, which has a megabyte of each in turn.
func (b *bench) dump(name string) (string, error) {
	ignore := func(identifier.Kind, []byte, bool) {}
	dense, sparse := scantest.NewDense(7, ignore), scantest.NewSparse(7, ignore)
	kinds := map[string][]*scantest.Dump{"dense": {dense}, "sparse": {sparse}, "mixed": {dense, sparse}}[name]
	if kinds == nil {
		return "", fmt.Errorf("%q is none of dense, sparse, mixed", name)
	}
	path := filepath.Join(b.folder, name)
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for n, i, buf := 0, 0, []byte(nil); n < b.size<<20; n, i = n+len(buf), i+1 {
		buf = kinds[i%len(kinds)].Append(buf[:0], 1<<20)
		if _, err := w.Write(buf); err != nil {
			return "", err
		}
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	return path, f.Close()
}

// imports compares scanning alone, importing with one worker and importing with two.
func (b *bench) imports(ctx context.Context) error {
	p, err := b.open(ctx, "imports")
	if err != nil {
		return err
	}
	defer func() { _ = p.store.Close() }()
	for _, name := range strings.Split(b.dumps, ",") {
		path, err := b.dump(name)
		if err != nil {
			return err
		}
		if err := b.compare(ctx, p, name, path); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

type cost struct{ wall, cpu time.Duration }

func (c *cost) add(d cost) { c.wall, c.cpu = c.wall+d.wall, c.cpu+d.cpu }

func measure(fn func() error) (cost, error) {
	runtime.GC()
	start, used := time.Now(), cpu()
	err := fn()
	return cost{time.Since(start), cpu() - used}, err
}

// compare takes each round in the order scan, one core, two, one, scan: a machine that grows slower or faster meanwhile
// then does so for both sides. The median of the rounds' ratios counts.
func (b *bench) compare(ctx context.Context, p *place, name, path string) error {
	size := float64(b.size) * 1.048576
	var alone, one, two cost // all rounds together
	var ofScan, speedUp []float64
	imported := 0
	importWith := func(workers int) (cost, error) {
		p.importer.Workers = workers
		runtime.GOMAXPROCS(workers)
		defer runtime.GOMAXPROCS(runtime.NumCPU())
		stop, err := b.profileOf(name, workers)
		if err != nil {
			return cost{}, err
		}
		defer stop()
		imported++
		return measure(func() error {
			inputs, err := intake.Inputs(context.Background(), nil, []string{path})
			if err != nil {
				return err
			}
			_, err = p.importer.Import(ctx, intake.Spec{Breach: breach(fmt.Sprintf("%s-%d", name, imported)), Inputs: inputs})
			return err
		})
	}
	for range b.rounds {
		var scans, ones, twos cost
		for _, step := range []struct {
			sum *cost
			run func() (cost, error)
		}{
			{&scans, func() (cost, error) { return measure(func() error { return scanAlone(path) }) }},
			{&ones, func() (cost, error) { return importWith(1) }},
			{&twos, func() (cost, error) { return importWith(2) }},
			{&ones, func() (cost, error) { return importWith(1) }},
			{&scans, func() (cost, error) { return measure(func() error { return scanAlone(path) }) }},
		} {
			c, err := step.run()
			if err != nil {
				return err
			}
			step.sum.add(c)
		}
		ofScan = append(ofScan, scans.cpu.Seconds()/ones.cpu.Seconds())
		speedUp = append(speedUp, ones.wall.Seconds()/2/twos.wall.Seconds())
		alone.add(scans)
		one.add(ones)
		two.add(twos)
	}
	times := float64(b.rounds)
	fmt.Printf("%-6s import %s, %.0f MB: scan alone %.0f MB/s of CPU; import on one core %.0f MB/s of CPU, %.0f MB/s; on two %.0f MB/s\n", "", name, size,
		2*times*size/alone.cpu.Seconds(), 2*times*size/one.cpu.Seconds(), 2*times*size/one.wall.Seconds(), times*size/two.wall.Seconds())
	slices.Sort(ofScan)
	slices.Sort(speedUp)
	b.bar(ofScan[len(ofScan)/2] >= 0.5, "import %s: %.2f of the scan's own rate (bar: 0.5; rounds %.2f)", name, ofScan[len(ofScan)/2], ofScan)
	b.bar(speedUp[len(speedUp)/2] >= 1.7, "import %s: two cores %.2f times one (bar: 1.7; rounds %.2f)", name, speedUp[len(speedUp)/2], speedUp)
	return nil
}

// profileOf writes a CPU profile of an import, if one is wanted; the last round stays.
func (b *bench) profileOf(dump string, workers int) (stop func(), err error) {
	if b.profile == "" {
		return func() {}, nil
	}
	f, err := os.Create(fmt.Sprintf("%s-%s-%d", b.profile, dump, workers))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, nil
}

// scanAlone reads the dump as fast as the scanner can, in place.
func scanAlone(path string) error {
	stat, err := os.Stat(path)
	if err == nil {
		_, err = dump.Scan(path, stat.Size())
	}
	return err
}

// memory imports what is made to hurt and watches what the process itself holds.
func (b *bench) memory(ctx context.Context) error {
	p, err := b.open(ctx, "memory")
	if err != nil {
		return err
	}
	defer func() { _ = p.store.Close() }()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(232 << 20)) // as the command does
	for name, open := range map[string]func() io.Reader{
		"one-line":   func() io.Reader { return endlessLine(int64(b.line) << 20) },
		"many-files": func() io.Reader { return manyFiles(b.files) },
	} {
		debug.FreeOSMemory()
		stop := watchMemory()
		c, err := measure(func() error {
			in := intake.ReaderInput(name, name, -1, func(context.Context) (io.ReadCloser, error) { return io.NopCloser(open()), nil })
			_, err := p.importer.Import(ctx, intake.Spec{Breach: breach(name), Inputs: []intake.Input{in}})
			return err
		})
		peak := stop()
		if err != nil {
			return err
		}
		b.bar(peak < 256<<20, "memory: %s: at most %.0f MiB of its own in %.0f s (bar: 256)", name, float64(peak)/(1<<20), c.wall.Seconds())
	}
	return nil
}

// endlessLine is a combo list without line ends.
func endlessLine(n int64) io.Reader {
	d := scantest.NewDense(9, func(identifier.Kind, []byte, bool) {})
	text := bytes.ReplaceAll(d.Append(nil, 8<<20), []byte("\n"), []byte(" "))
	return io.LimitReader(&repeating{text: text}, n)
}

type repeating struct {
	text []byte
	at   int
}

func (r *repeating) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

func manyFiles(n int) io.Reader {
	r, w := io.Pipe()
	go func() {
		out := bufio.NewWriterSize(w, 1<<20)
		t := tar.NewWriter(out)
		var err error
		for i := 0; i < n && err == nil; i++ {
			text := "pessoa" + strconv.Itoa(i) + "@exemplo.com.br"
			if err = t.WriteHeader(&tar.Header{Name: strconv.Itoa(i), Size: int64(len(text)), Mode: 0o600}); err == nil {
				_, err = t.Write([]byte(text))
			}
		}
		if err == nil {
			err = t.Close()
		}
		if err == nil {
			err = out.Flush()
		}
		_ = w.CloseWithError(err)
	}()
	return r
}

// watchMemory samples the memory that is the process's own: mapped files are the system's to take back.
func watchMemory() (stop func() int64) {
	done := make(chan struct{})
	var peak int64
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			peak = max(peak, ownMemory())
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return func() int64 { close(done); watching.Wait(); return peak }
}

func ownMemory() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err == nil {
				return kb << 10
			}
		}
	}
	return 0
}

// throughStore reads watched values out of the table and probes them, which is what a match does besides telling.
func (b *bench) throughStore(ctx context.Context) error {
	p, err := b.open(ctx, "store")
	if err != nil {
		return err
	}
	defer func() { _ = p.store.Close() }()
	registry := partner.NewRegistry(p.store.Partners, time.Now, nil)
	owner, _, err := registry.Create(ctx, "Banco", partner.Live, partner.Settings{})
	if err != nil {
		return err
	}
	monitoring := cyber.NewMonitoring(p.store.Monitoring, p.store.Partners, cyber.Unasked{}, p.keys.Fingerprint, time.Now)
	filled, err := measure(func() error {
		for i := range b.watched {
			if err := monitoring.Watch(ctx, cyber.Owner{Partner: owner.ID, Mode: owner.Mode}, partner.UserHash(fmt.Sprint("u", i/4)), "email",
				fmt.Sprintf("pessoa%d@exemplo.com.br", i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	read, err := measure(func() error {
		after, n := int64(-1<<63), 0
		for {
			batch, err := p.store.Breaches.Fingerprints(ctx, after, 50_000)
			if err != nil || len(batch) == 0 {
				return err
			}
			after, n = batch[len(batch)-1], n+len(batch)
		}
	})
	fmt.Printf("%-6s store: %d values watched one by one in %.1f s; read back for probing at %.2f million a second\n", "", b.watched, filled.wall.Seconds(),
		float64(b.watched)/read.wall.Seconds()/1e6)
	return err
}
