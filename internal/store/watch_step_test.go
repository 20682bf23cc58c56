package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestPlansOfTheErased: what a person said of their steps is in their copy and goes with them, and nobody is reminded
// of what was erased.
func TestPlansOfTheErased(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx, w := context.Background(), newLives(t, e, 2)
		held, err := w.Subjects.Held(ctx, w.partner, w.people[0].who())
		if err != nil || len(held.Steps) != 1 {
			t.Fatalf("the copy has %+v, %v", held.Steps, err)
		}
		want := held.Steps[0]
		want.Step, want.State, want.At = "expect-scams", cyber.StepDone, w.Clock.Now()
		difftest.Check(t, "the step in the copy", held.Steps[0], want)
		_, err = w.rights().ErasePerson(ctx, clerk, w.people[0].who(), "pedido", keepNoCopy)
		if err != nil {
			t.Fatal(err)
		}
		if left := w.count(t, `SELECT count(*) FROM finding_step`); left != 1 {
			t.Errorf("%d steps are left of two people, one of them erased", left)
		}
		w.Clock.Advance(13 * time.Hour)
		if told, err := w.Monitoring.RemindSteps(ctx, cyber.ReminderOf); err != nil || told != 1 {
			t.Errorf("reminded %d people: %v", told, err)
		}
		kept, err := w.Alerts.EventsAfter(ctx, w.partner.ID, alert.Everything, 0, 1000)
		if err != nil || len(kept.Events) == 0 {
			t.Fatal(kept, err)
		}
		last := kept.Events[len(kept.Events)-1]
		if body := string(last.Body); last.Type != alert.StepDue || !strings.Contains(body, string(w.people[1].user)) ||
			strings.Contains(body, string(w.people[0].user)) {
			t.Error("told of", body)
		}
	})
}
