package telemetry

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics is the service's own registry: nothing registers itself from afar.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

// NewMetrics makes a registry with the runtime's metrics and those of the partner API.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vigia_http_requests_total", Help: "Partner requests by route template and status.",
		}, []string{"route", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vigia_http_request_seconds", Help: "Time to answer a partner request by route template.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "vigia_http_in_flight", Help: "Partner requests being answered now.",
		}),
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests,
		m.duration,
		m.inFlight,
	)
	return m
}

// RegisterCollectors adds collectors of other parts of the service. Two of one name are a mistake of the program, and
// panic.
func (m *Metrics) RegisterCollectors(list ...prometheus.Collector) { m.registry.MustRegister(list...) }

// NewHandler serves the metrics in Prometheus' text format.
func (m *Metrics) NewHandler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Route is the pre-resolved metrics of one route: looked up once at start, not on each request.
type Route struct {
	m        *Metrics
	name     string
	duration prometheus.Observer
	ok       prometheus.Counter
}

// NewRoute prepares the metrics of a route template.
func (m *Metrics) NewRoute(template string) *Route {
	return &Route{
		m:        m,
		name:     template,
		duration: m.duration.WithLabelValues(template),
		ok:       m.requests.WithLabelValues(template, "200"),
	}
}

// CountStart counts a request as in flight.
func (r *Route) CountStart() { r.m.inFlight.Inc() }

// Done counts a finished request.
func (r *Route) Done(status int, took time.Duration) {
	r.m.inFlight.Dec()
	r.duration.Observe(took.Seconds())
	if status == http.StatusOK {
		r.ok.Inc()
		return
	}
	r.m.requests.WithLabelValues(r.name, strconv.Itoa(status)).Inc()
}
