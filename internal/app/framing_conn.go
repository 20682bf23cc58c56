package app

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// A request with both a Content-Length and a chunked body is how requests are smuggled past a proxy that goes by the
// length. net/http drops the length before a handler sees the request, so the bytes are followed here as they arrive on
// an HTTP/1 connection, far enough to know where each request begins and which of the two headers it has.

// framedConn is an HTTP/1 connection whose requests are followed as they are read.
type framedConn struct {
	net.Conn
	framing framing
	// conflicting is the number of the first request of the connection that has both headers; 0 while none has. Behind
	// it nothing is read as a request.
	conflicting atomic.Int64
	// lost says that the bytes were not understood: what follows on the connection cannot be judged.
	lost atomic.Bool
	// served counts the requests that were given to the handler.
	served atomic.Int64
}

// Read follows what was read before net/http sees it.
func (c *framedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.framing.follow(p[:n])
	if c.framing.state == inConflict {
		c.conflicting.Store(c.framing.requests)
	}
	if c.framing.state == inUnknown {
		c.lost.Store(true)
	}
	return n, err // a connection's errors are its caller's
}

// CloseWrite lets net/http end its side first, so that a refusal is read before the connection breaks.
func (c *framedConn) CloseWrite() error {
	if half, can := c.Conn.(interface{ CloseWrite() error }); can {
		return half.CloseWrite() // net/http ignores it
	}
	return nil
}

// framedTLSConn is a framedConn over TLS; net/http asks it for the state of the connection.
type framedTLSConn struct {
	*framedConn
	secure *tls.Conn
}

func (c framedTLSConn) ConnectionState() tls.ConnectionState { return c.secure.ConnectionState() }

// framedConnKey is the key of a request's connection in its context.
type framedConnKey struct{}

// withFramedConn is the ConnContext of a server.
func withFramedConn(ctx context.Context, c net.Conn) context.Context {
	switch c := c.(type) {
	case *framedConn:
		return context.WithValue(ctx, framedConnKey{}, c)
	case framedTLSConn:
		return context.WithValue(ctx, framedConnKey{}, c.framedConn)
	}
	return ctx // HTTP/2 has one length
}

// requestFraming is how the body of a request is framed.
type requestFraming int

const (
	framingPlain requestFraming = iota
	// framingConflicting is both a length and chunks.
	framingConflicting
	// framingUnknown is chunks on a connection whose bytes were not understood: nothing behind them may be read.
	framingUnknown
)

// framingOf returns how a request is framed. It is called once for each request, in their order.
func framingOf(r *http.Request) requestFraming {
	c, _ := r.Context().Value(framedConnKey{}).(*framedConn)
	if c == nil {
		return framingPlain
	}
	number := c.served.Add(1)
	switch {
	case len(r.TransferEncoding) == 0:
		return framingPlain
	case c.conflicting.Load() == number:
		return framingConflicting
	case c.lost.Load():
		return framingUnknown
	}
	return framingPlain
}

// refuseFraming answers a request that has both a length and chunks, in the words of the cyber area.
func refuseFraming(w http.ResponseWriter) {
	h := w.Header()
	h.Set("content-type", "application/json; charset=utf-8")
	h.Set("cache-control", "no-store")
	h.Set("x-error-code", "header.invalid")
	h.Set("x-error-detail", "content-length: must not come together with Transfer-Encoding")
	w.WriteHeader(http.StatusBadRequest)
	const body = `{"statusCode":400,"message":"Requisição inválida: Content-Length e Transfer-Encoding juntos."}`
	_, _ = io.WriteString(w, body)
}
