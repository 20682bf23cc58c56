package telemetry

import (
	"cmp"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
)

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
