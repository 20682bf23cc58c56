package app

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/durable"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subject"
)

// eraseTime bounds how long an erasure waits for readers to let go of deleted bytes.
const eraseTime = time.Minute

// ErasureLog returns where tombstones are kept outside the database: a restored backup older than an erasure is cleaned
// with it.
func ErasureLog(c config.Common) string { return filepath.Join(c.Data, "erasures.jsonl") }

// EraseSubject erases a person and notes the tombstones in the log of this machine's data folder.
func (a *App) EraseSubject(ctx context.Context, who operator.Actor, p subject.Person, reason string) (subject.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, eraseTime)
	defer cancel()
	return a.Subjects.ErasePerson(ctx, who, p, reason, a.logErasures)
}

// logErasures notes tombstones in the log of this machine's data folder.
func (a *App) logErasures(stones []subject.Tombstone) error {
	return durable.AppendToFile(ErasureLog(a.Config), func(w io.Writer) error { return subject.WriteTombstones(w, stones) })
}

// resumeErasures ends erasures whose command was killed or ran out of time.
func (s *Server) resumeErasures(ctx context.Context) {
	runEvery(ctx, time.Minute, func() {
		if n, err := s.app.Subjects.ResumeErasures(ctx, s.app.logErasures); err != nil && ctx.Err() == nil {
			s.log.Error("erasures that were left half way cannot be ended", "cause", err.Error())
		} else if n > 0 {
			s.log.Info("erasures that were left half way are ended", "count", n)
		}
	})
}

// retentionEvery is how often what has outlived its purpose is looked for.
const retentionEvery = time.Hour

// retention returns the server's settings of how long data are kept.
func retention(c config.Serve) store.Retention {
	days := func(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
	return store.Retention{
		Attempts: days(c.KeepAttempts), Subscriptions: days(c.KeepSubscriptions), Cases: days(c.KeepCases), Devices: days(c.KeepDevices),
		Scores: days(c.KeepScores), Jobs: days(c.KeepJobs), Audit: days(c.KeepAudit),
	}
}

// sweepRetention removes what is past its time, now and then.
func (s *Server) sweepRetention(ctx context.Context) {
	runEvery(ctx, retentionEvery, func() {
		removed, err := s.app.Store.Upkeep.SweepExpired(ctx, retention(s.cfg))
		for what, n := range removed {
			if n > 0 {
				s.log.Info("removed what is past its time", "what", what, "count", n)
			}
		}
		if err != nil && ctx.Err() == nil {
			s.log.Error("sweep of what is past its time failed", "cause", err.Error())
		}
	})
}
