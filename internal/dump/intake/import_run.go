package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// importRun is one run of an import: it has readers read the inputs, one after the other, several workers fingerprint
// what they find, and feeds one sorter.
//
// A reader says now and then from which place another one could go on. A part of the segment is kept at such a place,
// so an import that was interrupted finds exactly what an uninterrupted one finds; and one whose reader ended goes on
// from there.
type importRun struct {
	im   *Importer
	w    *work
	spec Spec

	// checked is the last place from which reading can go on and what was counted up to there, skipsThen how many
	// skips; base is what was counted when the present reader began, and readBefore the bytes of the inputs before it.
	checked    note
	skipsThen  int
	base       leak.Tally
	resumed    leak.Tally // by an earlier run
	readBefore int64
	counters   reader.Counters
	// foundBefore is what base says was found, for the goroutine that tells the progress. The map is never changed.
	foundBefore atomic.Pointer[map[string]int64]
	// input is the number of the one that is being read.
	input int
	// firstPart says that no part has been kept, by this run or an earlier one; keptScanned is how much had been
	// scanned when the last one was, and keptAt when that was.
	firstPart   bool
	keptScanned int64
	keptAt      time.Time
	// verdicts counts the inputs since base by how much of them was read.
	verdicts leak.Tally
	skips    []container.Skip
	beside   map[string][]string // names in folders of inputs
	ended    *reader.Report      // of the last input
	// onlyRecords refuses texts that are none of records.
	onlyRecords bool

	workers []*worker
	batches chan []byte    // of sightings, for any worker
	pending sync.WaitGroup // batches not yet fingerprinted
	garbled atomic.Bool    // a batch could not be read

	full       chan any // []segment.Entry or pairKeys to sort, or a commit
	empty      chan []segment.Entry
	emptyPairs chan pairKeys

	// What the progress shows.
	started       time.Time
	read, scanned atomic.Int64
	shown         atomic.Pointer[string]
	merging       atomic.Bool
}

// worker collects what one scanner finds. Each has its own collector, so that scanners share no locks.
type worker struct {
	*collector
	// found takes what is found: the collector's, unless the run only counts.
	found func(*reader.Sighting)
}

// commit asks the sorter to keep a part, or, when it is whole, the final segment.
type commit struct {
	note  note
	whole bool
}

// newImportRun prepares a run with one worker per scanner. All key batches are allocated here, so that memory stays
// bounded: a worker that finds none free waits for the sorter.
func newImportRun(im *Importer, w *work, spec Spec) *importRun {
	n := im.workerCount()
	run := &importRun{
		im:          im,
		w:           w,
		spec:        spec,
		checked:     w.last,
		resumed:     w.last.Tally,
		firstPart:   len(w.parts) == 0,
		keptScanned: w.last.Tally.Scanned,
		batches:     make(chan []byte, n),
		full: make(
			chan any,
			n,
		),
		empty:      make(chan []segment.Entry, 3*n),
		emptyPairs: make(chan pairKeys, 3*n),
		started:    im.Now(),
		keptAt:     im.Now(),
	}
	run.rebaseCounters()
	for range cap(run.empty) {
		run.empty <- make([]segment.Entry, 0, keyBatch)
	}
	for range n {
		c := newCollector(
			im.Fingerprint,
			w.labels,
			func(full []segment.Entry) []segment.Entry { run.full <- full; return <-run.empty },
			run.newPairs(),
		)
		run.workers = append(run.workers, &worker{c, c.collectSighting})
	}
	return run
}

// newPairs makes what collects the pairs of one worker. Their batches are made when the first ones come.
func (run *importRun) newPairs() pairCollector {
	if run.w.noPairs {
		return pairCollector{}
	}
	return pairCollector{pair: run.im.Pair, flush: func(full pairKeys) pairKeys {
		if cap(full) == 0 {
			return make(pairKeys, 0, keyBatch)
		}
		run.full <- full
		select {
		case empty := <-run.emptyPairs:
			return empty
		default: // as many as there are batches on the way
			return make(pairKeys, 0, keyBatch)
		}
	}}
}

