package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/console"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/durable"
	"github.com/vigiahq/vigia/internal/feed"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/webhook"
)

// manyTries is for work that has to be done in the end, however long a disk is full or a bucket away.
const manyTries = 20

// jobKinds declares every kind of job once. A kind without a lane is run by the process that starts it, because no other
// process has its files. feeds may be nil where no worker runs.
func (a *App) jobKinds(feeds *feed.Feeds) []job.Kind {
	work := &job.Lane{Name: "work", AtOnce: 4}
	slow := &job.Lane{Name: "feeds", AtOnce: 4, Before: feeds.Schedule} // a slow source must not keep a match waiting
	spreads := &job.Lane{Name: "spread imports", AtOnce: 16}            // to watch over one costs next to nothing
	parts := &job.Lane{Name: "parts of imports", AtOnce: 1}             // one takes all cores
	return []job.Kind{
		{Name: seal.KindRewrite, Lane: work, Tries: manyTries, Step: a.rewriteSealed},
		{Name: leak.KindMatch, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.MatchBreach},
		{Name: leak.KindWithdraw, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.WithdrawBreach},
		{Name: leak.KindRestate, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.RestateBreach},
		{Name: leak.KindSites, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.RejudgeSites},
		{Name: feed.KindRun, Lane: slow, Tries: manyTries, Step: feeds.Run},
		{Name: intake.KindSpread, Lane: spreads, Tries: manyTries, Step: a.Leaks.Spreader.WatchParts},
		{Name: intake.KindPart, Lane: parts, Tries: manyTries, Step: a.Leaks.Spreader.RunImportPart},
		{Name: intake.KindImport},
		{Name: intake.KindRenew},
		{Name: leak.KindVerify},
		{Name: password.KindImport},
		{Name: password.KindDownload},
		{Name: password.KindVerify},
		{Name: console.KindExport},
		{Name: console.KindBulk},
	}
}

// startJobs runs the jobs that any worker may take.
func (s *Server) startJobs(ctx context.Context, group *errgroup.Group) error {
	feeds, err := s.app.Feeds(s.cfg.OutgoingSettings())
	if err != nil {
		return err
	}
	if feeds.Observe, err = s.watchFeeds(); err != nil {
		return err
	}
	s.app.Leaks.Spreader.Client = feeds.Client
	runner := job.NewRunner(s.app.Store.Jobs, s.log, s.app.jobKinds(feeds)...)
	group.Go(func() error { runner.RunDueJobs(ctx); return nil })
	return nil
}

// startChores runs the periodic chores of a worker.
func (s *Server) startChores(group *errgroup.Group, ctx context.Context) { //nolint:revive // the group comes first, it owns the context
	group.Go(func() error { return s.watchKeysAndPools(ctx) })
	group.Go(func() error { return s.watchFirstLooks(ctx) })
	group.Go(func() error { s.sweepRetention(ctx); return nil })
	group.Go(func() error { s.resumeErasures(ctx); return nil })
	group.Go(func() error {
		runEvery(ctx, time.Second, func() { s.runChore(ctx, "made final moves of cases", s.app.Cases.MakeEndings) })
		return nil
	})
	group.Go(func() error {
		runEvery(ctx, 30*time.Second, func() {
			if n, err := s.app.Subscriptions.SweepExpired(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("sweep of subscriptions failed", "cause", err.Error())
			} else if n > 0 {
				s.log.Info("subscriptions ended", "count", n)
			}
		})
		return nil
	})
	group.Go(func() error {
		runEvery(ctx, 10*time.Minute, func() {
			if n, err := s.app.Store.Answers.SweepAnswers(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("sweep of kept answers failed", "cause", err.Error())
			} else if n > 0 {
				s.log.Info("swept kept answers", "count", n)
			}
		})
		return nil
	})
}

// doDueWork does at once what the chores would do at their next round: subscriptions end, people are reminded, keys are
// announced and end.
func (a *App) doDueWork(ctx context.Context) error {
	_, err := a.Subscriptions.SweepExpired(ctx)
	for _, chore := range []func(context.Context) (int, error){a.Endpoints.GiveNotices, a.Endpoints.EndUnsubscribed, a.Monitoring.RemindSteps, a.Cases.MakeEndings} {
		_, failed := chore(ctx)
		err = errors.Join(err, failed)
	}
	return err
}

