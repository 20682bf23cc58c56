package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// observed is where a route's requests are counted and logged; made once, so that a request pays only for what is its
// own.
type observed struct {
	metrics *telemetry.Route
	log     *slog.Logger
}

// newObserved returns the metrics and the logger of a route.
func (s *Server) newObserved(rt *route) observed {
	return observed{s.Metrics.NewRoute(rt.method + " " + rt.path), s.Log.With("method", rt.method, "route", rt.path)}
}

// logRequest writes the one log line of a request. It calls the handler directly: a Logger would look up the calling
// line of code and take the time once more.
func logRequest(
	ctx context.Context,
	log slog.Handler,
	who partner.Caller,
	from string,
	status int,
	start,
	end time.Time,
	err error,
) {
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError && err != nil {
		level = slog.LevelError
	}
	if !log.Enabled(ctx, level) {
		return
	}
	line := slog.NewRecord(end, level, "request", 0)
	line.AddAttrs(slog.Int("status", status), slog.Int64("us", end.Sub(start).Microseconds()))
	if from != "" {
		line.AddAttrs(slog.String("from", from))
	}
	if who.Partner != "" {
		line.AddAttrs(slog.String("partner", string(who.Partner)), slog.String("key", string(who.KeyID)))
	}
	if err != nil {
		line.AddAttrs(slog.String("code", fault.CodeOf(err)))
		if level == slog.LevelError {
			line.AddAttrs(slog.String("cause", causeForLog(err)))
		}
	}
	_ = log.Handle(ctx, line) // ignored as in slog.Logger: a failure to log cannot be logged
}

// causeForLog returns what the log says of a failure. Causes come from the engine and the system; rules keep values out
// of them.
func causeForLog(err error) string {
	const limit = 500
	if s := err.Error(); len(s) > limit {
		return s[:limit]
	}
	return err.Error()
}

// panicTypeName names the type of a panic's value.
func panicTypeName(v any) string { return fmt.Sprintf("%T", v) }