// buildSegment scans what is not yet scanned, from where the last run stopped, and puts the final segment together,
// unless an earlier run did.
func (run *importRun) buildSegment(ctx context.Context) error {
	if run.w.final != "" {
		return nil
	}
	stop := run.watchProgress()
	defer stop()
	if !run.checked.Upto.Done {
		if err := run.scanInputs(ctx, run.sortAndWrite); err != nil {
			return err
		}
	}
	if run.w.final != "" {
		return nil
	}
	run.merging.Store(true)
	return run.w.mergeSegment(ctx, run.im.sortMemory())
}

// stopTime is how long an import that is asked to stop may take to keep what it did.
const stopTime = 1500 * time.Millisecond

// scanInputs reads the inputs. What the collectors hand over goes to sort, which takes from run.full until that is
// closed.
func (run *importRun) scanInputs(ctx context.Context, sort func(context.Context) error) error {
	reading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	keeping, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	var collecting, sorting sync.WaitGroup
	var sorted error
	sorting.Go(func() {
		if sorted = sort(keeping); sorted != nil {
			cancel(sorted)
		}
	})
	for _, w := range run.workers {
		collecting.Go(func() {
			for batch := range run.batches {
				if reader.DecodeBatch(batch, w.found) != nil {
					run.garbled.Store(true)
				}
				w.showCounts()
				reader.ReuseBatch(batch)
				run.pending.Done()
			}
		})
	}
	err := run.readAllInputs(reading)
	close(run.batches)
	collecting.Wait()
	switch {
	case err == nil:
		run.finishScan()
	case ctx.Err() != nil: // what lies behind the place that is kept is found again, and changes nothing
		defer time.AfterFunc(stopTime, giveUp).Stop()
		if run.checked.Tally.Scanned > run.keptScanned {
			run.requestPart()
		}
	}
	close(run.full)
	sorting.Wait()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return cmp.Or(sorted, err)
}

// discardKeys takes the place of sortAndWrite in a run that keeps nothing.
func (run *importRun) discardKeys(context.Context) error {
	for range run.full { // not even the wish to keep a part
	}
	return nil
}

// sortAndWrite sorts the collected keys and pairs and writes them to parts, until run.full is closed.
func (run *importRun) sortAndWrite(ctx context.Context) (err error) {
	defer func() { // after a failure the collectors must still get their buffers back, or they block for ever
		for m := range run.full {
			if keys, ok := m.([]segment.Entry); ok {
				run.empty <- keys[:0]
			} // pairs are let go
		}
	}()
	out, err := run.w.beginPart(run.im.sortMemory())
	if err != nil {
		return fmt.Errorf("write segment: %w", err)
	}
	defer func() { out.abortAll() }()
	for m := range run.full {
		switch m := m.(type) {
		case []segment.Entry:
			err = out.keys.AddEntries(m)
			run.empty <- m[:0]
		case pairKeys:
			err = run.w.addPairs(out, m)
			select {
			case run.emptyPairs <- m[:0]:
			default:
			}
		case commit:
			out, err = run.commitPart(ctx, out, m)
		}
		if err != nil {
			return fmt.Errorf("write segment: %w", err)
		}
	}
	return nil
}

// commitPart makes what was sorted durable and begins the next part.
func (run *importRun) commitPart(ctx context.Context, out *sorter, c commit) (*sorter, error) {
	if c.whole {
		return out, run.w.keepFinal(ctx, out, c.note.Tally)
	}
	if err := run.w.keepPart(ctx, out, c.note); err != nil || c.note.Upto.Done {
		return out, err
	}
	// The sorted keys are garbage now, the largest there is; the next part must not come on top of them.
	runtime.GC()
	next, err := run.w.beginPart(run.im.sortMemory())
	if err != nil {
		return out, err
	}
	return next, nil
}

