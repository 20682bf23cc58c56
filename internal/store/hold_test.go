package store_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

const (
	// manyRows is more than a job may write at once, so that one which does not go in batches shows.
	manyRows = 1500
	// heldRows bounds what a transaction may write: other writers wait for it.
	heldRows = 1100
)

// long is a job whose work grows with the data, and the rows that it meets; $1 is the partner.
type long struct {
	fill []string
	run  func(ctx context.Context) (int64, error)
}

// many is an INSERT of manyRows rows, whose values may use i.
func many(into, values string) string {
	return fmt.Sprintf(
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO %s SELECT %s FROM n`,
		manyRows,
		into,
		values,
	)
}

// TestNoJobHoldsTheWriter: whatever grows with the data works in transactions of a few rows, however much there is to
// do.
func TestNoJobHoldsTheWriter(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := storetest.Open(t, sqldb.SQLite)
	w := newLives(t, e, 1)
	e.Clock.Advance(1000 * day)
	var most, total int64
	if err := e.DB.WatchWriter(
		ctx,
		func(h sqldb.Hold) { n := h.RowsWritten(); most, total = max(most, n), total+n },
	); err != nil {
		t.Fatal(err)
	}
	jobs := longJobs(t, w)
	for _, name := range slices.Sorted(maps.Keys(jobs)) { // in one order: gaps are only swept while there are events
		job := jobs[name]
		for _, statement := range job.fill {
			args := []any{}
			if strings.Contains(statement, "$1") {
				args = append(args, w.partner.ID.Number())
			}
			if err := storetest.Write(ctx, e, statement, args...); err != nil {
				t.Fatal(name, err)
			}
		}
		most, total = 0, 0
		n, err := job.run(ctx)
		if err != nil || n < manyRows || total < manyRows {
			t.Errorf("%s: %d done, %d rows written, want at least %d (%v)", name, n, total, manyRows, err)
		}
		if most > heldRows {
			t.Errorf("%s wrote %d rows in one transaction, want at most %d", name, most, heldRows)
		}
	}
}

// sealedKeys is an INSERT of n keys that end with a plan of which there is no subscription; whoever ends them opens
// them.
func sealedKeys(t *testing.T, e *storetest.Env, id partner.ID, named string, n int, warning int64) string {
	t.Helper()
	rows := make([]string, n)
	for i := range rows {
		name := fmt.Sprintf("%s_%d", named, i)
		sealed, err := e.Keys.Seal(
			seal.Place{Table: "epp_key", Column: "details", Partner: string(id), Row: name},
			fmt.Appendf(nil, `{"user":"%s"}`, name),
		)
		if err != nil {
			t.Fatal(err)
		}
		rows[i] = fmt.Sprintf(
			`($1, '%s', x'%x', 'android', x'%x', x'%x', x'%x', 'p', 1, 9223372036854775807, 0, '', %d)`,
			name,
			name,
			name,
			name,
			sealed,
			warning,
		)
	}
	return `INSERT INTO epp_key (partner_id, id, user_index, system, device_index, key_index, details, plan_id,
		issued_at, valid_until, ended_at, end_reason,
		next_warning) VALUES ` + strings.Join(
		rows,
		", ",
	)
}

func longJobs(t *testing.T, w *lives) map[string]long {
	e, id := w.Env, w.partner.ID
	sweep := func(class string, r store.Retention) func(context.Context) (int64, error) {
		return func(ctx context.Context) (int64, error) {
			removed, err := e.Upkeep.SweepExpired(ctx, r)
			return removed[class], err
		}
	}
	at := fmt.Sprint(storetest.Start.UnixMicro())
	events := many(
		`event (partner_id, seq, id, type, person, body, created_at)`,
		`$1, 100000 + i, 'evt_' || i, 'test', CAST('' AS BLOB), x'00', `+at,
	)
	deliveries := func(endpoint, state string) string {
		return many(
			`delivery (partner_id, endpoint_id, seq, event_id, person, state, ordered, attempts, next_at, created_at,
			finished_at, tried)`,
			`$1, '`+endpoint+`', 100000 + i, 'evt_' || i, CAST('' AS BLOB), '`+state+`', FALSE, 0, 0, 0, `+at+`, x'00'`,
		)
	}
	attempts := func(endpoint string) string {
		return many(
			`attempt (partner_id, endpoint_id, seq, at, worker, status, failure, duration)`,
			`$1, '`+endpoint+`', 100000 + i, `+at+`, 'w', 200, '', 0`,
		)
	}
	count := func(run func(ctx context.Context) error, sql string) func(context.Context) (int64, error) {
		return func(ctx context.Context) (int64, error) {
			before := w.count(t, sql)
			err := run(ctx)
			return before - w.count(t, sql), err
		}
	}
	var endpoint string
	if err := e.DB.ReadPool().QueryRowContext(t.Context(), `SELECT id FROM endpoint`).Scan(&endpoint); err != nil {
		t.Fatal(err)
	}
	return map[string]long{
		"scores": {
			[]string{
				many(`score_day (partner_id, user_index, day, sealed, kept_at)`, `$1, CAST(i AS BLOB), 1, x'00', 0`),
			},
			sweep("scores", store.Retention{Scores: day}),
		},
		"subscriptions": {
			[]string{
				many(
					`person (partner_id, cpf, user_256, user_512, created_at)`,
					`$1, CAST('c' || i AS BLOB), CAST('a' || i AS BLOB), CAST('b' || i AS BLOB), 0`,
				),
				many(
					`subscription (partner_id, seq, plan_id, cpf, holder, start_day, expiry_day, body, created_at,
					suspended_at, ended_at)`,
					`$1, 100000 + i, 'p', CAST('c' || i AS BLOB), CAST('' AS BLOB), 1, 1, x'00', 1, 0, 2`,
				),
			},
			sweep("subscriptions", store.Retention{Subscriptions: day}),
		},
		"cases": {
			[]string{
				many(
					`support_case (partner_id, id, user_index, service_id, status, assignee, details, target,
					clock_used, clock_since, due_at, created_at, changed_at, rating)`,
					`$1, 'case_' || i, CAST(i AS BLOB), 'sv_ajuda_phishing', 'Fechado', '', x'00', 0, 0, 0, 0, 1, 1, 0`,
				),
			},
			sweep("cases", store.Retention{Cases: day}),
		},
		"devices": {
			[]string{
				many(
					`epp_key (partner_id, id, user_index, system, device_index, key_index, details, plan_id,
					issued_at, valid_until, ended_at, end_reason, next_warning)`,
					`$1, 'dev_' || i, CAST(i AS BLOB), 'android', CAST(i AS BLOB), CAST(i AS BLOB), x'00', '', 1, 1,
					0, '', 0`,
				),
			},
			sweep("devices", store.Retention{Devices: day}),
		},
		"ended plans": {
			[]string{sealedKeys(t, e, id, "old", manyRows, 0)},
			func(ctx context.Context) (int64, error) {
				n, err := e.Devices.EndUnsubscribed(ctx)
				return int64(n), err
			},
		},
		"names": {
			[]string{
				many(`person_name (partner_id, user_index, name, named_at)`, `$1, CAST('n' || i AS BLOB), x'00', 0`),
			},
			count(
				func(ctx context.Context) error { _, err := e.Upkeep.SweepExpired(ctx, store.Retention{}); return err },
				`SELECT count(*) FROM person_name`,
			),
		},
		"gaps": {
			[]string{many(`event_gap (partner_id, seq)`, `$1, -i`)},
			count(
				func(ctx context.Context) error { _, err := e.Upkeep.SweepExpired(ctx, store.Retention{}); return err },
				`SELECT count(*) FROM event_gap`,
			),
		},
		"audit lines": {
			[]string{
				many(
					`audit (seq, at, actor, action, subject, detail, mac)`,
					`coalesce((SELECT seq FROM audit_head), 0) + i, 1, 'a', 'b', 'c', x'00', x'00'`,
				),
				`INSERT INTO audit_head (id, seq, mac, tag) SELECT 1, max(seq) + 1, x'00', x'00' FROM audit WHERE TRUE
					ON CONFLICT (id) DO UPDATE SET seq = excluded.seq`,
				`UPDATE audit SET at = 1`,
			},
			sweep("audit lines", store.Retention{Audit: day}),
		},
		"jobs": {
			[]string{
				many(
					`job (id, kind, subject, state, args, progress, error, attempts, next_at, lease, cancel,
					created_at, finished_at)`,
					`'job_' || i, 'k', 's' || i, 'done', '{}', '{}', '', 1, 0, '', FALSE, 1, 1`,
				),
			},
			sweep("jobs", store.Retention{Jobs: day}),
		},
		"answers": {
			[]string{
				many(
					`idempotency (partner_id, claim, body_digest, answer, created_at, person)`,
					`$1, CAST(i AS BLOB), x'00', NULL, 1, CAST('' AS BLOB)`,
				),
			},
			e.Answers.SweepAnswers,
		},
		"attempts": {
			[]string{events, deliveries(endpoint, "delivered"), attempts(endpoint)},
			sweep("attempts", store.Retention{Attempts: day}),
		},
		"failed deliveries, then events": {
			[]string{
				strings.ReplaceAll(strings.ReplaceAll(events, "100000 + i", "900000 + i"), "'evt_'", "'evf_'"),
				strings.ReplaceAll(
					strings.ReplaceAll(deliveries(endpoint, "failed"), "100000 + i", "900000 + i"),
					"'evt_'",
					"'evf_'",
				),
				strings.ReplaceAll(attempts(endpoint), "100000 + i", "900000 + i"),
			},
			func(ctx context.Context) (int64, error) {
				n, err := e.Alerts.RequeueDeliveries(ctx, id, alert.Selection{Failed: true})
				if err != nil || n < manyRows {
					return n, err
				}
				return e.Alerts.SweepEvents(ctx, day)
			},
		},
		"a feed": {
			[]string{
				`INSERT INTO feed (name, kind, target, settings, paused, every_s, state, failures, error, next_at,
				last_at, created_at, mac)
					VALUES ('outra', 'folder', x'00', '{}', FALSE, 60, '{}', 0, '', 0, 0, 0, x'')`,
				many(`feed_item (feed, mark, breach, seen_at)`, `'outra', CAST(i AS BLOB), 'b', 0`),
			},
			count(
				func(ctx context.Context) error { return e.Feeds.DeleteFeed(ctx, "outra") },
				`SELECT (SELECT count(*) FROM feed WHERE name = 'outra') + (SELECT count(*) FROM feed_item)`,
			),
		},
	}
}
