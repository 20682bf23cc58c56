package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// TestStatusOf: every kind of fault has its status, and the unknown is ours to mend.
func TestStatusOf(t *testing.T) {
	for err, want := range map[error]int{
		nil: 200, errors.New("x"): 500, fault.New(fault.Invalid, "x"): 422, fault.New(fault.Unprocessable, "x"): 422,
		fault.New(fault.Unauthenticated, "x"): 401, fault.New(fault.Forbidden, "x"): 403, fault.New(fault.NotFound, "x"): 404,
		fault.New(fault.Conflict, "x"): 409, fault.New(fault.TooLarge, "x"): 413, fault.New(fault.UnsupportedType, "x"): 415,
		fault.New(fault.RateLimited, "x"): 429, fault.New(fault.Unavailable, "x"): 503, fault.New(fault.Internal, "x"): 500,
	} {
		if got := StatusOfPage(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}

// TestLineOfSomebodyWhoLeft: a page that nobody waited for is no failure of ours.
func TestLineOfSomebodyWhoLeft(t *testing.T) {
	var b bytes.Buffer
	left, leave := context.WithCancel(t.Context())
	leave()
	line := PageLine{Status: 500, Err: fmt.Errorf("take a connection: %w", context.Canceled)}
	line.WriteTo(
		slog.New(slog.NewJSONHandler(&b, nil)),
		httptest.NewRequest(http.MethodGet, "/", nil).WithContext(left),
	)
	if text := b.String(); !strings.Contains(text, `"INFO"`) || !strings.Contains(text, `"status":499`) ||
		!strings.Contains(text, `"code":"request.gone"`) {
		t.Error(text)
	}
	b.Reset()
	line.WriteTo(
		slog.New(slog.NewJSONHandler(&b, nil)),
		httptest.NewRequest(http.MethodGet, "/", nil),
	) // they wait: it is ours
	if text := b.String(); !strings.Contains(text, `"ERROR"`) || !strings.Contains(text, `"status":500`) {
		t.Error(text)
	}
}

// TestLine: what is not known is left out, and the cause is told of our own failures alone.
func TestLine(t *testing.T) {
	for _, c := range []struct {
		line       PageLine
		with, sans string
	}{
		{PageLine{Pages: "person", Route: "/p/{token}", Status: 200}, `"page":"/p/{token}"`, `"from"`},
		{PageLine{Status: 200, Who: slog.String("partner", "pt_1"), From: "192.0.2.0/24"}, `"from":"192.0.2.0/24","partner":"pt_1"`, `"code"`},
		{PageLine{Status: 200, Who: slog.String("partner", "")}, `"status":200`, `"partner"`},
		{PageLine{Status: 404, Err: fault.New(fault.NotFound, "x.not_found")}, `"code":"x.not_found"`, `"cause"`},
		{PageLine{Status: 500, Err: errors.New("disk")}, `"cause":"disk"`, `"INFO"`},
	} {
		var b bytes.Buffer
		c.line.WriteTo(slog.New(slog.NewJSONHandler(&b, nil)), httptest.NewRequest(http.MethodGet, "/p/secret", nil))
		if text := b.String(); !strings.Contains(text, c.with) || strings.Contains(text, c.sans) ||
			strings.Contains(text, "secret") {
			t.Errorf("%+v: %s", c.line, text)
		}
	}
}