// noteCheckpoint takes note of a place from which reading can go on, and asks for a part when enough was scanned since
// the last one. spent is what the input at hand took.
func (run *importRun) noteCheckpoint(k reader.Checkpoint, spent reader.Spent) error {
	run.pending.Wait()
	if run.garbled.Load() {
		return &reader.Ended{Why: "crash", Layer: -1}
	}
	run.noteCounters(k.Counters)
	if k.At.Input != run.input { // it is behind the input
		spent = reader.Spent{}
	}
	run.checked = note{
		Upto:    k.At,
		Rows:    k.Rows,
		Tally:   run.currentTally(),
		Trouble: run.checked.Trouble,
		Spent:   spent,
	}
	run.skipsThen = len(run.skips)
	if run.im.worthKeeping(run.checked.Tally.Scanned-run.keptScanned, run.keptAt) {
		run.requestPart()
	}
	return nil
}

// requestPart asks for a part up to the last place from which reading can go on.
func (run *importRun) requestPart() {
	run.flushCollectors()
	run.full <- commit{note: run.checked}
	run.keptScanned, run.keptAt, run.firstPart = run.checked.Tally.Scanned, run.im.Now(), false
}

// finishScan hands over the last keys and asks for the last part, or for the final segment when there was no other.
func (run *importRun) finishScan() {
	run.flushCollectors()
	end := note{Upto: reader.Cursor{Input: len(run.spec.Inputs), Done: true}, Tally: run.checked.Tally}
	run.full <- commit{note: end, whole: run.firstPart}
}

// noteCounters takes note of how far the present reader has come.
func (run *importRun) noteCounters(c reader.Counters) {
	run.counters = c
	run.read.Store(run.readBefore + c.Read)
	run.scanned.Store(run.base.Scanned - run.resumed.Scanned + c.Scanned)
}

// rebaseCounters has a new reader begin at the last place from which reading can go on: what was counted since is
// counted again.
func (run *importRun) rebaseCounters() {
	run.pending.Wait()
	run.base, run.verdicts, run.skips = run.checked.Tally, leak.Tally{}, run.skips[:run.skipsThen]
	found := run.base.Found
	run.foundBefore.Store(&found)
	run.readBefore = 0
	for _, in := range run.spec.Inputs[:min(run.checked.Upto.Input, len(run.spec.Inputs))] {
		run.readBefore += max(0, in.Size)
	}
	for _, w := range run.workers {
		w.resetCounts()
	}
	run.garbled.Store(false)
	run.noteCounters(reader.Counters{})
}

// flushCollectors hands over what the collectors hold. No batch is pending.
func (run *importRun) flushCollectors() {
	for _, w := range run.workers {
		if len(w.keys) > 0 {
			w.keys = w.collector.flush(w.keys)
		}
		if w.pairs.keys != nil {
			w.pairs.keys = w.pairs.flush(w.pairs.keys)
		}
	}
}

// currentTally returns what this run and those before it counted. No batch is pending.
func (run *importRun) currentTally() leak.Tally {
	t := leak.Tally{
		Bytes: max(run.base.Bytes, run.readBefore+run.counters.Read), Scanned: run.base.Scanned + run.counters.Scanned,
		Streams: run.base.Streams + run.counters.Streams,
	}
	for _, counted := range []*leak.Tally{&run.base, &run.verdicts} {
		t.LeftOut += counted.LeftOut
		t.Problems += counted.Problems
		t.Read += counted.Read
		t.Partly += counted.Partly
		t.Unread += counted.Unread
		for reason, n := range counted.Reasons {
			t.CountReason(reason, n)
		}
	}
	t.AddClasses(&run.base)
	for _, w := range run.workers {
		told, classes := w.countTold()
		t.CountClasses(told, classes[:])
	}
	t.Found = run.countFound(run.base.Found, func(w *worker, k identifier.Kind) int64 { return w.counts[k] })
	return t
}

// countFound counts the identifiers of each kind that were found before the present reader, and by each worker since.
func (run *importRun) countFound(
	before map[string]int64,
	since func(w *worker, k identifier.Kind) int64,
) map[string]int64 {
	found := map[string]int64{}
	for _, k := range identifier.ListKinds() {
		n := before[k.String()]
		for _, w := range run.workers {
			n += since(w, k)
		}
		if n > 0 {
			found[k.String()] = n
		}
	}
	return found
}

