package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/store"
)

// openExchange returns what shares password corpora through the bucket of --corpora; nil without one.
func openExchange(c config.Common, passwords *password.Library, st *store.Store) (*password.Exchange, error) {
	if c.Corpora == "" {
		return nil, nil //nolint:nilnil // there is nothing to exchange
	}
	files, err := library.OpenFiles(filepath.Join(c.CorporaPath(), "password"), c.Corpora)
	if err != nil {
		return nil, err
	}
	return &password.Exchange{Library: passwords, Bucket: files, Announcements: st.Upkeep}, nil
}

// SharePasswords puts the password corpora of this machine into the bucket and fetches newer ones from it. Without a
// bucket it does nothing.
func (a *App) SharePasswords(ctx context.Context) error {
	if a.exchange == nil {
		return nil
	}
	return a.exchange.SyncCorpora(ctx)
}

// ImportPasswords replaces a corpus of this machine and, through the bucket, those of the other replicas.
func (a *App) ImportPasswords(ctx context.Context, job password.Import) (password.Corpus, error) {
	corpus, err := a.Passwords.ImportCorpus(ctx, job)
	if err != nil {
		return corpus, err
	}
	return corpus, a.shareImported(ctx)
}

// DownloadPasswords is ImportPasswords from a range service.
func (a *App) DownloadPasswords(ctx context.Context, job password.Download) (password.Corpus, error) {
	corpus, err := a.Passwords.DownloadCorpus(ctx, job)
	if err != nil {
		return corpus, err
	}
	return corpus, a.shareImported(ctx)
}

// shareImported shares what was just imported here.
func (a *App) shareImported(ctx context.Context) error {
	if err := a.SharePasswords(ctx); err != nil && !errors.Is(err, password.ErrBusy) {
		return fmt.Errorf(
			"the corpus is in force on this machine, but not in the bucket yet; a server on this folder tries again: "+
				"%w",
			err,
		)
	}
	return nil
}

// PlacesWithoutPasswords returns the replicas that do not answer from the corpus of an algorithm that this machine has.
// A replica on this data folder takes it up by itself.
func (a *App) PlacesWithoutPasswords(ctx context.Context, algorithm password.Algorithm) ([]string, error) {
	own, err := a.Passwords.ListDigests()
	if err != nil {
		return nil, err
	}
	all, err := a.ListReplicas(ctx)
	if err != nil {
		return nil, err
	}
	var places []string
	for _, r := range all {
		if r.Place != a.Place() && r.Passwords[algorithm.String()] != own[algorithm.String()] {
			places = append(places, r.Place)
		}
	}
	return places, nil
}

// passwordsEvery is how often a process looks whether another one shared a password corpus.
const passwordsEvery = 2 * time.Second

// followPasswords fetches password corpora that other replicas share, and shares its own, until ctx ends.
func (s *Server) followPasswords(ctx context.Context, group *errgroup.Group) {
	if s.app.exchange == nil {
		return
	}
	complaint := ""
	sync := func() {
		err := s.app.SharePasswords(ctx)
		text := ""
		if err != nil && ctx.Err() == nil && !errors.Is(err, password.ErrBusy) { // an import shares what it made
			if text = err.Error(); text != complaint { // log the same failure once
				s.log.Error("password corpora are not shared", "cause", text)
			}
		}
		complaint = text
	}
	sync() // before the first request, so that it is answered like the rest
	if err := s.passwords.ReloadCorpora(); err != nil {
		s.log.Error("password corpora cannot be reloaded", "cause", err.Error())
	}
	repeatWork(ctx, group, passwordsEvery, sync)
}

// watchPasswords registers the metric by which replicas that differ are found.
func (s *Server) watchPasswords() {
	for _, algorithm := range password.Algorithms {
		s.metrics.RegisterCollectors(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "vigia_password_entries",
			Help: "Entries of the imported password corpus that this process answers from; 0 with nothing but " +
				"the built-in sample.",
			ConstLabels: prometheus.Labels{"algorithm": algorithm.String()},
		}, func() float64 {
			for _, c := range s.passwords.ListCorpora() {
				if c.Algorithm == algorithm && !c.Sample() {
					return float64(c.Entries)
				}
			}
			return 0
		}))
	}
}
