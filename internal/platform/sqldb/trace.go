package sqldb

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// startStatement begins the span of a statement where its request or job is traced. Texts are constants with numbered
// parameters, so no value reaches a trace.
func startStatement(ctx context.Context, text string) trace.Span {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return noop.Span{}
	}
	verb, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	_, span := parent.TracerProvider().Tracer("github.com/vigiahq/vigia/internal/platform/sqldb").Start(ctx, verb,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String("db.query.text", text)))
	return span
}

// startStatement begins the span of a statement of SQLite; pgx has a tracer of its own.
func (e Engine) startStatement(ctx context.Context, text string) trace.Span {
	if e != SQLite {
		return noop.Span{}
	}
	return startStatement(ctx, text)
}

// postgresTracer makes the spans of what pgx sends.
type postgresTracer struct{}

// statementSpan is the key of the context under which the span of a running statement is passed to TraceQueryEnd.
type statementSpan struct{}

// TraceQueryStart starts a span for the statement, unless the request is not sampled.
func (postgresTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, query pgx.TraceQueryStartData) context.Context {
	span := startStatement(ctx, query.SQL)
	if !span.IsRecording() {
		return ctx
	}
	return context.WithValue(ctx, statementSpan{}, span)
}

// TraceQueryEnd ends the span. The error's text is left out: it may quote values of the row.
func (postgresTracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, query pgx.TraceQueryEndData) {
	span, ok := ctx.Value(statementSpan{}).(trace.Span)
	if !ok {
		return
	}
	if query.Err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