// progressEvery is how often progress is told.
const progressEvery = 250 * time.Millisecond

// watchProgress tells the progress until the returned function is called.
func (run *importRun) watchProgress() (stop func()) {
	if run.spec.Progress == nil {
		return func() {}
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				run.spec.Progress(run.progress())
				return
			case <-tick.C:
				run.spec.Progress(run.progress())
			}
		}
	})
	return func() { close(done); watching.Wait() }
}

// progress returns how far the run has come. Total is 0 if the size of an input is not known.
func (run *importRun) progress() Progress {
	p := Progress{
		Read:    run.read.Load(),
		Scanned: run.scanned.Load(),
		Resumed: run.resumed.Scanned,
		Before:  run.resumed.Bytes,
		Merging: run.merging.Load(),
		Elapsed: run.im.Now().Sub(run.started),
	}
	var before map[string]int64
	if found := run.foundBefore.Load(); found != nil {
		before = *found
	}
	p.Found = run.countFound(before, func(w *worker, k identifier.Kind) int64 { return w.shown[k].Load() })
	if name := run.shown.Load(); name != nil {
		p.Input = *name
	}
	for _, in := range run.spec.Inputs {
		if in.Size < 0 {
			p.Total = 0
			break
		}
		p.Total += in.Size
	}
	return p
}

// trouble is what an input, by its number, has done to its readers.
type trouble struct {
	Input int `json:"input"`
	// Ended is how many readers it ended, and Skip what of it is not opened again.
	Ended int          `json:"ended"`
	Skip  *reader.Skip `json:"skip,omitempty"`
	// Spent is what it had taken when it ended the last one.
	Spent reader.Spent `json:"spent,omitzero"`
}

// quarantined begins the reason of an input that ended two readers, or took too much processor time.
const quarantined = "quarantined: "

