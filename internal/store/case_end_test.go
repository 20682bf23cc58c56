package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestFinalMoveWaitsForUndo: a case that is ended stays as it is, and its partner hears nothing, until the move can no
// longer be undone; undoing it, or a word of the person, takes it back.
func TestFinalMoveWaitsForUndo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Sandbox)
		if err := cyber.NewServices(e.Store.Services, e.Clock.Now).SeedServices(ctx); err != nil {
			t.Fatal(err)
		}
		cases := cyber.NewCases(e.Store.Cases, e.Clock.Now)
		opened, err := cases.OpenCase(ctx, p.ID, cyber.CaseRequest{Service: "sv_ajuda_phishing", User: "u1"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cases.TakeCase(ctx, opened.ID, "bruna"); err != nil {
			t.Fatal(err)
		}
		countEvents := func() (n int) {
			t.Helper()
			if err := e.DB.ReadPool().QueryRow(`SELECT count(*) FROM event`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := countEvents()
		end := func() {
			t.Helper()
			if c, err := cases.ScheduleEnd(
				ctx,
				opened.ID,
				cyber.CaseResolved,
				"bruna",
			); err != nil ||
				c.Status != cyber.CaseInProgress {
				t.Fatal(c.Status, err)
			}
		}
		makeEndings := func(want int) {
			t.Helper()
			if made, err := cases.MakeEndings(ctx); err != nil || made != want {
				t.Fatalf("%d moves were made, want %d: %v", made, want, err)
			}
		}
		end()
		e.Clock.Advance(cyber.UndoTime - time.Millisecond)
		makeEndings(0)
		if _, err := cases.UndoScheduledEnd(ctx, opened.ID); err != nil {
			t.Fatal(err)
		}
		e.Clock.Advance(time.Hour)
		makeEndings(0)

		end()
		if _, err := cases.AddMessage(
			ctx,
			cyber.CaseKey{ID: opened.ID, Partner: p.ID, User: "u1"},
			cyber.Message{Text: "Ainda não"},
		); err != nil {
			t.Fatal(err)
		}
		told := countEvents()
		e.Clock.Advance(time.Hour)
		makeEndings(0)
		if countEvents() != told || told < before {
			t.Error("the partner was told of a move that was not made")
		}

		end()
		e.Clock.Advance(cyber.UndoTime)
		makeEndings(1)
		makeEndings(0)
		if c, _, err := cases.GetCase(
			ctx,
			opened.ID,
		); err != nil || c.Status != cyber.CaseResolved ||
			countEvents() != told+1 {
			t.Errorf("%s, %d events after %d: %v", c.Status, countEvents(), told, err)
		}
		if _, err := cases.UndoScheduledEnd(ctx, opened.ID); !errors.Is(err, cyber.ErrCaseMove) {
			t.Error("undone after it was made:", err)
		}
	})
}
