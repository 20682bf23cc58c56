package load

import (
	"cmp"
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
	"syscall"
	"time"
)

// failure is an error on its way up to Main or Try.
type failure struct{ error }

// missed counts the bars of this run that were not reached.
var missed int

// Main runs a program: it parses the flags, and ends with 1 after a failure or a missed bar. What was deferred has run
// by then.
func Main(run func(ctx context.Context)) {
	flag.Parse()
	err := Try(func() { run(context.Background()) })
	if err == nil && missed > 0 {
		err = fmt.Errorf("%d bars missed", missed)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

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

// Verdict is how a figure is judged.
func Verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "MISSED"
}

// Bar judges a figure, and lets the program end with 1 if it is missed.
func Bar(ok bool) string {
	if !ok {
		missed++
	}
	return Verdict(ok)
}

// Folder makes a temporary folder.
func Folder() (path string, remove func()) {
	path = Must(os.MkdirTemp("", "vigia-bench"))
	return path, func() { _ = os.RemoveAll(path) }
}

// Profile writes a CPU profile until stopped, if a path is given.
func Profile(path string) (stop func()) {
	if path == "" {
		return func() {}
	}
	f := Must(os.Create(path))
	Check(pprof.StartCPUProfile(f))
	return func() { pprof.StopCPUProfile(); _ = f.Close() }
}

// Self is this program again, as a process of its own.
func Self(args ...string) *exec.Cmd {
	cmd := exec.Command(Must(os.Executable()), args...)
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

// Median of a list, which stays as it is.
func Median[T cmp.Ordered](list []T) T { return Percentile(list, 50) }

// Percentile of a list, which stays as it is.
func Percentile[T cmp.Ordered](list []T, percent int) T {
	return slices.Sorted(slices.Values(list))[min(len(list)*percent/100, len(list)-1)]
}
