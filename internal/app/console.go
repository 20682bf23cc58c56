package app

import (
	"context"
	"crypto/sha1" //nolint:gosec // the corpus of breached passwords is listed under it
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/api"
	"github.com/vigiahq/vigia/internal/console"
	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/telemetry"
)

// exposed looks an operator's new password up in our own corpora. It happens so rarely that they are opened for it.
func (a *App) exposed(text string) (bool, error) {
	if err := a.Passwords.EnsureDefault(context.Background()); err != nil && !errors.Is(err, password.ErrBusy) {
		return false, err
	}
	checker, err := password.NewChecker(a.Passwords, slog.New(slog.DiscardHandler))
	if err != nil {
		return false, err
	}
	defer checker.Close()
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	found, err := checker.Check(hex.EncodeToString(sum[:])[:password.PrefixDigits], true)
	return found.Exposure != password.NotKnown, err
}

// consoleHandler is the operator's pages. ctx and group own the imports that a page begins.
func (s *Server) consoleHandler(ctx context.Context, group *errgroup.Group) (http.Handler, error) {
	a := s.app
	guard, err := NewGuard(s.cfg.Outgoing())
	if err != nil {
		return nil, err
	}
	client, err := NewWebhookClient(s.cfg.Outgoing(), 1)
	if err != nil {
		return nil, err
	}
	feeds, err := a.Feeds(s.cfg.Outgoing())
	if err != nil {
		return nil, err
	}
	downloads, err := DownloadClient(s.cfg.Outgoing())
	if err != nil {
		return nil, err
	}
	work := s.newConsoleWork(ctx, group)
	if err := work.sweep(); err != nil {
		return nil, err
	}
	rules := console.Rules{
		Operators: a.Operators, Audit: a.Audit, Partners: a.Partners, Services: a.Services, Figures: a.Store.Overview,
		Plans: a.Plans, Subscriptions: a.Subscriptions, FindSubscriptions: a.Store.Overview, ProblemText: api.ItemError,
		Monitoring: a.Monitoring, Persons: s.persons(), Review: a.Store.Overview,
		Breaches: &consoleImports{a.Leaks.Breaches, work}, Feeds: consoleFeeds{feeds},
		Passwords: &consolePasswords{a.Passwords, work, downloads}, Cases: a.Cases, Endpoints: a.Endpoints, Content: a.Content,
		Subjects: consoleSubjects{a.Subjects, a}, Keys: consoleKeys{a},
		Webhooks: &consoleWebhooks{a.Webhooks, guard, client}, Events: a.Store.Overview, History: a.History, Jobs: a.Store.Jobs,
	}
	return console.New(console.Options{
		Rules: rules,
		InTx: func(ctx context.Context, fn func(in *console.Rules) error) error {
			return a.inTx(ctx, rules, *feeds, fn)
		},
		Log: s.log, Now: a.now, Stopping: s.stopping.Load, SecondFactorOptional: s.secondFactorOptional,
		Latency: func() []telemetry.Latency {
			list, err := s.metrics.Latencies()
			if err != nil {
				s.log.Error("latencies cannot be read", "cause", err.Error())
			}
			return list
		},
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
		every(ctx, figuresEvery, func() {
			report("counts for the console", s.app.Store.Overview.CountFigures(ctx, figuresEvery/2))
			_, err := s.app.Operators.Sweep(ctx)
			report("sweep of sessions", err)
		})
		return nil
	})
	group.Go(func() error {
		every(ctx, headEvery, func() {
			head, err := s.app.Store.Audit.AuditHead(ctx)
			report("the head of the audit trail is not as it was written", err)
			if err == nil && head.Seq > 0 {
				s.log.Info("audit head", "line", head.Seq, "head", fmt.Sprintf("%d:%x", head.Seq, head.MAC))
			}
		})
		return nil
	})
}

// RelaxSecondFactor lets operators in without an authenticator app: for the demo, before Run.
func (s *Server) RelaxSecondFactor() { s.secondFactorOptional = true }
