package client

import (
	mathrand "math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// longestWait is the longest Retry-After that is waited for. A caller decides about a longer one by the Error.
const longestWait = time.Minute

// waitsForService reports whether a call goes on that did not reach the service.
func (c *Client) waitsForService(attempt int, spent time.Duration) bool {
	if c.attempts > 0 {
		return attempt < c.attempts
	}
	return attempt < defaultAttempts || spent < patience
}

// asksAgain reports whether a call goes on that the service refused so many times. Attempts that did not reach the
// service do not count, unless the caller set a limit for all of them.
func (c *Client) asksAgain(attempt, refusals int) bool {
	if c.attempts > 0 {
		return attempt < c.attempts
	}
	return refusals < defaultAttempts
}

// isUnreachable reports whether an answer means that the service itself was not reached: a balancer answers so while
// the service restarts. The service's own 503 says when to come back.
func isUnreachable(e *Error) bool {
	switch e.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return e.RetryAfter == 0
	}
	return false
}

// worthRepeating tells refusals that may pass by themselves. A conflict does only where the service says when.
// One that passes later than longestWait is the caller's to repeat.
func worthRepeating(e *Error) bool {
	if e.RetryAfter > longestWait {
		return false
	}
	switch e.StatusCode {
	case http.StatusTooManyRequests,
		http.StatusInternalServerError,
		http.StatusBadGateway,
		http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return true
	case http.StatusConflict:
		return e.RetryAfter > 0
	}
	return false
}

const (
	firstPause   = 200 * time.Millisecond
	longestPause = 10 * time.Second
)

// pauseAfterAttempt doubles from attempt to attempt, up to a limit, and is spread by half, so that many callers do not
// come back at once.
func pauseAfterAttempt(attempt int) time.Duration {
	d := min(firstPause<<min(attempt-1, 10), longestPause)
	return d/2 + mathrand.N(d/2) //nolint:gosec // spreads callers, guards nothing
}

// retryAfter reads whole seconds; the service sends no dates.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("retry-after"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
