package app_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// targetCase is what is sent, in pieces, and what the last answer must be.
type targetCase struct {
	pieces []string
	// before is how many good answers come first.
	before int
	status int
	body   string
	id     string
}

// targetCases are requests whose target net/http does not parse, alone and behind others on one connection.
func targetCases(key string) map[string]targetCase {
	const (
		host      = "Host: x\r\n"
		cyber     = `{"statusCode":400,"message":"Request Inválida. Dados de entrada inválidos."}`
		enrolment = `{"message":"Request Inválida. Dados de entrada inválidos."}`
	)
	auth := host + "X-Api-Key: " + key + "\r\n"
	good := "GET /v1/cyber/services HTTP/1.1\r\n" + auth + "\r\n"
	check := `{"passwordHashPrefix":"5BAA61E4C9"}`
	post := fmt.Sprintf(
		"POST /v1/cyber/password-check HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s",
		auth,
		len(check),
		check,
	)
	bad := func(target string) string { return "GET " + target + " HTTP/1.1\r\n" + auth + "\r\n" }
	return map[string]targetCase{
		"a score":       {pieces: []string{bad("/v1/cyber/score/%zz")}, status: 400, body: cyber},
		"no version":    {pieces: []string{bad("/cyber/score/%")}, status: 400, body: cyber},
		"events":        {pieces: []string{bad("/v1/events/%2")}, status: 400, body: cyber},
		"subscriptions": {pieces: []string{bad("/v1/subscriptions/p/%zz?page=1")}, status: 400, body: enrolment},
		"a space":       {pieces: []string{bad("/v1/cyber/score/a b")}, status: 400, body: cyber},
		"a control":     {pieces: []string{bad("/v1/cyber/score/a\x7f")}, status: 400, body: cyber},
		"another method": {
			pieces: []string{"DELETE /v1/cyber/monitoring/a/%zz HTTP/1.1\r\n" + auth + "Content-Length: 2\r\n\r\n{}"},
			status: 400,
			body:   cyber,
		},
		"nobody's path": {pieces: []string{bad("/elsewhere/%zz")}, status: 400, body: cyber},
		"no key": {
			pieces: []string{"GET /v1/cyber/score/%zz HTTP/1.1\r\n" + host + "\r\n"},
			status: 403,
			body:   `{"statusCode":403,"message":"Request Proibida."}`,
		},
		"no key, enrolment": {
			pieces: []string{"GET /subscriptions/%zz HTTP/1.1\r\n" + host + "\r\n"},
			status: 401,
			body:   `{"message":"Não autorizado"}`,
		},
		"its own id": {
			pieces: []string{"GET /v1/cyber/score/%zz HTTP/1.1\r\n" + auth + "X-Request-Id: meu-id-1\r\n\r\n"},
			status: 400,
			body:   cyber,
			id:     "meu-id-1",
		},
		"headers in pieces": {
			pieces: []string{
				"GET /v1/cyber/score/%zz HTTP/1.1\r\nHo",
				"st: x\r\nX-Api-",
				"Key: " + key + "\r\n",
				"\r\n",
			},
			status: 400,
			body:   cyber,
		},
		"a line in pieces": {
			pieces: []string{"GE", "T /v1/cyber/sco", "re/%z", "z HTTP/1.1\r\n" + auth + "\r\n"},
			status: 400,
			body:   cyber,
		},
		"after a good one": {pieces: []string{good, bad("/v1/cyber/score/%zz")}, before: 1, status: 400, body: cyber},
		"after a body": {
			pieces: []string{post, good, post, bad("/v1/subscriptions/%zz")},
			before: 3,
			status: 400,
			body:   enrolment,
		},
		"pipelined": {
			pieces: []string{good + post + bad("/v1/subscriptions/%zz")},
			before: 2,
			status: 400,
			body:   enrolment,
		},
		"no HTTP": {pieces: []string{"hello\r\n\r\n"}, status: 400, body: "400 Bad Request"},
		"a malformed header": {
			pieces: []string{"GET /v1/cyber/services HTTP/1.1\r\n" + auth + "a b c\r\n\r\n"},
			status: 400,
			body:   "400 Bad Request",
		},
	}
}

// TestUnparsedTarget: a target that is no address is refused in shape, with a request id, after the credentials;
// whatever else net/http refuses by itself, and every other answer on the connection, is as it was.
func TestUnparsedTarget(t *testing.T) {
	dir := t.TempDir()
	cert, certKey := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pool := writeCertificate(t, cert, certKey, newSigner(t), 1)
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			a := open(t, common(t, sqldb.SQLite))
			srv := serve(t, a, func(s *config.Serve) {
				if secure {
					s.TLSCert, s.TLSKey = cert, certKey
				}
			})
			_, cred, err := a.Partners.CreatePartner(context.Background(), "Banco", partner.Sandbox, partner.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			dial := func() (net.Conn, error) { return net.Dial("tcp", srv.APIAddr.String()) }
			if secure {
				dial = func() (net.Conn, error) {
					return tls.Dial(
						"tcp",
						srv.APIAddr.String(),
						&tls.Config{RootCAs: pool, NextProtos: []string{"http/1.1"}},
					)
				}
			}
			for name, c := range targetCases(cred.APIKey) {
				conn, err := dial()
				if err != nil {
					t.Fatal(err)
				}
				if err := c.judge(conn); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				_ = conn.Close()
			}
		})
	}
}

// judge sends the pieces and reads the answers. A piece that ends a request waits for its answer, as clients do.
func (c targetCase) judge(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	in, got := bufio.NewReader(conn), 0
	for i, piece := range c.pieces {
		if _, err := io.WriteString(conn, piece); err != nil {
			return err
		}
		if c.before < len(c.pieces) && i < c.before {
			if err := readGood(in); err != nil {
				return fmt.Errorf("answer %d: %w", i+1, err)
			}
			got++
		}
	}
	for ; got < c.before; got++ {
		if err := readGood(in); err != nil {
			return err
		}
	}
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != c.status || string(body) != c.body || !res.Close {
		return fmt.Errorf("%d %s, close %v", res.StatusCode, body, res.Close)
	}
	if _, err := in.ReadByte(); err == nil {
		return fmt.Errorf("more after the last answer")
	}
	if !strings.HasPrefix(c.body, "{") {
		return nil
	}
	id, detail := res.Header.Get("x-request-id"), res.Header.Get("x-error-detail")
	if id == "" || c.id != "" && id != c.id || (c.status == 400) != strings.HasPrefix(detail, "path: ") ||
		res.Header.Get("Date") == "" ||
		!strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		return fmt.Errorf("%v", res.Header)
	}
	return nil
}

func readGood(in *bufio.Reader) error {
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	_, err = io.Copy(io.Discard, res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", res.Status)
	}
	return err
}
