package webhook

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// localClient may reach this machine only.
func localClient(t *testing.T, o ClientOptions) *http.Client {
	t.Helper()
	c := NewGuard(prefixes("127.0.0.0/8")).NewClient(o)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// TestSendIsVerified sends for real and lets the partner's package verify what arrived.
func TestSendIsVerified(t *testing.T) {
	secret, err := NewSecret(bytes.NewReader(bytes.Repeat([]byte{3}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := NewSigningKey(bytes.NewReader(bytes.Repeat([]byte{4}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(`{"type":"webhook.test","timestamp":"2026-01-01T00:00:00.000Z","data":{"texto":"ação"}}`)
	at := time.Date(2026, 3, 4, 5, 6, 7, 800, time.UTC)
	receiver := serveOn(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
		got, _ := io.ReadAll(r.Body)
		for _, key := range []string{secret.Reveal(), signer.PublicText()} {
			event, err := client.VerifyWebhook([]string{key}, r.Header, got, at)
			if err != nil {
				t.Error(err)
				continue
			}
			want := event
			want.ID, want.Body.Type = "evt_77", "webhook.test"
			difftest.Check(t, "the event", event, want)
			difftest.Check(t, "the second it was sent in", event.SentAt.Unix(), at.Unix())
		}
		type request struct {
			method, kind, agent, accepts string
			length                       int64
		}
		difftest.Check(
			t, "the request",
			request{
				r.Method, r.Header.Get("Content-Type"), r.UserAgent(), r.Header.Get("Accept-Encoding"), r.ContentLength,
			},
			request{http.MethodPost, "application/json", UserAgent, "", int64(len(body))},
		)
		_, _ = w.Write([]byte("obrigado"))
	})
	o := SendAttempt(
		t.Context(),
		localClient(t, ClientOptions{}),
		Attempt{URL: receiver, EventID: "evt_77", At: at, Body: body, Keys: []Key{secret, signer}},
	)
	want := o
	want.Status, want.Answer, want.Read = 200, "obrigado", 8
	difftest.Check(t, "the outcome", o, want)
	difftest.Check(t, "what follows from it", JudgeOutcome(o).Action, Delivered)
	if o.Duration <= 0 {
		t.Errorf("it took %v", o.Duration)
	}
}

// raw answers each connection with a function that may do as it likes with it.
func raw(t *testing.T, behave func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); conns.Wait() })
	conns.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer func() { _ = conn.Close() }()
				_, _ = http.ReadRequest(bufio.NewReader(conn))
				behave(conn)
			})
		}
	})
	return "http://" + l.Addr().String()
}

