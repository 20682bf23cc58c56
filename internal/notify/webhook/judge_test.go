package webhook

import (
	"net/http"
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	for status := 100; status < 1000; status++ {
		want := Retry
		switch {
		case status >= 200 && status <= 299:
			want = Delivered
		case status == 410:
			want = Disable
		}
		v := JudgeOutcome(Outcome{Status: status, RetryAfter: time.Minute})
		if v.Action != want || (v.After != 0) != (want == Retry) {
			t.Errorf("%d: %v", status, v)
		}
	}
	for _, f := range []Failure{FailureUnsendable, FailureAddress, FailureDNS, FailureConnect, FailureTLS, FailureTimeout, FailureReset, FailureProtocol} {
		if v := JudgeOutcome(Outcome{Failure: f}); v.Action != Retry {
			t.Errorf("%s: %v", f, v)
		}
	}
	if v := JudgeOutcome(Outcome{Failure: FailureInterrupted}); v.Action != Release {
		t.Errorf("interrupted: %v", v)
	}
	if v := JudgeOutcome(Outcome{}); v.Action != Retry {
		t.Errorf("nothing known: %v", v)
	}
	for asked, want := range map[time.Duration]time.Duration{-time.Hour: 0, time.Hour: time.Hour, 48 * time.Hour: 24 * time.Hour} {
		if v := JudgeOutcome(Outcome{Status: 503, RetryAfter: asked}); v.After != want {
			t.Errorf("asked for %v: %v", asked, v)
		}
	}
	if Delivered.String() != "delivered" || Action(99).String() != "retry" {
		t.Error("names of actions")
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                        0,
		"0":                       0,
		"1":                       time.Second,
		" 30 ":                    30 * time.Second,
		"86400":                   24 * time.Hour,
		"86401":                   24 * time.Hour,
		"9223372036854775807":     24 * time.Hour,
		"99999999999999999999999": 24 * time.Hour,
		"-5":                      0,
		"1.5":                     0,
		"soon":                    0,
		"120 s":                   0,
		now.Add(time.Hour).Format(http.TimeFormat):        time.Hour,
		now.Add(-time.Hour).Format(http.TimeFormat):       0,
		now.Add(9999 * time.Hour).Format(http.TimeFormat): 24 * time.Hour,
		"Saturday, 31-Jan-26 12:30:00 GMT":                30 * time.Minute, // the old forms are still to be read
		"Sat Jan 31 12:15:00 2026":                        15 * time.Minute,
		"Sat, 31 Jan 2026 12:30:00 BRT":                   0,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("120")
	f.Add("Sat, 31 Jan 2026 12:30:00 GMT")
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value string) {
		if d := retryAfter(value, now); d < 0 || d > maxRetryAfter {
			t.Errorf("%q: %v", value, d)
		}
	})
}
