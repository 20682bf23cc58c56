package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/store"
)

// retentionSweep is the chore that removes what is past its time.
type retentionSweep struct {
	upkeep store.Upkeep
	keep   store.Retention
	log    *slog.Logger
}

// runOnce removes what is past its time by now.
func (r *retentionSweep) runOnce(ctx context.Context) error {
	removed, err := r.upkeep.SweepExpired(ctx, r.keep)
	for what, n := range removed {
		if n > 0 {
			r.log.Info("removed what is past its time", "what", what, "count", n)
		}
	}
	return err
}

// retention returns the server's settings of how long data are kept.
func retention(c config.Serve) store.Retention {
	days := func(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
	return store.Retention{
		Attempts:      days(c.KeepAttempts),
		Subscriptions: days(c.KeepSubscriptions),
		Cases:         days(c.KeepCases),
		Devices:       days(c.KeepDevices),
		Scores:        days(c.KeepScores),
		Jobs:          days(c.KeepJobs),
		Audit:         days(c.KeepAudit),
	}
}
