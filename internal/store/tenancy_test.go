package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestPartnersCannotBeJoined: one person, with the same values and the same device, is known to two partners. No sealed
// value and no index of one is found at the other, in any table.
func TestPartnersCannotBeJoined(t *testing.T) {
	ctx := context.Background()
	e := storetest.Open(t, "sqlite")
	if err := cyber.NewServices(e.Store.Services, e.Clock.Now).Seed(ctx); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		p, _ := e.NewPartner(t, partner.Live)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(e.Plans.InsertPlan(ctx, p.ID, plan.Plan{ID: livesPlan, Partner: p.ID, Coverage: plan.Demo(), CreatedAt: e.Clock.Now()}))
		enrolAll(t, e, p.ID, person(1, livesPlan, "", 0))
		_, err := alert.NewEndpoints(e.Store.Alerts, e.Clock.Now, nil).Create(ctx, p.ID, "http://127.0.0.1:9/", nil, loopback)
		must(err)
		watch := cyber.NewMonitoring(e.Store.Monitoring, e.Store.Partners, everywhere{}, e.Keys.Fingerprint, e.Clock.Now)
		must(watch.Watch(ctx, cyber.Owner{Partner: p.ID, Mode: partner.Live}, "u1", "email", "ana@exemplo.com.br"))
		_, err = cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil).Issue(ctx, p.ID, phone("u1", "Celular da Ana"))
		must(err)
		_, err = cyber.NewCases(e.Store.Cases, e.Clock.Now).Open(ctx, p.ID, cyber.CaseRequest{Service: "sv_ajuda_phishing", User: "u1"})
		must(err)
		must(e.Advice.KeepAnswer(ctx, p.ID, "u1", "q", "sim"))
		must(e.Advice.KeepScore(ctx, p.ID, "u1", cyber.ScoreDay{Day: e.Clock.Now().Unix() / 86400, Breach: 50, Assessment: 40}))
	}
	compared := map[string]bool{}
	for _, column := range bytesOfPartners(t, e) {
		table, name := column[0], column[1]
		var shared, filled int
		query := fmt.Sprintf(`SELECT (SELECT count(*) FROM %[1]s a JOIN %[1]s b ON a.%[2]s = b.%[2]s AND a.partner_id < b.partner_id
			AND length(a.%[2]s) > 0), (SELECT count(DISTINCT partner_id) FROM %[1]s WHERE length(%[2]s) > 0)`, table, name)
		if err := e.DB.Reader().QueryRowContext(ctx, query).Scan(&shared, &filled); err != nil {
			t.Fatal(err)
		}
		if shared > 0 {
			t.Errorf("%s.%s: %d values stand at both partners", table, name, shared)
		}
		compared[table+"."+name] = filled == 2
	}
	for _, must := range []string{"epp_key.device_index", "epp_key.user_index", "asset.user_index", "subscription.cpf", "person.user_256"} {
		if !compared[must] {
			t.Errorf("%s was not compared", must)
		}
	}
}

// bytesOfPartners lists table and column of all bytes that are kept for a partner.
func bytesOfPartners(t *testing.T, e *storetest.Env) (columns [][2]string) {
	t.Helper()
	rows, err := e.DB.Reader().QueryContext(context.Background(), `SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND c.type = 'BYTEA'
		AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) p WHERE p.name = 'partner_id')`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var column [2]string
		if err := rows.Scan(&column[0], &column[1]); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, column)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return columns
}

// TestForeignEndpointsAndEvents: who knows the id of another partner's endpoint or event gets nothing for it.
func TestForeignEndpointsAndEvents(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		e := m.endpoint(t, newReceiver(t, nil))
		event := m.publish(t, alert.LeakDetected, "ana")
		other, _ := m.env.NewPartner(t, partner.Sandbox)
		for who, found := range map[partner.ID]bool{m.partner: true, other.ID: false} {
			for what, ask := range map[string]func() error{
				"endpoint": func() error { _, err := m.Alerts.EndpointByID(ctx, who, e.ID); return err },
				"change of an endpoint": func() error {
					_, err := m.Alerts.UpdateEndpoint(ctx, who, e.ID, func(*alert.Endpoint) error { return nil })
					return err
				},
				"deliveries": func() error { _, err := m.Alerts.Deliveries(ctx, who, event.ID); return err },
				"attempts":   func() error { _, err := m.Alerts.Attempts(ctx, who, event.ID); return err },
				"replay":     func() error { _, err := m.Alerts.Requeue(ctx, who, alert.Selection{Event: event.ID}); return err },
			} {
				err := ask()
				missing := errors.Is(err, alert.ErrEndpointNotFound) || errors.Is(err, alert.ErrEventNotFound)
				if found && err != nil || !found && !missing {
					t.Errorf("%s, its owner asking %t: %v", what, found, err)
				}
			}
		}
	})
}
