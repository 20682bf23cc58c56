package app

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

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
			return nil, err // net/http judges it
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
	return l.Listener.Close() // net/http judges it
}
