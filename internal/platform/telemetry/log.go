// Package telemetry is how the service tells what it does: structured logs, the request id, metrics and traces.
//
// It knows no product word. The invariant it keeps is one of restraint: what it is handed may be written to disk and
// shipped away, so callers hand it ids, codes and route templates, never a path, a header or a value of a person.
package telemetry

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/term"
)

// LogOptions choose how log lines look.
type LogOptions struct {
	// Level is the least severe level that is written.
	Level slog.Level
	// Format is "json", "text", or "auto": text on a terminal, JSON elsewhere.
	Format string
}

func NewLogger(w io.Writer, o LogOptions) *slog.Logger {
	opts := &slog.HandlerOptions{Level: o.Level}
	text := o.Format == "text"
	if f, ok := w.(*os.File); ok && o.Format != "json" {
		text = text || term.IsTerminal(int(f.Fd()))
	}
	var h slog.Handler = slog.NewJSONHandler(w, opts)
	if text {
		h = slog.NewTextHandler(w, opts)
	}
	return slog.New(withRequestID{h})
}

// withRequestID adds the request id of the context to every line.
type withRequestID struct{ slog.Handler }

func (h withRequestID) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

func (h withRequestID) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withRequestID{h.Handler.WithAttrs(attrs)}
}

func (h withRequestID) WithGroup(name string) slog.Handler {
	return withRequestID{h.Handler.WithGroup(name)}
}

// LogFile appends lines to a file through a buffer that is written out several times a second. A process that is killed
// loses the lines of the last moments; a request does not wait for the disk to log what it did.
type LogFile struct {
	path string
	mu   sync.Mutex
	f    *os.File
	w    *bufio.Writer
	stop chan struct{}
	done chan struct{}
}

// Lines of the log file are written when so many bytes wait, or after that time.
const (
	logBuffer = 64 << 10
	logFlush  = 200 * time.Millisecond
)

// OpenLogFile opens or creates the file with mode 0600.
func OpenLogFile(path string) (*LogFile, error) {
	f, err := openLogFile(path)
	if err != nil {
		return nil, err
	}
	l := &LogFile{
		path: path,
		f:    f,
		w:    bufio.NewWriterSize(f, logBuffer),
		stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	go l.flushLoop()
	return l, nil
}

// openLogFile opens the file to be appended to.
func openLogFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log file: %w", err)
	}
	return f, nil
}

// Reopen goes on in the file that has the name now, because a rotation has moved the other one away. No line is lost or
// split. When there is no such file to be had, the old one stays in use.
func (l *LogFile) Reopen() error {
	next, err := openLogFile(l.path)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	flushed := l.w.Flush()
	closed := l.f.Close()
	l.f = next
	l.w.Reset(next)
	return errors.Join(flushed, closed)
}

// Write takes one line; the logger hands over whole lines.
func (l *LogFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(line)
}

// flushLoop writes the buffer out several times a second.
func (l *LogFile) flushLoop() {
	defer close(l.done)
	tick := time.NewTicker(logFlush)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
			l.mu.Lock()
			_ = l.w.Flush() // the buffer keeps the error: the next Write and Close return it
			l.mu.Unlock()
		}
	}
}

// Close writes what is left.
func (l *LogFile) Close() error {
	close(l.stop)
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.w.Flush(), l.f.Close())
}

// requestIDKey is the key of the request id in a context.
type requestIDKey struct{}

// WithRequestID puts the request's id into the context.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// MaxRequestID bounds a request id that a caller chose.
const MaxRequestID = 128

// NewRequestID returns the caller's id when it is 1 to 128 safe characters (letters, digits, '-', '_', '.', ':'), and a
// fresh one otherwise. Safe means that it cannot break a log line or a header.
func NewRequestID(fromCaller string) string {
	if safeRequestID(fromCaller) {
		return fromCaller
	}
	var raw [16]byte
	binary.NativeEndian.PutUint64(raw[:8], rand.Uint64()) //nolint:gosec // has to be unlike the others, not unguessable
	binary.NativeEndian.PutUint64(raw[8:], rand.Uint64()) //nolint:gosec // as above
	return hex.EncodeToString(raw[:])
}

// RequestIDOf returns the id that the context has, or else NewRequestID.
func RequestIDOf(ctx context.Context, fromCaller string) string {
	if id := RequestID(ctx); id != "" {
		return id
	}
	return NewRequestID(fromCaller)
}

// safeRequestID reports whether a client's request id may be logged and echoed: short, and of harmless characters
// only.
func safeRequestID(s string) bool {
	const harmless = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.:"
	return s != "" && len(s) <= MaxRequestID && strings.Trim(s, harmless) == ""
}

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
	ctx context.Context,
	header http.Header,
	method, route string,
	at time.Time,
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
