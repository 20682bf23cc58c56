package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/web/console"
)

// manyTries is for work that has to be done in the end, however long a disk is full or a bucket away.
const manyTries = 20

// jobKinds declares every kind of job once. A kind without a lane is run by the process that starts it, because no
// other process has its files. feeds may be nil where no worker runs.
func (a *App) jobKinds(feeds *feed.Feeds) []job.Kind {
	work := &job.Lane{Name: "work", AtOnce: 4}
	slow := &job.Lane{Name: "feeds", AtOnce: 4, Before: feeds.Schedule} // a slow source must not keep a match waiting
	return []job.Kind{
		{Name: seal.KindRewrite, Lane: work, Tries: manyTries, Step: a.rewriteSealed},
		{Name: leak.KindMatch, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.MatchBreach},
		{Name: leak.KindWithdraw, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.WithdrawBreach},
		{Name: leak.KindRestate, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.RestateBreach},
		{Name: leak.KindSites, Lane: work, Tries: manyTries, Step: a.Leaks.Matcher.RejudgeSites},
		{Name: feed.KindRun, Lane: slow, Tries: manyTries, Step: feeds.Run},
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
func (s *Server) startJobs(ctx context.Context, group *errgroup.Group) {
	feeds := s.app.Feeds(s.outgoing.Downloads)
	feeds.Observe = s.watchFeeds()
	runner := job.NewRunner(s.app.Store.Jobs, s.log, s.app.jobKinds(feeds)...)
	group.Go(func() error { runner.RunDueJobs(ctx); return nil })
}

// startChores runs the periodic chores of a worker.
func (s *Server) startChores(
	group *errgroup.Group,
	ctx context.Context,
) { //nolint:revive // the group comes first, it owns the context
	group.Go(func() error { s.watchKeysAndPools(ctx); return nil })
	looks := newLookReview(s.app.FirstLooks, s.log, s.metrics.RegisterCollectors)
	repeatWork(ctx, group, reviewLooksEvery, func() {
		s.reportChore(ctx, "review of first looks", looks.runOnce(ctx))
	})
	repeatWork(ctx, group, retentionEvery, func() { s.sweepRetention(ctx) })
	repeatWork(ctx, group, time.Minute, func() {
		runChore(ctx, s, "ended erasures that were left half way", func(ctx context.Context) (int, error) {
			return s.app.Subjects.ResumeErasures(ctx, s.app.logErasures)
		})
	})
	repeatWork(
		ctx,
		group,
		time.Second,
		func() { runChore(ctx, s, "made final moves of cases", s.app.Cases.MakeEndings) },
	)
	repeatWork(
		ctx,
		group,
		30*time.Second,
		func() { runChore(ctx, s, "ended subscriptions", s.app.Subscriptions.SweepExpired) },
	)
	repeatWork(
		ctx,
		group,
		10*time.Minute,
		func() { runChore(ctx, s, "swept kept answers", s.app.Store.Answers.SweepAnswers) },
	)
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

// protectionEvery is how often endpoint keys and people's plans are looked after. Every replica with workers does so;
// rows remember what was done.
const protectionEvery = time.Minute

// watchKeysAndPools announces keys that end soon, ends those whose time or subscription is over, reminds people of
// steps that are due, and reports pools that run low.
func (s *Server) watchKeysAndPools(ctx context.Context) {
	free := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_epp_pool_free",
		Help: "Vendor keys left to be issued, by system; only systems whose keys come from a pool.",
	}, []string{"system"})
	s.metrics.RegisterCollectors(free)
	runEvery(ctx, protectionEvery, func() {
		runChore(ctx, s, "told of keys that end soon or ended", s.app.Endpoints.GiveNotices)
		runChore(ctx, s, "ended keys with their subscription", s.app.Endpoints.EndUnsubscribed)
		runChore(ctx, s, "reminded of steps that are due", s.app.Monitoring.RemindSteps)
		s.reportChore(ctx, "count of pools", s.reportPools(ctx, free))
	})
}

// runChore runs a piece of periodic work and says in the log what it did, if anything.
func runChore[N int | int64](ctx context.Context, s *Server, what string, work func(context.Context) (N, error)) {
	n, err := work(ctx)
	s.reportChore(ctx, what, err)
	if n > 0 && err == nil {
		s.log.Info("chore done", "chore", what, "count", n)
	}
}

// reportChore logs the failure of a piece of periodic work, unless the process is stopping.
func (s *Server) reportChore(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.Error("chore failed", "chore", what, "cause", err.Error())
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
			s.log.Warn(
				"pool of endpoint keys is low",
				"system",
				string(src.System),
				"free",
				src.Free,
				"mark",
				src.LowMark,
			)
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
func (a *App) EraseSubject(
	ctx context.Context,
	who operator.Actor,
	p subject.Person,
	reason string,
) (subject.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, eraseTime)
	defer cancel()
	return a.Subjects.ErasePerson(ctx, who, p, reason, a.logErasures)
}

// logErasures notes tombstones in the log of this machine's data folder.
func (a *App) logErasures(stones []subject.Tombstone) error {
	return durable.AppendToFile(
		ErasureLog(a.Config),
		func(w io.Writer) error { return subject.WriteTombstones(w, stones) },
	)
}

// retentionEvery is how often what has outlived its purpose is looked for.
const retentionEvery = time.Hour

// retention returns the server's settings of how long data are kept.
func retention(c config.Serve) store.Retention {
	days := func(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
	return store.Retention{
		Attempts:      days(c.KeepAttempts),
		Subscriptions: days(c.KeepSubscriptions),
		Cases:         days(c.KeepCases),
		Devices:       days(c.KeepDevices),
		Scores:        days(c.KeepScores),
		Jobs:          days(c.KeepJobs),
		Audit:         days(c.KeepAudit),
	}
}

// sweepRetention removes what is past its time.
func (s *Server) sweepRetention(ctx context.Context) {
	removed, err := s.app.Store.Upkeep.SweepExpired(ctx, retention(s.cfg))
	for what, n := range removed {
		if n > 0 {
			s.log.Info("removed what is past its time", "what", what, "count", n)
		}
	}
	s.reportChore(ctx, "sweep of what is past its time", err)
}

// Outgoing is what calls out: one guard, and the clients that pass it.
type Outgoing struct {
	Guard *webhook.Guard
	// Webhooks sends events. Downloads fetches dumps: it is patient and follows a few redirects, each of which passes
	// the guard again.
	Webhooks, Downloads *http.Client
}

// OpenOutgoing makes what calls out of its settings, and refuses wrong ones.
func OpenOutgoing(o config.Outgoing) (out Outgoing, err error) {
	if err := o.CheckOutgoing(); err != nil {
		return out, err
	}
	ranges, _ := o.AllowedRanges() // both were checked
	proxy, _ := o.ParseProxy()
	out.Guard = webhook.NewGuard(ranges)
	out.Webhooks = out.Guard.NewClient(webhook.ClientOptions{Proxy: proxy})
	out.Downloads = out.Guard.NewClient(webhook.ClientOptions{Proxy: proxy, Timeout: downloadTime})
	out.Downloads.CheckRedirect = followRedirect
	return out, nil
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
func (s *Server) startDelivery(
	group *errgroup.Group,
	ctx context.Context,
) { //nolint:revive // the group comes first, it owns the context
	d := alert.NewDispatcher(s.app.Store.Alerts, s.outgoing.Webhooks, s.app.now, s.log, alert.DispatcherOptions{
		Gate:    endpointGateRule(s.cfg),
		NextTry: webhook.NewSchedule(rand.Float64).NextAttempt,
		Observe: s.watchDeliveries(),
	})
	group.Go(func() error {
		d.Run(ctx)
		s.outgoing.Webhooks.CloseIdleConnections()
		return nil
	})
	keep := cmp.Or(s.cfg.EventRetention, alert.KeepEvents)
	repeatWork(ctx, group, 10*time.Minute, func() {
		runChore(
			ctx,
			s,
			"swept events",
			func(ctx context.Context) (int64, error) { return s.app.Store.Alerts.SweepEvents(ctx, keep) },
		)
	})
}

// watchDeliveries registers the metrics of deliveries and returns what counts an attempt.
func (s *Server) watchDeliveries() func(webhook.Action, webhook.Outcome) {
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vigia_webhook_attempts_total",
		Help: "Attempts to deliver an event, by what was made of them and how they failed.",
	}, []string{"action", "failure"})
	duration := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "vigia_webhook_attempt_seconds", Help: "Time that attempts to deliver took.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15},
	})
	s.metrics.RegisterCollectors(attempts, duration)
	return func(action webhook.Action, o webhook.Outcome) {
		attempts.WithLabelValues(action.String(), string(o.Failure)).Inc()
		duration.Observe(o.Duration.Seconds())
	}
}
