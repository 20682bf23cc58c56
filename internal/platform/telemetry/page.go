package telemetry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// pageStatuses are the HTTP statuses of faults, for pages: a form that is refused is shown again.
var pageStatuses = map[fault.Kind]int{
	fault.Invalid:         http.StatusUnprocessableEntity,
	fault.Unprocessable:   http.StatusUnprocessableEntity,
	fault.Unauthenticated: http.StatusUnauthorized,
	fault.Forbidden:       http.StatusForbidden,
	fault.NotFound:        http.StatusNotFound,
	fault.Conflict:        http.StatusConflict,
	fault.TooLarge:        http.StatusRequestEntityTooLarge,
	fault.UnsupportedType: http.StatusUnsupportedMediaType,
	fault.RateLimited:     http.StatusTooManyRequests,
	fault.Unavailable:     http.StatusServiceUnavailable,
}

// StatusOfPage returns the HTTP status of a page that failed with an error, or did not.
func StatusOfPage(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return cmp.Or(pageStatuses[fault.KindOf(err)], http.StatusInternalServerError)
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

func (l PageLine) WriteTo(log *slog.Logger, r *http.Request) {
	if IsCallerGone(r.Context(), l.Err) {
		l.Status, l.Err = StatusGone, ErrGone
	}
	level, attrs := slog.LevelInfo, []slog.Attr{
		slog.String("pages", l.Pages),
		slog.String("method", r.Method),
		slog.String("page", l.Route),
		slog.Int("status", l.Status),
		slog.Int64("us", l.Took.Microseconds()),
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

// StatusGone is the status in logs and metrics of a request whose client disconnected before the answer. The answer is
// never read, and it is no failure of the service that an operator should be woken for. Proxies log the same status.
const StatusGone = 499

// ErrGone stands in the log in the place of whatever failed because the caller had left.
var ErrGone = fault.New(fault.Invalid, "request.gone")

// IsCallerGone reports whether a request failed because its caller left.
func IsCallerGone(request context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && request.Err() != nil
}
