package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/store"
)

// Leaks is everything around breaches.
type Leaks struct {
	Files    *library.Files
	Library  *leak.Library
	Importer *intake.Importer
	Matcher  *leak.Matcher
	Breaches *leak.Breaches
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

// closeLibrary lets go of the segments.
func (l *Leaks) closeLibrary() error { return l.Library.Close() }

// libraryEvery is how often a process looks for new breaches and for values whose first look can be made.
const libraryEvery = time.Second

// startLibrary keeps the published segments open and, in a worker, probes what could not be probed when it was added.
func (s *Server) startLibrary(ctx context.Context, group *errgroup.Group) {
	l := s.app.Leaks.Library
	l.SetLogger(s.log)
	s.watchLibrary()
	complaint := ""
	look := func() {
		err := l.LoadPublished(ctx)
		if err == nil && s.cfg.Has("worker") {
			err = l.MakeFirstLooks(ctx, s.app.FirstLooks)
		}
		text := ""
		if err != nil && ctx.Err() == nil {
			if text = err.Error(); text != complaint { // log the same failure once, not every second
				s.log.Error("leak corpora are not whole", "cause", text)
			}
		}
		complaint = text
	}
	look() // before the first request, so that it is answered like the rest
	repeatWork(ctx, group, libraryEvery, look)
}

// watchLibrary registers the metrics of the open segments.
func (s *Server) watchLibrary() {
	l := s.app.Leaks.Library
	for _, g := range []struct {
		name, help string
		value      func() float64
	}{
		{"vigia_leak_segments", "Breach segments that this process holds open.", func() float64 { n, _ := l.Size(); return float64(n) }},
		{"vigia_leak_pairs", "Pairs of an identifier and a password in the open segments.", func() float64 { return float64(l.CountPairs()) }},
		{"vigia_leak_known_ratio", "Which part of the newest measured breach earlier ones had.", s.app.knownRatio},
		{"vigia_leak_keys", "Fingerprints in the open segments.", func() float64 { _, k := l.Size(); return float64(k) }},
	} {
		s.metrics.RegisterCollectors(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: g.name, Help: g.help}, g.value))
	}
}

