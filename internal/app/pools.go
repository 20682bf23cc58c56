package app

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vigiahq/vigia/internal/cyber"
)

// poolWatch is the chore that reports pools of endpoint keys that run low.
type poolWatch struct {
	endpoints *cyber.Endpoints
	log       *slog.Logger
	free      *prometheus.GaugeVec
}

// newPoolWatch makes the chore and its metric.
func newPoolWatch(endpoints *cyber.Endpoints, log *slog.Logger, register func(...prometheus.Collector)) *poolWatch {
	free := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vigia_epp_pool_free",
		Help: "Vendor keys left to be issued, by system; only systems whose keys come from a pool.",
	}, []string{"system"})
	register(free)
	return &poolWatch{endpoints: endpoints, log: log, free: free}
}

// runOnce sets the metric of free keys and logs a pool once when it runs low and once when it is filled again.
func (p *poolWatch) runOnce(ctx context.Context) error {
	sources, err := p.endpoints.ListSources(ctx)
	if err != nil {
		return err
	}
	p.free.Reset()
	for _, source := range sources {
		if source.Pooled {
			p.free.WithLabelValues(string(source.System)).Set(float64(source.Free))
		}
	}
	turned, err := p.endpoints.PoolsTurnedLow(ctx)
	for _, source := range turned {
		log := p.log.With("system", string(source.System), "free", source.Free)
		if source.Low() {
			log.Warn("pool of endpoint keys is low", "mark", source.LowMark)
		} else {
			log.Info("pool of endpoint keys is filled again")
		}
	}
	return err
}
