package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestEndpointFollowsInBatches: an endpoint with thousands of deliveries is disabled and enabled in small transactions.
// It is off from the first on, and on only with the last; whoever is killed between leaves nothing that is sent, and
// nothing that is lost.
func TestEndpointFollowsInBatches(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newLives(t, storetest.Open(t, sqldb.SQLite), 0)
	endpoints := alert.NewEndpoints(w.Store.Alerts, w.Clock.Now, nil)
	all, err := endpoints.ListEndpoints(ctx, w.partner.ID)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	id := all[0].ID
	of := func(seq, state string, finished int64) {
		t.Helper()
		err := storetest.Write(
			ctx,
			w.Env,
			many(
				`delivery (partner_id, endpoint_id, seq, event_id, person, state, ordered, attempts, next_at,
				created_at, finished_at)`,
				fmt.Sprintf(
					`$1, '%s', %s, 'evt_' || (%s), CAST('p' AS BLOB), '%s', FALSE, 3, 0, 0, %d`,
					id,
					seq,
					seq,
					state,
					finished,
				),
			),
			w.partner.ID.Number(),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	of("i", "pending", 0)
	of("10000 + i", "failed", 1000)
	of("20000 + i", "failed", 5000)
	of("30000 + i", "delivered", 5000)
	if err := storetest.Write(ctx, w.Env, `UPDATE endpoint SET failing_since = 2000`); err != nil {
		t.Fatal(err)
	}
	killAt, seen, most := int64(0), int64(0), int64(0)
	kill := func() {}
	if err := w.DB.WatchWriter(ctx, func(h sqldb.Hold) {
		most = max(most, h.RowsWritten())
		if seen++; seen == killAt {
			kill()
		}
	}); err != nil {
		t.Fatal(err)
	}
	// doing runs a change that is killed after a number of transactions; 0 is never.
	doing := func(after int64, change func(context.Context) error) error {
		var dying context.Context
		dying, kill = context.WithCancel(ctx)
		defer kill()
		seen, killAt = 0, after
		return change(dying)
	}
	disable := func(ctx context.Context) error {
		_, err := endpoints.DisableEndpoint(ctx, w.partner.ID, id)
		return err
	}
	enable := func(ctx context.Context) error { _, err := endpoints.EnableEndpoint(ctx, w.partner.ID, id); return err }
	count := func(state string) int64 {
		return w.count(t, `SELECT count(*) FROM delivery WHERE state = '`+state+`'`)
	}
	off := func() {
		t.Helper()
		if due, err := w.Store.Alerts.DueEndpoints(ctx); err != nil || len(due) != 0 {
			t.Error("a disabled endpoint is sent to:", due, err)
		}
	}

	if err := doing(1, disable); !errors.Is(err, context.Canceled) || count("pending") == 0 || count("held") == 0 {
		t.Fatal("killed while it was disabled:", err, count("pending"), count("held"))
	}
	off()
	if _, err := w.Store.Alerts.SweepEvents(
		ctx,
		time.Hour,
	); err != nil || count("held") != manyRows ||
		count("pending") != 0 {
		t.Fatal("the sweep holds what was left:", err, count("held"), count("pending"))
	}
	if err := doing(2, enable); !errors.Is(err, context.Canceled) || count("pending") == 0 || count("held") == 0 {
		t.Fatal("killed while it was enabled:", err, count("pending"), count("held"))
	}
	off()
	if e, err := endpoints.EndpointByID(ctx, w.partner.ID, id); err != nil || e.State != alert.Disabled {
		t.Error("half enabled:", e.State, err)
	}
	if err := doing(
		0,
		enable,
	); err != nil || count("pending") != 2*manyRows || count("held") != 0 ||
		count("failed") != manyRows {
		t.Fatal("enabled:", err, count("pending"), count("held"), count("failed"))
	}
	if n := w.count(
		t,
		`SELECT count(*) FROM delivery WHERE state = 'pending' AND (attempts <> 0 OR NOT ordered OR finished_at <> 0
		OR next_at = 0)`,
	); n != 0 {
		t.Errorf("%d are not to be sent anew", n)
	}
	if due, err := w.Store.Alerts.DueEndpoints(ctx); err != nil || len(due) != 1 {
		t.Error("an enabled endpoint is not sent to:", due, err)
	}
	// In a transaction with more, what is not little comes before or after.
	if err := doing(0, disable); err != nil || count("held") != 2*manyRows {
		t.Fatal(err, count("held"))
	}
	if err := endpoints.FollowEndpoint(ctx, w.partner.ID, id, alert.Enabled); err != nil || count("held") != 0 {
		t.Error(err, count("held"))
	}
	off()
	if err := endpoints.FollowEndpoint(ctx, w.partner.ID, id, alert.Disabled); err != nil || count("pending") != 0 {
		t.Error(err, count("pending"))
	}
	if most > heldRows {
		t.Errorf("%d rows in one transaction, want at most %d", most, heldRows)
	}
}
