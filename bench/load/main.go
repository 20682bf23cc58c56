// Package load is the driver of the programs that measure: one set of flags, sides that take turns in rounds, one table
// of what they reached, and a client whose keep-alive connections send prepared bytes, so that what is measured is the
// server. Errors end the program, so that its lines say what is measured and nothing else.
package load

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The flags that all programs have.
var (
	Rounds, Conns int
	Length        time.Duration
	only, profile string
)

// missed counts the bars of this run that were not reached.
var missed int

// Step is a measurement that -only names.
type Step struct {
	Name string
	Run  func(ctx context.Context)
}

// Main runs the steps of a program that were asked for, and exits with 1 after a failure or a missed bar. defaults are
// those of flags: "rounds=15 c=8". The steps share one scope: the first may prepare what the others use.
func Main(defaults string, steps ...Step) {
	var names []string
	for _, s := range steps {
		names = append(names, s.Name)
	}
	flag.IntVar(&Rounds, "rounds", 5, "rounds of each side, taken in turns; the median counts")
	flag.IntVar(&Conns, "c", 32, "connections")
	flag.Func("seconds", "length of a round of requests", func(s string) (err error) {
		Length, err = time.ParseDuration(s + "s")
		return err
	})
	flag.StringVar(&only, "only", "", "what to measure: "+strings.Join(names, ","))
	flag.StringVar(&profile, "profile", "", "write a CPU profile to this file")
	err := Try(func() {
		for _, d := range strings.Fields("seconds=2 " + defaults) {
			name, value, _ := strings.Cut(d, "=")
			Check(flag.Set(name, value))
			flag.Lookup(name).DefValue = value
		}
		flag.Parse()
		if Conns < 1 || Rounds < 1 {
			Fail("-c and -rounds are one at least")
		}
		wanted := strings.Split(only, ",")
		for _, name := range wanted {
			if only != "" && !slices.Contains(names, name) {
				Fail("%q is none of %s", name, strings.Join(names, ","))
			}
		}
		Scope(func() {
			if profile != "" {
				f := Must(os.Create(profile))
				Check(pprof.StartCPUProfile(f))
				Defer(func() { pprof.StopCPUProfile(); Check(f.Close()) })
			}
			for _, s := range steps {
				if only == "" || slices.Contains(wanted, s.Name) {
					s.Run(context.Background())
				}
			}
		})
	})
	if err == nil && missed > 0 {
		err = fmt.Errorf("%d bars missed", missed)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

// deferred is what the scope has to do at its end.
var deferred []func()

// Scope does work and then what it deferred, the latest first, also when it failed.
func Scope(work func()) {
	outer := deferred
	deferred = nil
	errs := []error{Try(work)}
	for _, next := range slices.Backward(deferred) {
		errs = append(errs, Try(next))
	}
	deferred = outer
	Check(errs...)
}

// Defer has work done at the end of the scope.
func Defer(work func()) { deferred = append(deferred, work) }

// Folder makes an empty one, which is removed at the end of the scope.
func Folder() string {
	folder := Must(os.MkdirTemp("", "vigia-bench"))
	Defer(func() { _ = os.RemoveAll(folder) })
	return folder
}

// File returns where a file can be made, in a folder of its own.
func File(name string) string { return filepath.Join(Folder(), name) }

// failure is an error on its way up to Main or Try.
type failure struct{ error }

// Check ends the program if there is an error. A benchmark that meets one has nothing to tell.
func Check(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		panic(failure{err})
	}
}

// Must is Check for a call that also returns something.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Must2 is Must for two values.
func Must2[A, B any](a A, b B, err error) (A, B) {
	Check(err)
	return a, b
}

// Fail ends the program with a sentence.
func Fail(format string, args ...any) { Check(fmt.Errorf(format, args...)) }

// Try returns the error that work ended with.
func Try(work func()) (err error) {
	defer func() {
		if met := recover(); met != nil {
			f, ours := met.(failure)
			if !ours {
				panic(met)
			}
			err = f.error
		}
	}()
	work()
	return nil
}

// Parallel runs n at once, and fails if one of them does.
func Parallel(n int, work func(i int)) {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = Try(func() { work(i) }) })
	}
	wg.Wait()
	Check(errs...)
}

// Beside does work, and beside it something else over and over, n at once, until the work is done.
func Beside(work func(), n int, other func(i int)) {
	var over atomic.Bool
	Parallel(n+1, func(i int) {
		if i == n {
			defer over.Store(true)
			work()
			return
		}
		for !over.Load() {
			other(i)
		}
	})
}
