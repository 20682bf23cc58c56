package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// canary is a service that nobody may reach: it counts connections and says nothing.
type canary struct {
	net.Listener
	hits atomic.Int64
}

func newCanary(t *testing.T, address string) *canary {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	c := &canary{Listener: l}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.hits.Add(1)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return c
}

func (c *canary) port() uint16 { return netip.MustParseAddrPort(c.Addr().String()).Port() }

// settled returns the count once connections still in the accept queue were taken: one of our own goes last through it,
// and is left out of the result, not of later ones.
func (c *canary) settled(t *testing.T) int64 {
	t.Helper()
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(c.port())))
	if err != nil {
		conn, err = net.Dial("tcp", c.Addr().String())
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, conn) // ends when the canary has counted and closed
	_ = conn.Close()
	return c.hits.Load() - 1
}

func testKeys() []Key { return []Key{Secret{bytes.Repeat([]byte{5}, 32)}} }

func attempt(url string) Attempt {
	return Attempt{
		URL:     url,
		EventID: "evt_1",
		At:      time.Now(),
		Body:    []byte(`{"type":"webhook.test"}`),
		Keys:    testKeys(),
	}
}

// loopbackHosts are this machine in every notation that some program understands.
func loopbackHosts() []string {
	return []string{
		"127.0.0.1",
		"127.1.2.3",
		"127.255.255.254",
		"0.0.0.0",
		"localhost",
		"LOCALHOST",
		"localhost.",
		"[::1]",
		"[::]",
		"[0:0:0:0:0:0:0:1]",
		"[0000::0001]",
		"[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]",
		"[::ffff:0.0.0.0]",
		"[::FFFF:127.0.0.1]",
		"2130706433",
		"0x7f000001",
		"0x7F000001",
		"017700000001",
		"127.1",
		"127.0.1",
		"0177.0.0.1",
		"0177.0.0.01",
		"0x7f.0.0.1",
		"0x7f.1",
		"127.0.0.1.",
		"00000177.0.0.1",
		"127.0.0.01",
		"0",
		"0x0",
		"0.0",
		"127.000.000.001",
		"１２７.0.0.1",
		"127。0。0。1",
		"①②⑦.0.0.1",
		"ｌocalhost",
		"loop.example",
		"loop6.example",
		"mapped.example",
		"cname.example",
		"chain.example",
		"zero.example",
		"*.loop.example",
		"127.0.0.1%2f",
		"%31%32%37.0.0.1",
		"127.0.0.1%00",
		"[::1%25lo]",
	}
}

// forbiddenHosts adds what is not this machine.
func forbiddenHosts() []string {
	return append(
		loopbackHosts(),
		"10.0.0.1",
		"10.255.255.255",
		"172.16.0.1",
		"172.31.255.255",
		"192.168.0.1",
		"192.168.255.255",
		"169.254.0.1",
		"169.254.169.254",
		"169.254.170.2",
		"2852039166",
		"0xa9fea9fe",
		"0251.0376.0251.0376",
		"100.100.100.200",
		"192.0.0.192",
		"168.63.129.16",
		"100.64.0.1",
		"100.127.255.255",
		"0.1.2.3",
		"192.0.2.1",
		"198.51.100.1",
		"203.0.113.1",
		"198.18.0.1",
		"192.88.99.1",
		"224.0.0.1",
		"239.255.255.250",
		"240.0.0.1",
		"255.255.255.255",
		"[::127.0.0.1]",
		"[::ffff:0:127.0.0.1]",
		"[::ffff:10.0.0.1]",
		"[::ffff:a9fe:a9fe]",
		"[::10.0.0.1]",
		"[64:ff9b::127.0.0.1]",
		"[64:ff9b::a9fe:a9fe]",
		"[64:ff9b::8.8.8.8]",
		"[64:ff9b:1::7f00:1]",
		"[2002:7f00:1::]",
		"[2002:a9fe:a9fe::1]",
		"[2001::7f00:1]",
		"[2001:0:7f00:1::]",
		"[2001:db8::1]",
		"[3fff::1]",
		"[2001:2::1]",
		"[2001:10::1]",
		"[100::1]",
		"[5f00::1]",
		"[fc00::1]",
		"[fd00:ec2::254]",
		"[fe80::1]",
		"[fec0::1]",
		"[ff02::1]",
		"[ff0e::1]",
		"[2606:4700::5efe:7f00:1]",
		"metadata.google.internal",
		"meta.example",
		"private.example",
		"nat64.example",
		"sixtofour.example",
		"ula.example",
	)
}

