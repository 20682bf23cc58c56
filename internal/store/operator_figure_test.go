package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestFigures: counts are right, and counting again counts nothing twice.
func TestFigures(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Sandbox)
		watch := cyber.NewMonitoring(
			e.Store.Monitoring,
			e.Store.Partners,
			cyber.Unasked{},
			e.Keys.Fingerprint,
			e.Clock.Now,
		)
		who := cyber.Owner{Partner: p.ID, Mode: p.Mode}
		for _, value := range []string{"um@vazamento.test", "dois@vazamento.test", "tres@exemplo.com.br"} {
			if _, err := watch.AddAsset(
				ctx,
				cyber.AssetRequest{Owner: who, User: "pessoa", Type: "email", Value: value},
			); err != nil {
				t.Fatal(err)
			}
		}
		// What a sandbox finds is in no figure of the service. A live partner finds none of its values, so the partner
		// changes under them.
		if err := e.Overview.CountFigures(ctx, 0); err != nil {
			t.Fatal(err)
		}
		if f, err := e.Overview.LastFigures(ctx); err != nil || f.Now[operator.FindingsOpen] != 0 {
			t.Error("findings of a sandbox are counted:", f.Now, err)
		}
		become := func(mode partner.Mode) {
			t.Helper()
			if err := storetest.Write(ctx, e, `UPDATE partner SET mode = $1`, string(mode)); err != nil {
				t.Fatal(err)
			}
		}
		become(partner.Live)
		check := func(when string, findings, alerts int64) {
			t.Helper()
			if err := e.Overview.CountFigures(ctx, 0); err != nil {
				t.Fatal(err)
			}
			f, err := e.Overview.LastFigures(ctx)
			if err != nil {
				t.Fatal(err)
			}
			byDay, err := e.Overview.FiguresByDay(ctx, "", 30, operator.FindingsOfDay, operator.AlertsOfDay)
			if err != nil {
				t.Fatal(err)
			}
			days, told := byDay[operator.FindingsOfDay], byDay[operator.AlertsOfDay]
			type figures struct{ days, findings, alerts, open, assets int64 }
			difftest.Check(
				t,
				when,
				figures{
					int64(len(days)),
					totalOf(days),
					totalOf(told),
					f.Now[operator.FindingsOpen],
					f.Now[operator.AssetsMonitored],
				},
				figures{30, findings, alerts, findings, 1},
			)
			difftest.Check(t, when+": counted", f.At, e.Clock.Now())
		}
		check("first", 2, 2)
		check("again", 2, 2)
		e.Clock.Advance(36 * time.Hour)
		become(partner.Sandbox)
		if _, err := watch.AddAsset(
			ctx,
			cyber.AssetRequest{Owner: who, User: "outra", Type: "email", Value: "quatro@vazamento.test"},
		); err != nil {
			t.Fatal(err)
		}
		become(partner.Live)
		check("two days later", 3, 3)
		before, err := e.Overview.LastFigures(ctx)
		if err != nil {
			t.Fatal(err)
		}
		e.Clock.Advance(time.Second)
		if err := e.Overview.CountFigures(ctx, time.Minute); err != nil {
			t.Fatal(err)
		}
		if after, err := e.Overview.LastFigures(ctx); err != nil || !after.At.Equal(before.At) {
			t.Error("fresh figures were counted anew:", after.At, err)
		}
	})
}

func totalOf(days []operator.DayCount) (n int64) {
	for _, d := range days {
		n += d.Count
	}
	return n
}

// TestOperatorLists: newest first, page by page, and by partner where one is named.
func TestOperatorLists(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Sandbox)
		other, _ := e.NewPartner(t, partner.Sandbox)
		watch := cyber.NewMonitoring(
			e.Store.Monitoring,
			e.Store.Partners,
			cyber.Unasked{},
			e.Keys.Fingerprint,
			e.Clock.Now,
		)
		for _, value := range []string{"um@vazamento.test", "dois@vazamento.test", "tres@vazamento.test"} {
			if _, err := watch.AddAsset(
				ctx,
				cyber.AssetRequest{
					Owner: cyber.Owner{Partner: p.ID, Mode: p.Mode},
					User:  "pessoa",
					Type:  "email",
					Value: value,
				},
			); err != nil {
				t.Fatal(err)
			}
			e.Clock.Advance(time.Minute)
		}
		found, next, err := e.Overview.FindingList(ctx, cyber.FindingFilter{State: cyber.FindingOpen, Limit: 2})
		if err != nil || len(found) != 2 {
			t.Fatal(found, err)
		}
		difftest.Must(t, "the value of the first", found[0].Asset.Value, "tres@vazamento.test")
		difftest.Must(t, "the person of the second", found[1].Asset.User, "pessoa")
		last := found[1].Finding
		rest, end, err := e.Overview.FindingList(ctx, cyber.FindingFilter{Limit: 2, Before: next})
		if err != nil || end.ID != "" || len(rest) != 1 {
			t.Fatal(rest, end, err)
		}
		difftest.Must(t, "the value of the last", rest[0].Asset.Value, "um@vazamento.test")
		if _, err := e.Overview.FindingByID(ctx, other.ID, last.ID); !errors.Is(err, cyber.ErrFindingNotFound) {
			t.Error("a finding of another partner:", err)
		}
		assets, _, err := e.Overview.ListAssets(ctx, cyber.AssetFilter{Status: found[0].Asset.Status, Limit: 10})
		if err != nil || len(assets) != 3 || assets[0].ID != found[0].Asset.ID {
			t.Fatal(assets, err)
		}
		if _, err := e.Overview.GetAsset(ctx, other.ID, assets[0].ID); !errors.Is(err, cyber.ErrAssetNotFound) {
			t.Error("a value of another partner:", err)
		}
		events, _, err := e.Overview.ListEvents(ctx, p.ID, alert.EventFilter{Limit: 100})
		if err != nil || len(events) < 3 || events[0].Seq <= events[1].Seq {
			t.Fatal(events, err)
		}
		if older, _, err := e.Overview.ListEvents(
			ctx,
			p.ID,
			alert.EventFilter{After: events[0].Seq, Limit: 1},
		); err != nil || len(older) != 1 ||
			older[0].ID != events[1].ID {
			t.Fatal(older, err)
		}
		if _, err := e.Overview.GetEvent(ctx, other.ID, events[0].ID); !errors.Is(err, alert.ErrEventNotFound) {
			t.Error("an event of another partner:", err)
		}
	})
}
