package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func TestJobLife(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		id, err := e.Jobs.EnqueueJob(ctx, "test", "one", map[string]int{"n": 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Jobs.EnqueueJob(ctx, "test", "one", nil); !errors.Is(err, job.ErrExists) {
			t.Fatal("the same work twice:", err)
		}
		if jobs, err := e.Jobs.ClaimJobs(ctx, "w1", []string{"other"}, 5); err != nil || len(jobs) != 0 {
			t.Fatal("another kind was claimed:", jobs, err)
		}
		jobs, err := e.Jobs.ClaimJobs(ctx, "w1", []string{"test"}, 5)
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		claimed := jobs[0]
		claimed.ID, claimed.Args = id, []byte(`{"n":1}`)
		difftest.Must(t, "the claimed job", jobs[0], claimed)
		if again, _ := e.Jobs.ClaimJobs(ctx, "w2", []string{"test"}, 5); len(again) != 0 {
			t.Fatal("a leased job was claimed again")
		}
		if err := e.Jobs.SaveJob(ctx, "w2", id, struct{}{}); !errors.Is(err, job.ErrLost) {
			t.Fatal("a foreign lease was renewed:", err)
		}
		e.Clock.Advance(job.Lease / 2)
		if err := e.Jobs.SaveJob(ctx, "w1", id, map[string]int{"at": 5}); err != nil {
			t.Fatal(err)
		}
		e.Clock.Advance(job.Lease / 2) // past the first lease, within the renewed one
		if again, _ := e.Jobs.ClaimJobs(ctx, "w2", []string{"test"}, 5); len(again) != 0 {
			t.Fatal("a renewed lease was ignored")
		}
		e.Clock.Advance(job.Lease)
		again, err := e.Jobs.ClaimJobs(ctx, "w2", []string{"test"}, 5)
		if err != nil || len(again) != 1 {
			t.Fatal("a dead worker's job was not taken up:", again, err)
		}
		claimed = again[0]
		claimed.Attempts, claimed.Progress = 2, []byte(`{"at":5}`)
		difftest.Must(t, "a dead worker's job", again[0], claimed)
		if err := e.Jobs.SaveJob(ctx, "w1", id, struct{}{}); !errors.Is(err, job.ErrLost) {
			t.Fatal("the dead worker came back:", err)
		}
		if err := e.Jobs.FinishJob(ctx, "w2", again[0], job.Ready, "try later"); err != nil {
			t.Fatal(err)
		}
		if now, _ := e.Jobs.ClaimJobs(ctx, "w2", []string{"test"}, 5); len(now) != 0 {
			t.Fatal("the pause before the next try was ignored")
		}
		e.Clock.Advance(10 * time.Minute)
		last, _ := e.Jobs.ClaimJobs(ctx, "w2", []string{"test"}, 5)
		if len(last) != 1 {
			t.Fatal("no next try")
		}
		if err := e.Jobs.CancelJob(ctx, id); err != nil {
			t.Fatal(err)
		}
		if err := e.Jobs.SaveJob(ctx, "w2", id, struct{}{}); !errors.Is(err, job.ErrCancelled) {
			t.Fatal("a cancelled job goes on:", err)
		}
		if err := e.Jobs.FinishJob(ctx, "w2", last[0], job.Cancelled, ""); err != nil {
			t.Fatal(err)
		}
		if j, err := e.Jobs.GetJob(ctx, id); err != nil || j.State != job.Cancelled || j.FinishedAt.IsZero() {
			t.Fatal(j, err)
		}
		if _, err := e.Jobs.EnqueueJob(ctx, "test", "one", nil); err != nil {
			t.Fatal("finished work may be asked for again:", err)
		}
	})
}

// TestClaimRace: many workers of two replicas, every job once. Without the lock in the subquery PostgreSQL fails this.
func TestClaimRace(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		second := storetest.ReopenStore(t, e.Address, e.Folder, e.Keys.Root(), e.Clock)
		const n = 200
		for i := range n {
			if _, err := e.Jobs.EnqueueJob(ctx, "race", fmt.Sprint(i), nil); err != nil {
				t.Fatal(err)
			}
		}
		var mu sync.Mutex
		seen := map[job.ID]int{}
		var wg sync.WaitGroup
		for w := range 8 {
			replica := e
			if w%2 == 1 {
				replica = second
			}
			wg.Go(func() {
				for {
					jobs, err := replica.Jobs.ClaimJobs(ctx, fmt.Sprint("w", w), []string{"race"}, 7)
					if err != nil {
						t.Error(err)
						return
					}
					if len(jobs) == 0 {
						return
					}
					mu.Lock()
					for _, j := range jobs {
						seen[j.ID]++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(seen) != n {
			t.Errorf("%d jobs claimed, want %d", len(seen), n)
		}
		for id, times := range seen {
			if times != 1 {
				t.Errorf("job %s was claimed %d times", id, times)
			}
		}
	})
}

// TestClaimTakesNoMore: a claim takes as many jobs as were asked for. PostgreSQL runs a subquery with SKIP LOCKED for
// each row if it likes, and then takes all there are.
func TestClaimTakesNoMore(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		for i := range 19 {
			if _, err := e.Jobs.EnqueueJob(ctx, "test", fmt.Sprint(i), nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, limit := range []int{1, 3, 1} {
			jobs, err := e.Jobs.ClaimJobs(ctx, "w", []string{"test"}, limit)
			oldest := slices.IsSortedFunc(
				jobs,
				func(a, b job.Job) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) },
			)
			if err != nil || len(jobs) != limit || !oldest {
				t.Errorf("%d instead of %d, oldest first: %v, %v", len(jobs), limit, oldest, err)
			}
		}
	})
}

// However much was done about others since, what was done about one subject is found.
func TestJobsAbout(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		add := func(kind, subject string) {
			t.Helper()
			if _, err := e.Jobs.EnqueueJob(ctx, kind, subject, nil); err != nil {
				t.Fatal(err)
			}
			e.Clock.Advance(time.Second)
		}
		for _, kind := range []string{"one", "two", "three"} {
			add(kind, "old")
		}
		for i := range 60 {
			add("one", fmt.Sprint("new", i))
		}
		for limit, want := range map[int]string{10: "[two one]", 1: "[two]"} {
			jobs, err := e.Jobs.ListJobsAbout(ctx, "old", []string{"one", "two"}, limit)
			var got []string
			for _, j := range jobs {
				if j.Subject == "old" {
					got = append(got, j.Kind)
				}
			}
			if err != nil || fmt.Sprint(got) != want || len(got) != len(jobs) {
				t.Errorf("%d: %v of %d, %v", limit, got, len(jobs), err)
			}
		}
	})
}
