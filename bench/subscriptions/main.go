// Command subscriptions measures the subscription operations through the whole stack, on both engines: bulk creation
// against a raw load of the same stored rows, the memory of the server during one bulk request, the deepest page of a
// long list against its first, and a point get against a bare handler with one primary-key select. Both sides of each
// pair run in turns in one server process. PostgreSQL is the one that VIGIA_TEST_POSTGRES names (scripts/with-postgres
// starts a private one).
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
)

type options struct {
	engine  string
	rounds  int
	items   int
	list    int64
	conns   int
	each    time.Duration
	profile string
}

func main() {
	var o options
	flag.StringVar(&o.engine, "engine", "", "sqlite or postgres; both unless given")
	flag.IntVar(&o.rounds, "rounds", 7, "rounds of each side, taken in turns")
	flag.IntVar(&o.items, "items", 10_000, "items of a bulk request")
	flag.Int64Var(&o.list, "n", 5_000_000, "subscriptions in the long list; 0 leaves the lists out")
	flag.IntVar(&o.conns, "c", 32, "connections of the point get")
	flag.DurationVar(&o.each, "d", 2*time.Second, "length of a round of the point get")
	flag.StringVar(&o.profile, "cpuprofile", "", "write a profile of the bulk requests here")
	child := flag.String("child", "", "internal: measure in this folder")
	flag.Parse()
	var err error
	if *child != "" {
		err = measure(o, *child)
	} else {
		err = both(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "subscriptions:", err)
		os.Exit(1)
	}
}

// both runs each engine in a process of its own, so that the memory of one says nothing about the other.
func both(o options) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, engine := range load.Engines(o.engine) {
		folder, err := os.MkdirTemp("", "vigia-bench")
		if err != nil {
			return err
		}
		args := []string{"-engine", engine, "-child", filepath.Join(folder, "data")}
		flag.Visit(func(f *flag.Flag) {
			if f.Name != "engine" {
				args = append(args, "-"+f.Name+"="+f.Value.String())
			}
		})
		cmd := exec.Command(self, args...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		err = cmd.Run()
		if rerr := os.RemoveAll(folder); err == nil {
			err = rerr
		}
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
	}
	return nil
}

// resident reads a line such as VmRSS of this process, in bytes.
func resident(name string) int64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			var kib int64
			if _, err := fmt.Sscan(v, &kib); err == nil {
				return kib << 10
			}
		}
	}
	return 0
}
