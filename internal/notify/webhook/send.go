// Package webhook does the parts of a delivery that need no database: it signs an event, says which addresses may be
// dialled, sends once, judges the answer and names the time of the next try.
//
// It does not know what an event means, which partner an endpoint belongs to, or where deliveries are kept: the alert
// package makes the events, the store keeps the rows, and a worker calls the functions here between two transactions.
//
// Invariants:
//   - Every connection made through a Guard is to an address the guard accepted after the name was resolved, so that
//     neither a redirect nor a changed DNS answer nor an odd notation can lead to an inner service.
//   - The bytes that are signed are the bytes that are sent, and the signature is made anew for each attempt.
//   - Nothing a receiver does can hold more than one time-out, 64 KiB of reading and 1 KiB of log.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// UserAgent is how the service names itself to receivers.
const UserAgent = "Vigia-Webhook/1"

// Bounds on what is taken from an answer, in bytes. Reading a little more than is kept lets an honest receiver's
// connection be used again.
const (
	maxAnswer  = 64 << 10
	keepAnswer = 1 << 10
)

// Attempt is one try to deliver one event to one endpoint.
type Attempt struct {
	URL string
	// EventID is the same on every attempt of the event: receivers tell repeats by it.
	EventID string
	// At is the time of this attempt, from the worker's clock; it is signed.
	At   time.Time
	Body []byte
	Keys []Key
}

// Failure is the class of an attempt that got no answer. It is what the log keeps and a partner may see: the error text
// of the network names addresses, so it goes nowhere.
type Failure string

// The classes.
const (
	FailureNone        Failure = ""
	FailureUnsendable  Failure = "unsendable"  // our own fault: no key, bad id, bad URL
	FailureAddress     Failure = "address"     // the guard refused the address
	FailureDNS         Failure = "dns"         // the name did not resolve
	FailureConnect     Failure = "connect"     // no connection to the address
	FailureTLS         Failure = "tls"         // certificate or handshake
	FailureTimeout     Failure = "timeout"     // no answer in time
	FailureReset       Failure = "reset"       // the connection broke before an answer
	FailureProtocol    Failure = "protocol"    // the answer was not HTTP, or its header too large
	FailureInterrupted Failure = "interrupted" // the worker was stopped; the receiver may or may not have got it
)

// IsKnown reports whether it is one of the classes: see sqldb.Enumerated.
func (f Failure) IsKnown() bool {
	switch f {
	case FailureNone,
		FailureUnsendable,
		FailureAddress,
		FailureDNS,
		FailureConnect,
		FailureTLS,
		FailureTimeout,
		FailureReset,
		FailureProtocol,
		FailureInterrupted:
		return true
	}
	return false
}

// Outcome is what became of an attempt.
type Outcome struct {
	// Status is the HTTP status, 0 without an answer; then Failure says why.
	Status   int
	Failure  Failure
	Duration time.Duration
	// Answer is the beginning of the answer's body, printable, at most 1 KiB. It is the receiver's text: show it
	// escaped.
	Answer string
	// Read is how many bytes of the body were read.
	Read int64
	// RetryAfter is how long the receiver asked us to wait, at most 24 h; 0 when it did not ask.
	RetryAfter time.Duration
}

// SendAttempt signs and posts once. It never retries, returns within the client's time-out, and leaves the reading of
// the result to JudgeOutcome. The client is one of Guard.NewClient.
func SendAttempt(ctx context.Context, client *http.Client, a Attempt) Outcome {
	start := time.Now() //nolint:forbidigo // how long it took is shown to people; no rule asks for it
	outcome := postAttempt(ctx, client, a)
	outcome.Duration = time.Since(start)
	return outcome
}

// postAttempt posts the signed body and reads the answer.
func postAttempt(ctx context.Context, client *http.Client, a Attempt) Outcome {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL, bytes.NewReader(a.Body))
	if err != nil {
		return Outcome{Failure: FailureUnsendable}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", UserAgent)
	if err := SignHeaders(req.Header, a.EventID, a.At, a.Body, a.Keys); err != nil {
		return Outcome{Failure: FailureUnsendable}
	}
	resp, err := client.Do(req)
	if err != nil {
		return Outcome{Failure: classifyFailure(ctx, err)}
	}
	defer func() { _ = resp.Body.Close() }()

	outcome := Outcome{Status: resp.StatusCode}
	if resp.StatusCode < 200 {
		// 101 hands the raw connection over as body, and no time-out would end the reading of it.
		return outcome
	}
	outcome.Answer, outcome.Read = readAnswer(resp.Body)
	if !outcome.isAccepted() {
		outcome.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), a.At)
	}
	return outcome
}

