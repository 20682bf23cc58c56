package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/library"
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
