package webhook

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

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