func say(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

// drip writes a byte now and then until the other side has gone.
func drip(c net.Conn, b string) {
	for {
		if _, err := io.WriteString(c, b); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// flood writes until the other side has gone.
func flood(c net.Conn, block []byte) {
	for {
		if _, err := c.Write(block); err != nil {
			return
		}
	}
}

func bomb(size int) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.CopyN(w, zeros{}, int64(size))
	_ = w.Close()
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestBadSinks is row W2: what receivers do wrong, each with what becomes of it.
func TestBadSinks(t *testing.T) {
	hang := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) } // until the other side gives up
	status := func(line string) func(net.Conn) {
		return say("HTTP/1.1 " + line + "\r\nContent-Length: 2\r\n\r\nno")
	}
	packed := bomb(64 << 20)

	cases := []struct {
		name   string
		behave func(net.Conn)
		url    string
		want   Outcome // Status, Failure and RetryAfter
		action Action
		// limit ends those that last as long as they may; the others get a minute, however slow the machine.
		limit time.Duration
	}{
		{name: "200", behave: status("200 OK"), want: Outcome{Status: 200}, action: Delivered},
		{name: "299", behave: status("299 Odd"), want: Outcome{Status: 299}, action: Delivered},
		{name: "500", behave: status("500 No"), want: Outcome{Status: 500}},
		{name: "400", behave: status("400 No"), want: Outcome{Status: 400}},
		{name: "404", behave: status("404 No"), want: Outcome{Status: 404}},
		{name: "302", behave: status("302 There\r\nLocation: /x"), want: Outcome{Status: 302}},
		{name: "410", behave: status("410 Gone"), want: Outcome{Status: 410}, action: Disable},
		{
			name:   "429 in seconds",
			behave: status("429 Slow\r\nRetry-After: 120"),
			want:   Outcome{Status: 429, RetryAfter: 2 * time.Minute},
		},
		{
			name:   "503 for ever",
			behave: status("503 Later\r\nRetry-After: 99999999999999999999"),
			want:   Outcome{Status: 503, RetryAfter: 24 * time.Hour},
		},
		{
			name:   "200 with Retry-After",
			behave: status("200 OK\r\nRetry-After: 60"),
			want:   Outcome{Status: 200},
			action: Delivered,
		},
		{name: "999", behave: status("999 What"), want: Outcome{Status: 999}},
		{
			name:   "hang before the answer",
			behave: hang,
			want:   Outcome{Failure: FailureTimeout},
			limit:  400 * time.Millisecond,
		},
		{
			name:   "header dripped",
			behave: func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n"); drip(c, "X") },
			want:   Outcome{Failure: FailureTimeout},
			limit:  400 * time.Millisecond,
		},
		{
			name:   "body dripped",
			behave: func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"); drip(c, "x") },
			want:   Outcome{Status: 200},
			action: Delivered,
			limit:  3 * time.Second,
		},
		{name: "endless body", behave: func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 500 No\r\n\r\n")
			flood(c, make([]byte, 1<<20))
		}, want: Outcome{Status: 500}},
		{name: "10 GB announced", behave: func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n")
			flood(c, make([]byte, 1<<20))
		}, want: Outcome{Status: 200}, action: Delivered},
		{name: "compressed bomb", behave: func(c net.Conn) {
			_, _ = fmt.Fprintf(
				c,
				"HTTP/1.1 500 No\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n",
				len(packed),
			)
			_, _ = c.Write(packed)
		}, want: Outcome{Status: 500}},
		{
			name:   "body shorter than announced",
			behave: say("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort"),
			want:   Outcome{Status: 200},
			action: Delivered,
		},
		{
			name:   "bad chunks",
			behave: say("HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
			want:   Outcome{Status: 500},
		},
		{name: "huge header", behave: func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nX: ")
			flood(c, bytes.Repeat([]byte("a"), 1<<16))
		}, want: Outcome{Failure: FailureProtocol}},
		{
			name:   "endless 100",
			behave: func(c net.Conn) { flood(c, []byte("HTTP/1.1 100 Continue\r\n\r\n")) },
			want:   Outcome{Failure: FailureProtocol},
		},
		{name: "101 and silence", behave: func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
			hang(c)
		}, want: Outcome{Status: 101}, limit: 10 * time.Second},
		{name: "not HTTP", behave: say("220 mail.example ESMTP\r\n"), want: Outcome{Failure: FailureProtocol}},
		{name: "closed at once", behave: func(net.Conn) {}, want: Outcome{Failure: FailureReset}},
		{
			name:   "reset",
			behave: func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) },
			want:   Outcome{Failure: FailureReset},
		},
		{name: "closed port", url: "http://127.0.0.1:1", want: Outcome{Failure: FailureConnect}},
		{name: "unknown name", url: "http://does-not-exist.invalid/", want: Outcome{Failure: FailureDNS}},
		{name: "forbidden address", url: "http://10.0.0.1/", want: Outcome{Failure: FailureAddress}},
		{name: "bad URL", url: "http://a b/", want: Outcome{Failure: FailureUnsendable}},
		{name: "user in the URL", url: "http://a:b@127.0.0.1/", want: Outcome{Failure: FailureUnsendable}},
	}
	g := NewGuard(prefixes("127.0.0.0/8"))
	g.Resolver = newNames(t, nil).resolver()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			target := c.url
			if target == "" {
				target = raw(t, c.behave)
			}
			var o Outcome
			// A starved machine may need longer for the first line of an answer than the limit is: then it gets more.
			for limit := cmp.Or(c.limit, time.Minute); limit < 5*time.Minute; limit *= 5 {
				client := g.NewClient(ClientOptions{Timeout: limit})
				t.Cleanup(client.CloseIdleConnections)
				if o = SendAttempt(
					t.Context(),
					client,
					attempt(target),
				); o.Failure != FailureTimeout ||
					c.want.Failure == FailureTimeout {
					break
				}
			}
			want := o
			want.Status, want.Failure, want.RetryAfter = c.want.Status, c.want.Failure, c.want.RetryAfter
			difftest.Check(t, "the outcome", o, want)
			difftest.Check(t, "what follows from it", JudgeOutcome(o).Action, c.action)
			if o.Read > 64<<10 || len(o.Answer) > keepAnswer || !utf8.ValidString(o.Answer) {
				t.Errorf("read %d bytes, kept %d", o.Read, len(o.Answer))
			}
			if strings.Contains(string(o.Failure), "127.0") || strings.Contains(o.Answer, "127.0") {
				t.Errorf("an address leaks: %+v", o)
			}
		})
	}
}

