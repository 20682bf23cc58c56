package job_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var quiet = slog.New(slog.DiscardHandler)

// log is a text that a runner may write to while a test reads it.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// work runs a runner until the test ends, or stop is called.
func work(t *testing.T, r *job.Runner) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { r.RunDueJobs(ctx) })
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop
}

func state(t *testing.T, e *storetest.Env, kind, subject string) job.State {
	t.Helper()
	j, err := e.Jobs.NewestJobOf(context.Background(), kind, subject)
	must(t, err)
	return j.State
}

// Work runs what has a lane and nothing else, no more at once than there are places, and fills a place as soon as it is
// free: the next look by the clock is an hour away.
func TestWork(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		var now, most, ran atomic.Int64
		full, held := make(chan struct{}), &job.Lane{Name: "held", AtOnce: 1}
		two := &job.Lane{Name: "two", AtOnce: 2}
		for n := range 7 {
			_, err := e.Jobs.EnqueueJob(ctx, "quick", fmt.Sprint(n), nil)
			must(t, err)
		}
		for _, kind := range []string{"held", "here"} {
			_, err := e.Jobs.EnqueueJob(ctx, kind, "one", nil)
			must(t, err)
		}
		work(t, job.NewRunner(e.Jobs, quiet,
			job.Kind{Name: "quick", Lane: two, Step: func(ctx context.Context, run *job.Run) error {
				for n := now.Add(1); ; {
					if was := most.Load(); n <= was || most.CompareAndSwap(was, n) {
						break
					}
				}
				defer now.Add(-1)
				if ran.Add(1) <= 2 { // the first two meet
					polltest.Until(t, "a second one beside it", func() bool { return most.Load() == 2 })
				}
				return run.Save(ctx, map[string]string{"of": run.Subject})
			}},
			job.Kind{Name: "held", Lane: held, Step: func(ctx context.Context, _ *job.Run) error {
				select {
				case <-full:
				case <-ctx.Done():
				}
				return ctx.Err()
			}},
			job.Kind{Name: "here"},
		).Hasten(time.Hour))
		polltest.Until(t, "all seven", func() bool {
			jobs, err := e.Jobs.ListJobs(ctx, "quick", 10)
			must(t, err)
			done := 0
			for _, j := range jobs {
				if j.State == job.Done && string(j.Progress) == fmt.Sprintf(`{"of":%q}`, j.Subject) {
					done++
				}
			}
			return done == 7
		})
		if most.Load() != 2 || ran.Load() != 7 {
			t.Errorf("%d at once, %d runs", most.Load(), ran.Load())
		}
		polltest.Until(t, "the lane of its own", func() bool { return state(t, e, "held", "one") == job.Running })
		close(full)
		polltest.Until(t, "the held one", func() bool { return state(t, e, "held", "one") == job.Done })
		if s := state(t, e, "here", "one"); s != job.Ready {
			t.Errorf("a kind without a lane was run: %s", s)
		}
	})
}

// What a lane does before it claims may fail; it is told, nothing is claimed, and the next look goes on.
func TestBefore(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx, told, ran := context.Background(), &log{}, make(chan struct{})
		looks := 0
		lane := &job.Lane{Name: "clock", AtOnce: 1, Before: func(ctx context.Context) error {
			if looks++; looks == 1 {
				return errors.New("no clock")
			}
			_, err := e.Jobs.EnqueueJob(ctx, "due", "one", nil)
			if errors.Is(err, job.ErrExists) {
				return nil
			}
			return err
		}}
		stop := work(t, job.NewRunner(e.Jobs, slog.New(slog.NewTextHandler(told, nil)), job.Kind{Name: "due", Lane: lane, Step: func(context.Context, *job.Run) error {
			ran <- struct{}{}
			return nil
		}}).Hasten(time.Millisecond))
		<-ran
		go func() {
			for range ran { // more of them may come
			}
		}()
		stop()
		close(ran)
		if !strings.Contains(told.String(), "no clock") {
			t.Errorf("not told: %s", told)
		}
		if _, err := e.Jobs.NewestJobOf(ctx, "due", "one"); err != nil {
			t.Error(err)
		}
	})
}

