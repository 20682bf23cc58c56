package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestBacklog: what waits is counted with its age, and a backup is remembered.
func TestBacklog(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx := context.Background()
		empty, err := m.env.Store.Upkeep.CountBacklog(ctx)
		if err != nil {
			t.Fatal(err)
		}
		nothing := empty
		nothing.Deliveries, nothing.OldestDelivery, nothing.LastBackups = 0, time.Time{}, map[backup.Part]time.Time{}
		difftest.Must(t, "an empty backlog", empty, nothing)
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

// TestBacklogOfFeeds: a feed that is due waits like a job, so that a service without a worker is noticed; one that is
// paused, or whose job is under way, does not.
func TestBacklogOfFeeds(t *testing.T) {
	eachMailer(t, func(t *testing.T, m *mailer) {
		ctx, due := context.Background(), m.env.Clock.Now().Add(-time.Hour).Truncate(time.Microsecond)
		feeds := m.env.Store.Feeds
		for _, f := range []feed.Feed{{Name: "parado", Paused: true}, {Name: "em-curso"}, {Name: "caixa"}} {
			f.Kind, f.Target, f.Every = feed.Folder, "/srv/dumps", time.Minute
			f.NextAt, f.Created = due, due
			if err := feeds.InsertFeed(ctx, f); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.env.Store.Jobs.EnqueueJob(ctx, feed.KindRun, "em-curso", nil); err != nil {
			t.Fatal(err)
		}
		claimed, err := m.env.Store.Jobs.ClaimJobs(ctx, "w", []string{feed.KindRun}, 1)
		if err != nil || len(claimed) != 1 {
			t.Fatal(claimed, err)
		}
		got, err := m.env.Store.Upkeep.CountBacklog(ctx)
		if err != nil || got.Jobs != 1 || !got.OldestJob.Equal(due) {
			t.Errorf("%+v %v", got, err)
		}
	})
}
