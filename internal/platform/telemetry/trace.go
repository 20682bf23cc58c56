package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// tracerName is the instrumentation scope of all our spans.
const tracerName = "github.com/vigiahq/vigia"

// StartTracing sends spans to the collector that OpenTelemetry's own environment variables name, and returns what sends
// the rest and ends that. Without OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT nothing is traced.
func StartTracing(ctx context.Context, version string, log *slog.Logger) (stop func(context.Context) error, err error) {
	stop = func(context.Context) error { return nil }
	endpoint := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
	if endpoint == "" || os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return stop, nil
	}
	sender, err := newTraceSender()
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	exporter, err := otlptrace.New(ctx, sender)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.New(
		ctx,
		resource.WithAttributes(
			attribute.String("service.name", "vigia"),
			attribute.String("service.version", version),
		),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, fmt.Errorf("traces: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		var asked *url.Error
		if errors.As(err, &asked) {
			err = asked.Err // without the address, which may hold a password
		}
		log.Warn("traces were not sent", "err", err)
	}))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	otel.SetTracerProvider(provider)
	return provider.Shutdown, nil
}

// StartRequest begins the span of a request, in its caller's trace if it names one. The route is a template: no path
// reaches a trace.
func StartRequest(
	ctx context.Context, header http.Header, method, route string, at time.Time,
) (context.Context, trace.Span) {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header))
	return otel.Tracer(tracerName).Start(
		ctx,
		method+" "+route,
		trace.WithTimestamp(at),
		trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("http.route", route), attribute.String("http.request.method", method)),
	)
}

func EndRequest(span trace.Span, status int, at time.Time) {
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(at))
}

// StartJob begins the span of a job's run.
func StartJob(ctx context.Context, kind string) (context.Context, trace.Span) {
	return otel.Tracer(tracerName).Start(ctx, "job "+kind)
}

// EndJobSpan ends the span of a job's run.
func EndJobSpan(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
