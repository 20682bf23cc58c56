package telemetry

import (
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

func TestLatencies(t *testing.T) {
	m := NewMetrics()
	quiet, busy := m.NewRoute("GET /quiet"), m.NewRoute("GET /busy")
	_ = m.NewRoute("GET /never")
	for i := range 100 {
		busy.CountStart()
		took := 700 * time.Microsecond // in the bucket from 0.5 to 1 ms
		if i >= 90 {
			took = 70 * time.Millisecond // in the bucket from 50 to 100 ms
		}
		busy.Done(200, took)
	}
	quiet.CountStart()
	quiet.Done(200, time.Minute) // beyond the last bucket
	list, err := m.Latencies()
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	want := slices.Clone(list)
	want[0].Route, want[0].Requests, want[1].Route = "GET /busy", 100, "GET /quiet"
	difftest.Must(t, "the latencies", list, want)
	within := func(name string, got, low, high time.Duration) {
		if got < low || got > high {
			t.Errorf("%s is %v, want %v to %v", name, got, low, high)
		}
	}
	within("p50", list[0].P50, 500*time.Microsecond, time.Millisecond)
	within("p95", list[0].P95, 50*time.Millisecond, 100*time.Millisecond)
	within("p99", list[0].P99, 50*time.Millisecond, 100*time.Millisecond)
	within("p50 beyond the buckets", list[1].P50, 10*time.Second, 10*time.Second)
}
