package reader

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// Process is a running reader, as its parent sees it. Only one goroutine may use it.
type Process struct {
	// Confinement is what the reader gave up.
	Confinement Confinement

	ctx     context.Context //nolint:containedctx // of the process, and no longer than it
	cmd     *exec.Cmd
	orders  *frameWriter
	stdin   io.Closer
	facts   *bufio.Reader
	stdout  io.Closer
	stderr  *headWriter
	watched sync.WaitGroup
	done    chan struct{}

	files  []*os.File
	source io.Reader // what is served of the input at hand
	claims claims
	at     position
	output int64

	// group guards that the process group is ended only while its number is surely the reader's.
	group   sync.Mutex
	isEnded bool

	// What the watch looks at: how far the reader has come, whether it is waited for, and why it was killed.
	progress atomic.Int64
	waiting  atomic.Bool
	killed   atomic.Pointer[string]
	// spending is of the input at hand.
	budget   Budget
	spending atomic.Pointer[spending]
}

// Fact is something that a reader told; one of its members is set.
type Fact struct {
	// Batch is for DecodeBatch. It belongs to its receiver until ReuseBatch.
	Batch      []byte
	Counters   *Counters
	Checkpoint *Checkpoint
	Ended      *Report
}

// StartProcess starts a reader with the given files open, which stay the caller's. When ctx ends, so does the reader.
func StartProcess(ctx context.Context, job Job, files []*os.File) (*Process, error) {
	path, err := executable()
	if err != nil {
		return nil, err
	}
	job.Workers, job.Files = min(job.Workers, mostWorkers), len(files)
	cmd := exec.CommandContext(ctx, path, command) //nolint:gosec // it is this program
	// No secret of the parent's environment is for the reader. It uses as many processors as its parent, and collects
	// garbage seldom: it keeps little, and softMemory bounds it.
	cmd.Env, cmd.Dir = []string{fmt.Sprintf("GOMAXPROCS=%d", max(1, job.Workers)), "GOGC=400"}, os.TempDir()
	p := &Process{
		ctx:    ctx,
		cmd:    cmd,
		stderr: &headWriter{},
		done:   make(chan struct{}),
		files:  files,
		claims: claims{limits: job.Limits},
		at:     position{Layer: -1},
		budget: job.Budget.orDefault(),
	}
	cmd.ExtraFiles, cmd.Stderr = files, p.stderr
	// What the reader may have started holds its pipes: it is ended too, and waited for no longer than lastTime.
	startInGroup(cmd)
	cmd.Cancel, cmd.WaitDelay = p.killGroup, lastTime
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	widenPipe(out)
	p.orders, p.stdin, p.facts, p.stdout = &frameWriter{w: in}, in, bufio.NewReaderSize(out, 4<<10), out
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start reader: %w", errors.Join(err, in.Close(), out.Close()))
	}
	p.watched.Go(p.watchLimits)
	p.waiting.Store(true) // one that does not begin is ended like one that does not go on
	if err := p.orders.writeJSON(orderJob, job); err != nil {
		return nil, fmt.Errorf("start reader: %w", errors.Join(err, p.Close()))
	}
	kind, text, err := readFrame(p.facts, nil)
	p.waiting.Store(false)
	if err == nil && kind == factReady {
		err = json.Unmarshal(text, &p.Confinement)
	}
	if err != nil {
		return nil, fmt.Errorf("start reader: %w: %s", errors.Join(err, p.Close()), CleanText(p.stderr.text()))
	}
	if !p.Confinement.IsConfined() && !job.Unconfined {
		return nil, errors.Join(ErrUnconfined, p.Close())
	}
	var used usage
	used, p.Confinement.Watched = measureUsage(cmd.Process.Pid)
	room := moreAddresses
	for _, file := range files {
		room = addUpTo(room, 2*fileSize(file))
	}
	limitAddresses(cmd.Process.Pid, addUpTo(used.addresses, room))
	return p, nil
}

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

