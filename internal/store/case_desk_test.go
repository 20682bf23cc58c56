package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestReadyAnswers keeps answers by title: one of the same title takes the place of the other, and one that this
// program did not write is not shown.
func TestReadyAnswers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		for _, a := range []cyber.ReadyAnswer{
			{Title: "Pix", Text: "primeira"},
			{Title: "Bom dia", Text: "Olá!"},
			{Title: "Pix", Text: "segunda"},
		} {
			if err := e.Store.Cases.SaveReadyAnswer(ctx, a); err != nil {
				t.Fatal(err)
			}
		}
		list, err := e.Store.Cases.ReadyAnswers(ctx)
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		difftest.Must(t, "ready answers", []string{list[0].Title, list[1].Text}, []string{"Bom dia", "segunda"})
		if err := storetest.Write(
			ctx,
			e,
			`UPDATE case_answer SET body = 'Mande a sua senha' WHERE title = 'Pix'`,
		); err != nil {
			t.Fatal(err)
		}
		if list, err = e.Store.Cases.ReadyAnswers(ctx); err != nil || len(list) != 1 {
			t.Fatal("a forged answer is offered:", list, err)
		}
		for range 2 {
			if err := e.Store.Cases.DeleteReadyAnswer(ctx, "Bom dia"); err != nil {
				t.Fatal(err)
			}
		}
		if list, err = e.Store.Cases.ReadyAnswers(ctx); err != nil || len(list) != 0 {
			t.Fatal(list, err)
		}
	})
}

// TestSetWriter notes who is writing to a case, of its own partner alone.
func TestSetWriter(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Sandbox)
		other, _ := e.NewPartner(t, partner.Sandbox)
		if err := cyber.NewServices(e.Store.Services, e.Clock.Now).SeedServices(ctx); err != nil {
			t.Fatal(err)
		}
		cases := cyber.NewCases(e.Store.Cases, e.Clock.Now)
		opened, err := cases.OpenCase(ctx, p.ID, cyber.CaseRequest{Service: "sv_ajuda_phishing", User: "u1"})
		if err != nil {
			t.Fatal(err)
		}
		err = e.Store.Cases.SetWriter(ctx, cyber.CaseKey{ID: opened.ID, Partner: other.ID}, "eva", e.Clock.Now())
		if !errors.Is(err, cyber.ErrCaseNotFound) {
			t.Fatal("another partner writes to the case:", err)
		}
		for _, key := range []cyber.CaseKey{{ID: opened.ID}, {ID: opened.ID, Partner: p.ID}} {
			if err := e.Store.Cases.SetWriter(ctx, key, "bruna", e.Clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
		now, _, err := cases.GetCase(ctx, opened.ID)
		if err != nil || now.OtherWriter("caio", e.Clock.Now()) != "bruna" ||
			now.OtherWriter("bruna", e.Clock.Now()) != "" {
			t.Fatalf("%q is writing: %v", now.Writer, err)
		}
	})
}
