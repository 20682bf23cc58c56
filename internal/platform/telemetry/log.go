// Package telemetry is how the service tells what it does: structured logs, the request id, metrics and traces.
//
// It knows no product word. The invariant it keeps is one of restraint: what it is handed may be written to disk and
// shipped away, so callers hand it ids, codes and route templates, never a path, a header or a value of a person.
package telemetry

import (
	"context"
	"io"
	"log/slog"
	"os"

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