// isAccepted reports whether the receiver answered 2xx.
func (o Outcome) isAccepted() bool { return o.Status >= 200 && o.Status <= 299 }

// readAnswer takes the bounded part of the body. An error here changes nothing: the status has been said.
func readAnswer(body io.Reader) (string, int64) {
	head := make([]byte, keepAnswer)
	kept, err := io.ReadFull(body, head)
	read := int64(kept)
	if err == nil {
		more, _ := io.CopyN(io.Discard, body, maxAnswer-read)
		read += more
	}
	return printableText(head[:kept]), read
}

// printableText makes foreign bytes fit for a log and a page: valid UTF-8, no control or direction characters, one
// line. It never grows: each byte that is replaced becomes one byte.
func printableText(raw []byte) string {
	text := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return '.'
		}
		return r
	}, string(raw))
	return strings.TrimSpace(text)
}

// classifyFailure turns a transport error into its class, most telling first. The order matters: a refusal by the guard
// and a failed handshake both come wrapped in general network errors.
func classifyFailure(ctx context.Context, err error) Failure {
	var (
		dns     *net.DNSError
		op      *net.OpError
		timeout interface{ Timeout() bool }
	)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return FailureInterrupted
	case errors.Is(err, ErrAddress):
		return FailureAddress
	case errors.Is(err, ErrURL):
		return FailureUnsendable
	case errors.As(err, &dns):
		return FailureDNS
	case errors.As(err, &timeout) && timeout.Timeout():
		return FailureTimeout
	case isTLSError(err):
		return FailureTLS
	case errors.As(err, &op) && op.Op == "dial":
		return FailureConnect
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return FailureReset
	}
	return FailureProtocol
}

// isTLSError reports whether the error came from the TLS handshake.
func isTLSError(err error) bool {
	var (
		verify *tls.CertificateVerificationError
		record tls.RecordHeaderError
		alert  tls.AlertError
		host   x509.HostnameError
		op     *net.OpError
	)
	if errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &host) {
		return true
	}
	// Alerts of the other side come as an OpError of crypto/tls.
	return errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}

// MaxAttempts is how many tries a delivery gets before it is marked failed.
const MaxAttempts = len(delays)

// delays are the waits before each try, as Standard Webhooks lists them: the tenth comes 75 h 35 min 5 s after the
// first.
var delays = [...]time.Duration{
	0,
	5 * time.Second,
	5 * time.Minute,
	30 * time.Minute,
	2 * time.Hour,
	5 * time.Hour,
	10 * time.Hour,
	14 * time.Hour,
	20 * time.Hour,
	24 * time.Hour,
}

// jitter is the share by which a wait is moved, so that the failures of one outage do not come back as one wave.
const jitter = 0.10

// Schedule names the time of the next try.
type Schedule struct{ random func() float64 }

// NewSchedule makes a schedule; random returns numbers in [0, 1) and must suit as many goroutines as call Next
// (math/rand/v2's Float64 does).
func NewSchedule(random func() float64) Schedule { return Schedule{random} }

// NextAttempt returns when to try again after the given number of counted tries, and false when they are used up. A
// receiver's retryAfter is kept to: the next try is never earlier, and a little later for each, as they were all told
// the same.
func (s Schedule) NextAttempt(attempts int, now time.Time, retryAfter time.Duration) (time.Time, bool) {
	if attempts >= MaxAttempts {
		return time.Time{}, false
	}
	r := s.random()
	delay := delays[max(attempts, 0)]
	wait := delay + time.Duration((2*r-1)*jitter*float64(delay))
	if asked := min(retryAfter, maxRetryAfter); asked > wait {
		wait = asked + time.Duration(r*jitter*float64(asked))
	}
	return now.Add(wait), true
}

// maxRetryAfter is the longest wait that a receiver may ask for.
const maxRetryAfter = 24 * time.Hour

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

// BUG(webhook): behind an egress proxy the guard sees names and never the address that the proxy dials, so that a name
// which leads to an inner address is refused only if the proxy refuses it.

// ClientOptions are the settings of a guarded client. The zero value is what production uses.
type ClientOptions struct {
	// Timeout bounds one whole exchange, from resolving the name to the last byte read: 15 s.
	Timeout time.Duration
	// DialTimeout bounds resolving and connecting, so that a dead address leaves time for the next one: 5 s.
	DialTimeout time.Duration
	// Proxy sends everything through an egress proxy. Only this setting does: the environment is never asked. The proxy
	// resolves names by itself, hence it has to be one that filters too.
	Proxy *url.URL
	// RootCAs verify the receivers' certificates; nil means those of the system.
	RootCAs *x509.CertPool
	// MaxIdle bounds the kept connections: 256, all of them to one host if need be, because many endpoints may share
	// one (a gateway, a vendor of integrations). They are kept for IdleTimeout, 30 s: less than common load balancers
	// keep theirs, so that few attempts meet a connection the other side has just closed.
	MaxIdle     int
	IdleTimeout time.Duration
}

