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
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/bench/dump"
	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/corpora"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/scan/scantest"
)

// importer is a service that imports, and its store.
type importer struct {
	*intake.Importer
	site *site.Site
}

func open(ctx context.Context, folder string) *importer {
	s := site.Open(ctx, "sqlite")
	load.Check(s.CheckKeys(ctx))
	return &importer{site: s, Importer: &intake.Importer{
		Store: s.Store.Breaches, Jobs: s.Store.Jobs, Files: load.Must(corpora.Open(filepath.Join(folder, "corpora"), "")), Dir: filepath.Join(folder, "import"),
		Fingerprint: s.Keys.Fingerprint, Pair: s.Keys.Pair, Tables: s.Keys, Now: time.Now,
	}}
}

func (p *importer) run(ctx context.Context, name string, inputs ...intake.Input) {
	load.Must(p.Import(ctx, intake.Spec{Inputs: inputs, Breach: cyber.Breach{
		Name: name, Title: name, Date: time.Now().AddDate(0, -1, 0), Exposes: []cyber.Exposed{cyber.ExposedEmail},
	}}))
}

// imports compares scanning alone, importing with one worker and importing with two, on dumps that are dense, sparse, or
// mixed, which have a megabyte of each in turn.
func imports(ctx context.Context, folder string) {
	p := open(ctx, folder)
	defer p.site.Close()
	for _, name := range strings.Split(*dumps, ",") {
		path := filepath.Join(folder, name)
		writeDump(path, name)
		p.compare(ctx, name, path)
		load.Check(os.Remove(path))
	}
}

func kindsOf(name string) []dump.Kind {
	kinds := map[string][]dump.Kind{"dense": dump.Kinds[:1], "sparse": dump.Kinds[1:], "mixed": dump.Kinds}[name]
	if kinds == nil {
		load.Fail("%q is no dump", name)
	}
	return kinds
}

// compare takes each round in the order scan, one core, two, one, scan: a machine that grows slower or faster meanwhile
// then does so for both sides. The median of the rounds' ratios counts.
func (p *importer) compare(ctx context.Context, name, path string) {
	imported := 0
	scan := func() load.Result {
		runtime.GC()
		return load.Time(1, func() { dump.Scan(path, load.Must(os.Stat(path)).Size()) })
	}
	with := func(workers int) func() load.Result {
		return func() load.Result {
			p.Workers = workers
			runtime.GOMAXPROCS(workers)
			defer runtime.GOMAXPROCS(runtime.NumCPU())
			if *profile != "" { // the last round stays
				defer load.Profile(fmt.Sprintf("%s-%s-%d", *profile, name, workers))()
			}
			imported++
			runtime.GC()
			return load.Time(1, func() {
				p.run(ctx, fmt.Sprintf("%s-%d", name, imported), load.Must(intake.Inputs(ctx, nil, []string{path}))...)
			})
		}
	}
	took := load.Turns(*rounds, scan, with(1), with(2), with(1), scan)
	var alone, one, two load.Result // all rounds together, each of two and one
	var ofScan, speedUp []float64
	for i := range *rounds {
		scans, ones, twos := took[0][i].Plus(took[4][i]), took[1][i].Plus(took[3][i]), took[2][i]
		ofScan = append(ofScan, scans.Spent.Seconds()/ones.Spent.Seconds())
		speedUp = append(speedUp, ones.Elapsed.Seconds()/2/twos.Elapsed.Seconds())
		alone, one, two = alone.Plus(scans), one.Plus(ones), two.Plus(twos)
	}
	mb, times := float64(*size)*1.048576, float64(*rounds)
	fmt.Printf("%-6s import %s, %.0f MB: scan alone %.0f MB/s of CPU; import on one core %.0f MB/s of CPU, %.0f MB/s; on two %.0f MB/s\n", "", name, mb,
		2*times*mb/alone.Spent.Seconds(), 2*times*mb/one.Spent.Seconds(), 2*times*mb/one.Elapsed.Seconds(), times*mb/two.Elapsed.Seconds())
	share, cores := load.Median(ofScan), load.Median(speedUp)
	bar(share >= 0.5, "import %s: %.2f of the scan's own rate (bar: 0.5; rounds %.2f)", name, share, ofScan)
	bar(cores >= 1.7, "import %s: two cores %.2f times one (bar: 1.7; rounds %.2f)", name, cores, speedUp)
}

// memory imports what is made to hurt and watches what the process itself holds.
func memory(ctx context.Context, folder string) {
	p := open(ctx, folder)
	defer p.site.Close()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(232 << 20)) // as the command does
	for name, open := range map[string]func() io.Reader{"one-line": endlessLine, "many-files": manyFiles} {
		debug.FreeOSMemory()
		stop := watchMemory()
		took := load.Time(1, func() {
			p.run(ctx, name, intake.ReaderInput(name, name, -1, func(context.Context) (io.ReadCloser, error) { return io.NopCloser(open()), nil }))
		})
		peak := stop()
		bar(peak < 256<<20, "memory: %s: at most %.0f MiB of its own in %.0f s (bar: 256)", name, float64(peak)/(1<<20), took.Elapsed.Seconds())
	}
}

// endlessLine is a combo list without line ends.
func endlessLine() io.Reader {
	d := scantest.NewDense(9, func(identifier.Kind, []byte, bool) {})
	text := bytes.ReplaceAll(d.Append(nil, 8<<20), []byte("\n"), []byte(" "))
	var parts []io.Reader
	for range *line / 8 {
		parts = append(parts, bytes.NewReader(text))
	}
	return io.MultiReader(append(parts, bytes.NewReader(text[:*line%8<<20]))...)
}

func manyFiles() io.Reader {
	r, w := io.Pipe()
	go func() {
		_ = w.CloseWithError(load.Try(func() {
			out := bufio.NewWriterSize(w, 1<<20)
			t := tar.NewWriter(out)
			for i := range *files {
				text := "pessoa" + strconv.Itoa(i) + "@exemplo.com.br"
				load.Check(t.WriteHeader(&tar.Header{Name: strconv.Itoa(i), Size: int64(len(text)), Mode: 0o600}))
				load.Must(t.Write([]byte(text)))
			}
			load.Check(t.Close(), out.Flush())
		}))
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
			peak = max(peak, load.Memory("self", "RssAnon"))
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return func() int64 { close(done); watching.Wait(); return peak }
}

// throughStore reads watched values out of the table and probes them, which is what a match does besides telling.
func throughStore(ctx context.Context, _ string) {
	s := site.Open(ctx, "sqlite")
	defer s.Close()
	monitoring := cyber.NewMonitoring(s.Store.Monitoring, s.Store.Partners, cyber.Unasked{}, s.Keys.Fingerprint, time.Now)
	filled := load.Time(*watched, func() {
		for i := range *watched {
			load.Check(monitoring.Watch(ctx, cyber.Owner{Partner: s.Partner, Mode: partner.Live}, partner.UserHash(fmt.Sprint("u", i/4)), "email",
				fmt.Sprintf("pessoa%d@exemplo.com.br", i)))
		}
	})
	read := load.Time(*watched, func() {
		for after := (leak.Place{}); ; {
			batch, last, err := s.Store.Breaches.Probes(ctx, after, 50_000)
			if load.Check(err); len(batch) == 0 {
				return
			}
			after = last
		}
	})
	fmt.Printf("%-6s store: %d values watched one by one in %.1f s; read back for probing at %.2f million a second\n", "", *watched, filled.Elapsed.Seconds(), read.Rate()/1e6)
}
