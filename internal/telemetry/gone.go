package telemetry

import (
	"context"
	"errors"

	"github.com/vigiahq/vigia/internal/fault"
)

// StatusGone is what logs and metrics say of a caller that did not wait for the answer. Nobody reads that answer, and it is no failure
// of ours that an operator should be woken for. Proxies log the same status.
const StatusGone = 499

// ErrGone stands in the log in the place of whatever failed because the caller had left.
var ErrGone = fault.New(fault.Invalid, "request.gone")

// IsCallerGone tells whether a request failed because its caller left.
func IsCallerGone(request context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && request.Err() != nil
}
