package telemetry

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
)

// StatusOfPage returns the HTTP status for a kind of fault, for pages: a form that is refused is shown again.
func StatusOfPage(err error) int {
	if err == nil {
		return http.StatusOK
	}
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Unprocessable:
		return http.StatusUnprocessableEntity
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusConflict
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.UnsupportedType:
		return http.StatusUnsupportedMediaType
	case fault.RateLimited:
		return http.StatusTooManyRequests
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	case fault.Internal:
	}
	return http.StatusInternalServerError
}

// PageLine is the one line of a request: the route's template, never the path, the person or a value.
type PageLine struct {
	// Pages says whose pages these are, Route is the template.
	Pages, Route string
	// From is where the request came from, as far as that is logged; Who is known of who asks. Both may be empty.
	From   string
	Who    slog.Attr
	Status int
	Took   time.Duration
	Err    error
}

// WriteTo writes the line.
func (l PageLine) WriteTo(log *slog.Logger, r *http.Request) {
	if IsCallerGone(r.Context(), l.Err) {
		l.Status, l.Err = StatusGone, ErrGone
	}
	level, attrs := slog.LevelInfo, []slog.Attr{
		slog.String("pages", l.Pages), slog.String("method", r.Method), slog.String("page", l.Route), slog.Int("status", l.Status), slog.Int64("us", l.Took.Microseconds()),
	}
	if l.From != "" {
		attrs = append(attrs, slog.String("from", l.From))
	}
	if l.Who.Value.String() != "" {
		attrs = append(attrs, l.Who)
	}
	if l.Err != nil {
		attrs = append(attrs, slog.String("code", fault.CodeOf(l.Err)))
		if l.Status >= http.StatusInternalServerError {
			level = slog.LevelError
			attrs = append(attrs, slog.String("cause", l.Err.Error()))
		}
	}
	log.LogAttrs(WithRequestID(r.Context(), NewRequestID("")), level, "page", attrs...)
}