// TestTimeoutIsKept: the whole exchange ends by the client's time-out, whatever the receiver does with its connection.
func TestTimeoutIsKept(t *testing.T) {
	silent := newSilent(t)
	done := make(chan Outcome, 1)
	go func() {
		done <- SendAttempt(context.Background(), localClient(t, ClientOptions{Timeout: 200 * time.Millisecond}), attempt("https://"+silent))
	}()
	select {
	case o := <-done: // a handshake that never comes
		if o.Failure != FailureTimeout {
			t.Errorf("%+v", o)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the time-out does not end the handshake")
	}
}

// newSilent accepts connections and says nothing.
func newSilent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func TestDefaultsOfTheClient(t *testing.T) {
	c := NewGuard(nil).NewClient(ClientOptions{})
	rt := c.Transport.(*guarded)
	if c.Timeout != 15*time.Second || c.Jar != nil || rt.secured.Proxy != nil || rt.plain.Proxy != nil {
		t.Errorf("client %+v", c)
	}
	for _, tr := range []*http.Transport{rt.secured, rt.plain} {
		if tr.TLSClientConfig.InsecureSkipVerify || tr.TLSClientConfig.MinVersion < tls.VersionTLS12 || !tr.DisableCompression ||
			tr.MaxIdleConns == 0 || tr.MaxIdleConnsPerHost == 0 ||
			tr.IdleConnTimeout == 0 ||
			tr.MaxResponseHeaderBytes == 0 ||
			tr.Protocols.HTTP2() {
			t.Errorf("transport %+v", tr)
		}
	}
}

func TestTLSIsVerified(t *testing.T) {
	srv := httptest.NewUnstartedServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }),
	)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // it would tell of each refused handshake
	srv.StartTLS()
	defer srv.Close()
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	g := NewGuard(prefixes("127.0.0.0/8"))
	port := srv.URL[strings.LastIndex(srv.URL, ":"):]
	g.Resolver = newNames(t, map[string][]string{"hooks.test": {"127.0.0.1"}, "example.com": {"127.0.0.1"}}).resolver()
	strict := g.NewClient(ClientOptions{})
	trusting := g.NewClient(ClientOptions{RootCAs: trusted})
	defer strict.CloseIdleConnections()
	defer trusting.CloseIdleConnections()
	for _, c := range []struct {
		name   string
		client *http.Client
		url    string
		want   Outcome
	}{
		{"unknown authority", strict, srv.URL, Outcome{Failure: FailureTLS}},
		{"wrong name", trusting, "https://hooks.test" + port, Outcome{Failure: FailureTLS}},
		{"right name", trusting, "https://example.com" + port, Outcome{Status: 204}},
		{"plain server", strict, strings.Replace(serveOn(t, "127.0.0.1:0", func(http.ResponseWriter, *http.Request) {}), "http:", "https:", 1), Outcome{Failure: FailureProtocol}},
	} {
		if o := SendAttempt(
			t.Context(),
			c.client,
			attempt(c.url),
		); o.Status != c.want.Status ||
			o.Failure != c.want.Failure {
			t.Errorf("%s: %+v", c.name, o)
		}
	}
}

