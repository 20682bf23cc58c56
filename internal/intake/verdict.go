package intake

import (
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/vigiahq/vigia/internal/container"
)

// options say how an input is opened: with the passwords that were given, and with names that stand beside it, as
// archives are often passed on under the name of their password.
func (run *importRun) options(in Input) container.Options {
	o := container.Options{Limits: run.im.limits(), Passwords: run.spec.Passwords}
	if in.source.Path == "" {
		return o
	}
	if run.beside == nil {
		run.beside = map[string][]string{}
		for _, other := range run.spec.Inputs {
			if dir := filepath.Dir(other.source.Path); other.source.Path != "" && len(run.beside[dir]) < namesBeside {
				run.beside[dir] = append(run.beside[dir], stem(other.source.Path))
			}
		}
	}
	dir := filepath.Dir(in.source.Path)
	o.Passwords = append(append(append([]string{}, o.Passwords...), stem(in.source.Path), filepath.Base(dir)), run.beside[dir]...)
	return o
}

// namesBeside is how many names of a folder are tried as passwords.
const namesBeside = 20

// stem is a file's name without what tells its kind.
func stem(path string) string {
	name := filepath.Base(path)
	if dot := strings.IndexByte(name, '.'); dot > 0 {
		return name[:dot]
	}
	return name
}

// judge counts an input that has been walked.
func (run *importRun) judge(report *container.Report) {
	switch report.Verdict() {
	case container.Read:
		run.verdicts.Read++
	case container.Partly:
		run.verdicts.Partly++
	case container.Unread:
		run.verdicts.Unread++
	}
	for _, s := range report.Skips {
		run.problem(s)
	}
	run.verdicts.Problems += report.Skipped - int64(len(report.Skips))
	run.verdicts.Note("other reasons", report.Skipped-int64(len(report.Skips)))
}

const (
	skipsKept     = 100
	reasonLongest = 100
)

// problem notes something that was not read. Only the reason is kept: names belong to the dump.
func (run *importRun) problem(s container.Skip) {
	if len(run.skips) < skipsKept {
		run.skips = append(run.skips, s)
	}
	run.verdicts.Problems++
	run.verdicts.Note(s.Reason[:min(len(s.Reason), reasonLongest)], 1)
}

// name scans what a file is called: stealer logs and exports are often named after their owner.
func (run *importRun) name(in Input, entry string) {
	if run.passed(run.at) {
		return
	}
	called := in.inner
	if _, inside, ok := strings.Cut(entry, "!"); ok {
		called += "!" + inside
	}
	digits := 0
	for _, c := range called {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	const leastDigits = 8
	if digits < leastDigits && !strings.Contains(called, "@") {
		return
	}
	buf := <-run.buffers
	text := append(buf[:0], strings.NewReplacer("!", "\n", "/", "\n", "\\", "\n", "_", " ").Replace(called)...)
	run.pending.Add(1)
	run.small <- smallStream{text: text, buf: buf}
}

// passed says whether an earlier run has scanned the stream at a place.
func (run *importRun) passed(at cursor) bool {
	return at.Input == run.from.Input && (at.Stream < run.from.Stream || at.Stream == run.from.Stream && run.from.Span > 0)
}

// fill reads until p is full or r ends. Unlike io.ReadFull it keeps the end of r apart from a stream that was cut off.
func fill(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	if n == len(p) && !errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
