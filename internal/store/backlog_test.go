package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestBacklog: what waits is counted with its age, and a backup is remembered.
func TestBacklog(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		empty, err := m.env.Store.Upkeep.CountBacklog(ctx)
		if err != nil || empty.Deliveries != 0 || !empty.OldestDelivery.IsZero() || len(empty.LastBackups) != 0 {
			t.Fatalf("%+v %v", empty, err)
		}
		m.endpoint(t, newReceiver(t, func(client.WebhookEvent, int) int { return 200 }))
		first := m.clock.Now().Truncate(time.Microsecond)
		for range 2 {
			err := m.env.DB.InTransaction(
				ctx,
				func(tx *sqldb.Tx) error { return m.AddEventsForTest(ctx, tx, m.partner, newEvents(t, m, 3)...) },
			)
			if err != nil {
				t.Fatal(err)
			}
		}
		upkeep, elsewhere := m.env.Store.Upkeep, []backup.Part{backup.Leaks}
		for _, parts := range [][]backup.Part{{backup.Leaks, backup.Passwords}, {backup.Database}} {
			if err := upkeep.NoteBackup(ctx, parts, nil); err != nil {
				t.Fatal(err)
			}
			m.env.Clock.Advance(time.Hour)
		}
		got, err := m.env.Store.Upkeep.CountBacklog(ctx)
		if err != nil || got.Deliveries != 6 || got.OldestDelivery.Before(first) || got.NewestBreach.IsZero() {
			t.Errorf("%+v %v", got, err)
		}
		ages := got.LastBackups
		if len(ages) != 3 || !ages[backup.Database].Equal(ages[backup.Passwords].Add(time.Hour)) {
			t.Errorf("each part has the time of the last backup that held it: %v", ages)
		}
		if err := upkeep.NoteBackup(ctx, nil, elsewhere); err != nil {
			t.Fatal(err)
		}
		got, err = upkeep.CountBacklog(ctx)
		if _, known := got.LastBackups[backup.Leaks]; err != nil || known || len(got.LastBackups) != 2 {
			t.Errorf("the leaks are elsewhere now: %v %v", got.LastBackups, err)
		}
	})
}
