package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/operator"
)

const (
	figuresEvery = time.Minute
	// headEvery is how often the head of the audit trail is logged: the log then shows later that nothing was cut off.
	headEvery = time.Hour
)

// startConsoleChores keeps the console's counts up, forgets sessions that are over and logs the head of the audit
// trail.
func (s *Server) startConsoleChores(ctx context.Context, group *errgroup.Group) {
	repeatWork(ctx, group, figuresEvery, func() {
		s.reportChore(ctx, "counts for the console", s.app.Store.Overview.CountFigures(ctx, figuresEvery/2))
		_, err := s.app.Operators.SweepSessions(ctx)
		s.reportChore(ctx, "sweep of sessions", err)
		s.reportChore(ctx, "sweep of exports", s.app.Store.Operators.SweepExports(ctx, s.app.now()))
	})
	repeatWork(ctx, group, headEvery, func() {
		head, err := s.app.Store.Audit.TrailHead(ctx)
		if errors.Is(err, operator.ErrTrailBroken) {
			s.reportChore(ctx, "the head of the audit trail is not as it was written", err)
		} else {
			s.reportChore(ctx, "the head of the audit trail cannot be read", err)
		}
		if err == nil && head.Seq > 0 {
			s.log.Info("audit head", "line", head.Seq, "head", fmt.Sprintf("%d:%x", head.Seq, head.MAC))
		}
	})
}
