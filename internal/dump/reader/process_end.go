package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Why a reader ended, as people read it.
const (
	endMemory = "memory"
	endTime   = "time"
	endOutput = "output"
	endCrash  = "crash"
	// endThreads is the end of a reader that started more threads than one has.
	endThreads = "threads"
	// EndBudget is the end of a reader whose input took more processor time than it may: none goes on with that input.
	EndBudget = "processor"
	// EndChanged is the end of a reader whose file became shorter while it was mapped.
	EndChanged = "file changed"
)

// Ended is the error of a reader that ended before its work did: it was killed because it exceeded a limit, or it
// crashed.
type Ended struct {
	// Why is one of a few words: memory, time, output, crash, threads, processor, file changed.
	Why string
	// Spent is what the input at hand took until then.
	Spent Spent
	// Layer is the innermost layer of the input that was open, -1 if none was, and Streams how many texts had been
	// begun.
	Layer, Streams int64
}

func (e *Ended) Error() string { return fmt.Sprintf("reader ended (%s)", e.Why) }

// headWriter keeps the first bytes that are written: a crash says there what it is, and the rest may be of the dump.
type headWriter struct {
	mu   sync.Mutex // what the reader left behind may still write when the reader was waited for
	head bytes.Buffer
}

func (h *headWriter) Write(p []byte) (int, error) {
	const longest = 400
	h.mu.Lock()
	defer h.mu.Unlock()
	h.head.Write(p[:min(len(p), max(0, longest-h.head.Len()))])
	return len(p), nil
}

// text returns what was kept.
func (h *headWriter) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.head.String()
}

// killReader ends the reader and keeps why.
func (p *Process) killReader(why string) {
	p.killed.CompareAndSwap(nil, &why)
	_ = p.killGroup() // it may have ended by itself
	// What it left behind may hold the other ends, and neither reading nor writing would return.
	_ = p.stdin.Close()
	_ = p.stdout.Close()
}

// killGroup ends the reader and what it may have started.
func (p *Process) killGroup() error {
	p.group.Lock()
	defer p.group.Unlock()
	if p.isEnded {
		return os.ErrProcessDone
	}
	return killGroup(p.cmd.Process)
}

// waitForEnd waits until the reader has ended, then ends what it may have started. It may be called again.
func (p *Process) waitForEnd() {
	hasEnded := awaitExit(p.cmd.Process.Pid)
	p.group.Lock()
	if hasEnded && !p.isEnded {
		_ = killGroup(p.cmd.Process) // most often there is nothing else in it
	}
	p.isEnded = p.isEnded || hasEnded
	p.group.Unlock()
	_ = p.cmd.Wait() // its state is looked at by who needs it; the second time it is an error
}

// outOfMemory is what a reader says that gets no more memory: Go, the system, and the C library and race detector of a
// test's build, which also need memory for each thread.
var outOfMemory = []string{
	"out of memory", "cannot allocate", "failed to allocate", "failed to mmap", "pthread_create failed",
}

// lastTime is how long a reader may take to end.
const lastTime = time.Second

// explainEnd says why there is nothing more to be read.
func (p *Process) explainEnd(err error) error {
	defer time.AfterFunc(lastTime, func() { p.killReader(endCrash) }).Stop() // one that closed its pipe and goes on
	p.waitForEnd()
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	why := endCrash
	switch text := p.stderr.text(); {
	case p.killed.Load() != nil:
		why = *p.killed.Load()
	case p.cmd.ProcessState != nil && p.cmd.ProcessState.Success() && errors.Is(err, io.EOF):
		return io.EOF
	case slices.ContainsFunc(outOfMemory, func(words string) bool { return strings.Contains(text, words) }):
		why = endMemory
	case strings.Contains(text, "SIGBUS"):
		why = EndChanged
	}
	return &Ended{Why: why, Spent: p.Spent(), Layer: p.at.Layer, Streams: p.at.Streams}
}
