package app_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/config"
)

// TestNothingIsReadBehindChunks: a proxy that goes by the length of a request which has both a length and chunked
// coding takes what follows the chunks for its body, and net/http would take it for a request. The connection ends
// instead.
func TestNothingIsReadBehindChunks(t *testing.T) {
	t.Parallel()
	s := serve(t, open(t, config.Common{Data: t.TempDir()}), nil)
	conn, err := net.Dial("tcp", s.APIAddr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	const smuggled = "GET /v1/cyber/services HTTP/1.1\r\nHost: vigia\r\n\r\n"
	request := "POST /v1/cyber/password-check HTTP/1.1\r\nHost: vigia\r\nContent-Length: 70\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	answers, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal("the connection stays open:", err)
	}
	if n := strings.Count(
		string(answers),
		"HTTP/1.1 ",
	); n != 1 ||
		!strings.Contains(string(answers), "Connection: close") {
		t.Errorf("%d answers: %s", n, answers)
	}
}
