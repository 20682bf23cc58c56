package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestMessageTemplates: texts are kept, changed and taken back for everybody or for one partner, and an event is only
// its own partner's.
func TestMessageTemplates(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 1)
		q, _ := e.NewPartner(t, partner.Live)
		texts := message.NewCatalogue(e.Alerts)
		k := message.Key{Event: alert.KeyEnded, Channel: message.Push, Language: partner.Spanish}
		for _, set := range []struct {
			id   partner.ID
			text string
		}{{"", "de todos"}, {w.partner.ID, "primero"}, {w.partner.ID, "segundo"}} {
			if err := texts.SetTemplate(
				ctx,
				set.id,
				message.Template{Key: k, Subject: "t", Text: set.text},
			); err != nil {
				t.Fatal(err)
			}
		}
		shown := func(id partner.ID, want string) {
			t.Helper()
			if got, err := texts.GetTemplate(ctx, id, k); err != nil || got.Text != want || got.Subject != "t" {
				t.Errorf("%+v, want %q: %v", got, want, err)
			}
		}
		shown(w.partner.ID, "segundo")
		shown(q.ID, "de todos")
		shown("", "de todos")
		if err := texts.ResetTemplate(ctx, w.partner.ID, k); err != nil {
			t.Fatal(err)
		}
		shown(w.partner.ID, "de todos")
		if err := texts.ResetTemplate(ctx, w.partner.ID, k); !errors.Is(err, message.ErrUnchanged) {
			t.Error("reset twice:", err)
		}
		if err := texts.SetTemplate(ctx, "pt_nobody", message.Template{
			Key:     k,
			Subject: "t",
			Text:    "x",
		}); !errors.Is(err, partner.ErrNotFound) {
			t.Error("a text for a partner that is not there:", err)
		}
		found, err := e.Alerts.EventsAfter(ctx, w.partner.ID, alert.Everything, 0, 1)
		if err != nil || len(found.Events) != 1 {
			t.Fatal(found, err)
		}
		event := found.Events[0]
		if got, err := e.Alerts.GetEvent(
			ctx,
			w.partner.ID,
			event.ID,
		); err != nil || string(got.Body) != string(event.Body) ||
			got.Type != event.Type {
			t.Error(got, err)
		}
		if _, err := e.Alerts.GetEvent(ctx, q.ID, event.ID); !errors.Is(err, alert.ErrEventNotFound) {
			t.Error("another partner's event:", err)
		}
		name, err := e.Alerts.FindPlanName(ctx, w.partner.ID, livesPlan)
		none, err2 := e.Alerts.FindPlanName(ctx, q.ID, livesPlan)
		gone, err3 := e.Alerts.BreachTitle(ctx, "nowhere")
		if err := errors.Join(err, err2, err3); err != nil || name != "Ouro" || none != "" || gone != "" {
			t.Error(name, none, gone, err)
		}
	})
}
