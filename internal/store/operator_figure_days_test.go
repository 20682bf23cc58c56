package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestPictureFigures: findings are told apart by severity and class, cases by their target and deliveries by endpoint;
// counting again counts nothing twice, and days that are over keep what they had.
func TestPictureFigures(t *testing.T) {
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
		for _, value := range []string{"um@vazamento.test", "dois@vazamento.test"} {
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
		}
		now, hour := e.Clock.Now().UnixMicro(), int64(time.Hour/time.Microsecond)
		write := func(statement string, args ...any) {
			t.Helper()
			if err := storetest.Write(ctx, e, statement, args...); err != nil {
				t.Fatal(err)
			}
		}
		const deliveries = `INSERT INTO delivery (partner_id, endpoint_id, seq, event_id, person, state, attempts,
			next_at, created_at, finished_at, ordered)
			VALUES (1, 'whe_1', $1, 'evt', $5, $2, 1, 0, $3, $4, FALSE)`
		write(deliveries, 101, "delivered", now-3000, now-1000, []byte{})
		write(deliveries, 102, "delivered", now-5000, now-1000, []byte{})
		write(deliveries, 103, "failed", now-5000, now-1000, []byte{})
		write(deliveries, 104, "pending", now-5000, 0, []byte{})
		write(
			`INSERT INTO service (id, name, description, position, retired, created_at, mac)
			VALUES ('sv_x', 'x', 'x', 99, FALSE, 1, '')`,
		)
		for i, used := range []int64{hour, 3 * hour} {
			id := []string{"cs_a", "cs_b"}[i]
			write(
				`INSERT INTO support_case (partner_id, id, user_index, service_id, status, assignee, details, target,
				clock_used, clock_since, due_at, created_at,
				changed_at, rating) VALUES (1, $1, $2, 'sv_x', 'Resolvido', '', $2, $3, $4, 0, 0, $5, $5, 0)`,
				id,
				[]byte{1},
				2*hour,
				used,
				now,
			)
			write(`INSERT INTO case_move (partner_id, case_id, number, kind, from_status, to_status, actor, moved_at)
				VALUES (1, $1, 2, '', 'Aberto', 'Resolvido', 'x', $2), (1, $1, 3, 'rating', 'Resolvido', 'Resolvido',
				'', $2)`,
				id,
				now,
			)
		}
		check := func(when string, arrived int64) {
			t.Helper()
			if err := e.Overview.CountFigures(ctx, 0); err != nil {
				t.Fatal(err)
			}
			sum := func(part string, name operator.Figure, want int64) {
				t.Helper()
				days, err := e.Overview.FiguresByDay(ctx, part, 7, name)
				if err != nil {
					t.Fatal(err)
				}
				if len(days[name]) != 7 || totalOf(days[name]) != want {
					t.Errorf("%s: %s of %q: %v, want %d", when, name, part, days[name], want)
				}
			}
			groups, err := e.Overview.GroupFindings(ctx, cyber.FindingFilter{State: cyber.FindingStanding}, 0)
			if err != nil {
				t.Fatal(err)
			}
			emails := cyber.CountFindings(groups, func(g cyber.FindingGroup) bool {
				return slices.Contains(g.Exposes, cyber.ExposedEmail)
			})
			if emails != 2 {
				t.Errorf("%s: %d findings that expose an address: %+v", when, emails, groups)
			}
			sum("", operator.CasesOpenedOfDay, 2)
			sum("", operator.CasesInTimeOfDay, 1)
			sum("", operator.CasesLateOfDay, 1)
			sum("whe_1", operator.ArrivedOfDay, 2)
			sum("whe_1", operator.GivenUpOfDay, 1)
			sum("whe_1", operator.TravelOfDay, 6000)
			sum("whe_2", operator.ArrivedOfDay, 0)
			if parts, err := e.Overview.FiguresByPart(
				ctx,
				operator.Arrived,
				0,
			); err != nil ||
				parts["whe_1"] != arrived {
				t.Errorf("%s: arrived in 24 hours %v, %v", when, parts, err)
			}
			if parts, err := e.Overview.FiguresByPart(ctx, operator.Backlog, 0); err != nil || parts["whe_1"] != 1 {
				t.Errorf("%s: backlogs %v, %v", when, parts, err)
			}
		}
		check("first", 2)
		check("again", 2)
		e.Clock.Advance(72 * time.Hour)
		check("three days later", 0)
		write(`UPDATE delivery SET state = 'held' WHERE endpoint_id = 'whe_1' AND state = 'pending'`)
		if err := e.Overview.CountFigures(ctx, 0); err != nil {
			t.Fatal(err)
		}
		if parts, err := e.Overview.FiguresByPart(ctx, operator.Backlog, 0); err != nil || parts["whe_1"] != 0 {
			t.Errorf("a backlog that is gone is still told: %v, %v", parts, err)
		}
	})
}
