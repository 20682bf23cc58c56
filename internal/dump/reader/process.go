package reader

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
)

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
