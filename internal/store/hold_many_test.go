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
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

// watched counts the rows of the largest transaction since the last look.
func watched(t *testing.T, e *storetest.Env) (most func() int64) {
	t.Helper()
	var rows int64
	if err := e.DB.WatchWriter(
		context.Background(),
		func(h sqldb.Hold) { rows = max(rows, h.RowsWritten()) },
	); err != nil {
		t.Fatal(err)
	}
	return func() int64 {
		n := rows
		rows = 0
		return n
	}
}

// TestManyEndpointsAreToldInBatches: what changes many things of a partner and tells each to many endpoints does so in
// transactions whose rows are counted with the deliveries.
func TestManyEndpointsAreToldInBatches(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := storetest.Open(t, sqldb.SQLite)
	w := newLives(t, e, 0)
	id, endpoints := w.partner.ID, alert.NewEndpoints(e.Store.Alerts, e.Clock.Now, nil)
	for i := range 19 {
		if _, err := endpoints.CreateEndpoint(
			ctx,
			id,
			fmt.Sprintf("http://127.0.0.1:9/%d", i),
			nil,
			loopback,
		); err != nil {
			t.Fatal(err)
		}
	}
	const things, holder = 120, "11222333000181"
	subs := make([]*subscription.Subscription, things)
	for i := range subs {
		subs[i] = person(i, livesPlan, holder, 0)
	}
	enrolAll(t, e, id, subs...)
	for _, keys := range []string{sealedKeys(t, e, id, "warned", things, 1), sealedKeys(t, e, id, "alone", things, 0)} {
		if err := storetest.Write(ctx, e, keys, id.Number()); err != nil {
			t.Fatal(err)
		}
	}
	most := watched(t, e)
	for _, step := range []struct {
		name string
		want int
		work func() (int, error)
	}{
		{"subscriptions of a company", things, func() (int, error) {
			registry := subscription.NewRegistry(e.Store.Subscriptions, e.Store.Plans, e.Store.Partners, e.Clock.Now)
			which := subscription.Selection{Holder: holder}
			moved, err := registry.MoveSubscriptions(ctx, id, which, subscription.Suspend)
			return moved.Changed, err
		}},
		{"notices", things, func() (int, error) {
			return e.Devices.GiveNotices(ctx, func(_ cyber.Device, now time.Time) cyber.Notice {
				return cyber.Notice{
					Tell: true,
					Next: now.Add(day),
				}
			})
		}},
		{"ended plans", 2 * things, func() (int, error) { return e.Devices.EndUnsubscribed(ctx) }},
	} {
		n, err := step.work()
		if rows := most(); err != nil || n != step.want || rows > heldRows {
			t.Errorf(
				"%s: %d of %d done, %d rows in one transaction, want at most %d (%v)",
				step.name,
				n,
				step.want,
				rows,
				heldRows,
				err,
			)
		}
	}
	const deliveries = 4 * things * 20
	if n := w.count(t, `SELECT count(*) FROM delivery`); n != deliveries {
		t.Errorf("%d deliveries, want %d", n, deliveries)
	}
	if err := storetest.Write(ctx, e, `UPDATE delivery SET state = 'delivered'`); err != nil {
		t.Fatal(err)
	}
	most()
	n, err := e.Alerts.RequeueDeliveries(
		ctx,
		id,
		alert.Selection{From: e.Clock.Now().Add(-day), To: e.Clock.Now().Add(day)},
	)
	if rows := most(); err != nil || n != deliveries || rows > heldRows {
		t.Errorf(
			"%d of %d sent again, %d rows in one transaction, want at most %d (%v)",
			n,
			deliveries,
			rows,
			heldRows,
			err,
		)
	}
}

// TestFiguresOfManyEndpoints: figures of endpoints are kept in transactions of a few rows, and what waited for one is
// nothing once it has gone.
func TestFiguresOfManyEndpoints(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := storetest.Open(t, sqldb.SQLite)
	w := newLives(t, e, 0)
	err := storetest.Write(
		ctx,
		e,
		many(
			`delivery (partner_id, endpoint_id, seq, event_id, person, state, ordered, attempts, next_at, created_at,
			finished_at)`,
			`$1, 'we_' || i, i, 'evt_' || i, CAST('' AS BLOB), 'pending', FALSE, 0, 0, 0, 0`,
		),
		w.partner.ID.Number(),
	)
	if err != nil {
		t.Fatal(err)
	}
	most := watched(t, e)
	counted := func(want int) {
		t.Helper()
		if err := e.Overview.CountFigures(ctx, 0); err != nil {
			t.Fatal(err)
		}
		if rows := most(); rows > heldRows {
			t.Errorf("%d rows in one transaction, want at most %d", rows, heldRows)
		}
		parts, err := e.Overview.FiguresByPart(ctx, operator.Backlog, 0)
		waiting := 0
		for _, n := range parts {
			waiting += int(n)
		}
		if err != nil || len(parts) != manyRows || waiting != want {
			t.Errorf("%d wait for %d endpoints, want %d (%v)", waiting, len(parts), want, err)
		}
	}
	counted(manyRows)
	if err := storetest.Write(ctx, e, `UPDATE delivery SET state = 'held' WHERE seq > 100`); err != nil {
		t.Fatal(err)
	}
	most()
	counted(100)
}

// TestRotationOfLargeParts: files that are kept in parts of megabytes are sealed anew a few parts at a time.
func TestRotationOfLargeParts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := storetest.Open(t, sqldb.SQLite)
	const parts = 9
	err := errors.Join(
		e.Operators.InsertOperator(ctx, operator.Operator{ID: "op_a", Email: "a@exemplo.com.br", Role: operator.Admin}),
		e.Operators.BeginExport(
			ctx,
			operator.Export{
				ID:        "ex_a",
				Operator:  "op_a",
				List:      "l",
				Format:    operator.CSV,
				CreatedAt: e.Clock.Now(),
				Until:     e.Clock.Now().Add(time.Hour),
			},
		),
	)
	for part := int64(1); part <= parts && err == nil; part++ {
		err = e.Operators.AddExportPart(ctx, "ex_a", part, part, []byte("um"), part == parts)
	}
	if err != nil {
		t.Fatal(err)
	}
	e.RotateKey(t)
	most := watched(t, e)
	var progress store.RewriteProgress
	for done := false; !done; {
		var err error
		if done, err = e.Upkeep.RewriteSealed(ctx, &progress, 500); err != nil {
			t.Fatal(err)
		}
	}
	if rows := most(); rows > 4 || progress.Rewritten < parts {
		t.Errorf("%d values sealed anew, %d in one transaction", progress.Rewritten, rows)
	}
	if _, old, err := e.Upkeep.SealedUnder(ctx); err != nil || old != 0 {
		t.Error("sealed under an old key:", old, err)
	}
}
