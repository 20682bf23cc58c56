package app

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/config"
)

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
func (s *Server) startDelivery(ctx context.Context, group *errgroup.Group) {
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
	sweepEvents := func(ctx context.Context) (int, error) {
		n, err := s.app.Store.Alerts.SweepEvents(ctx, keep)
		return int(n), err
	}
	sweep := &countedChore{did: "swept events", work: sweepEvents, log: s.log}
	s.repeatChore(ctx, group, 10*time.Minute, sweep.did, sweep)
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
