package webhook

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Action is what to do with a delivery after an attempt.
type Action uint8

// The actions. Retry comes first so that a forgotten verdict loses nothing.
const (
	// Retry: the try counts, the schedule says when the next one is.
	Retry Action = iota
	// Delivered: any 2xx.
	Delivered
	// Disable: 410, the receiver wants no more; the endpoint is switched off and its events are kept.
	Disable
	// Release: our own stop cut the attempt. The delivery goes back as it was; the try does not count.
	Release
)

// actionNames are the words of actions in logs and metrics.
var actionNames = [...]string{"retry", "delivered", "disable", "release"}

// String returns the name that logs and metrics use.
func (a Action) String() string {
	if int(a) < len(actionNames) {
		return actionNames[a]
	}
	return actionNames[Retry]
}

// Verdict is the judgement on an outcome.
type Verdict struct {
	Action Action
	// After is the least wait before a Retry, as asked for by the receiver.
	After time.Duration
}

// JudgeOutcome decides what an outcome means. Everything but 2xx is a failure, redirects included, as the standard
// says.
func JudgeOutcome(o Outcome) Verdict {
	switch {
	case o.Failure == FailureInterrupted:
		return Verdict{Action: Release}
	case o.Failure != FailureNone:
		return Verdict{Action: Retry}
	case o.isAccepted():
		return Verdict{Action: Delivered}
	case o.Status == http.StatusGone:
		return Verdict{Action: Disable}
	}
	return Verdict{Action: Retry, After: min(max(o.RetryAfter, 0), maxRetryAfter)}
}

// maxRetryAfter is the longest wait that a receiver may ask for.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads the header in both its forms, seconds and date. What makes no sense counts as not said.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil || !at.After(now) {
		return 0
	}
	return min(at.Sub(now), maxRetryAfter)
}
