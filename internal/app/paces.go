package app

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vigiahq/vigia/internal/cyber"
)

// pacesEvery is how often somebody looks at what partners add to monitoring. Every replica with workers does so; rows
// remember what was told.
const pacesEvery = 5 * time.Minute

// watchPaces tells the operator of partners that add more than usual, or of whose people unusually many, or few, are
// known from breaches: both are signs of fishing.
func (s *Server) watchPaces(ctx context.Context) error {
	unusual := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_partner_unusual", Help: "1 for each live partner whose monitoring left its usual range: adds (new values in a day), hits (found at once, in a thousand).",
	}, []string{"partner", "what"})
	if err := s.metrics.Register(unusual); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	every(ctx, pacesEvery, func() {
		s.chore(ctx, "let go of people unknown to subscriptions", s.app.Store.Monitoring.SweepStrangers)
		if err := s.reportPaces(ctx, unusual); err != nil && ctx.Err() == nil {
			s.log.Error("paces cannot be judged", "cause", err.Error())
		}
	})
	return nil
}

func (s *Server) reportPaces(ctx context.Context, gauge *prometheus.GaugeVec) error {
	begun, over, all, err := s.app.Paces.Watch(ctx)
	if err != nil {
		return err
	}
	gauge.Reset()
	for _, u := range all {
		gauge.WithLabelValues(string(u.Partner), string(u.What)).Set(1)
	}
	for _, u := range begun {
		s.log.Warn("a partner's monitoring is not as usual", "partner", string(u.Partner), "what", paceSentence[u.What], "seen", u.Seen, "usual", u.Usual)
	}
	for _, u := range over {
		s.log.Info("a partner's monitoring is as usual again", "partner", string(u.Partner), "what", string(u.What))
	}
	return nil
}

var paceSentence = map[cyber.Measure]string{
	cyber.Adds: "a partner adds more values to monitoring than usual",
	cyber.Hits: "unusually many or few of the values that a partner adds are known from breaches",
}
