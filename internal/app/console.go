package app

import (
	"context"
	"crypto/sha1" //nolint:gosec // the corpus of breached passwords is listed under it
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/api"
	"github.com/vigiahq/vigia/internal/console"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/feed"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/telemetry"
	"github.com/vigiahq/vigia/internal/webhook"
)

// isExposedPassword looks an operator's new password up in our own corpora. It happens so rarely that they are opened for it.
func (a *App) isExposedPassword(text string) (bool, error) {
	if err := a.Passwords.EnsureDefault(context.Background()); err != nil && !errors.Is(err, password.ErrBusy) {
		return false, err
	}
	checker, err := password.NewChecker(a.Passwords, slog.New(slog.DiscardHandler))
	if err != nil {
		return false, err
	}
	defer checker.Close()
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	found, err := checker.CheckPrefix(hex.EncodeToString(sum[:])[:password.PrefixDigits], true)
	return found.Exposure != password.NotKnown, err
}

// consoleHandler returns the handler of the console. ctx and group own the imports that a page starts.
func (s *Server) consoleHandler(ctx context.Context, group *errgroup.Group) (http.Handler, error) {
	a := s.app
	guard, err := NewOutgoingGuard(s.cfg.OutgoingSettings())
	if err != nil {
		return nil, err
	}
	client, err := NewWebhookClient(s.cfg.OutgoingSettings())
	if err != nil {
		return nil, err
	}
	feeds, err := a.Feeds(s.cfg.OutgoingSettings())
	if err != nil {
		return nil, err
	}
	downloads, err := DownloadClient(s.cfg.OutgoingSettings())
	if err != nil {
		return nil, err
	}
	public, err := s.cfg.ParsePublicURL()
	if err != nil {
		return nil, err
	}
	var pages url.URL
	if s.cfg.PageURL != "" { // without it pages are under the console's address, which has no reference
		if pages, err = s.cfg.ParsePageURL(); err != nil {
			return nil, err
		}
	}
	work := s.newConsoleWork(ctx, group)
	if err := work.sweepUploads(); err != nil {
		return nil, err
	}
	parts := &consoleParts{app: a, work: work, guard: guard, client: client, downloads: downloads, feeds: *feeds, persons: s.personRules()}
	return console.NewConsole(console.Options{
		Rules: parts.consoleRules(a.Rules, a.Store.Areas),
		InTx:  parts.runInTx,
		Begin: parts.work.beginDetached,
		Log:   s.log, Now: a.now, Stopping: s.stopping.Load, SecondFactorOptional: s.secondFactorOptional,
		Callers: s.callers, Strangers: s.strangers, Public: public, API: pages, UploadLimit: s.cfg.UploadBytes(),
		Latency: func() []telemetry.Latency {
			list, err := s.metrics.Latencies()
			if err != nil {
				s.log.Error("latencies cannot be read", "cause", err.Error())
			}
			return list
		},
	})
}

// consoleParts are what the console's rules reach beside the store.
type consoleParts struct {
	app       *App
	work      *consoleWork
	guard     *webhook.Guard
	client    *http.Client
	downloads *http.Client
	feeds     feed.Feeds
	persons   *cyber.Persons
}

// consoleRules returns the console's rules, over the database or over one transaction of it.
func (p *consoleParts) consoleRules(r Rules, in store.Areas) console.Rules {
	a, feeds := p.app, p.feeds
	feeds.Store, feeds.Breaches, feeds.Jobs = in.Feeds, in.Breaches, in.Jobs
	return console.Rules{
		Operators: r.Operators, Audit: r.Audit, Partners: r.Partners, Services: r.Services, Figures: in.Overview,
		Meter: r.Meter, Plans: r.Plans, Subscriptions: r.Subscriptions, FindSubscriptions: in.Overview, ProblemText: api.ItemError,
		Monitoring: r.Monitoring, FirstLooks: r.FirstLooks, Persons: p.persons.WithStore(in.Advice), Review: in.Overview,
		Breaches: &consoleImports{leak.NewBreaches(in.Breaches, a.now), p.work}, Feeds: consoleFeeds{&feeds},
		Passwords: &consolePasswords{a.Passwords, p.work, p.downloads}, Cases: r.Cases, Endpoints: r.Endpoints, Content: r.Content, Messages: r.Messages,
		Subjects: consoleSubjects{a.Subjects, a}, Search: subject.NewSearch(in.Subjects, in.Partners), Cover: r.Cover, Keys: consoleKeys{a},
		Webhooks: &consoleWebhooks{r.Webhooks, p.guard, p.client}, Events: in.Overview, History: r.History, Jobs: in.Jobs, Saved: in.Operators,
	}
}

// runInTx runs fn with rules whose changes are committed together.
func (p *consoleParts) runInTx(ctx context.Context, fn func(in *console.Rules) error) error {
	return p.app.Store.InTx(ctx, func(tx store.Tx) error {
		in := p.consoleRules(p.app.rulesWithin(tx), tx.Areas)
		return fn(&in)
	})
}

const (
	figuresEvery = time.Minute
	// headEvery is how often the head of the audit trail is logged: the log then shows later that nothing was cut off.
	headEvery = time.Hour
)

// startConsoleChores keeps the console's counts up, forgets sessions that are over and logs the head of the audit
// trail.
func (s *Server) startConsoleChores(group *errgroup.Group, ctx context.Context) { //nolint:revive // as in startChores
	report := func(chore string, err error) {
		if err != nil && ctx.Err() == nil {
			s.log.Error("chore failed", "chore", chore, "cause", err.Error())
		}
	}
	group.Go(func() error {
		runEvery(ctx, figuresEvery, func() {
			report("counts for the console", s.app.Store.Overview.CountFigures(ctx, figuresEvery/2))
			_, err := s.app.Operators.SweepSessions(ctx)
			report("sweep of sessions", err)
			report("sweep of exports", s.app.Store.Operators.SweepExports(ctx, s.app.now()))
		})
		return nil
	})
	group.Go(func() error {
		runEvery(ctx, headEvery, func() {
			head, err := s.app.Store.Audit.TrailHead(ctx)
			if errors.Is(err, operator.ErrTrailBroken) {
				report("the head of the audit trail is not as it was written", err)
			} else {
				report("the head of the audit trail cannot be read", err)
			}
			if err == nil && head.Seq > 0 {
				s.log.Info("audit head", "line", head.Seq, "head", fmt.Sprintf("%d:%x", head.Seq, head.MAC))
			}
		})
		return nil
	})
}

// RelaxSecondFactor lets operators in without an authenticator app: for the demo, before Run.
func (s *Server) RelaxSecondFactor() { s.secondFactorOptional = true }
