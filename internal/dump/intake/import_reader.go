package intake

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

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