// RotateKeys makes a new primary key and asks the workers to rewrite what older ones sealed.
func (a *App) RotateKeys(ctx context.Context) error {
	if err := a.Keys.RotateKey(); err != nil {
		return err
	}
	_, err := a.Store.Jobs.EnqueueJob(ctx, seal.KindRewrite, fmt.Sprint(a.Keys.PrimaryID()), struct{}{})
	return err
}

// rewriteSealed runs one step of the job seal.KindRewrite.
func (a *App) rewriteSealed(ctx context.Context, run *job.Run) error {
	if _, err := a.Keys.ReloadFile(); err != nil {
		return err
	}
	var p store.RewriteProgress
	if err := json.Unmarshal(run.Progress, &p); err != nil {
		return fmt.Errorf("read progress: %w", err)
	}
	for {
		done, err := a.Store.Upkeep.RewriteSealed(ctx, &p, 500)
		if err != nil || done {
			return err
		}
		if err := run.Save(ctx, p); err != nil {
			return err
		}
	}
}

// protectionEvery is how often endpoint keys and people's plans are looked after. Every replica with workers does so; rows remember what
// was done.
const protectionEvery = time.Minute

// watchKeysAndPools announces keys that end soon, ends those whose time or subscription is over, reminds people of steps
// that are due, and reports pools that run low.
func (s *Server) watchKeysAndPools(ctx context.Context) error {
	free := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_epp_pool_free", Help: "Vendor keys left to be issued, by system; only systems whose keys come from a pool.",
	}, []string{"system"})
	if err := s.metrics.RegisterCollector(free); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	runEvery(ctx, protectionEvery, func() {
		s.runChore(ctx, "told of keys that end soon or ended", s.app.Endpoints.GiveNotices)
		s.runChore(ctx, "ended keys with their subscription", s.app.Endpoints.EndUnsubscribed)
		s.runChore(ctx, "reminded of steps that are due", s.app.Monitoring.RemindSteps)
		if err := s.reportPools(ctx, free); err != nil && ctx.Err() == nil {
			s.log.Error("pools cannot be counted", "cause", err.Error())
		}
	})
	return nil
}

// runChore runs a piece of periodic work and says in the log what it did, if anything.
func (s *Server) runChore(ctx context.Context, what string, work func(context.Context) (int, error)) {
	switch n, err := work(ctx); {
	case err != nil && ctx.Err() == nil:
		s.log.Error("chore failed", "chore", what, "cause", err.Error())
	case n > 0:
		s.log.Info("chore done", "chore", what, "count", n)
	}
}

// reportPools sets the metric of free endpoint keys and logs a pool once when it runs low and once when it is filled
// again.
func (s *Server) reportPools(ctx context.Context, free *prometheus.GaugeVec) error {
	sources, err := s.app.Endpoints.ListSources(ctx)
	if err != nil {
		return err
	}
	free.Reset()
	for _, src := range sources {
		if src.Pooled {
			free.WithLabelValues(string(src.System)).Set(float64(src.Free))
		}
	}
	turned, err := s.app.Endpoints.PoolsTurnedLow(ctx)
	for _, src := range turned {
		if src.Low() {
			s.log.Warn("pool of endpoint keys is low", "system", string(src.System), "free", src.Free, "mark", src.LowMark)
		} else {
			s.log.Info("pool of endpoint keys is filled again", "system", string(src.System), "free", src.Free)
		}
	}
	return err
}

// NewPersons returns the rules of advice and score. missed is called with the error when a day's score could not be
// stored, and may be nil.
func (a *App) NewPersons(missed func(context.Context, error)) *cyber.Persons {
	return cyber.NewPersons(a.Store.Advice, a.Content, a.now, missed)
}

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

// clock is the time that replicas agree on: leases, due times and the ends of keys and links are rows that one process
// writes and another one judges. On PostgreSQL it is the server's time, read now and then; in between this process's
// own clock goes on from there.
type clock struct {
	own    func() time.Time
	offset atomic.Int64 // nanoseconds
}

const (
	// clockSlack is by how much the clocks may differ before this process's own is corrected: machines that keep their
	// time use their own, and the way to the database is not mistaken for a difference.
	clockSlack = 500 * time.Millisecond
	// clockEvery is how often they are compared, and clockNews what is worth a line in the log.
	clockEvery = 10 * time.Second
	clockNews  = 2 * time.Second
)

// adjustedNow returns the database's time as far as it is known.
func (c *clock) adjustedNow() time.Time { return c.own().Add(time.Duration(c.offset.Load())) }

