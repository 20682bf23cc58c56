package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
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
	return n, err //nolint:wrapcheck // a connection's errors are its caller's
}

// CloseWrite lets net/http end its side first, so that a refusal is read before the connection breaks.
func (c *framedConn) CloseWrite() error {
	if half, can := c.Conn.(interface{ CloseWrite() error }); can {
		return half.CloseWrite() //nolint:wrapcheck // net/http ignores it
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

// framingState is where in a request the next byte stands.
type framingState int

const (
	inRequestLine framingState = iota
	inHeaders
	inBody
	inChunkSize
	inChunk
	inTrailer
	// inConflict is behind the headers of a request that has both: the connection ends with it.
	inConflict
	// inUnknown is behind bytes that were not understood.
	inUnknown
)

// framing follows the bytes of an HTTP/1 connection from request to request. It needs to understand only what net/http
// accepts: a request that net/http refuses ends the connection.
type framing struct {
	state framingState
	// requests counts those whose first line has begun.
	requests int64
	// line is the line that is being read, without its end; of a longer one its beginning.
	line []byte
	// left is how many bytes of a body or a chunk are still to come.
	left int64
	// length is that of the header, -1 without one; chunked and old are a chunked body and a request of HTTP/1.0.
	length       int64
	chunked, old bool
}

// maxFramingLine is how much of a line is kept: more than the headers that count here can have.
const maxFramingLine = 256

// follow takes the next bytes.
func (f *framing) follow(p []byte) {
	for len(p) > 0 {
		switch f.state {
		case inConflict, inUnknown:
			return
		case inBody, inChunk:
			n := min(f.left, int64(len(p)))
			p = p[n:]
			if f.left -= n; f.left == 0 {
				f.endData()
			}
		case inRequestLine, inHeaders, inChunkSize, inTrailer:
			part, rest, ended := bytes.Cut(p, []byte{'\n'})
			if room := maxFramingLine - len(f.line); room > 0 {
				f.line = append(f.line, part[:min(room, len(part))]...)
			}
			if p = rest; ended {
				f.endLine(bytes.TrimSuffix(f.line, []byte{'\r'}))
				f.line = f.line[:0]
			}
		}
	}
}

// endData goes on behind a body or a chunk.
func (f *framing) endData() {
	f.state = inRequestLine
	if f.chunked {
		f.state = inChunkSize
	}
}

// endLine judges a whole line.
func (f *framing) endLine(line []byte) {
	switch f.state {
	case inRequestLine:
		if len(line) > 0 { // net/http passes over empty lines in front of a request
			f.requests++
			f.state, f.length, f.chunked, f.old = inHeaders, -1, false, bytes.HasSuffix(line, []byte(" HTTP/1.0"))
		}
	case inHeaders:
		if len(line) == 0 {
			f.endHeaders()
			return
		}
		f.readHeader(line)
	case inChunkSize:
		size, _, _ := bytes.Cut(line, []byte{';'})
		n, err := strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 63)
		switch {
		case err != nil || n < 0:
			f.state = inUnknown
		case n == 0:
			f.state = inTrailer
		default:
			f.state, f.left = inChunk, n+2 // with the end of its line
		}
	case inTrailer:
		if len(line) == 0 {
			f.state = inRequestLine
		}
	case inBody, inChunk, inConflict, inUnknown:
	}
}

// readHeader notes one of the two headers.
func (f *framing) readHeader(line []byte) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimSpace(value)
	switch {
	case line[0] == ' ' || line[0] == '\t': // the line before goes on, which may be one of the two
		f.state = inUnknown
	case bytes.EqualFold(name, []byte("content-length")):
		n, err := strconv.ParseInt(string(value), 10, 63)
		if f.length = n; err != nil || n < 0 {
			f.state = inUnknown // net/http refuses it
		}
	case bytes.EqualFold(name, []byte("transfer-encoding")):
		f.chunked = true // net/http refuses every other
	}
}

// endHeaders decides what follows the headers of a request.
func (f *framing) endHeaders() {
	f.chunked = f.chunked && !f.old // as net/http has it
	switch {
	case f.chunked && f.length >= 0:
		f.state = inConflict
	case f.chunked:
		f.state = inChunkSize
	case f.length > 0:
		f.state, f.left = inBody, f.length
	default:
		f.state = inRequestLine
	}
}

// framedListener gives connections whose requests are followed. Over TLS it makes the handshake, which says whether the
// connection will speak HTTP/1, while others are accepted.
type framedListener struct {
	net.Listener
	secure *tls.Config // nil without TLS
	accept sync.Once
	ready  chan net.Conn
	failed chan error
	closed chan struct{}
	close  sync.Once
}

func newFramedListener(ln net.Listener, secure *tls.Config) *framedListener {
	return &framedListener{
		Listener: ln, secure: secure,
		ready: make(chan net.Conn), failed: make(chan error), closed: make(chan struct{}),
	}
}

// Accept returns the next connection.
func (l *framedListener) Accept() (net.Conn, error) {
	if l.secure == nil {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // net/http judges it
		}
		return &framedConn{Conn: c}, nil
	}
	l.accept.Do(func() { go l.acceptSecure() })
	select {
	case c := <-l.ready:
		return c, nil
	case err := <-l.failed:
		return nil, err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// acceptSecure accepts connections until the listener is closed.
func (l *framedListener) acceptSecure() {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			select {
			case l.failed <- err: // net/http waits a little after one that passes
				continue
			case <-l.closed:
				return
			}
		}
		go l.handShake(tls.Server(c, l.secure))
	}
}

// handShake hands over a connection once it is known what it speaks. One that failed is handed over too: net/http finds
// the same error again, and says what it says of it.
func (l *framedListener) handShake(secure *tls.Conn) {
	_ = secure.SetDeadline(time.Now().Add(readTime))
	err := secure.HandshakeContext(context.Background())
	_ = secure.SetDeadline(time.Time{})
	var c net.Conn = secure
	if err == nil && secure.ConnectionState().NegotiatedProtocol != "h2" {
		c = framedTLSConn{&framedConn{Conn: secure}, secure}
	}
	select {
	case l.ready <- c:
	case <-l.closed:
		_ = c.Close()
	}
}

// Close stops accepting.
func (l *framedListener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.Listener.Close() //nolint:wrapcheck // net/http judges it
}
