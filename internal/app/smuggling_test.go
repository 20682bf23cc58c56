package app_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/config"
)

// listServices is a request that needs no body; without a key it is refused as 403.
const listServices = "GET /v1/cyber/services HTTP/1.1\r\nHost: vigia\r\n\r\n"

// sendRaw writes bytes to a connection and returns its reader.
func sendRaw(t *testing.T, conn net.Conn, request string) *bufio.Reader {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(conn)
}

// readStatuses reads answers up to the end of the connection, or so many of them.
func readStatuses(t *testing.T, from *bufio.Reader, most int) (statuses []int) {
	t.Helper()
	for len(statuses) < most {
		answer, err := http.ReadResponse(from, nil)
		if err != nil {
			if _, peek := from.Peek(1); peek == nil {
				t.Error("no answer:", err)
			}
			return statuses
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		statuses = append(statuses, answer.StatusCode)
		if answer.Close != (answer.StatusCode == http.StatusBadRequest) {
			t.Errorf("an answer of %d ends the connection: %v", answer.StatusCode, answer.Close)
		}
	}
	return statuses
}

// TestLengthBesideChunksIsRefused: a proxy that goes by the length of a request which has both a length and chunked
// coding takes what follows the chunks for its body, and net/http would take it for a request. The request is refused,
// wherever it stands on the connection, and nothing behind it is read. A chunked request keeps its connection.
func TestLengthBesideChunksIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pool := writeCertificate(t, cert, key, newSigner(t), 1)
	plain := serve(t, open(t, config.Common{Data: t.TempDir()}), nil)
	secure := serve(t, open(t, config.Common{Data: t.TempDir()}), func(s *config.Serve) { s.TLSCert, s.TLSKey = cert, key })
	dials := map[string]func() (net.Conn, error){
		"plain": func() (net.Conn, error) { return net.Dial("tcp", plain.APIAddr.String()) },
		"TLS": func() (net.Conn, error) {
			return tls.Dial("tcp", secure.APIAddr.String(), &tls.Config{RootCAs: pool})
		},
	}
	const check = "POST /v1/cyber/password-check HTTP/1.1\r\nHost: vigia\r\n"
	const both = check + "Content-Length: 70\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + listServices
	const turned = check + "transfer-encoding:chunked\r\ncontent-length:70\r\n\r\n0\r\n\r\n" + listServices
	const chunks = check + "Transfer-Encoding: chunked\r\n\r\n5;a=b\r\n\r\n{}\n\r\n1\r\n \r\n0\r\nContent-Length: 3\r\n\r\n"
	const long = check + "Content-Length: 4\r\n\r\n{}\r\n"
	for name, dial := range dials {
		for sent, want := range map[string][]int{
			both:                   {400},
			turned:                 {400},
			chunks + long + chunks: {403, 403, 403},
			chunks + long + both:   {403, 403, 400},
			long + "\r\n" + both:   {403, 400},
			"OPTIONS * HTTP/1.1\r\nHost: vigia\r\n\r\n" + both: {404, 400},
		} {
			conn, err := dial()
			if err != nil {
				t.Fatal(err)
			}
			statuses := readStatuses(t, sendRaw(t, conn, sent), len(want))
			if len(statuses) != len(want) {
				t.Errorf("%s: %d answers, not %d, to %q", name, len(statuses), len(want), sent)
				continue
			}
			for i := range want {
				if statuses[i] != want[i] {
					t.Errorf("%s: the statuses are %v, not %v, to %q", name, statuses, want, sent)
				}
			}
		}
	}
}

// TestNothingIsReadBehindLengthAndChunks: the connection ends with the refusal.
func TestNothingIsReadBehindLengthAndChunks(t *testing.T) {
	t.Parallel()
	s := serve(t, open(t, config.Common{Data: t.TempDir()}), nil)
	conn, err := net.Dial("tcp", s.APIAddr.String())
	if err != nil {
		t.Fatal(err)
	}
	from := sendRaw(t, conn, "POST /v1/cyber/password-check HTTP/1.1\r\nHost: vigia\r\nContent-Length: 70\r\n"+
		"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"+listServices)
	answers, err := io.ReadAll(from)
	if err != nil {
		t.Fatal("the connection stays open:", err)
	}
	if text := string(answers); strings.Count(text, "HTTP/1.1 ") != 1 ||
		!strings.Contains(text, "X-Error-Detail: content-length: must not come together with Transfer-Encoding") {
		t.Errorf("the answers are %s", text)
	}
}