// knownRatio returns which part of the newest measured breach was known before; 0 when there is none. It is computed
// when metrics are read.
func (a *App) knownRatio() float64 {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	all, err := a.Leaks.Breaches.ListBreaches(ctx)
	if err != nil {
		return 0
	}
	var newest leak.Record
	for _, r := range all {
		if r.State == leak.Published && r.Tally.Measured != nil && !r.PublishedAt.Before(newest.PublishedAt) {
			newest = r
		}
	}
	if newest.Tally.Measured == nil {
		return 0
	}
	return float64(newest.Tally.Measured.Known) / float64(max(1, newest.Tally.Distinct))
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

// ImportBreach imports in this process, as a job that the console shows and can cancel.
func (a *App) ImportBreach(ctx context.Context, spec intake.Spec) (intake.Outcome, error) {
	if err := leak.CheckNewBreach(&spec.Breach, a.now()); err != nil {
		return intake.Outcome{}, err
	}
	return a.importing(
		ctx,
		intake.KindImport,
		spec,
		func(ctx context.Context, spec intake.Spec) (intake.Outcome, error) {
			out, err := a.Leaks.Importer.ImportBreach(ctx, spec)
			if errors.Is(err, leak.ErrBreachExists) {
				r, unmatched, merr := a.resumeMatch(ctx, spec.Breach)
				if merr != nil {
					return out, merr
				}
				if unmatched {
					return intake.Outcome{Record: r}, nil
				}
			}
			return out, err
		},
	)
}

// resumeMatch returns the published breach of the same name and description when its match has not come to an end: the
// command that imported it was killed in between, and goes on when it is given again. A match that failed or was
// cancelled begins anew.
func (a *App) resumeMatch(ctx context.Context, b cyber.Breach) (r leak.Record, unmatched bool, err error) {
	r, err = a.Leaks.Breaches.FindBreach(ctx, b.Name)
	if err != nil {
		return r, false, err
	}
	if r.Title != b.Title || !r.Date.Equal(b.Date) || r.Source != b.Source || !slices.Equal(r.Exposes, b.Exposes) {
		return r, false, nil
	}
	j, err := a.Store.Jobs.NewestJobOf(ctx, leak.KindMatch, b.Name)
	if errors.Is(err, job.ErrNotFound) { // it ended so long ago that its job was swept
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	switch j.State {
	case job.Done:
		return r, false, nil
	case job.Failed, job.Cancelled:
		_, err := a.Store.Jobs.EnqueueJob(ctx, leak.KindMatch, b.Name, nil)
		if errors.Is(err, job.ErrExists) {
			err = nil
		}
		return r, true, err
	case job.Ready, job.Running:
	}
	var p leak.MatchProgress
	if len(j.Progress) > 0 {
		if err := json.Unmarshal(j.Progress, &p); err != nil {
			return r, false, fmt.Errorf("read progress: %w", err)
		}
	}
	return r, p.Phase < leak.PhaseLate, nil
}

// RenewBreach renews a published breach in this process, as a job of the same kind of life.
func (a *App) RenewBreach(ctx context.Context, way intake.Way, spec intake.Spec) (intake.Outcome, error) {
	if _, err := a.Leaks.Breaches.FindBreach(ctx, spec.Breach.Name); err != nil {
		return intake.Outcome{}, err
	}
	return a.importing(
		ctx,
		intake.KindRenew,
		spec,
		func(ctx context.Context, spec intake.Spec) (intake.Outcome, error) {
			return a.Leaks.Importer.RenewBreach(ctx, way, spec)
		},
	)
}

// importing does the work of a job that reads inputs of this machine.
func (a *App) importing(
	ctx context.Context,
	kind string,
	spec intake.Spec,
	do func(context.Context, intake.Spec) (intake.Outcome, error),
) (intake.Outcome, error) {
	hold, err := a.Jobs.BeginJob(
		ctx,
		a.leaseHolder(),
		kind,
		spec.Breach.Name,
		map[string]int{"inputs": len(spec.Inputs)},
	)
	if errors.Is(err, job.ErrExists) {
		return intake.Outcome{}, intake.ErrBusy.With("name", fault.AnotherMachineImports)
	}
	if err != nil {
		return intake.Outcome{}, err
	}
	var out intake.Outcome
	err = hold.RunStep(ctx, func(ctx context.Context, run *job.Run) error {
		tell, last := spec.Progress, intake.Progress{}
		spec.Progress = func(p intake.Progress) {
			last = p
			if tell != nil {
				tell(p)
			}
			run.TellProgress(ctx, p)
		}
		out, err = do(ctx, spec)
		if errors.Is(err, intake.ErrBusy) { // another process of this place is at it, and holds the same lease
			return job.LeaveToOther(err)
		}
		if err == nil && kind == intake.KindImport { // a renewal's breach has more than what was read for it
			last = last.Ended(out.Tally)
		}
		if err == nil {
			_ = run.Save(
				context.WithoutCancel(ctx),
				last,
			) // the import is done, whether its last figures are kept or not
		}
		return err
	})
	return out, err
}

// MatchBreach matches a breach against the watched values and waits for the end: in this process, or by following the
// server that claimed the job first. It does not wait for values that were added during the match; a server handles
// those.
func (a *App) MatchBreach(ctx context.Context, name string, tell func(leak.MatchProgress)) (leak.MatchProgress, error) {
	var p leak.MatchProgress
	hold, err := a.Jobs.TakeJob(ctx, a.leaseHolder(), leak.KindMatch, name)
	if errors.Is(err, job.ErrNotFound) {
		return p, a.Jobs.FollowJob(ctx, leak.KindMatch, name, func(j job.Job) (bool, error) {
			if err := json.Unmarshal(j.Progress, &p); err != nil {
				return false, fmt.Errorf("read progress: %w", err)
			}
			tell(p)
			return j.State != job.Ready && j.State != job.Running || p.Phase >= leak.PhaseLate, nil
		})
	}
	if err != nil {
		return p, err
	}
	err = hold.RunStep(ctx, func(ctx context.Context, run *job.Run) error {
		save := run.Save
		run.Save = func(ctx context.Context, progress any) error {
			if at, ok := progress.(*leak.MatchProgress); ok {
				p = *at
				tell(p)
			}
			return save(ctx, progress)
		}
		if err := a.Leaks.Matcher.MatchFirst(ctx, run); err != nil {
			return err
		}
		return job.ContinueLater()
	})
	return p, err
}

// RetractBreach takes a breach back and withdraws its findings, here or through the server that got to it first.
func (a *App) RetractBreach(ctx context.Context, name string) (leak.Record, error) {
	r, err := a.Leaks.RetractBreach(ctx, name)
	if err != nil {
		return r, err
	}
	return r, a.runJobNow(ctx, leak.KindWithdraw, name, func(ctx context.Context, run *job.Run) error {
		if err := a.Leaks.Matcher.WithdrawFirst(ctx, run); err != nil {
			return err
		}
		return job.ContinueLater()
	})
}

// RetractBreach takes a breach back and removes what an unfinished import left on this machine. A worker withdraws its
// findings.
func (l *Leaks) RetractBreach(ctx context.Context, name string) (leak.Record, error) {
	r, err := l.Breaches.RetractBreach(ctx, name)
	if err != nil {
		return r, err
	}
	if err := l.Importer.DiscardWork(name); err != nil &&
		!errors.Is(err, intake.ErrBusy) { // a running import notices by itself
		return r, err
	}
	return r, nil
}

// runJobNow runs a step of a job here, unless a server got to the job first.
func (a *App) runJobNow(ctx context.Context, kind, subject string, step job.Step) error {
	hold, err := a.Jobs.TakeJob(ctx, a.leaseHolder(), kind, subject)
	if errors.Is(err, job.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return hold.RunStep(ctx, step)
}

// ExplainValue tells what a published breach says of one value, and what was known of it before.
func (l *Leaks) ExplainValue(
	ctx context.Context,
	name string,
	kind identifier.Kind,
	value string,
) (leak.Explanation, error) {
	normal, err := identifier.ParseValue(kind, value, identifier.Required)
	if err != nil {
		return leak.Explanation{}, err
	}
	of, err := l.Breaches.FindBreach(ctx, name)
	if err != nil {
		return leak.Explanation{}, err
	}
	if of.State != leak.Published || of.Segment == "" {
		return leak.Explanation{}, leak.ErrBreachNotFound.With("name", fault.NoSegment)
	}
	all, err := l.Breaches.ListBreaches(ctx)
	if err != nil {
		return leak.Explanation{}, err
	}
	if err := l.Library.LoadPublished(ctx); err != nil {
		return leak.Explanation{}, err
	}
	return leak.ExplainSighting(of, all, l.Library.ProbeFingerprint(l.Importer.Fingerprint(byte(kind), identifier.MatchForm(kind, normal)))), nil
}

// CountRecords counts the records of a dump that hold a value.
func (l *Leaks) CountRecords(
	ctx context.Context,
	dump intake.Spec,
	kind identifier.Kind,
	value string,
) (intake.Counted, error) {
	normal, err := identifier.ParseValue(kind, value, identifier.Required)
	if err != nil {
		return intake.Counted{}, err
	}
	return l.Importer.CountValue(ctx, dump, kind, identifier.MatchForm(kind, normal))
}

// VerifySegment checks a breach's segments from the first byte to the last and returns how many identifiers it has.
func (l *Leaks) VerifySegment(ctx context.Context, name string) (uint64, error) {
	r, err := l.Breaches.FindBreach(ctx, name)
	if err != nil {
		return 0, err
	}
	if r.State != leak.Published || r.Segment == "" {
		return 0, leak.ErrBreachNotFound.With("name", fault.NoSegment)
	}
	var first uint64
	for i, f := range r.ListFiles() {
		keys, err := l.verifySegment(ctx, f)
		if err != nil {
			return 0, err
		}
		if i == 0 {
			first = keys
		}
	}
	return first, nil
}

// verifySegment reads a segment from the first byte to the last.
func (l *Leaks) verifySegment(ctx context.Context, f leak.File) (keys uint64, err error) {
	reader, err := l.Files.Open(ctx, f.Name, f.Digest)
	if err != nil {
		return 0, err
	}
	return reader.Count(), errors.Join(reader.VerifyAll(ctx), reader.Close())
}

// EditBreach changes the description of a breach and updates statuses accordingly, in this process or through the
// server that claimed the job first.
func (a *App) EditBreach(ctx context.Context, name string, edit func(*cyber.Breach)) (leak.Record, error) {
	r, err := a.Leaks.Breaches.EditBreach(ctx, name, edit)
	if err != nil {
		return r, err
	}
	return r, a.runJobNow(ctx, leak.KindRestate, name, a.Leaks.Matcher.RestateBreach)
}

const (
	// downloadTime bounds one download of a dump.
	downloadTime = 12 * time.Hour
	mostRedirect = 5
)

// Feeds makes what runs continuous sources; all it calls passes the guard of the client, or without one that of public
// addresses.
func (a *App) Feeds(through *http.Client) *feed.Feeds {
	if through == nil {
		through = webhook.NewGuard(nil).NewClient(webhook.ClientOptions{})
	}
	return &feed.Feeds{
		Store:    a.Store.Feeds,
		Breaches: a.Store.Breaches,
		Jobs:     a.Store.Jobs,
		Importer: a.Leaks.Importer,
		Client:   through,
		Now:      a.now,
		Random:   rand.Reader,
	}
}

// harmless are the headers that may follow a redirect to another host: none of them can hold a secret.
var harmless = []string{"Accept", "User-Agent", "Range", "If-None-Match"}

// followRedirect follows a few redirects. Only harmless headers go to another host: net/http takes the usual secrets
// away, but not a key in a header of its own, nor the address before, which may be a signed one.
func followRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > mostRedirect {
		return http.ErrUseLastResponse
	}
	req.Header.Del("Referer")
	if first := via[0].URL; req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		for name := range req.Header {
			if !slices.Contains(harmless, name) {
				req.Header.Del(name)
			}
		}
	}
	return nil
}

// watchFeeds registers the metrics of feeds and returns what counts a run.
func (s *Server) watchFeeds() func(feed.Feed, time.Duration, error) {
	runs := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vigia_feed_runs_total", Help: "Runs of feeds, by feed and by how they ended.",
	}, []string{"feed", "outcome"})
	took := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_feed_last_run_seconds", Help: "How long the last run of a feed took.",
	}, []string{"feed"})
	success := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_feed_last_success_timestamp_seconds", Help: "When a feed last ran without failing.",
	}, []string{"feed"})
	s.metrics.RegisterCollectors(runs, took, success)
	return func(f feed.Feed, d time.Duration, err error) {
		outcome := "done"
		if err != nil {
			outcome = "failed"
			s.log.Error("feed failed", "feed", f.Name, "kind", string(f.Kind), "failures", f.Failures+1)
		} else {
			success.WithLabelValues(f.Name).Set(float64(s.app.now().Unix()))
		}
		runs.WithLabelValues(f.Name, outcome).Inc()
		took.WithLabelValues(f.Name).Set(d.Seconds())
	}
}

