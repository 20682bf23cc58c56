// Command leak measures what leak monitoring promises: probing watched values, looking a new value up in every breach,
// importing, labels, what breaches have in common, and pairs of value and password.
//
//	go run ./bench/leak [-keys N] [-probes N] [-segments N] [-size MiB] [-dumps dense,sparse,mixed] [-line MiB] [-files N] [-compared N] [-paired N] [-rounds N]
//	    [-only probe,new,import,memory,store,labels,overlap,pairs]
//
// It prints one line per figure with its bar, and exits with 1 when a bar is missed. Rates of two sides are measured in
// the same run.
package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/vigiahq/vigia/bench/load"
)

var (
	keys     = flag.Int("keys", 100_000_000, "keys of the large segment")
	probes   = flag.Int("probes", 10_000_000, "watched values probed in it")
	segments = flag.Int("segments", 1000, "segments that a new value is looked up in")
	size     = flag.Int("size", 512, "size of the imported dump in MiB")
	dumps    = flag.String("dumps", "dense,sparse,mixed", "which dumps are imported: dense, sparse, mixed, or a format of scantest")
	checkout = flag.String("against", "", "folder of another checkout to compare imports with, for -only against")
	profile  = flag.String("profile", "", "write CPU profiles of the imports to files that begin like this")
	line     = flag.Int("line", 4096, "length of the simulated single line in MiB")
	files    = flag.Int("files", 1_000_000, "files in the simulated tar")
	watched  = flag.Int("watched", 300_000, "rows of the table of watched values")
	compared = flag.Int("compared", 20_000_000, "keys of each of the segments whose overlap is counted")
	paired   = flag.Int("paired", 100_000_000, "pairs of value and password")
	rounds   = flag.Int("rounds", 5, "rounds; of imports the median counts, elsewhere the best")
	only     = flag.String("only", everything, "what to measure")
)

const everything = "probe,new,import,memory,store,labels,overlap,pairs"

func main() {
	load.Main(func(ctx context.Context) {
		parts := map[string]func(context.Context, string){
			"probe": probe, "new": newValue, "import": imports, "memory": memory, "store": throughStore,
			"labels": labels, "overlap": overlap, "pairs": pairs, "against": against,
		}
		for _, name := range strings.Split(*only, ",") {
			if parts[name] == nil {
				load.Fail("%q is none of %s", name, everything)
			}
			folder, remove := load.Folder()
			err := load.Try(func() { parts[name](ctx, folder) })
			remove()
			load.Check(err)
		}
	})
}

// bar prints a figure and whether it keeps its promise.
func bar(ok bool, format string, args ...any) {
	fmt.Printf("%-6s %s\n", load.Bar(ok), fmt.Sprintf(format, args...))
}
