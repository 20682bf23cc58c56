package telemetry

import (
	"context"
	"errors"

	"github.com/vigiahq/vigia/internal/fault"
)

// StatusGone is the status in logs and metrics of a request whose client disconnected before the answer. The answer is never
// read, and it is no failure of the service that an operator should be woken for. Proxies log the same status.
const StatusGone = 499

// ErrGone stands in the log in the place of whatever failed because the caller had left.
var ErrGone = fault.New(fault.Invalid, "request.gone")

// IsCallerGone reports whether a request failed because its caller left.
func IsCallerGone(request context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && request.Err() != nil
}
