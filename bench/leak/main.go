// Command leak measures what leak monitoring promises: probing watched values, looking a new value up in every breach,
// and importing.
//
//	go run ./bench/leak [-keys N] [-probes N] [-segments N] [-size MiB] [-dumps dense,sparse,mixed] [-line MiB] [-files N] [-rounds N] [-only probe,new,import,memory,store]
//
// It prints one line per figure with its bar, and exits with 1 when a bar is missed. Rates of two sides are measured in
// the same run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

type settings struct {
	keys, probes, segments, size, line, files, rounds, watched int
	dumps, profile                                             string
}

type bench struct {
	settings
	folder string
	missed int
}

func main() {
	b := &bench{}
	flag.IntVar(&b.keys, "keys", 100_000_000, "keys of the large segment")
	flag.IntVar(&b.probes, "probes", 10_000_000, "watched values probed in it")
	flag.IntVar(&b.segments, "segments", 1000, "segments that a new value is looked up in")
	flag.IntVar(&b.size, "size", 512, "size of the imported dump in MiB")
	flag.StringVar(&b.dumps, "dumps", "dense,sparse,mixed", "which dumps are imported")
	flag.StringVar(&b.profile, "profile", "", "write CPU profiles of the imports to files that begin like this")
	flag.IntVar(&b.line, "line", 4096, "length of the simulated single line in MiB")
	flag.IntVar(&b.files, "files", 1_000_000, "files in the simulated tar")
	flag.IntVar(&b.watched, "watched", 300_000, "rows of the table of watched values")
	flag.IntVar(&b.rounds, "rounds", 5, "rounds; of imports the median counts, elsewhere the best")
	only := flag.String("only", "probe,new,import,memory,store", "what to measure")
	flag.Parse()
	if err := b.run(context.Background(), strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "leak:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, only []string) (err error) {
	if b.folder, err = os.MkdirTemp("", "leak-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.folder)) }()
	parts := map[string]func(context.Context) error{
		"probe": b.probe, "new": b.newValue, "import": b.imports, "memory": b.memory, "store": b.throughStore,
	}
	for _, name := range only {
		part := parts[name]
		if part == nil {
			return fmt.Errorf("%q is none of probe, new, import, memory, store", name)
		}
		if err := part(ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if b.missed > 0 {
		return fmt.Errorf("%d bars missed", b.missed)
	}
	return nil
}

// bar prints a figure and whether it keeps its promise.
func (b *bench) bar(ok bool, format string, args ...any) {
	verdict := "ok"
	if !ok {
		verdict, b.missed = "MISSED", b.missed+1
	}
	fmt.Printf("%-6s %s\n", verdict, fmt.Sprintf(format, args...))
}

// cpu is the processor time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