// What a step returns decides what becomes of its job, wherever it ran.
func TestOutcome(t *testing.T) {
	wrong := errors.New("the disk is full")
	cases := []struct {
		name     string
		returned error
		tries    int64
		state    job.State
		reason   string
		told     error // what Run returns
	}{
		{"done", nil, 3, job.Done, "", nil},
		{"cancelled", job.ErrCancelled, 3, job.Cancelled, "", job.ErrCancelled},
		{"to be tried again", wrong, 3, job.Ready, "the disk is full", wrong},
		{"the last try", wrong, 1, job.Failed, "the disk is full", wrong},
		{"never tried again", wrong, 0, job.Failed, "the disk is full", wrong},
		{"wrong for ever", fault.New(fault.Invalid, "x.y"), 3, job.Failed, "x.y", fault.New(fault.Invalid, "x.y")},
		{"gone for ever", fault.New(fault.NotFound, "x.z"), 3, job.Failed, "x.z", fault.New(fault.NotFound, "x.z")},
		{"later", job.ContinueLater(), 0, job.Ready, "", nil},
		{"another's", job.LeaveToOther(wrong), 0, job.Running, "", wrong},
		{"lost", job.ErrLost, 0, job.Running, "", job.ErrLost},
		{"stopped", context.Canceled, 0, job.Ready, "", context.Canceled},
	}
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				ctx := context.Background()
				r := job.NewRunner(e.Jobs, quiet, job.Kind{Name: "k", Tries: c.tries})
				hold, err := r.BeginJob(ctx, "w", "k", c.name, nil)
				must(t, err)
				if err := hold.RunStep(ctx, func(context.Context, *job.Run) error { return c.returned }); !errors.Is(err, c.told) || (err == nil) != (c.told == nil) {
					t.Errorf("told %v, want %v", err, c.told)
				}
				j, err := e.Jobs.NewestJobOf(ctx, "k", c.name)
				if err != nil || j.State != c.state || fault.Recall(j.Error).Text != c.reason {
					t.Errorf("%s %q %v, want %s %q", j.State, j.Error, err, c.state, c.reason)
				}
			})
		}
	})
}

// One bad job must not end the process, and what it panicked with may be somebody's value.
func TestPanic(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		hold, err := job.NewRunner(e.Jobs, quiet, job.Kind{Name: "k"}).BeginJob(ctx, "w", "k", "one", nil)
		must(t, err)
		if err := hold.RunStep(ctx, func(context.Context, *job.Run) error { panic("maria@example.com") }); err == nil || strings.Contains(err.Error(), "maria") {
			t.Errorf("told %v", err)
		}
		if j, err := e.Jobs.NewestJobOf(ctx, "k", "one"); err != nil || j.State != job.Failed || j.Error != "panic of type string" {
			t.Errorf("%s %q %v", j.State, j.Error, err)
		}
	})
}

// A job whose process stops is there for the next one at once.
func TestStop(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		_, err := e.Jobs.EnqueueJob(context.Background(), "k", "one", nil)
		must(t, err)
		began := make(chan struct{})
		stop := work(t, job.NewRunner(e.Jobs, quiet, job.Kind{Name: "k", Lane: &job.Lane{AtOnce: 1}, Step: func(ctx context.Context, _ *job.Run) error {
			close(began)
			<-ctx.Done()
			return fmt.Errorf("read: %w", ctx.Err())
		}}).Hasten(time.Hour))
		<-began
		stop()
		if j, err := e.Jobs.NewestJobOf(context.Background(), "k", "one"); err != nil || j.State != job.Ready || j.Error != "" {
			t.Errorf("%s %q %v", j.State, j.Error, err)
		}
	})
}

