package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestNames: which hosts are DNS names, to the last character and the last byte.
func TestNames(t *testing.T) {
	label := strings.Repeat("a", 63)
	long := strings.Join([]string{label, label, label, strings.Repeat("b", 61)}, ".") // 253
	for host, want := range map[string]bool{
		"a.example": true, "a.example.": true, "A-b_c.example": true, "a0.b9.example": true, "0a.9b.example": true, "az.zA.AZ": true,
		label + ".example": true, label + "a.example": false, long: true, long + "b": false,
		"": false, "a..example": false, "-a.example": false, "a-.example": false, "a.0x": false, "a.9x": false, "a.x9": true, "127.1": false,
		"a/b.example": false, "a:b.example": false, "a@b.example": false, "a[b.example": false, "a`b.example": false, "a{b.example": false,
	} {
		if got := isValidDNSName(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
	for raw, ok := range map[string]bool{"https://a.example/~x!": true, "https://a.example/ x": false, "https://a.example/\x7f": false} {
		if _, err := parseTarget(raw); (err == nil) != ok {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

// TestEventIDs: what an event may be called, to the last character.
func TestEventIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"evt_0-9azAZ": true, strings.Repeat("a", maxEventID): true, strings.Repeat("a", maxEventID+1): false, "": false,
		"a.b": false, "a/b": false, "a:b": false, "a@b": false, "a[b": false, "a`b": false, "a{b": false,
	} {
		if got := validEventID(id); got != want {
			t.Errorf("%q: %t", id, got)
		}
	}
}

// TestScheduleToTheSecond: a receiver that asks for more than the schedule gets it and a little; one that asks for as
// much, or less, gets the schedule's.
func TestScheduleToTheSecond(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := NewSchedule(func() float64 { return 0.5 }) // no jitter of the schedule's own
	for asked, want := range map[time.Duration]time.Duration{
		0: 5 * time.Second, 5 * time.Second: 5 * time.Second, 6 * time.Second: 6300 * time.Millisecond, time.Hour: 63 * time.Minute,
		48 * time.Hour: 24*time.Hour + 72*time.Minute,
	} {
		if at, ok := s.NextAttempt(1, now, asked); !ok || at.Sub(now) != want {
			t.Errorf("asked for %s: %s, want %s", asked, at.Sub(now), want)
		}
	}
}

// TestUnknownAction: a verdict that nobody knows is called a retry, which loses nothing.
func TestUnknownAction(t *testing.T) {
	if got := Action(len(actionNames)).String(); got != "retry" {
		t.Error(got)
	}
}

// TestDialsBothVersions: IPv4 and IPv6 are dialled where they may be, and nothing else is.
func TestDialsBothVersions(t *testing.T) {
	control := NewGuard(prefixes("127.0.0.0/8", "::1/128")).guardedDialer(plain, time.Second).ControlContext
	for _, c := range []struct {
		network, address string
		ok               bool
	}{
		{"tcp4", "127.0.0.1:80", true},
		{"tcp6", "[::1]:80", true},
		{"tcp4", "10.0.0.1:80", false},
		{"tcp6", "[fe80::1]:80", false},
		{"udp4", "127.0.0.1:80", false},
		{"udp6", "[::1]:80", false},
		{"tcp4", "localhost:80", false},
	} {
		if err := control(
			t.Context(),
			c.network,
			c.address,
			nil,
		); (err == nil) != c.ok ||
			err != nil && !errors.Is(err, ErrAddress) {
			t.Errorf("%s %s: %v", c.network, c.address, err)
		}
	}
}

// closing tells when a body was closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

// TestRefusedBodyIsClosed: a request that is refused before it is sent gives its body back, if it has one.
func TestRefusedBodyIsClosed(t *testing.T) {
	transport := NewGuard(nil).NewClient(ClientOptions{}).Transport
	body := &closing{Reader: strings.NewReader("{}")}
	for _, b := range []io.ReadCloser{body, nil} {
		req, err := http.NewRequestWithContext(
			context.Background(),
			http.MethodPost,
			"https://a:b@partner.example/",
			nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		req.Body = b
		if _, err := transport.RoundTrip(req); !errors.Is(err, ErrURL) {
			t.Errorf("%v", err)
		}
	}
	if !body.closed {
		t.Error("the body of a refused request stays open")
	}
}
