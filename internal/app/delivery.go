package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/webhook"
)

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
