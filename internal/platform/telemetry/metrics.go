package telemetry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/vigiahq/vigia/internal/platform/fault"
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

// pageStatuses are the HTTP statuses of faults, for pages: a form that is refused is shown again.
var pageStatuses = map[fault.Kind]int{
	fault.Invalid:         http.StatusUnprocessableEntity,
	fault.Unprocessable:   http.StatusUnprocessableEntity,
	fault.Unauthenticated: http.StatusUnauthorized,
	fault.Forbidden:       http.StatusForbidden,
	fault.NotFound:        http.StatusNotFound,
	fault.Conflict:        http.StatusConflict,
	fault.TooLarge:        http.StatusRequestEntityTooLarge,
	fault.UnsupportedType: http.StatusUnsupportedMediaType,
	fault.RateLimited:     http.StatusTooManyRequests,
	fault.Unavailable:     http.StatusServiceUnavailable,
}

// StatusOfPage returns the HTTP status of a page that failed with an error, or did not.
func StatusOfPage(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return cmp.Or(pageStatuses[fault.KindOf(err)], http.StatusInternalServerError)
}

// PageLine is the one line of a request: the route's template, never the path, the person or a value.
type PageLine struct {
	// Pages says whose pages these are, Route is the template.
	Pages, Route string
	// From is where the request came from, as far as that is logged; Who is known of who asks. Both may be empty.
	From   string
	Who    slog.Attr
	Status int
	Took   time.Duration
	Err    error
}

func (l PageLine) WriteTo(log *slog.Logger, r *http.Request) {
	if IsCallerGone(r.Context(), l.Err) {
		l.Status, l.Err = StatusGone, ErrGone
	}
	level, attrs := slog.LevelInfo, []slog.Attr{
		slog.String(
			"pages",
			l.Pages,
		),
		slog.String("method", r.Method),
		slog.String("page", l.Route),
		slog.Int("status", l.Status),
		slog.Int64("us", l.Took.Microseconds()),
	}
	if l.From != "" {
		attrs = append(attrs, slog.String("from", l.From))
	}
	if l.Who.Value.String() != "" {
		attrs = append(attrs, l.Who)
	}
	if l.Err != nil {
		attrs = append(attrs, slog.String("code", fault.CodeOf(l.Err)))
		if l.Status >= http.StatusInternalServerError {
			level = slog.LevelError
			attrs = append(attrs, slog.String("cause", l.Err.Error()))
		}
	}
	log.LogAttrs(WithRequestID(r.Context(), NewRequestID("")), level, "page", attrs...)
}

// Latency is how fast one route answered since the process started. The quantiles are read off the histogram's buckets.
type Latency struct {
	Route         string
	Requests      uint64
	P50, P95, P99 time.Duration
}

// Latencies returns the routes that were asked at all, most asked first.
func (m *Metrics) Latencies() ([]Latency, error) {
	families, err := m.registry.Gather()
	if err != nil {
		return nil, err
	}
	var list []Latency
	for _, f := range families {
		if f.GetName() != "vigia_http_request_seconds" {
			continue
		}
		for _, metric := range f.GetMetric() {
			h := metric.GetHistogram()
			if h.GetSampleCount() == 0 {
				continue
			}
			l := Latency{
				Requests: h.GetSampleCount(),
				P50:      histogramQuantile(h, 0.50),
				P95:      histogramQuantile(h, 0.95),
				P99:      histogramQuantile(h, 0.99),
			}
			for _, label := range metric.GetLabel() {
				if label.GetName() == "route" {
					l.Route = label.GetValue()
				}
			}
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(a, b Latency) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Route, b.Route))
	})
	return list, nil
}

// histogramQuantile interpolates within the bucket that holds the q-th sample; beyond the last bucket it is that
// bucket's bound.
func histogramQuantile(h *dto.Histogram, q float64) time.Duration {
	rank := q * float64(h.GetSampleCount())
	lower, below := 0.0, 0.0
	for _, b := range h.GetBucket() {
		if count := float64(b.GetCumulativeCount()); count >= rank && count > below {
			return time.Duration((lower + (b.GetUpperBound()-lower)*(rank-below)/(count-below)) * float64(time.Second))
		}
		lower, below = b.GetUpperBound(), float64(b.GetCumulativeCount())
	}
	return time.Duration(lower * float64(time.Second))
}

// StatusGone is the status in logs and metrics of a request whose client disconnected before the answer. The answer is
// never read, and it is no failure of the service that an operator should be woken for. Proxies log the same status.
const StatusGone = 499

// ErrGone stands in the log in the place of whatever failed because the caller had left.
var ErrGone = fault.New(fault.Invalid, "request.gone")

// IsCallerGone reports whether a request failed because its caller left.
func IsCallerGone(request context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && request.Err() != nil
}
