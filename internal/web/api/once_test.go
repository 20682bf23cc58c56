package api

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// attempt is a request that is sent under an idempotency key.
type attempt struct {
	body, query string
	header      map[string]string
}

func (s *service) attempt(t testing.TB, rt route, key string, a attempt) answered {
	t.Helper()
	h := http.Header{"x-api-key": {s.Sandbox.APIKey}, "idempotency-key": {key}}
	for name, value := range a.header {
		h.Set(name, value)
	}
	return s.do(t, call{method: rt.method, path: sample(rt) + a.query, body: a.body, header: h, unchecked: true})
}

// TestEveryRefusalIsKept: on every route that takes a body every refusal of it is given again under the same key, and
// another body is refused, whether the first was good or bad. In the usual run a third of the routes is tried on
// PostgreSQL.
func TestEveryRefusalIsKept(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.unlimited(t, s.Sandbox)
		few := 1 // what keeps answers is the same for all routes, and on both engines
		if s.DB.EngineName() == sqldb.PostgreSQL {
			few = sized(3, 1)
		}
		for i, rt := range routes {
			if rt.body == noBody || rt.body != streamBody && i%few != 0 {
				continue
			}
			good, limit := sampleBody(rt), int(rt.body.maxBodyLength())
			large := good[:1] + strings.Repeat(" ", limit) + good[1:]
			if rt.body == streamBody {
				good = itemsOf(1, 3)
				large = "[" + strings.Repeat(`{},`, 10_000) + "{}]"
			}
			refused := map[int][]attempt{
				400: {
					{body: good[:len(good)-1]},
					{body: ""},
					{body: good + "x"},
					{body: `"a"`},
					{body: good, query: "?a=%zz"},
					{body: "no gzip", header: map[string]string{"content-encoding": "gzip"}},
				},
				413: {{body: large}},
				415: {
					{body: good, header: map[string]string{"content-type": "text/plain"}},
					{body: good, header: map[string]string{"content-encoding": "br"}},
				},
			}
			n := 0
			for status, list := range refused {
				for _, first := range list {
					n++
					key := fmt.Sprintf("%s %s %d", rt.method, rt.path, n)
					got := s.attempt(t, rt, key, first)
					if got.status != status || got.header.Get("idempotency-replayed") != "" {
						t.Fatalf("%s with %.80q: %d %s", rt.path, first, got.status, got.body)
					}
					again := s.attempt(t, rt, key, first)
					if again.status != status || again.body != got.body ||
						again.header.Get("idempotency-replayed") != "true" ||
						again.header.Get(detailHeader) != got.header.Get(detailHeader) {
						t.Errorf(
							"%s with %.80q, again: %d %s %v",
							rt.path,
							first,
							again.status,
							again.body,
							again.header,
						)
					}
					if other := s.attempt(t, rt, key, attempt{body: good + " "}); other.status != 422 {
						t.Errorf("%s with %.80q, then the right body: %d %s", rt.path, first, other.status, other.body)
					}
				}
			}
			key := "good first " + rt.path
			s.attempt(t, rt, key, attempt{body: good})
			for status, list := range refused {
				for _, second := range list {
					if other := s.attempt(t, rt, key, second); other.status != 422 {
						t.Errorf("%s, good and then one that is %d: %d %s", rt.path, status, other.status, other.body)
					}
				}
			}
			if again := s.attempt(
				t,
				rt,
				key,
				attempt{body: good},
			); again.header.Get("idempotency-replayed") != "true" &&
				again.header.Get("x-created-id") == "" {
				t.Errorf("%s: the good answer is gone: %d", rt.path, again.status)
			}
		}
	})
}

// TestPackedIsTheSameBody: a body that is sent packed, packed otherwise and unpacked is one body.
func TestPackedIsTheSameBody(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	packed := map[string]string{"content-encoding": "gzip"}
	for _, rt := range routes {
		if rt.body == noBody {
			continue
		}
		good, key := sampleBody(rt), "packed "+rt.path
		first := s.attempt(t, rt, key, attempt{body: gzipped(good, gzip.BestSpeed), header: packed})
		for _, again := range []attempt{{body: gzipped(good, gzip.BestCompression), header: packed}, {body: good}, {body: gzipped(good, gzip.NoCompression), header: packed}} {
			got := s.attempt(t, rt, key, again)
			if got.header.Get("x-created-id") != "" && got.status == 409 {
				continue // it is known by its body, and holds a secret
			}
			if got.status != first.status || got.body != first.body ||
				got.header.Get("idempotency-replayed") != "true" {
				t.Errorf("%s: %d %s", rt.path, got.status, got.body)
			}
		}
	}
}

func gzipped(text string, level int) string {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, level)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

// TestBodyThatDidNotArriveIsNotKept: what was cut off on its way was never a request, and the whole one under the same
// key is the first.
func TestBodyThatDidNotArriveIsNotKept(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	for _, rt := range routes {
		if rt.body == noBody {
			continue
		}
		key := "cut " + rt.path
		for _, cut := range []string{`{"brok`, sampleBody(rt)[:1] + "]]", ""} {
			conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			_, err = fmt.Fprintf(
				conn,
				"%s %s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nIdempotency-Key: %s\r\nContent-Length: 5000\r\n\r\n%s",
				rt.method,
				sample(rt),
				s.Sandbox.APIKey,
				key,
				cut,
			)
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, conn) // until the server is done with it
			_ = conn.Close()
		}
		if got := s.attempt(
			t,
			rt,
			key,
			attempt{body: sampleBody(rt)},
		); got.status == 422 || got.status == 409 ||
			got.header.Get("idempotency-replayed") != "" {
			t.Errorf("%s: %d %s %v", rt.path, got.status, got.body, got.header)
		}
	}
}
