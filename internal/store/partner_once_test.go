package store_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func claimOf(key, body string) partner.RequestClaim {
	sum := sha256.Sum256([]byte(body))
	return partner.RequestClaim{Path: "POST /cyber/case", Key: key, Digest: sum[:]}
}

// addService is an effect that a test can count.
func addService(name string) func(tx store.Tx) (partner.Answer, error) {
	return func(tx store.Tx) (partner.Answer, error) {
		err := tx.Services.InsertService(
			context.Background(),
			cyber.Service{ID: cyber.ServiceID(name), Name: name, Description: name, CreatedAt: storetest.Start},
		)
		return partner.Answer{Status: 200, Body: []byte(`{"made":"` + name + `"}`)}, err
	}
}

func services(t *testing.T, e *storetest.Env) int {
	t.Helper()
	list, err := e.Services.ListServices(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestOnceKeyBelongsToItsRoute: the same idempotency key on another path, or of another line of API keys, is another
// claim.
func TestOnceKeyBelongsToItsRoute(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		claims := []partner.RequestClaim{claimOf("k", "a"), claimOf("k", "a"), claimOf("k", "a"), claimOf("l", "a")}
		claims[1].Path = "POST /cyber/monitoring"
		claims[2].Line = "kl_2"
		for round := range 2 {
			for i, claim := range claims {
				name := fmt.Sprintf("sv_%d_%d", round, i)
				answer, replayed, err := e.Answers.AnswerOnce(ctx, p.ID, claim, addService(name))
				want := fmt.Sprintf(`{"made":"sv_0_%d"}`, i)
				if err != nil || replayed != (round == 1) || string(answer.Body) != want {
					t.Errorf("round %d: %s answered %s, replayed %t: %v", round, want, answer.Body, replayed, err)
				}
			}
		}
	})
}

// TestOnceTwinIsStillRunning: while a claim is worked on, a repeated request of the same process is told so at once,
// without waiting for the database; afterwards it gets the answer.
func TestOnceTwinIsStillRunning(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		p, _ := e.NewPartner(t, partner.Live)
		var effects atomic.Int64
		_, _, err := e.Answers.AnswerOnce(ctx, p.ID, claimOf("k", "a"), func(tx store.Tx) (partner.Answer, error) {
			_, _, err := e.Answers.AnswerOnce(ctx, p.ID, claimOf("k", "a"), func(store.Tx) (partner.Answer, error) {
				effects.Add(1)
				return partner.Answer{Status: 200}, nil
			})
			var f *fault.Error
			if !errors.Is(err, partner.ErrStillRunning) || errors.As(err, &f) && f.Unwrap() != nil {
				t.Error("the twin was told:", err)
			}
			return addService("sv_1")(tx)
		})
		if err != nil || effects.Load() != 0 {
			t.Fatal(effects.Load(), err)
		}
		answer, replayed, err := e.Answers.AnswerOnce(ctx, p.ID, claimOf("k", "a"), addService("sv_2"))
		if err != nil || !replayed || string(answer.Body) != `{"made":"sv_1"}` {
			t.Error("afterwards:", answer, replayed, err)
		}
	})
}