// followClock compares this process's clock with the database's and returns by how much it was off beyond what was
// known, or zero.
func (a *App) followClock(ctx context.Context) (time.Duration, error) {
	if a.clock == nil || a.Engine != sqldb.PostgreSQL {
		return 0, nil
	}
	before := a.clock.own()
	server, err := a.Store.ServerTime(ctx)
	if err != nil {
		return 0, err
	}
	took := a.clock.own().Sub(before)
	if took > clockSlack { // who knows when in that time it was read
		return 0, nil
	}
	offset := server.Sub(before.Add(took / 2))
	change := offset - time.Duration(a.clock.offset.Load())
	if change.Abs() < clockSlack {
		return 0, nil
	}
	a.clock.offset.Store(int64(offset))
	return change, nil
}

// watchClock keeps following. A database that does not answer leaves the last correction in place.
func (s *Server) watchClock(ctx context.Context) {
	runEvery(ctx, clockEvery, func() {
		if change, err := s.app.followClock(ctx); err == nil && change.Abs() >= clockNews {
			s.log.Warn("the clocks of this machine and of the database differ: the database's is used; keep both by NTP", "seconds", change.Seconds())
		}
	})
}

// NewOutgoingGuard makes the one guard of everything that calls out.
func NewOutgoingGuard(o config.Outgoing) (*webhook.Guard, error) {
	ranges, err := o.AllowedRanges()
	if err != nil {
		return nil, err
	}
	return webhook.NewGuard(ranges), nil
}

// NewWebhookClient makes the client that webhooks are sent with.
func NewWebhookClient(o config.Outgoing) (*http.Client, error) {
	guard, err := NewOutgoingGuard(o)
	if err != nil {
		return nil, err
	}
	proxy, err := o.ParseProxy()
	if err != nil {
		return nil, err
	}
	return guard.NewClient(webhook.ClientOptions{Proxy: proxy}), nil
}

// endpointGateRule returns the limits of this process on deliveries to one endpoint.
func endpointGateRule(c config.Serve) webhook.GateRule {
	rule := webhook.DefaultGate
	if c.WebhookSlots > 0 {
		rule.Concurrent = c.WebhookSlots
	}
	rule.PerSecond, rule.Burst = float64(c.WebhookRate), 2*c.WebhookRate
	return rule
}

// startDelivery pushes events and forgets old ones.
func (s *Server) startDelivery(group *errgroup.Group, ctx context.Context) error { //nolint:revive // the group comes first, it owns the context
	rule := endpointGateRule(s.cfg)
	client, err := NewWebhookClient(s.cfg.OutgoingSettings())
	if err != nil {
		return err
	}
	observe, err := s.watchDeliveries()
	if err != nil {
		return err
	}
	d := alert.NewDispatcher(s.app.Store.Alerts, client, s.app.now, s.log, alert.DispatcherOptions{
		Gate: rule, NextTry: webhook.NewSchedule(rand.Float64).NextAttempt, Observe: observe,
	})
	group.Go(func() error {
		d.Run(ctx)
		client.CloseIdleConnections()
		return nil
	})
	keep := s.cfg.EventRetention
	if keep == 0 {
		keep = alert.KeepEvents
	}
	group.Go(func() error {
		runEvery(ctx, 10*time.Minute, func() {
			if n, err := s.app.Store.Alerts.SweepEvents(ctx, keep); err != nil && ctx.Err() == nil {
				s.log.Error("sweep of events failed", "cause", err.Error())
			} else if n > 0 {
				s.log.Info("swept events", "count", n)
			}
		})
		return nil
	})
	return nil
}

// watchDeliveries registers the metrics of deliveries and returns what counts an attempt.
func (s *Server) watchDeliveries() (func(webhook.Action, webhook.Outcome), error) {
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vigia_webhook_attempts_total", Help: "Attempts to deliver an event, by what was made of them and how they failed.",
	}, []string{"action", "failure"})
	duration := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "vigia_webhook_attempt_seconds", Help: "Time that attempts to deliver took.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15},
	})
	for _, c := range []prometheus.Collector{attempts, duration} {
		if err := s.metrics.RegisterCollector(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return func(action webhook.Action, o webhook.Outcome) {
		attempts.WithLabelValues(action.String(), string(o.Failure)).Inc()
		duration.Observe(o.Duration.Seconds())
	}, nil
}
