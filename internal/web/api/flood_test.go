package api

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// counted is a listener that counts the bytes its newest connection has read: what a server really took from a client.
type counted struct {
	net.Listener
	newest *atomic.Pointer[atomic.Int64]
}

func (c counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	read := new(atomic.Int64)
	c.newest.Store(read)
	return countedConn{conn, read}, err
}

type countedConn struct {
	net.Conn
	read *atomic.Int64
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// heapGrowth runs work and returns by how much the heap grew at its highest. What it finds is what no collection has
// freed at that moment, so collections are made frequent: else it would measure how lazy the collector is.
func heapGrowth(work func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	defer runtime.GOMAXPROCS(
		runtime.GOMAXPROCS(min(4, runtime.GOMAXPROCS(0))),
	) // the collector's share grows with the processors
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	look := func() int64 { metrics.Read(sample); return int64(sample[0].Value.Uint64()) }
	runtime.GC()
	base := look()
	var peak int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				peak = max(peak, look())
				time.Sleep(200 * time.Microsecond)
			}
		}
	}()
	work()
	close(stop)
	<-stopped
	return peak - base
}

// maxGrowth is what one request may cost, whatever it sends.
const maxGrowth = 32 << 20

// TestEndlessBodies sends bodies without end, in chunks and with a length of 100 MB, to every route that takes one, in
// the usual run by turns: no more is read than the limit and what is thrown away, of a key that opens nothing only the
// latter.
func TestEndlessBodies(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	var newest atomic.Pointer[atomic.Int64]
	server := httptest.NewUnstartedServer(newHandler(t, s.Env))
	server.Listener = counted{server.Listener, &newest}
	server.Start()
	t.Cleanup(server.Close)
	// Past what a handler has read, net/http itself takes 256 KiB more before the answer and, from a body in chunks, as
	// much after it, so that a client that is nearly done can read its answer; the rest is buffers.
	const slack = 2*256<<10 + 64<<10
	var highest int64
	for i, rt := range routes {
		if rt.body == noBody {
			continue
		}
		limit := int(rt.body.maxBodyLength())
		for f, framing := range []string{"Transfer-Encoding: chunked", "Content-Length: 100000000"} {
			if rt.body != streamBody && (i+f)%sized(2, 1) != 0 {
				continue
			}
			for key, want := range map[string]int{s.Live.APIKey: http.StatusRequestEntityTooLarge, "nobody": rt.area.refused} {
				most := int64(limit + maxDiscarded + slack)
				if key == "nobody" {
					most = maxDiscarded + slack
				}
				if strings.HasPrefix(framing, "Transfer") {
					most += most / 64 // the lines around chunks
				}
				var status int
				var err error
				grown := heapGrowth(
					func() { status, err = flood(server.Listener.Addr().String(), rt, key, framing, 2*limit+(16<<20)) },
				)
				if highest = max(highest, grown); grown > maxGrowth {
					t.Errorf(
						"%s %s, %s: the heap grew by %d MB, at most %d are meant to be",
						rt.method,
						rt.path,
						framing,
						grown>>20,
						maxGrowth>>20,
					)
				}
				if err != nil || status != want {
					t.Errorf("%s %s, %s: %d %v, want %d", rt.method, rt.path, framing, status, err, want)
				}
				if got := newest.Load().Load(); got > most {
					t.Errorf(
						"%s %s, %s: %d bytes were read, at most %d are meant to be",
						rt.method,
						rt.path,
						framing,
						got,
						most,
					)
				}
			}
		}
	}
	t.Logf("the heap grew by %d KB at most", highest>>10)
}