func TestOnceReplays(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		other, _ := e.NewPartner(t, partner.Live)

		first, replayed, err := e.Answers.AnswerOnce(ctx, p.ID, claimOf("k", "a"), addService("sv_1"))
		if err != nil || replayed || string(first.Body) != `{"made":"sv_1"}` {
			t.Fatal(first, replayed, err)
		}
		again, replayed, err := e.Answers.AnswerOnce(ctx, p.ID, claimOf("k", "a"), addService("sv_2"))
		if err != nil || !replayed {
			t.Fatal(again, replayed, err)
		}
		want := again
		want.Body, want.Status = first.Body, 200
		difftest.Must(t, "the kept answer", again, want)
		_, _, err = e.Answers.AnswerOnce(ctx, p.ID, claimOf("k", "b"), addService("sv_3"))
		if !errors.Is(err, partner.ErrOtherBody) {
			t.Fatal("another body:", err)
		}
		if _, replayed, err := e.Answers.AnswerOnce(
			ctx,
			other.ID,
			claimOf("k", "a"),
			addService("sv_4"),
		); err != nil ||
			replayed {
			t.Fatal("another partner's key is its own:", replayed, err)
		}
		if n := services(t, e); n != 2 {
			t.Fatalf("%d effects, want 2", n)
		}
		e.Clock.Advance(24*time.Hour - time.Second) // what the contract says, whatever partner.KeepAnswers is
		if _, replayed, err := e.Answers.AnswerOnce(
			ctx,
			p.ID,
			claimOf("k", "a"),
			addService("sv_5"),
		); err != nil ||
			!replayed {
			t.Fatal("a second before 24 h:", replayed, err)
		}
		e.Clock.Advance(time.Second)
		if _, replayed, err := e.Answers.AnswerOnce(
			ctx,
			p.ID,
			claimOf("k", "b"),
			addService("sv_5"),
		); err != nil ||
			replayed {
			t.Fatal("after 24 h the key is free:", replayed, err)
		}
	})
}

func TestOnceKeepsRefusalsAndForgetsFailures(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		refuse := func(tx store.Tx) (partner.Answer, error) {
			if _, err := addService("sv_refused")(tx); err != nil {
				return partner.Answer{}, err
			}
			return partner.Answer{
				Status:  409,
				Body:    []byte("no"),
				Headers: map[string]string{"x-error-detail": "device: limit"},
			}, nil
		}
		if a, _, err := e.Answers.AnswerOnce(ctx, p.ID, claimOf("r", ""), refuse); err != nil || a.Status != 409 {
			t.Fatal(a, err)
		}
		if a, replayed, err := e.Answers.AnswerOnce(
			ctx,
			p.ID,
			claimOf("r", ""),
			addService("sv_never"),
		); err != nil || !replayed || a.Status != 409 ||
			a.Headers["x-error-detail"] != "device: limit" {
			t.Fatal(a, replayed, err)
		}
		boom := errors.New("boom")
		fail := func(tx store.Tx) (partner.Answer, error) {
			if _, err := addService("sv_failed")(tx); err != nil {
				return partner.Answer{}, err
			}
			return partner.Answer{}, boom
		}
		if _, _, err := e.Answers.AnswerOnce(ctx, p.ID, claimOf("f", ""), fail); !errors.Is(err, boom) {
			t.Fatal(err)
		}
		if n := services(t, e); n != 0 {
			t.Fatalf("a refusal or a failure left %d effects", n)
		}
		if _, replayed, err := e.Answers.AnswerOnce(
			ctx,
			p.ID,
			claimOf("f", ""),
			addService("sv_ok"),
		); err != nil ||
			replayed {
			t.Fatal("a failed claim must be free again:", replayed, err)
		}
	})
}

// TestOnceRaces sends every key from several workers of two replicas at once: one effect a key, equal answers.
func TestOnceRaces(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		second := storetest.ReopenStore(t, e.Address, e.Folder, e.Keys.Root(), e.Clock)
		p, _ := e.NewPartner(t, partner.Live)
		const keys, racers = 40, 6
		var effects atomic.Int64
		var wg sync.WaitGroup
		answers := make([][]string, keys)
		answered := make([]chan struct{}, keys)
		var mu sync.Mutex
		for k := range keys {
			name := "sv_" + string(rune('a'+k%26)) + string(rune('a'+k/26))
			answered[k] = make(chan struct{})
			answer := sync.OnceFunc(func() { close(answered[k]) })
			for r := range racers {
				replica := e
				if r%2 == 1 {
					replica = second
				}
				wg.Go(func() {
					for {
						a, _, err := replica.Answers.AnswerOnce(
							context.Background(),
							p.ID,
							claimOf(name, "x"),
							func(tx store.Tx) (partner.Answer, error) {
								run := effects.Add(1) // each run answers differently, so that a second one shows
								a, err := addService(name)(tx)
								a.Body = fmt.Appendf(a.Body, " %d", run)
								return a, err
							},
						)
						if errors.Is(err, partner.ErrStillRunning) {
							<-answered[k] // by the twin that is at work
							continue
						}
						answer()
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						answers[k] = append(answers[k], string(a.Body))
						mu.Unlock()
						return
					}
				})
			}
		}
		wg.Wait()
		if n := services(t, e); n != keys {
			t.Errorf("%d effects kept, want %d", n, keys)
		}
		for k, list := range answers {
			for _, a := range list {
				if a != list[0] {
					t.Errorf("key %d: answers differ: %s, %s", k, a, list[0])
				}
			}
		}
	})
}