func forbiddenNames(t *testing.T) *names {
	return newNames(t, map[string][]string{
		"loop.example":             {"127.0.0.1"},
		"loop6.example":            {"::1"},
		"mapped.example":           {"::ffff:127.0.0.1"},
		"zero.example":             {"0.0.0.0 ::"},
		"cname.example":            {"CNAME loop.example"},
		"chain.example":            {"CNAME cname.example"},
		"metadata.google.internal": {"169.254.169.254"},
		"meta.example":             {"169.254.169.254 fd00:ec2::254"},
		"private.example":          {"10.0.0.1 192.168.1.1 172.16.1.1"},
		"nat64.example":            {"64:ff9b::7f00:1"},
		"sixtofour.example":        {"2002:7f00:1::"},
		"ula.example":              {"fd12::1"},
	})
}

// TestForbiddenTargets is row W1: each host, with and without TLS, at saving, at sending and at the bare dialer. The
// canary's port is opened, so that nothing but the address stands between us and it. The first target that passes ends
// it: behind many of the others nobody answers, and with a guard that lets them pass each would take its time-out.
func TestForbiddenTargets(t *testing.T) {
	c := newCanary(t, ":0")
	g := NewGuard(nil)
	g.Ports = []uint16{80, 443, c.port()}
	g.Resolver = forbiddenNames(t).resolver()
	client := g.NewClient(ClientOptions{Timeout: time.Minute})
	defer client.CloseIdleConnections()

	hosts := forbiddenHosts()
	if len(hosts) < 60 {
		t.Fatalf("only %d targets", len(hosts))
	}
	for _, host := range hosts {
		for _, scheme := range []string{"http", "https"} {
			for _, port := range []string{"", fmt.Sprintf(":%d", c.port())} {
				raw := scheme + "://" + host + port + "/hook"
				if err := g.CheckTargetURL(t.Context(), raw); err == nil {
					t.Fatalf("%s can be saved", raw)
				}
				o := SendAttempt(t.Context(), client, attempt(raw))
				if o.Status != 0 ||
					o.Failure != FailureAddress && o.Failure != FailureUnsendable && o.Failure != FailureDNS {
					t.Fatalf("%s was tried: %+v", raw, o)
				}
			}
		}
		address := fmt.Sprintf("%s:%d", host, c.port())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a busy machine is slow to look up a name
		conn, err := g.DialContext(ctx, "tcp", address)
		tried := ctx.Err() != nil
		cancel()
		if conn != nil {
			_ = conn.Close()
		}
		if err == nil || tried {
			t.Fatalf("%s was dialled: %v", address, err)
		}
	}
	n := c.settled(t)
	if n != 0 {
		t.Errorf("%d connections reached the canary", n)
	}
	t.Logf("%d hosts, %d checks, %d connections", len(hosts), len(hosts)*9, n)
}

// TestCanaryIsReachable is the negative control of the matrix: a guard that allows everything does reach the canary.
func TestCanaryIsReachable(t *testing.T) {
	c := newCanary(t, ":0")
	g := NewGuard(prefixes("0.0.0.0/0", "::/0"))
	g.Resolver = forbiddenNames(t).resolver()
	client := g.NewClient(ClientOptions{Timeout: time.Minute})
	defer client.CloseIdleConnections()
	reached := 0
	for _, host := range loopbackHosts() {
		before := c.hits.Load()
		SendAttempt(t.Context(), client, attempt(fmt.Sprintf("http://%s:%d/", host, c.port())))
		if c.settled(t) > before {
			reached++
		}
	}
	if reached < 12 {
		t.Errorf("only %d notations reach the canary without the guard: the matrix proves little", reached)
	}
}