// flood writes a body until the server answers or hangs up, or most bytes are gone, and returns the status.
func flood(address string, rt route, key, framing string, most int) (int, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(
		conn,
		"%s %s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\n%s\r\n\r\n",
		rt.method,
		sample(rt),
		key,
		framing,
	)
	if err != nil {
		return 0, err
	}
	go func() {
		piece := strings.Repeat(" ", 16<<10)
		if strings.HasPrefix(framing, "Transfer") {
			piece = fmt.Sprintf("%x\r\n%s\r\n", len(piece), piece)
		}
		for sent := 0; sent < most; sent += len(piece) {
			if _, err := conn.Write([]byte(piece)); err != nil {
				return // the server has hung up: its answer is what matters
			}
		}
	}()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// TestDeepBodies: nesting of a hundred thousand levels is refused by the bytes alone, whatever the route.
func TestDeepBodies(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	var highest int64
	for i, rt := range routes {
		levels := min(100_000, int(rt.body.maxBodyLength())/2-100)
		for k, c := range []string{"[]", "{}"} {
			opening := c[:1]
			if c == "{}" {
				opening = `{"a":`
				levels = min(100_000, int(rt.body.maxBodyLength())/8-100)
			}
			if rt.body == noBody || rt.body != streamBody && (i+k)%sized(2, 1) != 0 { // by turns in the usual run
				continue
			}
			text := strings.Repeat(opening, levels) + "1" + strings.Repeat(c[1:], levels)
			if rt.body == streamBody {
				text = "[" + text + "]"
			} else {
				text = `{"x":` + text + `}`
			}
			var got answered
			grown := heapGrowth(func() {
				got = s.do(
					t,
					call{
						method:    rt.method,
						path:      sample(rt),
						body:      text,
						header:    http.Header{"x-api-key": {s.Live.APIKey}},
						unchecked: true,
					},
				)
			})
			if highest = max(highest, grown); grown > maxGrowth {
				t.Errorf(
					"%s %s: %d levels of %s: the heap grew by %d MB, at most %d are meant to be",
					rt.method,
					rt.path,
					levels,
					c,
					grown>>20,
					maxGrowth>>20,
				)
			}
			if got.status != http.StatusBadRequest {
				t.Errorf("%s %s: %d levels of %s: %d", rt.method, rt.path, levels, c, got.status)
			}
		}
	}
	t.Logf("the heap grew by %d KB at most", highest>>10)
}

// TestEarlyRefusalsAreSeen: a client that sends its whole body before it reads anything, as Python's urllib does, reads
// why it was refused, although the refusal was certain before the body came.
func TestEarlyRefusalsAreSeen(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	handler := newHandler(t, s.Env)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	post := func(path, key, contentType string) (int, error) {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			return 0, err
		}
		defer func() { _ = conn.Close() }()
		const size = 6 << 20
		head := fmt.Sprintf(
			"POST %s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
			path,
			key,
			contentType,
			size,
		)
		if _, err := conn.Write([]byte(head)); err != nil {
			return 0, err
		}
		piece := []byte(strings.Repeat(" ", 64<<10))
		for range size / len(piece) {
			if _, err := conn.Write(piece); err != nil {
				return 0, err
			}
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return 0, err
		}
		return res.StatusCode, res.Body.Close()
	}
	const bulk, single, asJSON = "/v1/subscriptions", "/v1/cyber/monitoring", "application/json"
	for name, c := range map[string]struct {
		path, key, contentType string
		want                   int
	}{
		"a wrong key":     {bulk, "wrong", asJSON, http.StatusUnauthorized},
		"another type":    {bulk, s.Live.APIKey, "text/plain", http.StatusUnsupportedMediaType},
		"too large":       {single, s.Live.APIKey, asJSON, http.StatusRequestEntityTooLarge},
		"an unknown path": {"/v1/cyber/nada", s.Live.APIKey, asJSON, http.StatusNotFound},
	} {
		if status, err := post(c.path, c.key, c.contentType); status != c.want || err != nil {
			t.Errorf("%s: %d, %v", name, status, err)
		}
	}
	for handler.limits.takeToken(callerOf(s.Live.ID), handler.Now()).wait == 0 { // until its rate is used up
	}
	if status, err := post(bulk, s.Live.APIKey, asJSON); status != http.StatusTooManyRequests || err != nil {
		t.Errorf("too many requests: %d, %v", status, err)
	}
}