// A step that says nothing for a long time keeps its lease.
func TestLeaseIsRenewed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		hold, err := job.NewRunner(e.Jobs, quiet, job.Kind{Name: "k"}).Hasten(time.Hour).BeginJob(ctx, "w", "k", "one", nil)
		must(t, err)
		must(t, hold.RunStep(ctx, func(ctx context.Context, _ *job.Run) error {
			for range 4 {
				e.Clock.Advance(job.Lease * 3 / 4)
				polltest.Until(t, "a renewal", func() bool {
					j, err := e.Jobs.NewestJobOf(ctx, "k", "one")
					must(t, err)
					return j.NextAt.Equal(e.Clock.Now().Add(job.Lease))
				})
				if jobs, err := e.Jobs.ClaimJobs(ctx, "other", []string{"k"}, 1); err != nil || len(jobs) != 0 {
					t.Errorf("taken away: %v %v", jobs, err)
				}
			}
			return ctx.Err()
		}))
	})
}

// TestKilledHolderIsSucceeded: what a killed command held is a worker's within ten seconds, the pause between two looks
// for due jobs included. A command that was only stopped writes nothing of it after that.
func TestKilledHolderIsSucceeded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		r := job.NewRunner(e.Jobs, quiet, job.Kind{Name: "k"})
		killed, err := r.BeginJob(ctx, "command", "k", "one", nil)
		must(t, err)
		e.Clock.Advance(10*time.Second - r.Poll())
		jobs, err := e.Jobs.ClaimJobs(ctx, "server", []string{"k"}, 1)
		if err != nil || len(jobs) != 1 || jobs[0].ID != killed.ID {
			t.Fatal("still held:", jobs, err)
		}
		must(t, e.Jobs.SaveJob(ctx, "server", jobs[0].ID, 1))
		if err := e.Jobs.SaveJob(ctx, "command", killed.ID, 2); !errors.Is(err, job.ErrLost) {
			t.Error("the command's progress:", err)
		}
		must(t, e.Jobs.FinishJob(ctx, "command", killed.Job, job.Failed, "late"))
		j, err := e.Jobs.NewestJobOf(ctx, "k", "one")
		must(t, err)
		want := j
		want.State, want.Error = job.Running, ""
		difftest.Check(t, "the job", j, want)
		difftest.Check(t, "its progress", string(j.Progress), "1")
	})
}

// Whoever slept past its lease stops, and leaves the job to the one that has it now.
func TestLostLease(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		hold, err := job.NewRunner(e.Jobs, quiet, job.Kind{Name: "k"}).Hasten(time.Hour).BeginJob(ctx, "w", "k", "one", nil)
		must(t, err)
		e.Clock.Advance(job.Lease + time.Second)
		jobs, err := e.Jobs.ClaimJobs(ctx, "other", []string{"k"}, 1)
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		err = hold.RunStep(ctx, func(ctx context.Context, _ *job.Run) error { <-ctx.Done(); return ctx.Err() })
		if !errors.Is(err, job.ErrLost) {
			t.Errorf("told %v", err)
		}
		must(t, e.Jobs.SaveJob(ctx, "other", jobs[0].ID, nil))
	})
}

// A worker that slept past its own lease gets the job once more under another name, and the step of before stops.
func TestOwnLostLease(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		_, err := e.Jobs.EnqueueJob(context.Background(), "k", "one", nil)
		must(t, err)
		var runs atomic.Int64
		causes := make(chan error, 1)
		work(t, job.NewRunner(e.Jobs, quiet, job.Kind{Name: "k", Lane: &job.Lane{AtOnce: 2}, Step: func(ctx context.Context, run *job.Run) error {
			if runs.Add(1) == 2 {
				return nil
			}
			for e.Clock.Advance(job.Lease + time.Second); ; {
				if err := run.Save(ctx, nil); err != nil {
					if cause := context.Cause(ctx); cause != nil { // the renewal noticed first
						err = cause
					}
					causes <- err
					return err
				}
				e.Clock.Advance(job.Lease + time.Second)
				time.Sleep(time.Millisecond)
			}
		}}).Hasten(time.Millisecond))
		if err := <-causes; !errors.Is(err, job.ErrLost) {
			t.Errorf("the first step: %v", err)
		}
		polltest.Until(t, "the second run", func() bool { return state(t, e, "k", "one") == job.Done })
	})
}