// TestInterrupted: the worker's stop is not held against the receiver, a deadline of the caller is.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := localClient(t, ClientOptions{})
	receiver := raw(t, func(c net.Conn) { cancel(); _, _ = c.Read(make([]byte, 1)) })
	if o := SendAttempt(
		ctx,
		client,
		attempt(receiver),
	); o.Failure != FailureInterrupted ||
		JudgeOutcome(o).Action != Release {
		t.Errorf("cancelled: %+v", o)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if o := SendAttempt(
		ctx,
		client,
		attempt("http://"+newSilent(t)),
	); o.Failure != FailureTimeout ||
		JudgeOutcome(o).Action != Retry {
		t.Errorf("deadline: %+v", o)
	}
}

func TestUnsendable(t *testing.T) {
	a := attempt("http://127.0.0.1:1/")
	a.Keys = nil
	if o := SendAttempt(
		t.Context(),
		localClient(t, ClientOptions{}),
		a,
	); o.Failure != FailureUnsendable ||
		JudgeOutcome(o).Action != Retry {
		t.Errorf("without keys: %+v", o)
	}
}

// pipes is a listener whose connections are made in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error { close(p); return nil }

func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// TestConnectionsAreReused: the bounded reading leaves an honest receiver's connection in the pool. It runs in time of
// its own, because net/http gives a connection up whose writer a busy machine has kept from saying that it is done for
// 50 ms.
func TestConnectionsAreReused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		incoming, opened := make(pipes), 0
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, 32<<10))
		})}
		go func() { _ = srv.Serve(incoming) }() // says only that it was closed
		client := NewGuard(prefixes("127.0.0.0/8")).NewClient(ClientOptions{})
		client.Transport.(*guarded).plain.DialContext = func(context.Context, string, string) (net.Conn, error) {
			opened++
			here, there := net.Pipe()
			incoming <- there
			return here, nil
		}
		for range 20 {
			if o := SendAttempt(
				t.Context(),
				client,
				attempt("http://127.0.0.1/"),
			); o.Status != 200 ||
				o.Read != 32<<10 {
				t.Fatalf("%+v", o)
			}
			synctest.Wait() // both ends are done with it
		}
		if opened != 1 {
			t.Errorf("%d connections for 20 attempts", opened)
		}
		client.CloseIdleConnections()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"ok":                        "ok",
		"ação ✓":                    "ação ✓",
		" a\r\nb\tc ":               "a  b c",
		"a\x00b\x1b[31m\x7f":        "a.b.[31m.",
		"\xff\xfeab":                "..ab",
		"a\u202egnp.exe":            "a.gnp.exe",
		"a\u2028b":                  "a b",
		strings.Repeat("é", 512):    strings.Repeat("é", 512),
		"a" + "\xc3":                "a.",
		"<script>alert(1)</script>": "<script>alert(1)</script>",
	} {
		if got := printableText([]byte(in)); got != want || len(got) > len(in) {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestClassify(t *testing.T) {
	if got := classifyFailure(t.Context(), errors.New("anything")); got != FailureProtocol {
		t.Errorf("unknown error: %s", got)
	}
}

// BenchmarkSend stands beside BenchmarkPlainPost: the price of the guard, the bounded reading and the classes.
func BenchmarkSend(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	defer srv.Close()
	client := NewGuard(prefixes("127.0.0.0/8")).NewClient(ClientOptions{})
	defer client.CloseIdleConnections()
	for b.Loop() {
		if o := SendAttempt(b.Context(), client, attempt(srv.URL)); o.Status != 204 {
			b.Fatalf("%+v", o)
		}
	}
}

func BenchmarkPlainPost(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for b.Loop() {
		a := attempt(srv.URL)
		req, err := http.NewRequest(http.MethodPost, a.URL, bytes.NewReader(a.Body))
		if err != nil {
			b.Fatal(err)
		}
		if err := SignHeaders(req.Header, a.EventID, a.At, a.Body, a.Keys); err != nil {
			b.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}
