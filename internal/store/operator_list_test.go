package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestListsAreNarrowed: every filter of the operator's lists keeps what fits and nothing else, in either order, page by
// page.
func TestListsAreNarrowed(t *testing.T) {
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
		begin := e.Clock.Now()
		for i, owner := range []partner.Partner{p, other, p, other, p} {
			value := fmt.Sprintf("v%d@vazamento.test", i)
			if _, err := watch.AddAsset(
				ctx,
				cyber.AssetRequest{
					Owner: cyber.Owner{Partner: owner.ID, Mode: owner.Mode},
					User:  partner.UserHash(fmt.Sprint("pessoa", i%4)),
					Type:  "email",
					Value: value,
				},
			); err != nil {
				t.Fatal(err)
			}
			e.Clock.Advance(time.Hour)
		}
		all, _, err := e.Overview.FindingList(ctx, cyber.FindingFilter{Limit: 10})
		if err != nil || len(all) != 5 {
			t.Fatal(all, err)
		}
		severity := all[0].Finding.Severity
		for name, c := range map[string]struct {
			f    cyber.FindingFilter
			want string
		}{
			"a partner":          {cyber.FindingFilter{Partner: p.ID}, "v4 v2 v0 "},
			"the oldest first":   {cyber.FindingFilter{Partner: p.ID, OldestFirst: true}, "v0 v2 v4 "},
			"a person":           {cyber.FindingFilter{Partner: p.ID, User: "pessoa0"}, "v4 v0 "},
			"another's person":   {cyber.FindingFilter{Partner: other.ID, User: "pessoa0"}, ""},
			"open":               {cyber.FindingFilter{Partner: other.ID, State: cyber.FindingOpen}, "v3 v1 "},
			"resolved":           {cyber.FindingFilter{State: cyber.FindingResolved}, ""},
			"a kind":             {cyber.FindingFilter{Kind: "email"}, "v4 v3 v2 v1 v0 "},
			"another kind":       {cyber.FindingFilter{Kind: "cpf"}, ""},
			"a severity":         {cyber.FindingFilter{Severities: []cyber.Severity{severity, "none"}, Partner: p.ID}, "v4 v2 v0 "},
			"another severity":   {cyber.FindingFilter{Severities: []cyber.Severity{"none"}}, ""},
			"a period":           {cyber.FindingFilter{From: begin.Add(time.Hour), To: begin.Add(3 * time.Hour)}, "v2 v1 "},
			"a partner's period": {cyber.FindingFilter{Partner: p.ID, From: begin.Add(time.Hour), To: begin.Add(3 * time.Hour)}, "v2 "},
		} {
			got := ""
			for c.f.Limit = 1; ; { // a line at a time: every place is gone on from
				list, next, err := e.Overview.FindingList(ctx, c.f)
				if err != nil {
					t.Fatal(name, err)
				}
				for _, one := range list {
					got += one.Asset.Value[:2] + " "
				}
				if c.f.Before = next; next.ID == "" {
					break
				}
			}
			if got != c.want {
				t.Errorf("%s: %q, not %q", name, got, c.want)
			}
		}
		assets, _, err := e.Overview.ListAssets(
			ctx,
			cyber.AssetFilter{Status: all[0].Asset.Status, Partner: other.ID, Kind: "email", Limit: 10},
		)
		if err != nil || len(assets) != 2 || assets[0].Value[:2] != "v3" {
			t.Error(assets, err)
		}
		events, _, err := e.Overview.ListEvents(
			ctx,
			p.ID,
			alert.EventFilter{Type: alert.LeakDetected, User: "pessoa2", Limit: 10},
		)
		if err != nil || len(events) != 1 || events[0].Type != alert.LeakDetected {
			t.Error(events, err)
		}
		if devices, _, err := e.Overview.DeviceList(
			ctx,
			p.ID,
			cyber.DeviceFilter{System: cyber.Android, Limit: 10},
		); err != nil ||
			len(devices) != 0 {
			t.Error(devices, err)
		}
	})
}

// TestFiltersAndExports: what an operator keeps is theirs alone, sealed, and files go when their time is over.
func TestFiltersAndExports(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx, saved := context.Background(), e.Store.Operators
		for _, id := range []operator.ID{"op_a", "op_b"} {
			if err := saved.InsertOperator(
				ctx,
				operator.Operator{ID: id, Email: string(id) + "@exemplo.com.br", Role: operator.Viewer},
			); err != nil {
				t.Fatal(err)
			}
		}
		if err := saved.KeepFilter(
			ctx,
			operator.KeptFilter{Operator: "op_a", ID: "fl_1", List: "findings", Name: "do João", Query: "state=all"},
		); err != nil {
			t.Fatal(err)
		}
		list, err := saved.KeptFilters(ctx, "op_a")
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		want := list[0]
		want.Name, want.Query = "do João", "state=all"
		difftest.Check(t, "the filter that was kept", list[0], want)
		if list, err := saved.KeptFilters(ctx, "op_b"); err != nil || len(list) != 0 {
			t.Error(list, err)
		}
		if err := saved.DropFilter(ctx, "op_b", "fl_1"); !errors.Is(err, operator.ErrNoFilter) {
			t.Error("another's filter:", err)
		}
		if err := saved.DropFilter(ctx, "op_a", "fl_1"); err != nil {
			t.Error(err)
		}
		x := operator.Export{
			ID:        "ex_1",
			Operator:  "op_a",
			List:      "findings",
			Format:    operator.CSV,
			CreatedAt: e.Clock.Now(),
			Until:     e.Clock.Now().Add(time.Hour),
		}
		if err := saved.BeginExport(ctx, x); err != nil {
			t.Fatal(err)
		}
		if _, err := saved.GetExport(ctx, "op_a", "ex_1"); !errors.Is(err, operator.ErrNoExport) {
			t.Error("half a file:", err)
		}
		err = errors.Join(
			saved.AddExportPart(ctx, "ex_1", 1, 10, []byte("um"), false),
			saved.AddExportPart(ctx, "ex_1", 2, 12, []byte("dois"), true),
		)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := saved.GetExport(ctx, "op_a", "ex_1"); err != nil || got.Lines != 12 || got.Parts != 2 {
			t.Error(got, err)
		}
		if body, err := saved.ExportPart(ctx, "ex_1", 2); err != nil || string(body) != "dois" {
			t.Error(string(body), err)
		}
		if _, err := saved.GetExport(ctx, "op_b", "ex_1"); !errors.Is(err, operator.ErrNoExport) {
			t.Error("another's file:", err)
		}
		if list, err := saved.ListExports(ctx, "op_a"); err != nil || len(list) != 1 {
			t.Error(list, err)
		}
		if err := saved.SweepExports(ctx, x.Until); err != nil {
			t.Fatal(err)
		}
		if _, err := saved.ExportPart(ctx, "ex_1", 1); !errors.Is(err, operator.ErrNoExport) {
			t.Error("a file after its time:", err)
		}
	})
}