// maxHeader bounds the header of an answer in bytes; net/http by itself would take 10 MB.
const maxHeader = 64 << 10

// withDefaults fills in what is not set.
func (o ClientOptions) withDefaults() ClientOptions {
	o.Timeout = cmp.Or(o.Timeout, 15*time.Second)
	o.DialTimeout = cmp.Or(o.DialTimeout, 5*time.Second)
	o.MaxIdle = cmp.Or(o.MaxIdle, 256)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 30*time.Second)
	return o
}

// NewClient returns an HTTP client that dials only what the guard accepts, verifies TLS, follows no redirect, asks for
// and unpacks no compression, and keeps no cookies. A caller who has to follow redirects (a feed) may set
// CheckRedirect: each hop passes the guard again.
func (g *Guard) NewClient(o ClientOptions) *http.Client {
	o = o.withDefaults()
	rt := &guarded{guard: g, proxied: o.Proxy != nil}
	if o.Proxy == nil {
		rt.secured = newTransport(o, g.guardedDialer(secured, o.DialTimeout).DialContext)
		rt.plain = newTransport(o, g.guardedDialer(plain, o.DialTimeout).DialContext)
	} else {
		rt.secured = newTransport(o, dialProxyOnly(o.Proxy, o.DialTimeout))
		rt.secured.Proxy = http.ProxyURL(o.Proxy)
		rt.plain = rt.secured
	}
	return &http.Client{
		Transport: rt,
		Timeout:   o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// dialFunc is the type of http.Transport.DialContext.
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// newTransport speaks HTTP/1.1 only: every receiver does, and one connection per exchange keeps a receiver's
// misbehaviour to its own exchange. Proxy stays nil, which also switches the environment's proxies off.
func newTransport(o ClientOptions, dial dialFunc) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Protocols:              protocols,
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    o.Timeout, // a handshake may go on without its request; this ends it
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           o.MaxIdle,
		MaxIdleConnsPerHost:    o.MaxIdle,
		IdleConnTimeout:        o.IdleTimeout,
		DisableCompression:     true,
	}
}

// dialProxyOnly connects to the proxy and to nothing else. The operator chose the proxy, so it may be on an inner
// address.
func dialProxyOnly(proxy *url.URL, timeout time.Duration) dialFunc {
	dialer := &net.Dialer{Timeout: timeout}
	port := proxy.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[proxy.Scheme]
	}
	only := net.JoinHostPort(proxy.Hostname(), port)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != only {
			return nil, ErrAddress.Because(fmt.Errorf("dialling past the proxy"))
		}
		return dialer.DialContext(ctx, network, address)
	}
}

// guarded checks the shape of each request's URL, redirected ones included, and keeps encrypted and plain exchanges
// apart: a plain one may only reach ranges the operator opened.
type guarded struct {
	guard          *Guard
	proxied        bool
	secured, plain *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (t *guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	err := t.checkTarget(req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	if req.URL.Scheme == "https" {
		return t.secured.RoundTrip(req)
	}
	return t.plain.RoundTrip(req)
}

// checkTarget checks only the shape of the URL when our own dialer will check the address. Behind a proxy this process
// does not see the address dialled, so the host is resolved and checked as at saving time.
func (t *guarded) checkTarget(req *http.Request) error {
	if t.proxied {
		return t.guard.CheckTargetURL(req.Context(), req.URL.String())
	}
	_, err := parseTarget(req.URL.String())
	return err
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach both transports.
func (t *guarded) CloseIdleConnections() {
	t.secured.CloseIdleConnections()
	t.plain.CloseIdleConnections()
}

// The faults of this package. A refused address never says which address it was, nor whether the name exists: the
// answer to a partner must not map the operator's network. The cause, for the log, does.
var (
	ErrURL     = fault.New(fault.Invalid, "webhook.url_invalid")
	ErrAddress = fault.New(fault.Invalid, "webhook.address_refused")
	ErrKey     = fault.New(fault.Invalid, "webhook.key_invalid")
	ErrSign    = fault.New(fault.Internal, "webhook.not_signable")
	ErrTooMany = fault.New(fault.Conflict, "webhook.too_many_keys")
)