// An operator's wish reaches a step that only looks at its context, and one that tells its progress.
func TestCancel(t *testing.T) {
	for name, step := range map[string]job.Step{
		"looks": func(ctx context.Context, _ *job.Run) error { <-ctx.Done(); return ctx.Err() },
		"tells": func(ctx context.Context, run *job.Run) error {
			for n := 0; ctx.Err() == nil; n++ {
				run.TellProgress(ctx, map[string]int{"at": n})
			}
			return ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, e *storetest.Env) {
				ctx := context.Background()
				r := job.NewRunner(e.Jobs, quiet, job.Kind{Name: "k", Tries: 5})
				if name == "looks" {
					r.Hasten(time.Hour)
				}
				hold, err := r.BeginJob(ctx, "w", "k", "one", nil)
				must(t, err)
				must(t, e.Jobs.CancelJob(ctx, hold.ID))
				if err := hold.RunStep(ctx, step); !errors.Is(err, job.ErrCancelled) {
					t.Errorf("told %v", err)
				}
				if s := state(t, e, "k", "one"); s != job.Cancelled {
					t.Errorf("state %s", s)
				}
			})
		})
	}
}

// Of progress that is told all the time a little is kept.
func TestTell(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		hold, err := job.NewRunner(e.Jobs, quiet, job.Kind{Name: "k"}).BeginJob(ctx, "w", "k", "one", nil)
		must(t, err)
		saves := 0
		must(t, hold.RunStep(ctx, func(ctx context.Context, run *job.Run) error {
			save := run.Save
			run.Save = func(ctx context.Context, p any) error { saves++; return save(ctx, p) }
			for began := time.Now(); time.Since(began) < 50*time.Millisecond; {
				run.TellProgress(ctx, map[string]int{"saves": saves})
			}
			return nil
		}))
		if j, err := e.Jobs.NewestJobOf(ctx, "k", "one"); err != nil || saves > 2 || !strings.HasPrefix(string(j.Progress), `{"saves":`) {
			t.Errorf("%d saves, %s %v", saves, j.Progress, err)
		}
	})
}

func TestBeginTakeFollow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		r := job.NewRunner(e.Jobs, quiet, job.Kind{Name: "k"}).Hasten(time.Hour)
		if _, err := r.TakeJob(ctx, "w", "k", "one"); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("took %v", err)
		}
		if err := r.FollowJob(ctx, "k", "one", nil); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("followed %v", err)
		}
		hold, err := r.BeginJob(ctx, "w", "k", "one", map[string]int{"n": 1})
		if err != nil || string(hold.Args) != `{"n":1}` {
			t.Fatal(hold, err)
		}
		if _, err := r.BeginJob(ctx, "other", "k", "one", nil); !errors.Is(err, job.ErrExists) {
			t.Errorf("begun twice: %v", err)
		}
		if _, err := r.TakeJob(ctx, "other", "k", "one"); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("taken away: %v", err)
		}
		if _, err := r.BeginJob(ctx, "w", "k", "one", nil); err != nil { // a place that takes up what its own killed process left
			t.Errorf("begun again: %v", err)
		}
		var seen []job.State
		must(t, r.FollowJob(ctx, "k", "one", func(j job.Job) (bool, error) {
			if len(seen) == 0 {
				must(t, hold.RunStep(ctx, func(context.Context, *job.Run) error { return nil }))
			}
			seen = append(seen, j.State)
			return j.State == job.Done, nil
		}))
		if fmt.Sprint(seen) != "[running done]" {
			t.Errorf("seen %v", seen)
		}
		enough := errors.New("seen enough")
		if err := r.FollowJob(ctx, "k", "one", func(job.Job) (bool, error) { return false, enough }); !errors.Is(err, enough) {
			t.Errorf("followed %v", err)
		}
		ended, cancel := context.WithCancel(ctx)
		if err := r.FollowJob(ended, "k", "one", func(job.Job) (bool, error) { cancel(); return false, nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("followed %v", err)
		}
		if _, err := r.BeginJob(ctx, "other", "k", "one", nil); err != nil {
			t.Errorf("begun after it was done: %v", err)
		}
	})
}
