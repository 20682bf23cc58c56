package telemetry

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"testing"
	"time"
)

// TestAddressBehindProxies: X-Forwarded-For is believed from trusted proxies only, and only as far as they wrote it.
func TestAddressBehindProxies(t *testing.T) {
	c := &Callers{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}}
	for _, x := range []struct {
		remote  string
		headers []string
		want    string
	}{
		{"192.0.2.7:1234", []string{"198.51.100.1"}, "192.0.2.7"}, // anybody can send a header
		{"10.0.0.1:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.0.0.1:1234", []string{"203.0.113.9, 198.51.100.1, 10.2.3.4"}, "198.51.100.1"},
		{"10.0.0.1:1234", []string{"203.0.113.9", "198.51.100.1"}, "198.51.100.1"},
		{"10.0.0.1:1234", []string{"203.0.113.9, what"}, "10.0.0.1"},
		{"10.0.0.1:1234", []string{"10.9.9.9"}, "10.9.9.9"},
		{"10.0.0.1:1234", nil, "10.0.0.1"},
		{"[fd00::1]:80", []string{"2001:db8::1"}, "2001:db8::1"},
		{"[::ffff:10.0.0.1]:80", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"pipe", []string{"198.51.100.1"}, "pipe"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = x.remote
		for _, h := range x.headers {
			r.Header.Add("X-Forwarded-For", h)
		}
		if got := c.CallerAddress(r); got != x.want {
			t.Errorf("%s %q: %s, want %s", x.remote, x.headers, got, x.want)
		}
		if got := (*Callers)(nil).CallerAddress(r); got != withoutPort(x.remote) {
			t.Errorf("without proxies %s is %s", x.remote, got)
		}
	}
}

// TestLoggedAddress: an address can be cut for logs, or left out.
func TestLoggedAddress(t *testing.T) {
	for _, x := range []struct {
		shown      Shown
		in, expect string
	}{
		{"", "192.0.2.77", "192.0.2.77"},
		{Whole, "2001:db8::1", "2001:db8::1"},
		{Nothing, "192.0.2.77", ""},
		{Network, "192.0.2.77", "192.0.2.0/24"},
		{Network, "2001:db8:1:2::1", "2001:db8:1::/48"},
		{Network, "fe80::1%eth0", "fe80::/48"},
		{Network, "pipe", "?"},
	} {
		if got := (&Callers{Shown: x.shown}).AddressForLog(x.in); got != x.expect {
			t.Errorf("%s of %s: %s", x.shown, x.in, got)
		}
	}
}

// TestBudget: each address has its own, all of an IPv6 network have one, it comes back, and memory is bounded.
func TestBudget(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	b := NewBudget(func() time.Time { return now }, time.Second, 3)
	for i := range 3 {
		if b.TakeToken("192.0.2.1") != 0 || b.TakeToken("2001:db8::"+strconv.Itoa(i+1)) != 0 {
			t.Fatal("refused too early", i)
		}
	}
	if wait := b.TakeToken("192.0.2.1"); wait <= 0 || wait > time.Second {
		t.Error("no end, or no word when:", wait)
	}
	if b.TakeToken("2001:db8::ffff") == 0 {
		t.Error("another address of the same network starts over")
	}
	if b.TakeToken("192.0.2.2") != 0 || (*Budget)(nil).TakeToken("192.0.2.1") != 0 {
		t.Error("another address pays for the first")
	}
	if now = now.Add(time.Second); b.TakeToken("192.0.2.1") != 0 {
		t.Error("nothing comes back")
	}
	for i := range most + 10 {
		b.TakeToken(strconv.Itoa(i))
	}
	if len(b.by) > most {
		t.Error(len(b.by), "addresses are remembered")
	}
}
