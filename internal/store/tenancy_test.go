package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
)

// named are the columns in which a value may be the same for two partners because of a person, with the reason.
var named = map[string]string{
	"audit.subject": "the trail names whom an operator asked for by CPF once for all partners; " +
		"which partner it was is sealed",
}

// TestPartnersCannotBeJoined: one person, with the same values and the same device, is known to two partners and does
// the same at both. Whatever is new in the database after the second has it too, in any column of any table, is new as
// well after somebody else did the same at a third: it does not come from the person. So whoever takes the database and
// not the keys cannot tell that two partners know one person.
func TestPartnersCannotBeJoined(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		if err := cyber.NewServices(e.Store.Services, e.Clock.Now).SeedServices(context.Background()); err != nil {
			t.Fatal(err)
		}
		before := valuesOf(t, e)
		var grown [3]map[string]map[string]bool
		for i := range grown {
			usesEverything(t, e, max(1, i)) // the first two are one person
			after := valuesOf(t, e)
			grown[i] = more(before, after)
			before = after
		}
		for column, values := range grown[0] {
			for v := range values {
				if grown[1][column][v] && !grown[2][column][v] && named[column] == "" {
					t.Errorf("%s: a value stands at both partners of one person", column)
				}
			}
		}
		for _, must := range strings.Fields(`asset.fingerprint asset.user_index epp_key.device_index epp_key.user_index
		subscription.cpf person.user_256
			content_answer.value score_day.sealed erasure.person erasure.cpf support_case.user_index
		event.person idempotency.claim`) {
			for i := range grown {
				if len(grown[i][must]) == 0 {
					t.Errorf("%s was not filled by partner %d: nothing was compared", must, i)
				}
			}
		}
	})
}

// usesEverything takes a person through all that a new partner offers.
func usesEverything(t *testing.T, e *storetest.Env, n int) {
	t.Helper()
	w := newLives(t, e, 0)
	w.people = append(w.people, w.live(t, n))
	w.erase(t, subject.Person{CPF: cpfOf(n), Partner: w.partner.ID})
	w.live(t, n) // and comes back
}

// valuesOf counts every value of every column of the database, as a thief would read it.
func valuesOf(t *testing.T, e *storetest.Env) map[string]map[string]int {
	t.Helper()
	ctx := context.Background()
	tables := `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()`
	if e.DB.EngineName() == sqldb.SQLite {
		tables = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
	}
	all := map[string]map[string]int{}
	for _, name := range rowsOf(t, ctx, e, tables, func(string, any) {}) {
		table := fmt.Sprint(name[0])
		rowsOf(t, ctx, e, `SELECT * FROM `+table, func(column string, value any) {
			if all[table+"."+column] == nil {
				all[table+"."+column] = map[string]int{}
			}
			all[table+"."+column][fmt.Sprintf("%v", value)]++
		})
	}
	return all
}

func rowsOf(
	t *testing.T,
	ctx context.Context,
	e *storetest.Env,
	query string,
	each func(column string, value any),
) (list [][]any) {
	t.Helper()
	rows, err := e.DB.ReadPool().QueryContext(ctx, query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			dest[i] = &row[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		for i, v := range row {
			each(columns[i], v)
		}
		list = append(list, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// more are the values of which there are more than before.
func more(before, after map[string]map[string]int) map[string]map[string]bool {
	grown := map[string]map[string]bool{}
	for column, values := range after {
		grown[column] = map[string]bool{}
		for v, n := range values {
			if n > before[column][v] {
				grown[column][v] = true
			}
		}
	}
	return grown
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
				"attempts":   func() error { _, err := m.Alerts.ListAttempts(ctx, who, event.ID); return err },
				"replay": func() error {
					_, err := m.Alerts.RequeueDeliveries(ctx, who, alert.Selection{Event: event.ID})
					return err
				},
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
