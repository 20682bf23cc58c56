// Command leak measures what leak monitoring promises: looking a new value up in every breach, importing, labels, what
// breaches have in common, and pairs of value and password. -only against -against FOLDER compares scans and imports
// with those of another checkout, which is how a change of speed is told on a busy machine; -only labels does so with
// look-ups.
//
// It prints one line per figure with its bar, and exits with 1 when a bar is missed. Rates of two sides are measured in
// the same run.
package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/scan/scantest"
)

var (
	keys     = flag.Int("keys", 100_000_000, "keys of the large segment")
	probes   = flag.Int("probes", 10_000_000, "watched values probed in it")
	segments = flag.Int("segments", 1000, "segments that a new value is looked up in")
	size     = flag.Int("size", 512, "size of the imported dump in MiB")
	dumps    = flag.String("dumps", "dense,sparse,mixed", "which dumps are imported: dense, sparse, mixed, or a format of scantest")
	line     = flag.Int("line", 4096, "length of the simulated single line in MiB")
	files    = flag.Int("files", 1_000_000, "files in the simulated tar")
	compared = flag.Int("compared", 20_000_000, "keys of each of the segments whose overlap is counted")
	paired   = flag.Int("paired", 100_000_000, "pairs of value and password")
)

func main() {
	load.Main("",
		load.Part{Name: "new", Run: newValue}, load.Part{Name: "import", Run: imports}, load.Part{Name: "memory", Run: memory},
		load.Part{Name: "labels", Run: labels}, load.Part{Name: "overlap", Run: overlap}, load.Part{Name: "pairs", Run: pairs},
		load.Part{Name: "against", Run: against, ByHand: true})
}

// importInto imports inputs as a breach of its own.
func importInto(ctx context.Context, s *site.Service, name string, inputs ...intake.Input) {
	load.Must(s.Leaks.Importer.ImportBreach(ctx, intake.Spec{Inputs: inputs, Breach: cyber.Breach{
		Name: name, Title: name, Date: time.Now().AddDate(0, -1, 0), Exposes: []cyber.Exposed{cyber.ExposedEmail},
	}}))
}

// imports compares scanning alone, importing with one worker and importing with two.
func imports(ctx context.Context) {
	s, path, imported := site.New(ctx, "sqlite"), load.File("dump"), 0
	for _, dump := range strings.Split(*dumps, ",") {
		site.WriteDump(path, dump, *size<<20)
		timed := func(work func()) load.Result {
			runtime.GC()
			return load.Time(int(site.Size(path)), work)
		}
		scan := func() load.Result { return timed(func() { site.Scan(path) }) }
		with := func(workers int) func() load.Result {
			return func() load.Result {
				s.Leaks.Importer.Workers = workers
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
				imported++
				return timed(func() {
					importInto(ctx, s, fmt.Sprint("dump-", imported), load.Must(intake.ListInputs(ctx, nil, []string{path}))...)
				})
			}
		}
		load.Compare("import "+dump, "MB/s of CPU", load.Mega(load.Result.OfCPU), load.Side{Name: "scan alone", Run: scan},
			load.Side{Name: "import on one core", Run: with(1), Least: 0.5})
		load.Compare("import "+dump, "MB/s", load.Mega(load.Result.Rate), load.Side{Name: "one core", Run: with(1)},
			load.Side{Name: "two cores", Run: with(2), Least: 1.7})
	}
}

// memory imports what is made to hurt and watches what the process itself holds.
func memory(ctx context.Context) {
	s := site.New(ctx, "sqlite")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(232 << 20)) // as the command does
	for name, open := range map[string]func() io.Reader{"one-line": endlessLine, "many-files": manyFiles} {
		debug.FreeOSMemory()
		var peak int64
		input := intake.ReaderInput(name, name, -1, func(context.Context) (io.ReadCloser, error) { return io.NopCloser(open()), nil })
		took := load.Time(1, func() {
			load.Beside(func() { importInto(ctx, s, name, input) }, 1, func(int) {
				peak = max(peak, load.Memory("self", "RssAnon")) // mapped files are the system's to take back
				time.Sleep(20 * time.Millisecond)
			})
		})
		load.Bar(peak < 256<<20, "memory: %s: at most %d MiB of its own in %v (bar: 256)", name, peak>>20, took.Elapsed.Round(time.Second))
	}
}

