package telemetry

import (
	"context"
	"fmt"
	"os"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Tracer makes spans. It does nothing unless OpenTelemetry's own environment variables name a collector.
type Tracer struct {
	trace.Tracer
	// Enabled lets the hot path skip the work of a span that nobody would see.
	Enabled bool
	stop    func(context.Context) error
}

// NewTracer reads OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT; everything else (headers, sampling,
// time-outs) follows the OpenTelemetry specification's variables too.
func NewTracer(ctx context.Context, version string) (*Tracer, error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return &Tracer{Tracer: noop.NewTracerProvider().Tracer("vigia"), stop: func(context.Context) error { return nil }}, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithFromEnv(), resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "vigia"), attribute.String("service.version", version)))
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return &Tracer{Tracer: provider.Tracer("vigia"), Enabled: true, stop: provider.Shutdown}, nil
}

// Stop sends what is buffered.
func (t *Tracer) Stop(ctx context.Context) error { return t.stop(ctx) }
