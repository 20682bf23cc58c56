package app

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

// replicaTells is how often a replica says that it serves.
const replicaTells = 2 * time.Second

// ReplicaGone is how long ago a replica that still counts may have been heard of.
const ReplicaGone = 10 * time.Second

// replicas knows the processes that share the partners' requests. Each grants its part of a partner's rate, which is
// the whole rate together where a balancer spreads requests evenly.
type replicas struct {
	serving atomic.Int64
	// lacking are the algorithms of password corpora that another replica has and this one does not.
	lacking atomic.Pointer[[]string]
	// wasWhole is set once this process lacked nothing. From then on it stays ready: an import on one replica must not
	// take all others out of the balancer at once. A process that starts without what others have is not ready at all.
	wasWhole atomic.Bool
}

// countReplicas returns the number of replicas by which a rate is divided.
func (r *replicas) countReplicas() int { return int(max(r.serving.Load(), 1)) }

// lacks reports whether other replicas have a corpus of an algorithm of which this one has none.
func (r *replicas) lacks(algorithm string) bool {
	lacking := r.lacking.Load()
	return lacking != nil && slices.Contains(*lacking, algorithm)
}

// notWholeYet returns why this process must not get requests, or nothing.
func (r *replicas) notWholeYet() string {
	lacking := r.lacking.Load()
	if lacking == nil || len(*lacking) == 0 || r.wasWhole.Load() {
		return ""
	}
	return "other replicas have password corpora that this one lacks: " + strings.Join(*lacking, ", ")
}

// ListReplicas returns the processes that serve partners now.
func (a *App) ListReplicas(ctx context.Context) ([]store.Replica, error) {
	return a.Store.Upkeep.ListReplicas(ctx, ReplicaGone)
}

// joinReplicas tells the others of this process until ctx ends. On the embedded database there are no others.
func (s *Server) joinReplicas(ctx context.Context, group *errgroup.Group) {
	if s.app.Engine != sqldb.PostgreSQL {
		return
	}
	own := store.Replica{ID: "r_" + rand.Text(), Place: s.app.Place()}
	tell := func() {
		own.Passwords = s.passwords.ListDigests()
		all, err := s.app.Store.Upkeep.NoteReplica(ctx, own, ReplicaGone)
		if err != nil { // what was known last is the best guess
			s.reportChore(ctx, "count of replicas", err)
			return
		}
		if was := s.replicas.serving.Swap(int64(len(all))); was != int64(len(all)) {
			s.log.Info("replicas serving", "count", len(all))
		}
		s.comparePasswords(own, all)
	}
	tell() // before the first request, which would else be granted the whole rate
	repeatWork(ctx, group, replicaTells, func() {
		if !s.stopping.Load() {
			tell()
		}
	})
	s.leave = append(s.leave, func(ctx context.Context) {
		if err := s.app.Store.Upkeep.DropReplica(ctx, own.ID); err != nil {
			s.log.Warn("this replica counts for some more seconds", "cause", err.Error())
		}
	})
}

// comparePasswords notes which password corpora other replicas have and this one does not, and logs when that changes.
func (s *Server) comparePasswords(own store.Replica, all []store.Replica) {
	lacking := map[string]bool{}
	for _, r := range all {
		for algorithm := range r.Passwords {
			if own.Passwords[algorithm] == "" {
				lacking[algorithm] = true
			}
		}
	}
	list := slices.Sorted(maps.Keys(lacking))
	before := s.replicas.lacking.Swap(&list)
	if len(list) == 0 {
		s.replicas.wasWhole.Store(true)
	}
	switch {
	case len(list) > 0 && (before == nil || !slices.Equal(*before, list)):
		s.log.Error(
			"other replicas have password corpora that this one lacks: live partners' password checks are answered "+
				"503 here",
			"algorithms", list,
			"mend", "run 'vigia passwords import' here too, or give all replicas one bucket with --corpora",
		)
	case len(list) == 0 && before != nil && len(*before) > 0:
		s.log.Info("this replica has the password corpora of the others")
	}
}