// Close ends the reader, whatever it does.
func (p *Process) Close() error {
	_ = p.killGroup() // it may have ended by itself
	p.waitForEnd()
	close(p.done)
	p.watched.Wait()
	return errors.Join(ignoreClosed(p.stdin.Close()), ignoreClosed(p.stdout.Close()))
}

// ignoreClosed returns nil for a file that is closed already: stopping the process and its end may both close it.
func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// Read has the reader read an input. Its facts, up to the one that the input has Ended, are to be taken before the next
// one. Of an input that is neither one of the reader's files nor inline, source is what is served: an io.ReaderAt,
// unless its Size is negative.
func (p *Process) Read(in Input, content []byte, source io.Reader) error {
	p.source, p.at = source, position{Layer: -1}
	size := in.Size
	switch {
	case in.Inline:
		size = int64(len(content))
	case in.File > 0 && in.File <= len(p.files):
		size = fileSize(p.files[in.File-1])
	}
	p.claims.beginInput(in.From, size)
	p.spending.Store(&spending{before: in.Spent, from: p.progress.Load()})
	p.waiting.Store(true)
	defer p.waiting.Store(false)
	err := p.orders.writeJSON(orderInput, in)
	if err == nil && in.Inline {
		err = p.orders.writeFrame(orderContent, content)
	}
	if err != nil { // it ended between two inputs
		return p.explainEnd(err)
	}
	return nil
}

// FinishInputs says that there are no more inputs. A last Checkpoint and io.EOF follow.
func (p *Process) FinishInputs() error {
	if err := p.orders.writeFrame(orderEnd, nil); err != nil {
		return p.explainEnd(err)
	}
	return nil
}

// batches of sightings are used again after the parent has taken them up.
var batches = sync.Pool{New: func() any { return make([]byte, 0, batchSize+4<<10) }}

// ReuseBatch takes back a Batch that is not needed any more.
func ReuseBatch(batch []byte) { batches.Put(batch[:0]) } //nolint:staticcheck // a slice header is little beside a batch

// Next waits for a fact. The error of a reader that ended before its time is an *Ended.
func (p *Process) Next() (Fact, error) {
	for {
		p.waiting.Store(true)
		room, _ := batches.Get().([]byte)
		kind, content, err := readFrame(p.facts, room)
		p.waiting.Store(false)
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				p.killReader(endCrash)
			}
			return Fact{}, p.explainEnd(err)
		}
		if kind == factSightings {
			if p.output += int64(len(content)); p.output > outputSlack+outputRatio*p.progress.Load() {
				p.killReader(endOutput)
				return Fact{}, p.explainEnd(nil)
			}
			return Fact{Batch: content}, nil
		}
		fact, told, err := p.handleFact(kind, content)
		ReuseBatch(content)
		if err != nil { // it sends nonsense
			p.killReader(endCrash)
			return Fact{}, p.explainEnd(err)
		}
		if told {
			return fact, nil
		}
	}
}

// handleFact handles any other fact; it reports whether it is one for the caller.
func (p *Process) handleFact(kind frameKind, content []byte) (fact Fact, told bool, err error) {
	switch kind { //nolint:exhaustive // orders go the other way
	case factProgress:
		var told Counters
		if err := json.Unmarshal(content, &told); err != nil {
			return fact, false, err
		}
		believed, progress, err := p.claims.checkCounters(told)
		p.progress.Store(progress)
		return Fact{Counters: &believed}, true, err
	case factCheckpoint:
		fact.Checkpoint = &Checkpoint{}
		if err := json.Unmarshal(content, fact.Checkpoint); err != nil {
			return fact, false, err
		}
		progress, err := p.claims.checkCheckpoint(fact.Checkpoint)
		p.progress.Store(progress)
		return fact, true, err
	case factEnded:
		fact.Ended = &Report{}
		if err := json.Unmarshal(content, fact.Ended); err != nil {
			return fact, false, err
		}
		if k := fact.Ended.Checkpoint; k != nil {
			if _, err := p.claims.checkCheckpoint(k); err != nil {
				return fact, false, err
			}
		}
		fact.Ended.cleanTexts()
		return fact, true, p.claims.checkReport(fact.Ended)
	case factOpened, factClosed:
		return fact, false, json.Unmarshal(content, &p.at)
	case factWanted:
		var w wanted
		if err := json.Unmarshal(content, &w); err != nil {
			return fact, false, err
		}
		return fact, false, p.serveBytes(w)
	}
	return fact, false, fmt.Errorf("frame %q", kind)
}