// TestOnceStuckOwner: while another replica works on the same key the answer is "still running", not a wait without
// end.
func TestOnceStuckOwner(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		p, _ := e.NewPartner(t, partner.Live)
		var second *storetest.Env
		if e.DB.EngineName() == "postgres" { // before the owner begins, whose transaction may be idle for seconds only
			second = storetest.ReopenStore(t, e.Address+"&lock_timeout=300", e.Folder, e.Keys.Root(), e.Clock)
		}
		started, release := make(chan struct{}), make(chan struct{})
		done := make(chan error, 1)
		go func() {
			_, _, err := e.Answers.AnswerOnce(
				context.Background(),
				p.ID,
				claimOf("k", ""),
				func(tx store.Tx) (partner.Answer, error) {
					close(started)
					<-release
					return partner.Answer{Status: 200}, nil
				},
			)
			done <- err
		}()
		<-started
		_, _, err := e.Answers.AnswerOnce(context.Background(), p.ID, claimOf("k", ""), addService("sv_x"))
		if !errors.Is(err, partner.ErrStillRunning) {
			t.Error("same replica:", err)
		}
		// On SQLite two replicas share a file and its one writer: the second simply waits.
		if second != nil {
			_, _, err := second.Answers.AnswerOnce(context.Background(), p.ID, claimOf("k", ""), addService("sv_y"))
			if !errors.Is(err, partner.ErrStillRunning) {
				t.Error("other replica:", err)
			}
		}
		close(release)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if fault.KindOf(partner.ErrStillRunning) != fault.Conflict {
			t.Error("still running must be a conflict")
		}
	})
}

func TestSweepAnswers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		for _, k := range []string{"a", "b", "c"} {
			if _, _, err := e.Answers.AnswerOnce(
				ctx,
				p.ID,
				claimOf(k, ""),
				func(tx store.Tx) (partner.Answer, error) { return partner.Answer{Status: 200}, nil },
			); err != nil {
				t.Fatal(err)
			}
			e.Clock.Advance(10 * time.Hour)
		}
		if n, err := e.Answers.SweepAnswers(ctx); err != nil || n != 1 {
			t.Errorf("swept %d, want the one older than 24 h (%v)", n, err)
		}
	})
}

// TestOnceTellsClaimsApart: a key counts for one path and for one line of API keys; the same key elsewhere is another
// claim, whatever its body.
func TestOnceTellsClaimsApart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		first := claimOf("k", "a")
		path, line := first, first
		path.Path, line.Line = "POST /cyber/other", "key_other"
		for i, c := range []struct {
			claim    partner.RequestClaim
			replayed bool
		}{{first, false}, {path, false}, {line, false}, {first, true}, {path, true}, {line, true}} {
			_, replayed, err := e.Answers.AnswerOnce(ctx, p.ID, c.claim, addService(fmt.Sprint("sv_", i)))
			if err != nil || replayed != c.replayed {
				t.Errorf("claim %d: replayed %t, want %t (%v)", i, replayed, c.replayed, err)
			}
		}
		if n := services(t, e); n != 3 {
			t.Errorf("%d effects, want 3", n)
		}
	})
}
