package telemetry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/telemetry"
)

// collected is what a collector was sent, by the names of OTLP's JSON.
type collected struct {
	ResourceSpans []struct {
		Resource struct {
			Attributes []attribute
		}
		ScopeSpans []struct {
			Spans []struct {
				TraceID, SpanID, ParentSpanID, Name string
				Kind                                int
				StartTimeUnixNano, EndTimeUnixNano  string
				Attributes                          []attribute
				Status                              struct{ Code int }
			}
		}
	}
}

type attribute struct {
	Key   string
	Value struct{ StringValue, IntValue string }
}

func joined(list []attribute) string {
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintf(&b, "%s=%s%s;", a.Key, a.Value.StringValue, a.Value.IntValue)
	}
	return b.String()
}

// collect runs requests under the variables given and returns what a collector was sent, which refuses the first refuse
// times.
func collect(t *testing.T, refuse int, env map[string]string, requests func(*telemetry.Tracer)) (bodies []collected, headers []http.Header) {
	t.Helper()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var body collected
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/traces" || r.Method != http.MethodPost {
			t.Error(r.Method, r.URL, err)
		}
		if refuse--; refuse >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		bodies, headers = append(bodies, body), append(headers, r.Header)
	}))
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL+"/")
	for name, value := range env {
		t.Setenv(name, value)
	}
	tracer, err := telemetry.NewTracer("v1", slog.New(slog.DiscardHandler))
	if err != nil || !tracer.Enabled {
		t.Fatal(err)
	}
	requests(tracer)
	if err := tracer.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	return bodies, headers
}

var (
	traced   = http.Header{"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}
	untraced = http.Header{"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"}}
)

// TestTraces: a request's span belongs to its caller's trace, tells route, method and status and no path, and arrives
// when the service stops; a collector that refuses at first gets it all the same.
func TestTraces(t *testing.T) {
	at := time.Unix(1_700_000_000, 5)
	env := map[string]string{
		"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20abc, x-tenant=1", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=prova,service.name=outra",
		"OTEL_SERVICE_NAME": "vigia-br",
	}
	bodies, headers := collect(t, 1, env, func(tr *telemetry.Tracer) {
		tr.Start(traced, "GET", "/v1/cyber/{cpf}", at).End(200, at.Add(time.Millisecond))
		tr.Start(nil, "POST", "/v1/x", at).End(503, at)
		tr.Start(untraced, "GET", "/v1/quiet", at).End(200, at) // its caller does not record it
	})
	if len(bodies) != 1 || headers[0].Get("Authorization") != "Bearer abc" || headers[0].Get("X-Tenant") != "1" {
		t.Fatal(bodies, headers)
	}
	about := joined(bodies[0].ResourceSpans[0].Resource.Attributes)
	if about != "service.name=vigia-br;service.version=v1;deployment.environment=prova;" {
		t.Error(about)
	}
	spans := bodies[0].ResourceSpans[0].ScopeSpans[0].Spans
	if len(spans) != 2 {
		t.Fatal(spans)
	}
	first, second := spans[0], spans[1]
	if first.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || first.ParentSpanID != "00f067aa0ba902b7" || len(first.SpanID) != 16 || first.SpanID == first.ParentSpanID ||
		first.Name != "GET /v1/cyber/{cpf}" || first.Kind != 2 || first.StartTimeUnixNano != "1700000000000000005" || first.EndTimeUnixNano != "1700000000001000005" ||
		joined(first.Attributes) != "http.route=/v1/cyber/{cpf};http.request.method=GET;http.response.status_code=200;" || first.Status.Code != 0 {
		t.Errorf("%+v", first)
	}
	if len(second.TraceID) != 32 || second.TraceID == first.TraceID || second.ParentSpanID != "" || second.Status.Code != 2 {
		t.Errorf("%+v", second)
	}
}

// TestSampling: how many of ten thousand traces are recorded, by what the variables say and what the caller decided. So
// many, because a quarter of them is chance: the bounds are eleven standard deviations away; of a thousand, three.
func TestSampling(t *testing.T) {
	const traces = 10_000
	for name, want := range map[string][3]int{ // alone, in a recorded trace, in one that is not: at least, of 100
		"": {100, 100, 0}, "always_off": {0, 0, 0}, "traceidratio": {20, 0, 0}, "parentbased_traceidratio": {20, 100, 0}, "always_on": {100, 100, 100},
	} {
		t.Run(name, func(t *testing.T) {
			bodies, _ := collect(t, 0, map[string]string{"OTEL_TRACES_SAMPLER": name, "OTEL_TRACES_SAMPLER_ARG": "0.25"}, func(tr *telemetry.Tracer) {
				for i, header := range []http.Header{nil, traced, untraced} {
					n := 0
					for range traces {
						if s := tr.Start(header, "GET", "/", time.Now()); s != nil {
							n++
						}
					}
					if least := want[i] * traces / 100; n < least || n > least+traces/10 {
						t.Errorf("caller %d: %d of %d, want %d", i, n, traces, least)
					}
				}
			})
			if len(bodies) != 0 {
				t.Error("spans that did not end were sent")
			}
		})
	}
}

// TestTracesNeverHoldUp: more spans than the queue has room for are dropped, and a collector that is away costs the
// service nothing but them.
func TestTracesNeverHoldUp(t *testing.T) {
	bodies, _ := collect(t, 0, nil, func(tr *telemetry.Tracer) {
		for range 10_000 {
			tr.Start(nil, "GET", "/", time.Now()).End(200, time.Now())
		}
	})
	sent := 0
	for _, b := range bodies {
		sent += len(b.ResourceSpans[0].ScopeSpans[0].Spans)
	}
	if sent < 2048 || sent > 10_000 {
		t.Errorf("%d spans arrived", sent)
	}
}

// TestTraceSettings: without a collector nothing is traced, and what cannot be understood stops the start.
func TestTraceSettings(t *testing.T) {
	if tr, err := telemetry.NewTracer("v1", nil); err != nil || tr.Enabled || tr.Stop(context.Background()) != nil {
		t.Error(err)
	}
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "collector:4318", "OTEL_EXPORTER_OTLP_HEADERS": "x", "OTEL_EXPORTER_OTLP_TIMEOUT": "soon",
		"OTEL_TRACES_SAMPLER": "sometimes", "OTEL_RESOURCE_ATTRIBUTES": "=x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			t.Setenv(name, value)
			if _, err := telemetry.NewTracer("v1", nil); err == nil {
				t.Errorf("%s was taken", value)
			}
		})
	}
}
