package store_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

// TestListsOfAPerson: deliveries and subscriptions are narrowed to somebody, whichever form of the hash names them, in
// every state and page by page; deliveries that failed are those of the partner who asks.
func TestListsOfAPerson(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, cred := e.NewPartner(t, partner.Live)
		other, _ := e.NewPartner(t, partner.Live)
		endpoints := alert.NewEndpoints(e.Store.Alerts, e.Clock.Now, nil)
		for _, id := range []partner.ID{p.ID, p.ID, other.ID} {
			if _, err := endpoints.CreateEndpoint(ctx, id, "https://127.0.0.1/avisos", nil, loopback); err != nil {
				t.Fatal(err)
			}
		}
		first, second := person(1, "ouro", "", 0), person(2, "ouro", "", 0)
		enrolAll(t, e, p.ID, first, second, person(1, "prata", "", 0))
		short, long := partner.PersonDigests(first.Beneficiary.CPF, cred.Salt)
		ana := []partner.UserHash{
			partner.UserHash(hex.EncodeToString(short[1:])),
			partner.UserHash(hex.EncodeToString(long[1:])),
		}
		for i, user := range []partner.UserHash{ana[0], "bia", ana[1], "bia"} {
			id := p.ID
			if i == 3 {
				id = other.ID
			}
			event := alert.NewEvent(id, alert.LeakDetected, user, e.Clock.Now(), struct{}{})
			if err := e.Store.Alerts.AddEvents(ctx, id, event); err != nil {
				t.Fatal(err)
			}
		}
		count := func(f alert.DeliveryFilter) (n int) {
			t.Helper()
			for f.Limit = 1; ; {
				list, next, err := e.Overview.DeliveryList(ctx, f)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range list {
					if n++; d.Partner != f.Partner || d.State != f.State {
						t.Errorf("%+v on the list of %+v", d, f)
					}
				}
				if f.Before = next; next.Endpoint == "" {
					return n
				}
			}
		}
		for _, state := range []alert.DeliveryState{alert.Pending, alert.DeliveryFailed, alert.Delivered} {
			finished := 1
			if state == alert.Pending {
				finished = 0
			}
			if err := storetest.Write(
				ctx,
				e,
				`UPDATE delivery SET state = $1, finished_at = $2 + seq WHERE $2 > 0`,
				string(state),
				finished,
			); err != nil {
				t.Fatal(err)
			}
			got := []int{
				count(alert.DeliveryFilter{State: state, Partner: p.ID}),
				count(alert.DeliveryFilter{State: state, Partner: other.ID}),
				count(alert.DeliveryFilter{State: state, Partner: p.ID, User: ana[0]}),
				count(alert.DeliveryFilter{State: state, Partner: p.ID, User: ana[1]}),
				count(alert.DeliveryFilter{State: state, Partner: p.ID, User: "bia"}),
				count(alert.DeliveryFilter{State: state, Partner: other.ID, User: ana[0]}),
			}
			if !slices.Equal(got, []int{6, 1, 4, 4, 2, 0}) {
				t.Errorf("%s: %v", state, got)
			}
		}
		for name, c := range map[string]struct {
			f    subscription.ListFilter
			want string
		}{
			"a person":     {subscription.ListFilter{User: ana[0]}, "[1 3]"},
			"newest first": {subscription.ListFilter{User: ana[1], NewestFirst: true}, "[3 1]"},
			"a plan":       {subscription.ListFilter{User: ana[0], Plan: "prata"}, "[3]"},
			"ended":        {subscription.ListFilter{User: ana[0], State: subscription.ListEnded}, "[]"},
			"nobody":       {subscription.ListFilter{User: "bia"}, "[]"},
		} {
			c.f.Limit = 10
			list, next, err := e.Overview.SubscriptionList(ctx, p.ID, c.f)
			seqs := []int64{}
			for _, s := range list {
				seqs = append(seqs, s.Seq)
			}
			if err != nil || next != 0 || fmt.Sprint(seqs) != c.want {
				t.Errorf("%s: %v %d %v", name, seqs, next, err)
			}
		}
	})
}
