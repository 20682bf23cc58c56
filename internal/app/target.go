package app

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// net/http refuses a request whose target it cannot parse (/score/%zz) before any handler is asked, with this text and
// a closed connection. Partners are promised an answer in shape with a request id, so the partners' listener hands out
// connections that put the handler's answer in the place of exactly this text, and change nothing else.
const unparsedAnswer = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"

// targetListener hands out such connections.
type targetListener struct {
	net.Listener
	handler http.Handler
}

func (l targetListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err //nolint:wrapcheck // net/http asks what kind of error it is
	}
	return &targetConn{Conn: c, handler: l.handler}, nil
}

// targetConn remembers the head of the request that is being read. Reads never overlap, in net/http; a write may
// overlap with one.
type targetConn struct {
	net.Conn
	handler  http.Handler
	head     []byte
	answered atomic.Bool
}

// maxHead is how much of a request net/http reads as its head: the limit it is given, and its own allowance.
const maxHead = maxHeader + 4<<10

func (c *targetConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.answered.CompareAndSwap(true, false) {
		c.head = c.head[:0] // what comes now is another request
	}
	if len(c.head)+n <= maxHead { // more than that is a body
		c.head = append(c.head, p[:n]...)
	}
	return n, err //nolint:wrapcheck // net/http asks what kind of error it is
}

func (c *targetConn) Write(p []byte) (int, error) {
	if len(p) == len(unparsedAnswer) && string(p) == unparsedAnswer {
		if answer := c.refuseTarget(); answer != nil {
			_, err := c.Conn.Write(answer)
			return len(p), err //nolint:wrapcheck // as above
		}
	}
	c.answered.Store(true)
	return c.Conn.Write(p) //nolint:wrapcheck // as above
}

// CloseWrite closes the sending half of the connection. net/http uses it so that a client can read an answer that comes
// before its request is over.
func (c *targetConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite() //nolint:wrapcheck // as above
	}
	return nil
}

// requestLine is not bound to the beginning of a line: the body of an earlier request may end right before it.
var requestLine = regexp.MustCompile(`([A-Z]+) ([^ \r\n]+|/[^\r\n]+) HTTP/1\.[01]\r?\n`)

// refuseTarget lets the handler answer the request whose target did not parse. It is nil when the request was refused for
// another reason.
func (c *targetConn) refuseTarget() []byte {
	at := unparsedTarget(c.head)
	if at == nil {
		return nil
	}
	method, target, rest := string(c.head[at[2]:at[3]]), string(c.head[at[4]:at[5]]), at[1]
	// The headers may still be on their way; the time for them runs already.
	for !bytes.Contains(c.head[rest-1:], []byte("\n\r\n")) && len(c.head) < maxHead {
		room := make([]byte, 1<<10)
		n, err := c.Conn.Read(room)
		if c.head = append(c.head, room[:n]...); err != nil {
			break
		}
	}
	header, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(c.head[rest:]))).ReadMIMEHeader()
	if err != nil {
		return nil
	}
	path, _, _ := strings.Cut(target, "?")
	req := (&http.Request{
		Method: method, URL: &url.URL{RawPath: path}, Header: http.Header(header), Host: header.Get("Host"), Body: http.NoBody,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: c.RemoteAddr().String(),
	}).WithContext(context.Background())
	w := answerInMemory{header: http.Header{}}
	c.handler.ServeHTTP(&w, req)
	w.header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	var out bytes.Buffer
	res := http.Response{
		StatusCode: w.status, ProtoMajor: 1, ProtoMinor: 1, Request: req, Header: w.header, Close: true,
		ContentLength: int64(w.body.Len()), Body: io.NopCloser(&w.body),
	}
	if res.Write(&out) != nil {
		return nil
	}
	return out.Bytes()
}

// unparsedTarget finds the request line that net/http stumbled over: the last one whose target is none.
func unparsedTarget(head []byte) []int {
	var found []int
	for _, at := range requestLine.FindAllSubmatchIndex(head, -1) {
		target := string(head[at[4]:at[5]])
		if _, err := url.ParseRequestURI(target); err != nil || strings.Contains(target, " ") {
			found = at
		}
	}
	return found
}

// answerInMemory is a ResponseWriter for one short answer.
type answerInMemory struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *answerInMemory) Header() http.Header         { return w.header }
func (w *answerInMemory) WriteHeader(status int)      { w.status = status }
func (w *answerInMemory) Write(p []byte) (int, error) { return w.body.Write(p) }

// tlsTargetListener does the same above TLS. net/http speaks HTTP/2 on nothing but a *tls.Conn, so the handshake is
// done here, and only a connection that did not choose HTTP/2 is wrapped. (In HTTP/2 a target that does not parse ends
// its stream, as the protocol has it.)
type tlsTargetListener struct {
	net.Listener
	config  *tls.Config
	handler http.Handler
	ready   chan accepted
	closed  chan struct{}
	once    sync.Once
}

// accepted is a connection, or the error of accepting one, on its way to Accept.
type accepted struct {
	conn net.Conn
	err  error
}

// newTLSTargetListener returns a listener that does the TLS handshakes itself; its goroutine ends when it is closed.
func newTLSTargetListener(ln net.Listener, config *tls.Config, handler http.Handler) *tlsTargetListener {
	l := &tlsTargetListener{
		Listener: ln,
		config:   config,
		handler:  handler,
		ready:    make(chan accepted),
		closed:   make(chan struct{}),
	}
	go l.acceptLoop()
	return l
}

// acceptLoop accepts connections and shakes hands with each.
func (l *tlsTargetListener) acceptLoop() {
	for {
		c, err := l.Listener.Accept()
		if err == nil {
			go l.shakeHands(tls.Server(c, l.config))
			continue
		}
		l.handOver(nil, err) // net/http decides whether to try again
		if errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// handOver gives a connection to Accept.
func (l *tlsTargetListener) handOver(c net.Conn, err error) {
	select {
	case l.ready <- accepted{c, err}:
	case <-l.closed:
		if c != nil {
			_ = c.Close() // the listener is closed: it will not be served
		}
	}
}

// shakeHands completes a TLS handshake, or closes the connection.
func (l *tlsTargetListener) shakeHands(c *tls.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	if err := c.HandshakeContext(ctx); err != nil {
		var record tls.RecordHeaderError
		if errors.As(err, &record) && record.Conn != nil { // as net/http does for those who forgot the s
			_, _ = io.WriteString(
				record.Conn,
				"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
			)
		}
		_ = c.Close() // the handshake failed; a failure to close adds nothing
		return
	}
	if state := c.ConnectionState(); state.NegotiatedProtocol != "h2" {
		l.handOver(&secureTargetConn{targetConn{Conn: c, handler: l.handler}, state}, nil)
		return
	}
	l.handOver(c, nil)
}

func (l *tlsTargetListener) Accept() (net.Conn, error) {
	select {
	case a := <-l.ready:
		return a.conn, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *tlsTargetListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close() //nolint:wrapcheck // net/http asks what kind of error it is
}

// secureTargetConn tells net/http of its TLS.
type secureTargetConn struct {
	targetConn
	state tls.ConnectionState
}

func (c *secureTargetConn) ConnectionState() tls.ConnectionState { return c.state }
