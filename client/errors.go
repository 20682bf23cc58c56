package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// What an Error may be, for errors.Is.
var (
	// ErrInvalid: a field is wrong; Detail names it and the rule.
	ErrInvalid = errors.New("invalid input")
	// ErrCredentials: the key is missing, unknown, revoked, expired or out of scope.
	ErrCredentials = errors.New("credentials refused")
	// ErrNotFound: no such asset, service, cover or subscription of this partner.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the plan's device limit is reached, a request with the same idempotency key is still running, or it
	// was done and its answer held a secret.
	ErrConflict = errors.New("conflict")
	// ErrKeyReused: the idempotency key was used before with another body.
	ErrKeyReused = errors.New("idempotency key reused")
	// ErrTooLarge: the body is over the size limit.
	ErrTooLarge = errors.New("too large")
	// ErrRateLimited: too many requests, after all attempts.
	ErrRateLimited = errors.New("rate limited")
	// ErrUnavailable: the service failed, after all attempts. A bulk request created nothing.
	ErrUnavailable = errors.New("unavailable")
)

// Error is a refusal by the service.
type Error struct {
	// StatusCode is the HTTP status.
	StatusCode int
	// Code names the refusal: ErrorCodeAssetNotFound, say. It is empty where another than the service answered.
	Code ErrorCode
	// Message is a fixed sentence in Portuguese, safe to show to people.
	Message string
	// Detail names the field and the rule in plain ASCII; it never repeats a value that was sent. It may be empty.
	Detail string
	// RequestID is in every log line of the service about this request.
	RequestID string
	// RetryAfter is how long the service asked to wait; 0 where it did not.
	RetryAfter time.Duration
	// CreatedID names what an earlier attempt made whose answer, with a secret in it, was lost: an API key to roll, a
	// webhook to rotate. The secret is not shown again. Empty in all other refusals.
	CreatedID string
}

// Error says what was refused and why.
func (e *Error) Error() string {
	text := fmt.Sprintf("vigia: %d %s", e.StatusCode, e.Message)
	if e.Code != "" {
		text += ", " + string(e.Code)
	}
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	if e.RequestID != "" {
		text += " [request " + e.RequestID + "]"
	}
	return text
}

// Is puts the statuses into the groups above.
func (e *Error) Is(target error) bool {
	switch e.StatusCode {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType:
		return target == ErrInvalid
	case http.StatusUnauthorized, http.StatusForbidden:
		return target == ErrCredentials
	case http.StatusNotFound:
		return target == ErrNotFound
	case http.StatusConflict:
		return target == ErrConflict
	case http.StatusUnprocessableEntity:
		return target == ErrKeyReused
	case http.StatusRequestEntityTooLarge:
		return target == ErrTooLarge
	case http.StatusTooManyRequests:
		return target == ErrRateLimited
	}
	return e.StatusCode >= http.StatusInternalServerError && target == ErrUnavailable
}

// readRefusal reads an answer that is no success. A body that is not the service's own (a proxy's page, say) is not
// repeated.
func readRefusal(res *http.Response, body []byte) *Error {
	var wire struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &wire) != nil || wire.Message == "" {
		wire.Message = http.StatusText(res.StatusCode)
	}
	return &Error{
		StatusCode: res.StatusCode,
		Code:       ErrorCode(res.Header.Get("x-error-code")),
		Message:    wire.Message,
		Detail:     res.Header.Get("x-error-detail"),
		CreatedID:  res.Header.Get("x-created-id"),
		RequestID:  res.Header.Get("x-request-id"),
		RetryAfter: retryAfter(res.Header),
	}
}