// RunFeedNow runs a feed here and now, unless a server is at it.
func (a *App) RunFeedNow(ctx context.Context, o config.Outgoing, name string) (feed.Feed, error) {
	out, err := OpenOutgoing(o)
	if err != nil {
		return feed.Feed{}, err
	}
	if _, err := a.Store.Feeds.FeedByName(ctx, name); err != nil {
		return feed.Feed{}, err
	}
	hold, err := a.Jobs.BeginJob(ctx, a.leaseHolder(), feed.KindRun, name, struct{}{})
	if errors.Is(err, job.ErrExists) {
		return feed.Feed{}, intake.ErrBusy.With("name", fault.FeedRunning)
	}
	if err != nil {
		return feed.Feed{}, err
	}
	if err := hold.RunStep(ctx, a.Feeds(out.Downloads).Run); err != nil {
		return feed.Feed{}, err
	}
	return a.Store.Feeds.FeedByName(ctx, name)
}

// What one feed may be sent, over time and at once.
const pushesEvery, pushesAtOnce = time.Second, 30

// vendorHandler returns the handler to which vendors send breach records.
func (s *Server) vendorHandler() http.Handler {
	feeds := s.app.Feeds(s.outgoing.Downloads)
	feeds.PushPace = telemetry.NewBudget(s.app.now, pushesEvery, pushesAtOnce).TakeToken
	return feed.NewPushDoor(feed.DoorOptions{Feeds: feeds, Log: s.log, Now: s.app.now, Callers: s.callers})
}