// serveBytes sends bytes of the source that is being read.
func (p *Process) serveBytes(w wanted) error {
	if p.source == nil || w.Length < 0 || w.Length > windowSize {
		return errors.New("nothing is served")
	}
	answer := make([]byte, 1+w.Length)
	var n int
	var err error
	if w.Offset < 0 {
		n, err = io.ReadAtLeast(p.source, answer[1:], 1)
		p.claims.size += int64(n)
	} else if at, ok := p.source.(io.ReaderAt); ok {
		n, err = at.ReadAt(answer[1:], w.Offset)
	} else {
		return errors.New("nothing is served in place")
	}
	switch {
	case n > 0 && (err == nil || w.Offset < 0 || !errors.Is(err, io.EOF)): // an error comes again with the next bytes
		answer[0] = byte(servedMore)
	case err == nil, errors.Is(err, io.EOF):
		answer[0] = byte(servedLast)
	default:
		answer, n = append([]byte{byte(servedFailed)}, err.Error()...), len(err.Error())
	}
	p.waiting.Store(true)
	defer p.waiting.Store(false)
	return p.orders.writeFrame(orderServed, answer[:1+n])
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

// watchEvery is how often a child's memory and processor time are looked at.
const watchEvery = 20 * time.Millisecond

// usage is what a process holds in memory of its own, shared and in page tables, its address space, how many threads it
// has, and the processor time that it has used.
type usage struct {
	own, shared, tables, addresses, threads int64
	cpu                                     time.Duration
}

// tableRatio is how many bytes of a file that is mapped and read whole need one of page tables, twice as many as usual
// to spare.
const tableRatio = 256

// moreAddresses is how much a reader may map beside the files that it was started with, each of them twice. Maps of the
// same file again and again cost nothing but page tables. Tests raise it.
var moreAddresses int64 = 16 << 30

// mostThreads is more threads than a reader has: a few for each worker and those of Go's runtime. The parent looks at
// them because they count against the limits of its own unit and user.
const mostThreads = 128

// watchLimits kills a reader that exceeds a limit.
func (p *Process) watchLimits() {
	// Files of a file system in memory that are mapped are shared memory to the kernel.
	mappable := int64(0)
	for _, file := range p.files {
		mappable += fileSize(file)
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	left, counted, idle, seen := idleCPU, time.Duration(0), time.Duration(0), int64(0)
	for {
		select {
		case <-p.done:
			return
		case <-tick.C:
		}
		used, known := measureUsage(p.cmd.Process.Pid)
		own := used.own + max(0, used.shared-mappable) + max(0, used.tables-mappable/tableRatio)
		if known && own > Memory {
			p.killReader(endMemory)
			return
		}
		if known && used.threads > mostThreads {
			p.killReader(endThreads)
			return
		}
		now := p.progress.Load()
		if p.waiting.Load() {
			idle += watchEvery
		}
		if now != seen {
			idle = 0
		}
		if s := p.spending.Load(); s != nil {
			s.processor.Add(int64(used.cpu - counted))
			if p.budget.isExceeded(p.Spent()) {
				p.killReader(EndBudget)
				return
			}
		}
		earned := time.Duration(float64(now-seen) / progressRate * float64(time.Second))
		left = min(idleCPU, left-(used.cpu-counted)+earned)
		counted, seen = used.cpu, now
		if left <= 0 || idle > idleWall {
			p.killReader(endTime)
			return
		}
	}
}
