// Package load is the driver of the programs that measure: one set of flags, parts, sides that take turns in rounds, one
// table of what they reached, and a client whose keep-alive connections send prepared bytes, so that what is measured is
// the server. Errors end the program, so that its lines say what is measured and nothing else.
package load

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// What all programs are told by flags.
var (
	Engine        string
	Rounds, Conns int
	Length        time.Duration
	Against       string
	only, profile string
)

// missed counts the bars of this run that were not reached.
var missed int

// Part is a measurement that -only names. One of several steps has their names with commas between, and asks Wanted.
type Part struct {
	Name   string
	Run    func(ctx context.Context)
	ByHand bool // runs only when it is named
}

// Main runs a program, and ends with 1 after a failure or a missed bar. defaults are those of flags: "rounds=15 c=8".
func Main(defaults string, parts ...Part) {
	var names []string
	for _, p := range parts {
		names = append(names, p.steps()...)
	}
	flag.StringVar(&Engine, "engine", "", "sqlite or postgres; both unless given")
	flag.IntVar(&Rounds, "rounds", 5, "rounds of each side, taken in turns; the median counts")
	flag.IntVar(&Conns, "c", 32, "connections")
	flag.Func("seconds", "length of a round of requests", func(s string) (err error) {
		Length, err = time.ParseDuration(s + "s")
		return err
	})
	flag.StringVar(&Against, "against", "", "folder of another checkout to compare with, where a part does")
	flag.StringVar(&only, "only", "", "what to measure: "+strings.Join(names, ","))
	flag.StringVar(&profile, "profile", "", "write a CPU profile of each part to a file that begins like this")
	err := Try(func() {
		for _, d := range strings.Fields("seconds=2 " + defaults) {
			name, value, _ := strings.Cut(d, "=")
			Check(flag.Set(name, value))
			flag.Lookup(name).DefValue = value
		}
		flag.Parse()
		if !slices.Contains([]string{"", "sqlite", "postgres"}, Engine) || Conns < 1 || Rounds < 1 {
			Fail("-engine is sqlite or postgres, -c and -rounds are one at least")
		}
		for _, name := range strings.Split(only, ",") {
			if only != "" && !slices.Contains(names, name) {
				Fail("%q is none of %s", name, strings.Join(names, ","))
			}
		}
		for _, p := range parts {
			if slices.ContainsFunc(p.steps(), Wanted) && (only != "" || !p.ByHand) {
				Scope(p.run)
			}
		}
	})
	if err == nil && missed > 0 {
		err = fmt.Errorf("%d bars missed", missed)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

func (p Part) steps() []string { return strings.Split(p.Name, ",") }

func (p Part) run() {
	if profile != "" {
		f := Must(os.Create(profile + "-" + p.Name))
		Check(pprof.StartCPUProfile(f))
		Defer(func() { pprof.StopCPUProfile(); _ = f.Close() })
	}
	p.Run(context.Background())
}

// Wanted tells whether a part or a step was asked for.
func Wanted(name string) bool { return only == "" || slices.Contains(strings.Split(only, ","), name) }

// Each does work on the engine that was asked for, or on one after the other.
func Each(work func(engine string)) {
	for _, engine := range []string{"sqlite", "postgres"} {
		if Engine == "" || Engine == engine {
			Scope(func() { work(engine) })
		}
	}
}

// deferred is what the scope has to do at its end.
var deferred []func()

// Scope does work and then what it deferred, the latest first, also when it failed. A part and an engine are one.
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

// File is where a file can be made, in a folder of its own.
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

// Self is this program again, as a process of its own that runs one part.
func Self(part string, args ...string) *exec.Cmd {
	cmd := exec.Command(Must(os.Executable()), append([]string{"-only", part}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// Memory is a line such as VmRSS of a process, in bytes; pid may be "self".
func Memory(pid any, name string) (bytes int64) {
	for line := range strings.Lines(string(Must(os.ReadFile(fmt.Sprintf("/proc/%v/status", pid))))) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			Must(fmt.Sscan(v, &bytes))
		}
	}
	return bytes << 10
}

// Spent is the processor time of this process and its finished children, client and server in one: a figure that other
// work on the machine does not touch as much as requests a second. What PostgreSQL spends is not in it.
func Spent() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		Check(syscall.Getrusage(who, &u))
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}
