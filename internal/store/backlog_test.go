package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestBacklog: what waits is counted with its age, and a backup is remembered.
func TestBacklog(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		empty, err := m.env.Store.Upkeep.CountBacklog(ctx)
		if err != nil || empty.Deliveries != 0 || !empty.OldestDelivery.IsZero() || !empty.LastBackup.IsZero() {
			t.Fatalf("%+v %v", empty, err)
		}
		m.endpoint(t, newReceiver(t, func(client.WebhookEvent, int) int { return 200 }))
		first := m.clock.Now().Truncate(time.Microsecond)
		for range 2 {
			err := m.env.DB.InTransaction(ctx, func(tx *sqldb.Tx) error { return m.AddEventsForTest(ctx, tx, m.partner, newEvents(t, m, 3)...) })
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := m.env.Store.Upkeep.NoteBackup(ctx); err != nil {
			t.Fatal(err)
		}
		got, err := m.env.Store.Upkeep.CountBacklog(ctx)
		if err != nil || got.Deliveries != 6 || got.OldestDelivery.Before(first) || got.LastBackup.IsZero() || got.NewestBreach.IsZero() {
			t.Errorf("%+v %v", got, err)
		}
	})
}
