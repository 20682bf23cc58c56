package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
)

// TestHeldIsOneMoment: whoever asks while a person is being erased is told everything or nothing, never a half.
func TestHeldIsOneMoment(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 8)
		for n := range w.people {
			person := w.people[n].who()
			erased := make(chan error, 1)
			go func() {
				_, err := w.rights().ErasePerson(ctx, clerk, person, "pedido", keepNoCopy)
				erased <- err
			}()
			for over := false; !over; {
				select {
				case err := <-erased:
					if err != nil {
						t.Fatal(err)
					}
					over = true
				default:
				}
				h, err := w.Subjects.Held(ctx, w.partner, person)
				if err != nil {
					t.Fatal(err)
				}
				parts := []int{
					len(h.Subscriptions),
					len(h.Assets),
					len(h.Cases),
					len(h.Devices),
					len(h.Answers),
					len(h.Events),
				}
				for _, n := range parts {
					if (n == 0) != (parts[0] == 0) {
						t.Fatalf("half of a person: %v", parts)
					}
				}
			}
		}
	})
}

// TestErasureAndItsLineAreOne: when the line in the trail cannot be kept, nothing was erased.
func TestErasureAndItsLineAreOne(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 1)
		person := w.people[0].who()
		h, err := w.Subjects.Held(ctx, w.partner, person)
		if err != nil {
			t.Fatal(err)
		}
		refuse := func(in operator.Ledger, _ subject.Erased, _ subject.Tombstone) error {
			err := operator.NewTrail(in, e.Clock.Now).RecordAction(ctx, clerk, "subject.erased", "x", "")
			if err != nil {
				t.Fatal(err)
			}
			return errUndo
		}
		before, err := w.Audit.TrailHead(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.Subjects.EraseRows(ctx, h, person, "pedido", refuse); !errors.Is(err, errUndo) {
			t.Fatal(err)
		}
		after, err := w.Subjects.Held(ctx, w.partner, person)
		if err != nil || len(after.Subscriptions) != len(h.Subscriptions) || len(after.Events) != len(h.Events) {
			t.Errorf("%d subscriptions and %d events are left of %d and %d, %v",
				len(after.Subscriptions), len(after.Events), len(h.Subscriptions), len(h.Events), err)
		}
		if head, err := w.Audit.TrailHead(ctx); err != nil || head.Seq != before.Seq {
			t.Error("the line of an erasure that was undone:", head.Seq, before.Seq, err)
		}
		if stones, err := w.Subjects.Tombstones(ctx); err != nil || len(stones) != 0 {
			t.Error("its tombstone:", stones, err)
		}
	})
}