// TestRedirects: an allowed receiver points at canaries on a forbidden and on an allowed address.
func TestRedirects(t *testing.T) {
	forbidden, allowed := newCanary(t, "127.0.0.1:0"), newCanary(t, "127.0.0.2:0")
	receiver := serveOn(t, "127.0.0.2:0", func(w http.ResponseWriter, r *http.Request) {
		var code int
		_, _ = fmt.Sscan(r.URL.Query().Get("code"), &code)
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.Header().Set("Refresh", "0; url="+r.URL.Query().Get("to"))
		w.WriteHeader(code)
	})
	g := NewGuard(prefixes("127.0.0.2/32"))
	client := g.NewClient(ClientOptions{Timeout: time.Minute})
	defer client.CloseIdleConnections()
	target := func(code int, to string) string {
		return receiver + "/?" + url.Values{"code": {fmt.Sprint(code)}, "to": {to}}.Encode()
	}
	for _, code := range []int{300, 301, 302, 303, 304, 305, 306, 307, 308} {
		for _, to := range []string{
			"http://" + forbidden.Addr().String(), "http://" + allowed.Addr().String(), "//" + allowed.Addr().String(),
			"https://" + forbidden.Addr().String(), "http://169.254.169.254/latest/meta-data/", "file:///etc/passwd", "/", "",
		} {
			o := SendAttempt(t.Context(), client, attempt(target(code, to)))
			if v := JudgeOutcome(o); o.Status != code || v.Action != Retry {
				t.Errorf("%d to %q: %+v, %v", code, to, o, v)
			}
		}
	}
	if a, b := forbidden.settled(t), allowed.settled(t); a != 0 || b != 0 {
		t.Errorf("redirects were followed: %d and %d connections", a, b)
	}

	// A client that does follow, as a feed may, still cannot leave the allowed range.
	client.CheckRedirect = nil
	forbiddenHits, allowedHits := forbidden.hits.Load(), allowed.hits.Load()
	for _, code := range []int{301, 302, 303, 307, 308} {
		if o := SendAttempt(
			t.Context(),
			client,
			attempt(target(code, "http://"+forbidden.Addr().String())),
		); o.Failure != FailureAddress {
			t.Errorf("followed %d: %+v", code, o)
		}
		SendAttempt(t.Context(), client, attempt(target(code, "http://"+allowed.Addr().String())))
	}
	if n := forbidden.settled(t) - forbiddenHits; n != 0 {
		t.Errorf("%d connections reached the forbidden canary", n)
	}
	if allowed.settled(t)-allowedHits < 5 {
		t.Error("the control did not follow redirects: the test proves nothing")
	}
}

// TestRebinding: names that point outside while they are checked and inside when they are dialled.
func TestRebinding(t *testing.T) {
	c := newCanary(t, ":0")
	answers := map[string][]string{
		"a.rebind.example":     {"93.184.216.34", "127.0.0.1"},
		"aaaa.rebind.example":  {"2606:2800:220:1::1", "::1"},
		"map.rebind.example":   {"93.184.216.34", "::ffff:127.0.0.1"},
		"zero.rebind.example":  {"93.184.216.34", "0.0.0.0"},
		"many.rebind.example":  {"93.184.216.34", "127.0.0.1 127.0.0.2 ::1 10.0.0.1"},
		"cname.rebind.example": {"93.184.216.34", "CNAME loop.example"},
		"cloud.rebind.example": {"93.184.216.34", "169.254.169.254"},
		"loop.example":         {"127.0.0.1"},
	}
	g := NewGuard(nil)
	g.Ports = []uint16{443, c.port()}
	g.Resolver = newNames(t, answers).resolver()
	client := g.NewClient(ClientOptions{Timeout: time.Minute})
	defer client.CloseIdleConnections()
	for name := range answers {
		if !strings.Contains(name, "rebind") {
			continue
		}
		raw := fmt.Sprintf("https://%s:%d/", name, c.port())
		if err := g.CheckTargetURL(t.Context(), raw); err != nil {
			t.Errorf("%s: the first answer is public, yet: %v", name, err)
		}
		for range 3 {
			if o := SendAttempt(t.Context(), client, attempt(raw)); o.Failure != FailureAddress {
				t.Fatalf("%s was dialled: %+v", name, o)
			}
		}
		if err := g.CheckTargetURL(t.Context(), raw); err == nil {
			t.Errorf("%s: its present answer is forbidden, yet it can be saved", name)
		}
	}
	if n := c.settled(t); n != 0 {
		t.Errorf("%d connections reached the canary", n)
	}
}

