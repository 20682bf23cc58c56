package telemetry_test

import (
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// TestTraces: the span of a request belongs to its caller's trace and holds its statements, and a job has one of its
// own. They tell route, method, status and the texts of statements, and no path; all arrive when the service stops.
func TestTraces(t *testing.T) {
	var mu sync.Mutex
	var busy atomic.Bool
	spans := map[string]*v1.Span{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent v1.TracesData
		if err != nil || proto.Unmarshal(body, &sent) != nil || r.URL.Path != "/v1/traces" ||
			r.Header.Get("Authorization") != "Bearer abc" {
			t.Error(r.Method, r.URL, r.Header, err)
		}
		if busy.CompareAndSwap(false, true) { // the first time it is asked, it has no time
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range sent.ResourceSpans {
			if about := resource.Resource.String(); !strings.Contains(about, "vigia-br") {
				t.Error(about)
			}
			for _, scope := range resource.ScopeSpans {
				for _, span := range scope.Spans {
					name := span.Name
					for _, a := range span.Attributes {
						if text, ok := strings.CutPrefix(a.Value.GetStringValue(), "CREATE TABLE "); ok {
							name += " " + strings.Fields(text)[0]
						}
					}
					spans[name] = span
				}
			}
		}
	}))
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL+"/")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc")
	t.Setenv("OTEL_SERVICE_NAME", "vigia-br")
	ctx := context.Background()
	stop, err := telemetry.StartTracing(ctx, "v1", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_700_000_000, 5)
	header := http.Header{"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}
	for _, engine := range sqldbtest.Engines(t) {
		db, err := sqldb.OpenDatabase(ctx, sqldbtest.NewAddress(t, engine, sqldbtest.Folder(t)), sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		inRequest, span := telemetry.StartRequest(ctx, header, "GET", "/v1/cyber/{cpf}/"+string(engine), at)
		err = db.InTransaction(inRequest, func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(inRequest, `CREATE TABLE `+string(engine)+` (n INTEGER)`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		telemetry.EndRequest(span, 503, at.Add(time.Millisecond))
	}
	_, run := telemetry.StartJob(ctx, "sweep")
	telemetry.EndJobSpan(run, nil)
	if err := stop(ctx); err != nil {
		t.Fatal(err)
	}
	for _, engine := range sqldbtest.Engines(t) {
		request := spans["GET /v1/cyber/{cpf}/"+string(engine)]
		if request == nil || hex.EncodeToString(request.TraceId) != "4bf92f3577b34da6a3ce929d0e0e4736" || hex.EncodeToString(request.ParentSpanId) != "00f067aa0ba902b7" ||
			request.Kind != v1.Span_SPAN_KIND_SERVER ||
			request.EndTimeUnixNano-request.StartTimeUnixNano != 1e6 ||
			request.Status.Code != v1.Status_STATUS_CODE_ERROR {
			t.Errorf("%v: %v", engine, request)
			continue
		}
		statement := spans["CREATE "+string(engine)]
		if statement == nil || !slices.Equal(statement.ParentSpanId, request.SpanId) {
			t.Errorf("%v: %v", engine, statement)
		}
	}
	if job := spans["job sweep"]; job == nil || len(job.ParentSpanId) != 0 {
		t.Error(job)
	}
}

// TestTraceSettings: without a collector nothing is traced, and what cannot be meant stops the start.
func TestTraceSettings(t *testing.T) {
	if stop, err := telemetry.StartTracing(
		context.Background(),
		"v1",
		nil,
	); err != nil ||
		stop(context.Background()) != nil {
		t.Error(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4318")
	if _, err := telemetry.StartTracing(context.Background(), "v1", nil); err == nil {
		t.Error("an address without a scheme was taken")
	}
	for name, value := range map[string]string{
		"PROTOCOL": "grpc", "HEADERS": "authorization", "TIMEOUT": "10s", "CERTIFICATE": "trace_test.go",
		"CLIENT_CERTIFICATE": "none.pem",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:9")
			t.Setenv("OTEL_EXPORTER_OTLP_"+name, value)
			_, err := telemetry.StartTracing(context.Background(), "v1", nil)
			if err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_"+name) {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		})
	}
}
