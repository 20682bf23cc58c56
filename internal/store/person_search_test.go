package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
)

// TestSearch: a person is found by everything that names them, once for each partner, among more partners than one
// statement asks about; and a reference leads back to the person at its own partner alone.
func TestSearch(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 2)
		for range 120 {
			e.NewPartner(t, partner.Sandbox)
		}
		other := newLives(t, e, 1) // the same first person at another partner
		search := subject.NewSearch(e.Store.Subjects, e.Store.Partners)
		find := func(text string) []subject.Hit {
			hits, _, err := search.FindText(ctx, text)
			if err != nil {
				t.Fatal(err)
			}
			return hits
		}
		first, second := w.people[0], w.people[1]
		hits := find(second.cpf)
		if len(hits) != 1 || hits[0].Kind != subject.HitPerson || hits[0].Partner != w.partner.ID {
			t.Fatalf("by CPF: %+v", hits)
		}
		held, err := w.rights().ExportPerson(ctx, second.who())
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"user hash":   string(second.user),
			"short hash":  string(held[0].Cases[0].User),
			"value":       held[0].Assets[0].Value,
			"other value": held[0].Assets[1].Value,
		} {
			if got := find(text); len(got) != 1 || got[0] != hits[0] {
				t.Errorf("by %s: %+v", name, got)
			}
		}
		for kind, id := range map[subject.HitKind]string{
			subject.HitCase:     string(held[0].Cases[0].ID),
			subject.HitDevice:   string(held[0].Devices[0].ID),
			subject.HitEvent:    held[0].Events[0].ID,
			subject.HitEndpoint: held[0].Events[0].Deliveries[0].Endpoint,
		} {
			if got := find(id); len(got) != 1 || got[0] != (subject.Hit{Kind: kind, Partner: w.partner.ID, ID: id}) {
				t.Errorf("%s: %+v", kind, got)
			}
		}
		if got := find(first.cpf); len(got) != 2 || got[0].ID == got[1].ID {
			t.Errorf("a person of two partners: %+v", got)
		}
		who, err := w.rights().FindReferred(ctx, w.partner.ID, hits[0].ID)
		if err != nil || w.rights().Reference(who) == "" {
			t.Fatal(who, err)
		}
		h, _, err := w.rights().DescribePerson(ctx, w.partner, who)
		if err != nil || len(h.Subscriptions) != 1 || len(h.Assets) != 2 || len(h.Cases) != 1 {
			t.Errorf("%+v, %v", h, err)
		}
		for _, ref := range []string{hits[0].ID, "", "us_", "us_00", "ps_00", "us_xy"} {
			if _, err := w.rights().FindReferred(ctx, other.partner.ID, ref); !errors.Is(err, subject.ErrNobody) {
				t.Errorf("%q at another partner: %v", ref, err)
			}
		}
	})
}