// TestPlainStaysInside: a name that was inside when saved and is public now would get its events unencrypted.
func TestPlainStaysInside(t *testing.T) {
	g := NewGuard(prefixes("10.0.0.0/8"))
	g.Ports = []uint16{80, 443}
	g.Resolver = newNames(t, map[string][]string{"moved.example": {"10.0.0.1", "93.184.216.34"}}).resolver()
	client := g.NewClient(ClientOptions{Timeout: time.Minute})
	defer client.CloseIdleConnections()
	if err := g.CheckTargetURL(t.Context(), "http://moved.example/"); err != nil {
		t.Fatal(err)
	}
	if o := SendAttempt(t.Context(), client, attempt("http://moved.example/")); o.Failure != FailureAddress {
		t.Errorf("outcome %+v", o)
	}
}

// TestMixedAnswers: one forbidden address among good ones is enough to refuse the URL.
func TestMixedAnswers(t *testing.T) {
	g := NewGuard(nil)
	g.Resolver = newNames(t, map[string][]string{
		"one.example": {
			"93.184.216.34 10.0.0.1",
		},
		"two.example":   {"93.184.216.34 ::1"},
		"three.example": {"93.184.216.34"},
	}).resolver()
	for name, want := range map[string]bool{"one.example": false, "two.example": false, "three.example": true} {
		if err := g.CheckTargetURL(t.Context(), "https://"+name+"/"); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEnvironmentProxyIsIgnored(t *testing.T) {
	proxy := newCanary(t, "127.0.0.1:0")
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, "http://"+proxy.Addr().String())
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	receiver := serveOn(t, "127.0.0.2:0", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })
	port := receiver[strings.LastIndex(receiver, ":"):]
	g := NewGuard(prefixes("127.0.0.2/32"))
	g.Resolver = newNames(t, map[string][]string{"hooks.example": {"127.0.0.2"}}).resolver()
	client := g.NewClient(ClientOptions{Timeout: time.Minute})
	defer client.CloseIdleConnections()
	if o := SendAttempt(t.Context(), client, attempt("http://hooks.example"+port)); o.Status != 204 {
		t.Errorf("outcome %+v", o)
	}
	if n := proxy.settled(t); n != 0 {
		t.Errorf("%d connections went to the proxy of the environment", n)
	}

	// Control: a client that asks the environment does go there.
	ask := httpproxy.FromEnvironment().ProxyFunc()
	naive := &http.Client{
		Transport: &http.Transport{Proxy: func(r *http.Request) (*url.URL, error) { return ask(r.URL) }},
	}
	before := proxy.hits.Load()
	SendAttempt(t.Context(), naive, attempt("http://hooks.example"+port))
	if proxy.settled(t) == before {
		t.Error("the control did not use the proxy: the test proves nothing")
	}
}

// TestProxyBySetting: the operator's proxy may stand on an inner address, but it is not asked for forbidden targets.
func TestProxyBySetting(t *testing.T) {
	var seen atomic.Int64
	proxy := serveOn(t, "127.0.0.3:0", func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		w.Header().Set("X-Asked", r.URL.Host)
		w.WriteHeader(202)
	})
	at, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	g := NewGuard(prefixes("10.0.0.0/8"))
	g.Resolver = newNames(t, map[string][]string{"hooks.example": {"10.0.0.7"}, "loop.example": {"127.0.0.1"}, "public.example": {"93.184.216.34"}}).resolver()
	client := g.NewClient(ClientOptions{Timeout: time.Minute, Proxy: at})
	defer client.CloseIdleConnections()
	if o := SendAttempt(t.Context(), client, attempt("http://hooks.example/x")); o.Status != 202 || seen.Load() != 1 {
		t.Errorf("outcome %+v, %d requests at the proxy", o, seen.Load())
	}
	for _, raw := range []string{
		"http://loop.example/", "https://loop.example/", "http://127.0.0.1/", proxy, "http://public.example/", "https://public.example:22/", "http://absent.example/",
	} {
		if o := SendAttempt(t.Context(), client, attempt(raw)); o.Failure != FailureAddress {
			t.Errorf("%s: %+v", raw, o)
		}
	}
	if seen.Load() != 1 {
		t.Errorf("%d requests at the proxy", seen.Load())
	}
	// Its dialer goes nowhere else, whatever the transport may ask for.
	if _, err := dialProxyOnly(at, time.Second)(t.Context(), "tcp", "127.0.0.3:1"); !errors.Is(err, ErrAddress) {
		t.Errorf("dialling past the proxy: %v", err)
	}
}

// serveOn starts a receiver on an address of this machine and returns its URL.
func serveOn(t *testing.T, address string, handler http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(handler)
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	t.Cleanup(srv.Close)
	return "http://" + l.Addr().String()
}