// endlessLine is a combo list without line ends.
func endlessLine() io.Reader {
	d := scantest.NewDense(9, func(identifier.Kind, []byte, bool) {})
	text := bytes.ReplaceAll(d.Append(nil, 8<<20), []byte("\n"), []byte(" "))
	return site.Piped(func(w io.Writer) {
		for left := *line << 20; left > 0; left -= len(text) {
			load.Must(w.Write(text[:min(left, len(text))]))
		}
	})
}

func manyFiles() io.Reader {
	return site.Piped(func(w io.Writer) {
		t := tar.NewWriter(w)
		for i := range *files {
			text := "pessoa" + strconv.Itoa(i) + "@exemplo.com.br"
			load.Check(t.WriteHeader(&tar.Header{Name: strconv.Itoa(i), Size: int64(len(text)), Mode: 0o600}))
			load.Must(io.WriteString(t, text))
		}
		load.Check(t.Close())
	})
}

// scanMain is put into a checkout as a program, whatever its module is called.
const scanMain = `package main

import (
	"context"
	"os"

	"MODULE/internal/identifier"
	"MODULE/internal/scan"
)

func main() {
	f, err := os.Open(os.Args[1])
	if err == nil {
		_, err = scan.NewScanner(func(identifier.Kind, []byte) {}).Scan(context.Background(), f)
	}
	if err != nil {
		panic(err)
	}
}
`

// built is a checkout's programs, and an installation without a breach.
type built struct{ vigia, scan, data, empty string }

// program builds a program from a checkout whose source is not in it. MODULE in it stands for the checkout's module.
func program(ctx context.Context, checkout, source string) string {
	module, code, overlay, path := strings.TrimSpace(string(site.Go(ctx, checkout, "list", "-m"))), load.File("main.go"), load.File("overlay.json"), load.File("program")
	load.Check(os.WriteFile(code, []byte(strings.ReplaceAll(source, "MODULE", module)), 0o600))
	replace := map[string]any{"Replace": map[string]string{filepath.Join(checkout, "bench/alone/main.go"): code}}
	load.Check(os.WriteFile(overlay, load.Must(json.Marshal(replace)), 0o600))
	site.Go(ctx, checkout, "build", "-o", path, "-overlay", overlay, "./bench/alone")
	return path
}

// build builds the command and a scanner from a checkout, and begins an installation with the former.
func build(ctx context.Context, checkout string) built {
	checkout = load.Must(filepath.Abs(checkout))
	b := built{vigia: site.Build(ctx, checkout), scan: program(ctx, checkout, scanMain), data: load.File("data"), empty: load.Folder()}
	site.Output(site.Command(ctx, b.vigia, config.Common{Data: b.empty}, "partner", "create", "--name", "bench"))
	return b
}

// against compares with another checkout of the repository: scanning and importing the same dumps, each in a process of
// its own on one core, in turns, by processor time.
func against(ctx context.Context) {
	here, there, path := build(ctx, "."), build(ctx, load.Against), load.File("dump.txt")
	run := func(cmd *exec.Cmd) load.Result {
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		return load.Time(int(site.Size(path)), func() { site.Output(cmd) })
	}
	scans := func(b built) func() load.Result {
		return func() load.Result { return run(exec.CommandContext(ctx, b.scan, path)) }
	}
	imports := func(b built, more ...string) func() load.Result {
		// Each into an installation without a breach: what is counted of those before it has a bar of its own, and would
		// grow from round to round.
		args := append([]string{"breach", "import", "--name", "bench", "--title", "x", "--date", "2025-01-01", "--exposes", "email", path}, more...)
		return func() load.Result {
			load.Check(os.RemoveAll(b.data))
			site.Output(exec.CommandContext(ctx, "cp", "-a", b.empty, b.data)) // modes too: a key file is for its owner only
			return run(site.Command(ctx, b.vigia, config.Common{Data: b.data}, args...))
		}
	}
	for _, dump := range strings.Split(*dumps, ",") {
		site.WriteDump(path, dump, *size<<20)
		load.Compare("scan "+dump, "MB/s of CPU", load.Mega(load.Result.OfCPU), load.Side{Name: "other checkout", Run: scans(there)},
			load.Side{Name: "this one", Run: scans(here)}) // which now tells records too
		load.Compare("import "+dump, "MB/s of CPU", load.Mega(load.Result.OfCPU), load.Side{Name: "other checkout", Run: imports(there)},
			load.Side{Name: "this one", Run: imports(here), Least: 0.7}, load.Side{Name: "this one, --no-pairs", Run: imports(here, "--no-pairs"), Least: 0.7})
	}
}