// readAllInputs has all inputs read that are not read yet.
func (run *importRun) readAllInputs(ctx context.Context) error {
	for run.checked.Upto.Input < len(run.spec.Inputs) {
		err := run.readWithOneReader(ctx)
		var ended *reader.Ended
		if errors.As(err, &ended) && ended.Why == reader.EndChanged {
			return run.refuseChanged()
		} else if ended != nil {
			run.stepOver(ended)
		} else if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// refuseChanged is the error of an input that became shorter while it was read.
func (run *importRun) refuseChanged() error {
	return ErrInput.With("inputs", fault.FileChangedWhileRead, run.spec.Inputs[run.input].Name)
}

// stepOver decides how to go on behind what ended a reader: without the member that it was at, and the second time
// without the rest of the input. One whose input took more processor time than it may is followed by a careful one that
// reads again what stands between the last place and that input, and ends when it comes to it.
func (run *importRun) stepOver(ended *reader.Ended) {
	run.rebaseCounters()
	t := &run.checked.Trouble
	if t.Input != run.input || t.Ended == 0 {
		*t = trouble{Input: run.input}
	}
	within := run.checked.Upto.Input == run.input
	t.Spent = ended.Spent
	if t.Ended++; t.Ended == 1 {
		if ended.Layer >= 0 && ended.Why != reader.EndBudget {
			t.Skip = &reader.Skip{Layer: ended.Layer, Streams: ended.Streams, Reason: ended.Error()}
			if at := run.checked.Upto; within {
				t.Skip.Streams = max(t.Skip.Streams, at.Stream+min(at.Span, 1))
			}
		}
		return
	}
	reason := "its reader ended twice (" + ended.Why + ")"
	if ended.Why == reader.EndBudget {
		reason = "it took more processor time than its unpacked size allows"
	}
	if within && run.checked.Upto.Stream > 0 {
		run.verdicts.Partly++
	} else {
		run.verdicts.Unread++
	}
	run.countProblem(
		container.Skip{
			Name:   run.spec.Inputs[run.input].Name,
			Reason: quarantined + reason,
		},
	)
	run.moveToInput(run.input + 1)
}

// moveToInput makes an input the next one: all before it are read, or given up.
func (run *importRun) moveToInput(next int) {
	run.pending.Wait()
	run.checked = note{Upto: reader.Cursor{Input: next}, Tally: run.currentTally()}
	run.skipsThen = len(run.skips)
	run.rebaseCounters()
}

const (
	// inlineSize is up to which size an input is sent to the reader as a whole.
	inlineSize = 256 << 10
	// filesAhead is how many files a reader is started with.
	filesAhead = 128
)

// readWithOneReader has one reader read inputs from the last place on, until all are read or one comes that needs
// another reader: larger files are handed to it when it starts.
func (run *importRun) readWithOneReader(ctx context.Context) error {
	next := run.checked.Upto.Input
	sources := &openSources{byInput: map[int]io.ReadCloser{}, number: map[int]int{}}
	defer sources.closeAll()
	if err := sources.openAhead(ctx, run.spec.Inputs, next); err != nil {
		return err
	}
	job := reader.Job{
		Limits:      run.im.Limits,
		Budget:      run.im.Budget,
		Workers:     run.im.workerCount(),
		Span:        run.im.checkpointSpan(),
		Piece:       run.im.pieceSize(),
		Often:       run.im.PartBytes,
		NoPasswords: run.w.noPairs,
		OnlyRecords: run.onlyRecords,
		Careful:     run.checked.Trouble.Ended > 0,
		Unconfined:  run.im.ReaderUnconfined,
	}
	if run.spec.Mapping != nil {
		text := run.spec.Mapping.Text()
		job.Mapping = &text
	}
	p, err := reader.StartProcess(ctx, job, sources.files)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }() // it has ended, or is of no use any more
	for ; next < len(run.spec.Inputs); next++ {
		in := run.spec.Inputs[next]
		run.input = next
		run.shown.Store(&in.Name)
		if in.refused != "" {
			run.verdicts.Unread++
			run.countProblem(container.Skip{Name: in.Name, Reason: in.refused})
			continue
		}
		source, err := sources.openInput(ctx, in, next)
		if errors.Is(err, errAnotherReader) {
			break
		}
		if err == nil {
			err = run.readInput(p, in, source, sources.number[next])
			sources.closeInput(next)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
	}
	if err := p.FinishInputs(); err != nil {
		return err
	}
	if err := run.takeFacts(p); !errors.Is(err, io.EOF) {
		return err
	}
	run.moveToInput(next)
	return nil
}

// readInput has a reader read one input, which is its file of a number, or else sent or served.
func (run *importRun) readInput(p *reader.Process, in Input, source io.ReadCloser, file int) error {
	order := reader.Input{
		Name:      in.Name,
		Inner:     in.inner,
		Passwords: run.passwords(in),
		From:      reader.Cursor{Input: run.input},
		File:      file,
		Size:      -1,
	}
	if run.checked.Upto.Input == run.input {
		order.From, order.Rows, order.Spent = run.checked.Upto, run.checked.Rows, run.checked.Spent
	}
	if t := run.checked.Trouble; t.Input == run.input {
		order.Skip = t.Skip
		if t.Spent.Processor > order.Spent.Processor {
			order.Spent = t.Spent
		}
	}
	var content []byte
	if at, ok := source.(io.ReaderAt); ok && file == 0 {
		var err error
		if order.Size, err = sourceSize(source, in.Size); err != nil {
			return err
		}
		if set, ok := source.(*volumeSet); ok {
			for _, v := range set.Volumes() {
				order.Volumes = append(order.Volumes, reader.Volume{Name: v.Name, Size: v.Size})
			}
		} else if order.Size <= inlineSize {
			content = make([]byte, order.Size)
			n, err := at.ReadAt(content, 0)
			order.Inline = int64(n) == order.Size &&
				(err == nil || errors.Is(err, io.EOF)) // else the error comes again when it is served
		}
	}
	if err := p.Read(order, content, source); err != nil {
		return err
	}
	return run.takeFacts(p)
}

// sourceSize returns the size of what can be read in place.
func sourceSize(source io.Reader, known int64) (int64, error) {
	if s, ok := source.(io.Seeker); ok {
		return s.Seek(0, io.SeekEnd)
	}
	return known, nil
}

// takeFacts takes what a reader tells until the input at hand has ended.
func (run *importRun) takeFacts(p *reader.Process) error {
	for {
		fact, err := p.Next()
		switch {
		case err != nil:
			return err
		case fact.Batch != nil:
			run.pending.Add(1)
			run.batches <- fact.Batch
		case fact.Counters != nil:
			run.noteCounters(*fact.Counters)
		case fact.Checkpoint != nil:
			if err := run.noteCheckpoint(*fact.Checkpoint, p.Spent()); err != nil {
				return err
			}
		case fact.Ended != nil:
			return run.endInput(fact.Ended, p.Spent())
		}
	}
}

// endInput judges an input that was read, and took what it spent.
func (run *importRun) endInput(report *reader.Report, spent reader.Spent) error {
	if report.Changed {
		return run.refuseChanged()
	}
	if report.Failed != "" {
		return errors.New(report.Failed)
	}
	run.countVerdict(&report.Report)
	if report.Records != nil {
		run.verdicts.LeftOut += report.Records.LeftOut
	}
	run.ended = report
	if report.Checkpoint == nil {
		return nil
	}
	return run.noteCheckpoint(*report.Checkpoint, spent)
}

// openSources are inputs that are open. Those that are files of some size go to the reader when it starts, by their
// number.
type openSources struct {
	byInput map[int]io.ReadCloser
	number  map[int]int // from 1, of files
	files   []*os.File
}

// errAnotherReader has the import go on with a new child that is given the next files.
var errAnotherReader = errors.New("a file that the reader was not started with")

// openAhead opens the next input, whatever it is, and files behind it.
func (s *openSources) openAhead(ctx context.Context, inputs []Input, next int) error {
	for ; next < len(inputs) && inputs[next].refused != ""; next++ {
	}
	if next == len(inputs) {
		return nil
	}
	first, err := inputs[next].open(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", inputs[next].Name, err)
	}
	s.addSource(next, first)
	for next++; next < len(inputs) && len(s.files) < filesAhead; next++ {
		in := inputs[next]
		if in.path == "" || in.isSet || in.refused != "" || in.Size <= inlineSize {
			continue
		}
		if f, err := in.open(ctx); err == nil { // else it is told when its turn comes
			s.addSource(next, f)
		}
	}
	return nil
}

// addSource keeps an open source for its input.
func (s *openSources) addSource(input int, source io.ReadCloser) {
	s.byInput[input] = source
	if f := largeFile(source); f != nil {
		s.files = append(s.files, f)
		s.number[input] = len(s.files)
	}
}

func (s *openSources) openInput(ctx context.Context, in Input, number int) (io.ReadCloser, error) {
	if source := s.byInput[number]; source != nil {
		return source, nil
	}
	source, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	if largeFile(source) != nil {
		return nil, errors.Join(errAnotherReader, source.Close())
	}
	s.byInput[number] = source
	return source, nil
}

// closeInput closes the source of an input that is read.
func (s *openSources) closeInput(number int) {
	if source := s.byInput[number]; source != nil {
		_ = source.Close() // only read
		delete(s.byInput, number)
	}
}

// closeAll closes what is still open.
func (s *openSources) closeAll() {
	for number := range s.byInput {
		s.closeInput(number)
	}
}

// largeFile returns a source that is a file to be handed to a reader as such, else nil.
func largeFile(source io.Reader) *os.File {
	f, ok := source.(*os.File)
	if !ok || runtime.GOOS == "windows" { // which cannot hand over files
		return nil
	}
	if stat, err := f.Stat(); err != nil || !stat.Mode().IsRegular() || stat.Size() <= inlineSize {
		return nil
	}
	return f
}
