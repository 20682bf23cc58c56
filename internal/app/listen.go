package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// Limits against clients that send or read slowly.
const (
	// readTime bounds a request's header and body together: one deadline for both is one that net/http need not move in
	// between.
	readTime = 15 * time.Second
	// writeTime is from the end of the headers: the body, the work and the answer; a bulk gets more from its route.
	writeTime = 40 * time.Second
	pageTime  = 150 * time.Second // the same for operators, whose reports and exports are large
	idleTime  = 60 * time.Second
	maxHeader = 16 << 10
)

// listenAndServe opens the address before it returns, so that an address in use is an error at start.
func (s *Server) listenAndServe(
	group *errgroup.Group, address string, h http.Handler, answer time.Duration,
) (*http.Server, net.Addr, error) {
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, nil, listenError(address, err)
	}
	srv := &http.Server{
		Handler:           s.withFrame(h),
		ReadHeaderTimeout: readTime,
		ReadTimeout:       readTime,
		WriteTimeout:      answer,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       withFramedConn,
		// Else OPTIONS * is answered by net/http, and not counted by framingOf.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(quiet{s.log.Handler()}, slog.LevelDebug),
	}
	if s.cfg.TLSCert != "" {
		certs := &certificate{certFile: s.cfg.TLSCert, keyFile: s.cfg.TLSKey}
		if _, err := certs.currentCertificate(nil); err != nil {
			return nil, nil, errors.Join(err, ln.Close())
		}
		srv.TLSConfig = &tls.Config{
			MinVersion:     tls.VersionTLS12,
			GetCertificate: certs.currentCertificate,
			NextProtos:     []string{"h2", "http/1.1"},
		}
	}
	framed := newFramedListener(ln, srv.TLSConfig)
	group.Go(func() error {
		err := srv.Serve(framed)
		if !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	return srv, ln.Addr(), nil
}

// listenError says what to do about an address that cannot be listened on.
func listenError(address string, err error) error {
	remedy := "is the host one of this machine's?"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		remedy = "another program listens there: stop it ('ss -ltnp' names it), or choose another address with " +
			"--listen or --console-listen"
	case errors.Is(err, syscall.EACCES):
		remedy = "ports below 1024 need a right of their own: choose a higher port behind a proxy, or give the " +
			"service CAP_NET_BIND_SERVICE"
	}
	return fmt.Errorf("listen on %s: %w; %s", address, err, remedy)
}

// shutDownServers stops servers and waits for their requests.
func shutDownServers(ctx context.Context, servers []*http.Server) error {
	var wg sync.WaitGroup
	errs := make([]error, len(servers))
	for i, srv := range servers {
		wg.Go(func() {
			if errs[i] = srv.Shutdown(ctx); errs[i] != nil {
				errs[i] = errors.Join(errs[i], srv.Close())
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// withFrame gives every answer an id, by which its line in the log is found, and asks clients of a stopping server to
// come back on another connection: a balancer that only sees connections would else keep sending requests here until
// the connection is closed under one of them.
func (s *Server) withFrame(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := telemetry.NewRequestID(r.Header.Get("X-Request-Id"))
		w.Header()["X-Request-Id"] = []string{id}
		framing := framingOf(r)
		if s.stopping.Load() || framing != framingPlain {
			w.Header()["Connection"] = closing
		}
		if framing == framingConflicting {
			s.log.WarnContext(r.Context(), "request refused: both a length and chunks", "request_id", id)
			refuseFraming(w)
			return
		}
		h.ServeHTTP(w, r.WithContext(telemetry.WithRequestID(r.Context(), id)))
	})
}

// closing is the header that has a client open another connection, on a replica that stays.
var closing = []string{"close"}

// quiet keeps net/http's own lines about broken connections at debug level: they may quote what a client sent.
type quiet struct{ slog.Handler }

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	if !q.Enabled(ctx, r.Level) {
		return nil
	}
	line := slog.NewRecord(r.Time, r.Level, "connection problem", r.PC)
	return q.Handler.Handle(ctx, line)
}

// addressText returns the address as text; empty for nil.
func addressText(a net.Addr) string {
	if a == nil {
		return ""
	}
	return a.String()
}
