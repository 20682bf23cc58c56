package app

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/sqldb"
)

// A replica that has not been heard of for replicaGone does not count any more.
const (
	replicaTells = 2 * time.Second
	replicaGone  = 10 * time.Second
)

// replicas knows how many processes share the partners' requests. Each grants its part of a partner's rate, which is
// the whole rate together where a balancer spreads requests evenly.
type replicas struct{ serving atomic.Int64 }

// countReplicas returns the number of replicas by which a rate is divided.
func (r *replicas) countReplicas() int { return int(max(r.serving.Load(), 1)) }

// joinReplicas tells the others of this process until ctx ends. On the embedded database there are no others.
func (s *Server) joinReplicas(ctx context.Context, group *errgroup.Group) {
	if s.app.Engine != sqldb.PostgreSQL {
		return
	}
	id := "r_" + rand.Text()
	tell := func() {
		n, err := s.app.Store.Upkeep.NoteReplica(ctx, id, replicaGone)
		if err != nil { // what was known last is the best guess
			if ctx.Err() == nil {
				s.log.Error("replicas cannot be counted", "cause", err.Error())
			}
			return
		}
		if was := s.replicas.serving.Swap(int64(n)); was != int64(n) {
			s.log.Info("replicas serving", "count", n)
		}
	}
	tell() // before the first request, which would else be granted the whole rate
	group.Go(func() error {
		runEvery(ctx, replicaTells, func() {
			if !s.stopping.Load() {
				tell()
			}
		})
		return nil
	})
	s.leave = func(ctx context.Context) {
		if err := s.app.Store.Upkeep.DropReplica(ctx, id); err != nil {
			s.log.Warn("this replica counts for some more seconds", "cause", err.Error())
		}
	}
}
