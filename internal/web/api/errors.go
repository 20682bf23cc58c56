package api

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// area is a part of the contract with its own error shape and its own answer to bad credentials.
type area struct {
	name   string
	prefix string
	// refused is the status of missing or wrong credentials.
	refused int
	body    func(status int, message string) any
}

// The areas differ in how they spell errors, as the contract has it.
var (
	cyberArea = &area{
		name: "cyber", prefix: "/cyber", refused: http.StatusForbidden,
		body: func(status int, message string) any { return cyberError{status, message} },
	}
	subscriptionArea = &area{
		name: "subscriptions", prefix: "/subscriptions", refused: http.StatusUnauthorized,
		body: func(_ int, message string) any { return subscriptionError{message} },
	}
)

// cyberError is the body of an error in the cyber area, as its contract has it.
type cyberError struct {
	StatusCode int    `json:"statusCode"`
	Message    string `json:"message"`
}

// subscriptionError is the body of an error in the area of subscriptions, as its contract has it.
type subscriptionError struct {
	Message string `json:"message"`
}

// Faults that only the edge knows.
var (
	errKeyMissing       = fault.New(fault.Unauthenticated, "key.missing")
	errPathNotFound     = fault.New(fault.NotFound, "path.not_found")
	errMethodNotAllowed = fault.New(fault.Invalid, "method.not_allowed")
	errBodyInvalid      = fault.New(fault.Invalid, "body.invalid")
	errBodyTooLarge     = fault.New(fault.TooLarge, "body.too_large")
	errBodyType         = fault.New(fault.UnsupportedType, "body.unsupported_type")
	errUnpack           = fault.New(fault.Invalid, "body.not_gzip")
	errUnpackRatio      = fault.New(fault.TooLarge, "body.unpack_ratio")
	errBodySlow         = fault.New(fault.Invalid, "body.incomplete")
	errHeaderInvalid    = fault.New(fault.Invalid, "header.invalid")
	errRateLimited      = fault.New(fault.RateLimited, "rate.limited")
	// errOutOfTime is the store's fault of the same code, where the database did not say it itself.
	errOutOfTime = fault.New(fault.Unavailable, "store.unavailable")
	errPanic     = fault.New(fault.Internal, "panic")
)

// statusOfFault returns the HTTP status for a kind of fault. Pages answer all but two of them alike.
func (a *area) statusOfFault(err error) int {
	if errors.Is(err, errMethodNotAllowed) {
		return http.StatusMethodNotAllowed
	}
	switch fault.KindOf(err) {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.Unauthenticated:
		return a.refused
	default:
		return telemetry.StatusOfPage(err)
	}
}

// errorDetail returns the text of the header x-error-detail, in one line of ASCII: which field broke which rule.
func errorDetail(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind == fault.Internal || f.Kind == fault.Unauthenticated && f.Broken == nil {
		return ""
	}
	line := []byte(cmp.Or(f.Detail(), detailByCode[f.Code], detailByKind[f.Kind]))
	var unknown unknownMembers
	if errors.As(err, &unknown) {
		line = append(line, "; unknown members: "+strings.Join(unknown.names, ", ")...)
	}
	for i, c := range line {
		if c < 0x20 || c > 0x7e {
			line[i] = '?'
		}
	}
	return string(line)
}
