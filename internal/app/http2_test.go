package app_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// rude is a client that speaks HTTP/2 frame by frame and keeps to none of its manners.
type rude struct {
	*http2.Framer
	conn    *tls.Conn
	refused atomic.Int64  // streams that the server would not open
	ended   chan struct{} // closed when the server has hung up
}

func newRude(t *testing.T, address string, pool *x509.CertPool, reads bool) *rude {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(5 * time.Minute))
	r := &rude{Framer: http2.NewFramer(conn, conn), conn: conn, ended: make(chan struct{})}
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	if reads {
		go func() {
			defer close(r.ended)
			for {
				f, err := r.ReadFrame()
				var stream http2.StreamError
				if errors.As(err, &stream) {
					continue
				}
				if err != nil {
					return
				}
				if reset, ok := f.(*http2.RSTStreamFrame); ok && reset.ErrCode == http2.ErrCodeRefusedStream {
					r.refused.Add(1)
				}
			}
		}()
	}
	return r
}

// head is the block of headers of a request.
func head(method, key string) []byte {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for _, f := range [][2]string{{":method", method}, {":scheme", "https"}, {":authority", "x"}, {":path", "/v1/cyber/password-check"}, {"x-api-key", key}} {
		// Never indexed: each block stands for itself, whatever the server remembers.
		_ = enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1], Sensitive: true})
	}
	return block.Bytes()
}

// TestHTTP2Abuse: streams that are reset as soon as they are opened, headers without end, more streams than were
// agreed, and questions whose answers are not read. The server lives, does not take more than it said, and serves
// others during it and after.
func TestHTTP2Abuse(t *testing.T) {
	resets, streams, pings, flood := 5_000, 1_000, 20_000, 16<<20
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		resets, streams, pings, flood = 200_000, 10_000, 2_000_000, 256<<20
	}
	dir := t.TempDir()
	cert, certKey := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pool := writeCertificate(t, cert, certKey, newSigner(t), 1)
	a := open(t, common(t, sqldb.SQLite))
	srv := serve(t, a, func(s *config.Serve) { s.TLSCert, s.TLSKey = cert, certKey })
	_, cred, err := a.Partners.CreatePartner(
		context.Background(),
		"Banco",
		partner.Live,
		partner.Settings{RatePerSecond: 1_000_000, Burst: 1_000_000},
	)
	if err != nil {
		t.Fatal(err)
	}
	address := srv.APIAddr.String()
	healthy := func(when string) {
		t.Helper()
		client := &http.Client{
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true},
			Timeout:   time.Minute,
		}
		defer client.CloseIdleConnections()
		for range 20 {
			req, err := http.NewRequestWithContext(
				context.Background(),
				http.MethodGet,
				"https://"+address+"/v1/cyber/services",
				nil,
			)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("x-api-key", cred.APIKey)
			res, err := client.Do(req)
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			_, err = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if err != nil || res.StatusCode != http.StatusOK || res.ProtoMajor != 2 {
				t.Fatalf("%s: %s %s %v", when, res.Proto, res.Status, err)
			}
		}
	}
	healthy("before")
	runtime.GC()
	base := runtime.NumGoroutine()

	// The server may hang up on such a client at any time; then it comes back.
	block, connections := head(http.MethodGet, cred.APIKey), 0
	for sent := 0; sent < resets; {
		r := newRude(t, address, pool, true)
		connections++
		for id := uint32(1); sent < resets; id += 2 {
			err := r.WriteHeaders(
				http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndStream: true, EndHeaders: true},
			)
			if err == nil {
				err = r.WriteRSTStream(id, http2.ErrCodeCancel)
			}
			if err != nil {
				break
			}
			sent++
		}
		if sent == resets {
			healthy("during resets")
		}
		_ = r.conn.Close()
	}
	healthy("after resets")
	t.Logf("%d streams reset on %d connections", resets, connections)

	r := newRude(t, address, pool, true)
	var piece bytes.Buffer
	enc := hpack.NewEncoder(&piece)
	for piece.Len() < 16_000 {
		_ = enc.WriteField(hpack.HeaderField{Name: "x-more", Value: "and more", Sensitive: true})
	}
	sent := 0
	err = r.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndStream: true})
	for ; err == nil && sent < flood; sent += piece.Len() {
		err = r.WriteContinuation(1, false, piece.Bytes())
	}
	if err == nil {
		select {
		case <-r.ended:
		case <-time.After(time.Minute):
			t.Errorf("%d bytes of headers were taken, and more would be", sent)
		}
	}
	healthy("after endless headers")
	t.Logf("headers without end: cut off before %d bytes were sent", sent)

	r = newRude(t, address, pool, true)
	block = head(http.MethodPost, cred.APIKey)
	opened := 0
	for ; opened < streams; opened++ { // none of them ever sends its body
		if r.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*opened + 1), BlockFragment: block, EndHeaders: true}) != nil {
			break
		}
	}
	healthy("beside many streams")
	const agreed = 250
	deadline := time.Now().Add(time.Minute)
	for over := false; !over && r.refused.Load() < int64(opened-agreed); {
		select {
		case <-r.ended:
			over = true
		default:
			if over = time.Now().After(deadline); over {
				t.Errorf(
					"%d streams were opened and %d refused: more than %d are open",
					opened,
					r.refused.Load(),
					agreed,
				)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	t.Logf("%d streams at once, %d refused", opened, r.refused.Load())
	_ = r.conn.Close()

	r = newRude(t, address, pool, false)
	asked := 0
	for ; asked < pings; asked++ {
		if r.WritePing(false, [8]byte{}) != nil {
			break
		}
	}
	healthy("beside unread answers")
	t.Logf("%d pings went out", asked)
	_ = r.conn.Close()

	polltest.Watch(t, func() (string, bool) {
		return fmt.Sprintf("%d goroutines, %d before", runtime.NumGoroutine(), base), runtime.NumGoroutine() <= base+20
	})
	healthy("in the end")
}
