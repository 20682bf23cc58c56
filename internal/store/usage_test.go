package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestRequestsAreCounted: what processes hand in adds up for each partner, day and operation, and old days go.
func TestRequestsAreCounted(t *testing.T) {
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) {
			e := storetest.Open(t, engine)
			ctx := context.Background()
			one, _ := e.NewPartner(t, partner.Live)
			other, _ := e.NewPartner(t, partner.Live)
			meter := partner.NewMeter(e.Store.Partners, e.Clock.Now)
			today := partner.DayNumber(e.Clock.Now())
			add := func(id partner.ID, day int64, operation string, sent, refused int64) {
				if err := meter.AddRequests(
					ctx,
					id,
					[]partner.Requests{{Day: day, Operation: operation, Sent: sent, Refused: refused}},
					nil,
				); err != nil {
					t.Fatal(err)
				}
			}
			add(one.ID, today, "GET /a", 2, 1)
			add(one.ID, today, "GET /a", 3, 0)
			add(one.ID, today, "GET /b", 1, 1)
			add(one.ID, today-1, "GET /a", 7, 0)
			add(other.ID, today, "GET /a", 100, 0)
			got, err := meter.CountsOfDays(ctx, one.ID, 2)
			want := []partner.Requests{
				{Day: today, Operation: "GET /a", Sent: 5, Refused: 1},
				{Day: today, Operation: "GET /b", Sent: 1, Refused: 1},
				{Day: today - 1, Operation: "GET /a", Sent: 7},
			}
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v %v", got, err)
			}
			if got, err = meter.CountsOfDays(ctx, one.ID, 1); err != nil || len(got) != 2 {
				t.Errorf("one day: %v %v", got, err)
			}
			var lines []partner.LoggedRequest
			for i := range partner.MaxLogged + 100 {
				lines = append(
					lines,
					partner.LoggedRequest{
						At:        e.Clock.Now().Add(time.Duration(i) * time.Millisecond),
						Operation: "GET /a",
						Status:    200 + 204*(i%2),
						Took:      time.Millisecond,
						Fault:     "x",
					},
				)
			}
			for part := range slices.Chunk(lines, 300) {
				if err := meter.AddRequests(ctx, one.ID, nil, part); err != nil {
					t.Fatal(err)
				}
			}
			kept, err := meter.LatestRequests(ctx, one.ID, false)
			if err != nil || len(kept) != partner.MaxLogged || !kept[0].At.Equal(lines[len(lines)-1].At) ||
				kept[0].Took != time.Millisecond {
				t.Errorf("%d requests in the log, the newest %+v, %v", len(kept), kept[0], err)
			}
			if kept, err = meter.LatestRequests(
				ctx,
				one.ID,
				true,
			); err != nil || len(kept) != partner.MaxLogged/2 ||
				kept[0].Status != 404 {
				t.Errorf("%d refused requests, %v", len(kept), err)
			}
			if kept, err = meter.LatestRequests(ctx, other.ID, false); err != nil || len(kept) != 0 {
				t.Errorf("another partner's log has %d, %v", len(kept), err)
			}
			e.Clock.Advance((partner.KeepRequests + 1) * 24 * time.Hour)
			add(one.ID, partner.DayNumber(e.Clock.Now()), "GET /a", 1, 0)
			if got, err = e.Store.Partners.RequestsOf(ctx, one.ID, 0); err != nil || len(got) != 1 {
				t.Errorf("old days are kept: %v %v", got, err)
			}
		})
	}
}

// TestBreachCatalogue: partners read what is published, newest first and page by page; what is being imported or was
// taken back is not there, and the made-up breach is for the sandbox alone.
func TestBreachCatalogue(t *testing.T) {
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) {
			e := storetest.Open(t, engine)
			ctx, now := context.Background(), e.Clock.Now()
			for i, state := range []leak.State{
				leak.Published,
				leak.Importing,
				leak.Published,
				leak.Retracted,
				leak.Published,
			} {
				err := e.Store.Breaches.InsertBreach(ctx, leak.Record{State: state, Breach: cyber.Breach{
					Name: fmt.Sprintf(
						"loja-%d",
						i,
					),
					Title:   "Loja",
					Date:    now,
					Exposes: []cyber.Exposed{"email"},
					Kind:    cyber.SourceBreach,
					Source:  "canal fechado",
					AddedAt: now.Add(time.Duration(i) * time.Minute),
				}})
				if err != nil {
					t.Fatal(err)
				}
			}
			catalogue := cyber.NewBreaches(e.Store.Breaches)
			names := func(mode partner.Mode, page int64, size int) (list []string, total int64) {
				found, total, err := catalogue.ListBreaches(ctx, mode, page, size)
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range found {
					list = append(list, b.Name)
				}
				return list, total
			}
			for _, c := range []struct {
				mode  partner.Mode
				page  int64
				size  int
				want  string
				total int64
			}{
				{partner.Live, 1, 2, "[loja-4 loja-2]", 3},
				{partner.Live, 2, 2, "[loja-0]", 3},
				{partner.Live, 3, 2, "[]", 3},
				{partner.Live, 1 << 62, 100, "[]", 3},
				{partner.Sandbox, 1, 500, "[loja-4 loja-2 loja-0 sandbox]", 4},
			} {
				if list, total := names(c.mode, c.page, c.size); fmt.Sprint(list) != c.want || total != c.total {
					t.Errorf("%+v: %v of %d", c, list, total)
				}
			}
			for name, ok := range map[string]bool{
				"loja-0":            true,
				"loja-1":            false,
				"loja-3":            false,
				"nada":              false,
				cyber.SandboxBreach: false,
			} {
				if b, err := catalogue.FindBreach(
					ctx,
					partner.Live,
					name,
				); (err == nil) != ok || err != nil && !errors.Is(err, cyber.ErrBreachUnknown) ||
					ok && b.Title != "Loja" {
					t.Errorf("%s: %+v %v", name, b, err)
				}
			}
			if _, err := catalogue.FindBreach(ctx, partner.Sandbox, cyber.SandboxBreach); err != nil {
				t.Error(err)
			}
		})
	}
}
