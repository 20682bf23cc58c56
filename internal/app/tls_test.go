package app_test

import (
	"bufio"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestTLS scans a listener the way a scanner does: it offers every version and every suite, one at a time. Only TLS 1.2
// and 1.3 are spoken, none of the suites that are known to be weak, and nothing without TLS.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	// An RSA key, because the weakest suites cannot even be asked for with another.
	signer, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pool := writeCertificate(t, cert, key, signer, 1)
	srv := serve(t, open(t, common(t, sqldb.SQLite)), func(s *config.Serve) { s.TLSCert, s.TLSKey = cert, key })
	for _, address := range []string{srv.APIAddr.String(), srv.ConsoleAddr.String()} {
		client := &http.Client{
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true},
		}
		res, err := client.Get("https://" + address + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != 200 || res.ProtoMajor != 2 {
			t.Error(res.Status, res.Proto)
		}
		client.CloseIdleConnections()
		spoken := func(version uint16, suites ...uint16) bool {
			conn, err := tls.Dial(
				"tcp",
				address,
				&tls.Config{RootCAs: pool, MinVersion: version, MaxVersion: version, CipherSuites: suites},
			)
			if err == nil {
				_ = conn.Close()
			}
			return err == nil
		}
		var everySuite []uint16
		for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
			everySuite = append(everySuite, s.ID)
		}
		for version, want := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
			if spoken(version, everySuite...) != want {
				t.Errorf("%s: %s is spoken: %v", address, tls.VersionName(version), !want)
			}
		}
		for _, s := range tls.InsecureCipherSuites() {
			if spoken(tls.VersionTLS12, s.ID) {
				t.Errorf("%s: %s is taken", address, s.Name)
			}
		}
		refusesSSL3(t, address)
		refusesPlain(t, address)
	}
}

// refusesSSL3 sends the greeting of SSL 3.0, which Go's own client cannot.
func refusesSSL3(t *testing.T, address string) {
	t.Helper()
	hello := append([]byte{3, 0}, make([]byte, 32)...) // version and random
	hello = append(hello, 0, 0, 4, 0, 0x2f, 0, 0x0a, 1, 0)
	body := append([]byte{1, 0, 0, byte(len(hello))}, hello...)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := conn.Write(append([]byte{22, 3, 0, 0, byte(len(body))}, body...)); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1)
	if n, _ := conn.Read(first); n == 1 && first[0] != 21 { // an alert, or the end
		t.Errorf("%s: SSL 3.0 is answered with a record of type %d", address, first[0])
	}
}

// refusesPlain sends a request without TLS.
func refusesPlain(t *testing.T, address string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return // hung up: as good
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("%s: a request without TLS is answered with %d", address, res.StatusCode)
	}
}

// TestCertificateRenewal replaces the files under a server in use, the certificate a while before its key: no handshake
// fails, and the new one is used without a restart.
func TestCertificateRenewal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pool := writeCertificate(t, cert, key, newSigner(t), 1)
	srv := serve(t, open(t, common(t, sqldb.SQLite)), func(s *config.Serve) { s.TLSCert, s.TLSKey = cert, key })
	nextCert, nextKey := filepath.Join(dir, "next.pem"), filepath.Join(dir, "next-key.pem")
	renewed := writeCertificate(t, nextCert, nextKey, newSigner(t), 2)

	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	defer stop()
	var wg sync.WaitGroup
	var handshakes, serial atomic.Int64
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil && serial.Load() != 2 {
				// Either chain is good; which one it was is looked at afterwards.
				config := &tls.Config{
					InsecureSkipVerify: true,
					VerifyConnection: func(state tls.ConnectionState) error {
						leaf := state.PeerCertificates[0]
						roots := map[int64]*x509.CertPool{1: pool, 2: renewed}[leaf.SerialNumber.Int64()]
						_, err := leaf.Verify(x509.VerifyOptions{Roots: roots})
						serial.Store(leaf.SerialNumber.Int64())
						return err
					},
				}
				conn, err := tls.Dial("tcp", srv.APIAddr.String(), config)
				if err != nil {
					t.Error("a handshake failed:", err)
					return
				}
				_ = conn.Close()
				handshakes.Add(1)
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	replace := func(from, to string) {
		time.Sleep(1500 * time.Millisecond) // longer than the server takes to look again: it meets the half-made state
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	replace(nextCert, cert)
	replace(nextKey, key)
	wg.Wait()
	if serial.Load() != 2 {
		t.Error("the renewed certificate is not used")
	}
	t.Logf("%d handshakes, none failed", handshakes.Load())
}

func newSigner(t *testing.T) crypto.Signer {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func writeCertificate(t *testing.T, certFile, keyFile string, key crypto.Signer, serial int64) *x509.CertPool {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(serial),
		Subject:               pkix.Name{CommonName: fmt.Sprint("vigia test ", serial)},
		NotAfter:              time.Now().Add(time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return pool
}

// TestConsoleOverTLS: under TLS browsers are told to stay with it.
func TestConsoleOverTLS(t *testing.T) {
	certFile, keyFile := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	pool := writeCertificate(t, certFile, keyFile, newSigner(t), 1)
	client := &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
	}
	a := open(t, common(t, sqldb.SQLite))
	srv := serve(t, a, func(c *config.Serve) { c.TLSCert, c.TLSKey = certFile, keyFile })
	res, err := client.Get("https://" + srv.ConsoleAddr.String() + "/login")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if hsts := res.Header.Get("strict-transport-security"); !strings.Contains(hsts, "max-age=63072000") {
		t.Error("no HSTS:", hsts)
	}
}
