package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

const (
	// diskProbeEvery is how often a server tries whether its disk takes writes.
	diskProbeEvery = 5 * time.Second
	// diskProbeTime is how long the disk may take over one try before it counts as failing.
	diskProbeTime = 15 * time.Second
)

// diskProbe tries now and then whether the data folder takes writes. A disk that has become read-only, or that answers
// every write with an error, still reports free space and still serves reads, so that only a write tells.
type diskProbe struct {
	folder string
	mu     sync.Mutex
	began  time.Time // of the try that is under way; zero: none is
	failed error     // of the last try that ended
}

// runOnce writes a small file and takes it away again.
func (p *diskProbe) runOnce() {
	p.mu.Lock()
	p.began = time.Now()
	p.mu.Unlock()
	err := durable.ProveFolder(p.folder)
	if errors.Is(err, syscall.ENOSPC) { // readiness tells that by the free space, without waiting for the next try
		err = nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began, p.failed = time.Time{}, err
}

// check returns why the disk is not to be trusted with writes, or nil.
func (p *diskProbe) check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed != nil {
		return fmt.Errorf("the data folder takes no writes: %w", p.failed)
	}
	if took := time.Since(p.began); !p.began.IsZero() && took > diskProbeTime {
		return fmt.Errorf("the disk has not answered a write for %s", took.Round(time.Second))
	}
	return nil
}

// watchDisk ends the process when the database's disk is not to be trusted any more; who supervises it starts a new
// one.
func (s *Server) watchDisk(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.app.Store.Distrusted():
		s.log.Error("the disk failed under the database: stopping, to begin anew from what is on it")
		return sqldb.ErrDistrusted
	}
}
