package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/store"
)

// Leaks is everything around breaches.
type Leaks struct {
	Files    *library.Files
	Library  *leak.Library
	Importer *intake.Importer
	Matcher  *leak.Matcher
	Breaches *leak.Breaches
	// Foreground does the work of commands in this process.
	Foreground *intake.Foreground
}

// openLeaks wires the parts that import, hold and search breaches. The library logs nothing until a server gives it a
// log.
func openLeaks(c config.Common, st *store.Store, keys *seal.Keys, now func() time.Time) (*Leaks, error) {
	files, err := library.OpenFiles(filepath.Join(c.CorporaPath(), "leak"), c.Corpora)
	if err != nil {
		return nil, err
	}
	files.OpenTable = keys.OpenTable
	importer := &intake.Importer{
		Store:            st.Breaches,
		Files:            files,
		Dir:              filepath.Join(c.CorporaPath(), "import"),
		Fingerprint:      keys.Fingerprint,
		Pair:             keys.PairFingerprint,
		Tables:           keys,
		Now:              now,
		ReaderUnconfined: c.ReaderUnconfined,
	}
	return &Leaks{
		Files:    files,
		Library:  leak.NewLibrary(st.Breaches, files, keys, slog.New(slog.DiscardHandler)),
		Importer: importer,
		Matcher:  leak.NewMatcher(st.Breaches, files, keys, now),
		Breaches: leak.NewBreaches(st.Breaches, now),
	}, nil
}

// bucketTime is how long the bucket of --corpora may take to answer when a server starts.
const bucketTime = 5 * time.Second

// checkBucket refuses a bucket that does not exist; otherwise the first import would find out. One that does not answer
// is logged only, so that a replica can start while the bucket is away.
func (a *App) checkBucket(ctx context.Context, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, bucketTime)
	defer cancel()
	err := library.CheckBucket(ctx, a.Config.Corpora)
	if err == nil || errors.Is(err, library.ErrAddress) {
		return err
	}
	log.WarnContext(
		ctx,
		"the bucket of --corpora cannot be listed",
		"cause", err.Error(),
		"mend", "check that this machine reaches it and that its credentials may list it",
	)
	return nil
}

// libraryEvery is how often a process looks for new breaches and for values whose first look can be made.
const libraryEvery = time.Second

// libraryFollower is the chore that keeps the published segments open and, in a worker, looks up values that wait for
// their first look.
type libraryFollower struct {
	library *leak.Library
	// looks is nil in a process that is no worker.
	looks *cyber.FirstLooks
	log   *slog.Logger
	// lastFailure is logged already: the same failure is logged once, not every second.
	lastFailure string
}

// runOnce looks for new breaches once.
func (f *libraryFollower) runOnce(ctx context.Context) {
	err := f.library.LoadPublished(ctx)
	if f.looks != nil { // also where a breach is missing: what the others hold is told
		if failed := f.library.MakeFirstLooks(ctx, f.looks); err == nil {
			err = failed
		}
	}
	if err == nil || ctx.Err() != nil {
		f.lastFailure = ""
		return
	}
	if err.Error() != f.lastFailure {
		f.log.Error("leak corpora are not whole", "cause", err.Error())
	}
	f.lastFailure = err.Error()
}

// startLibrary opens the published segments before the first request comes, and follows what is published.
func (s *Server) startLibrary(ctx context.Context, group *errgroup.Group) {
	library := s.app.Leaks.Library
	library.SetLogger(s.log)
	s.watchLibrary()
	follower := &libraryFollower{library: library, log: s.log}
	if s.cfg.Has("worker") {
		follower.looks = s.app.FirstLooks
	}
	follower.runOnce(ctx)
	repeatWork(ctx, group, libraryEvery, func() { follower.runOnce(ctx) })
}

// watchLibrary registers the metrics of the open segments.
func (s *Server) watchLibrary() {
	library := s.app.Leaks.Library
	gauge := func(name, help string, value func() float64) {
		options := prometheus.GaugeOpts{Name: name, Help: help}
		s.metrics.RegisterCollectors(prometheus.NewGaugeFunc(options, value))
	}
	gauge("vigia_leak_segments", "Breach segments that this process holds open.", func() float64 {
		segments, _ := library.Size()
		return float64(segments)
	})
	gauge("vigia_leak_keys", "Fingerprints in the open segments.", func() float64 {
		_, keys := library.Size()
		return float64(keys)
	})
	gauge("vigia_leak_pairs", "Pairs of an identifier and a password in the open segments.", func() float64 {
		return float64(library.CountPairs())
	})
	gauge("vigia_leak_known_ratio", "Which part of the newest measured breach earlier ones had.", func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		ratio, err := s.app.Leaks.Breaches.KnownRatio(ctx)
		if err != nil {
			return 0
		}
		return ratio
	})
}

// leaseHolder names this machine and data folder as a holder of leases: only one process can be at an import there, so
// what a killed one left can be taken up at once.
func (a *App) leaseHolder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	dir, err := filepath.Abs(a.Config.Data)
	if err != nil {
		dir = a.Config.Data
	}
	sum := sha256.Sum256([]byte(host + "\x00" + dir))
	return fmt.Sprintf("at_%x", sum[:12])
}
