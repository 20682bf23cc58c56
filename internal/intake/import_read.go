package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/vigiahq/vigia/internal/container"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/reader"
)

// trouble is what an input, by its number, has done to its readers.
type trouble struct {
	Input int `json:"input"`
	// Ended is how many readers it ended, and Skip what of it is not opened again.
	Ended int          `json:"ended"`
	Skip  *reader.Skip `json:"skip,omitempty"`
}

// quarantined begins the reason of an input that ended two readers.
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

// stepOver decides how to go on behind what ended a reader: without the member that it was at, and the second time without
// the rest of the input.
func (run *importRun) stepOver(ended *reader.Ended) {
	run.rebaseCounters()
	t := &run.checked.Trouble
	if t.Input != run.input || t.Ended == 0 {
		*t = trouble{Input: run.input}
	}
	within := run.checked.Upto.Input == run.input
	if t.Ended++; t.Ended == 1 {
		if ended.Layer >= 0 {
			t.Skip = &reader.Skip{Layer: ended.Layer, Streams: ended.Streams, Reason: ended.Error()}
			if at := run.checked.Upto; within {
				t.Skip.Streams = max(t.Skip.Streams, at.Stream+min(at.Span, 1))
			}
		}
		return
	}
	if within && run.checked.Upto.Stream > 0 {
		run.verdicts.Partly++
	} else {
		run.verdicts.Unread++
	}
	run.countProblem(container.Skip{Name: run.spec.Inputs[run.input].Name, Reason: quarantined + "its reader ended twice (" + ended.Why + ")"})
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

// readWithOneReader has one reader read inputs from the last place on, until all are read or one comes that needs another reader: larger
// files are handed to it when it starts.
func (run *importRun) readWithOneReader(ctx context.Context) error {
	next := run.checked.Upto.Input
	sources := &openSources{byInput: map[int]io.ReadCloser{}, number: map[int]int{}}
	defer sources.closeAll()
	if err := sources.openAhead(ctx, run.spec.Inputs, next); err != nil {
		return err
	}
	job := reader.Job{
		Limits: run.im.Limits, Workers: run.im.workerCount(), Span: run.im.checkpointSpan(), Piece: run.im.pieceSize(), Often: run.im.PartBytes,
		NoPasswords: run.w.noPairs, OnlyRecords: run.onlyRecords, Careful: run.checked.Trouble.Ended > 0,
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
	order := reader.Input{Name: in.Name, Inner: in.inner, Passwords: run.passwords(in), From: reader.Cursor{Input: run.input}, File: file, Size: -1}
	if run.checked.Upto.Input == run.input {
		order.From, order.Rows = run.checked.Upto, run.checked.Rows
	}
	if t := run.checked.Trouble; t.Input == run.input {
		order.Skip = t.Skip
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
			order.Inline = int64(n) == order.Size && (err == nil || errors.Is(err, io.EOF)) // else the error comes again when it is served
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
			if err := run.noteCheckpoint(*fact.Checkpoint); err != nil {
				return err
			}
		case fact.Ended != nil:
			return run.endInput(fact.Ended)
		}
	}
}

// endInput judges an input that was read.
func (run *importRun) endInput(report *reader.Report) error {
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
	return run.noteCheckpoint(*report.Checkpoint)
}

// openSources are inputs that are open. Those that are files of some size go to the reader when it starts, by their number.
type openSources struct {
	byInput map[int]io.ReadCloser
	number  map[int]int // from 1, of files
	files   []*os.File
}

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
		if in.source.Path == "" || in.source.Volumes != "" || in.refused != "" || in.Size <= inlineSize {
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

// openInput returns the source of an input.
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
