package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// slowClient is one that takes its time: with its headers, with its body, or with reading what it has asked for.
type slowClient struct {
	kind string
	// opening is sent at once, then drip again and again; a reader drips nothing and reads a byte instead.
	opening, drip string
}

const dripEvery = 2 * time.Second

func slowKinds(key string) []slowClient {
	return []slowClient{
		{"header", "GET /v1/cyber/services HTTP/1.1\r\nHost: x\r\n", "X-Slow: 1\r\n"},
		{
			"body",
			"POST /v1/cyber/password-check HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + key + "\r\nContent-Length: 10000\r\n\r\n",
			" ",
		},
		// The contract is 100 KB: ten of them do not fit into the buffers on the way.
		{"reader", strings.Repeat("GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n", 10), ""},
	}
}

// small makes a socket with small buffers and packets, so that a client that does not read is felt by the server at
// once and not only by the kernel's memory.
func small(_, _ string, raw syscall.RawConn) error {
	var err error
	cerr := raw.Control(func(fd uintptr) {
		err = errors.Join(syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096),
			syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 536))
	})
	return errors.Join(err, cerr)
}

// run is slow until the server ends the connection or ctx does, and tells whether it was the server.
func (c slowClient) run(ctx context.Context, conn net.Conn) bool {
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, c.opening); err != nil {
		return true
	}
	buffer := make([]byte, 512)
	for ctx.Err() == nil {
		_ = conn.SetReadDeadline(time.Now().Add(dripEvery))
		drop := c.drip
		if drop == "" { // that a server gave up on a reader shows in a write, which it answers with a reset
			buffer, drop = buffer[:1], "G"
			time.Sleep(dripEvery)
		}
		_, err := conn.Read(buffer) // an answer, the end, or the time for the next drop
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return true
		}
		_ = conn.SetWriteDeadline(time.Now().Add(dripEvery))
		if _, err := io.WriteString(conn, drop); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return true
		}
	}
	return false
}

// rss is the memory of a process in bytes.
func rss(t *testing.T, pid int) int64 {
	t.Helper()
	return procStatus(t, pid, "VmRSS:") << 10
}

func procStatus(t *testing.T, pid int, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(text, []byte(name))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		t.Fatalf("no %s in the status of a process", name)
	}
	n, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// latencies are those of requests that went well; the others are counted.
type latencies struct {
	mu     sync.Mutex
	took   []time.Duration
	failed int
	first  string
}

func (l *latencies) add(took time.Duration, got outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if got.err != nil || got.status != http.StatusOK {
		if l.failed++; l.failed == 1 {
			l.first = fmt.Sprintf("%d %v %.200s", got.status, got.err, got.body)
		}
		return
	}
	l.took = append(l.took, took)
}

// at is the quantile q of what was measured.
func (l *latencies) at(q float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.took) == 0 {
		return 0
	}
	slices.Sort(l.took)
	return l.took[int(q*float64(len(l.took)-1))].Round(10 * time.Microsecond)
}

// politePause is how long one of healthy's clients waits between its requests: what is asked all the time that slow
// clients are held would otherwise take more of the machine than they do.
func politePause() time.Duration {
	if long() {
		return 20 * time.Millisecond
	}
	return 100 * time.Millisecond
}

// healthy asks politely, four at a time, until stop says so.
func healthy(url, key string, stop func() bool) *latencies {
	var l latencies
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: time.Minute}
			defer client.CloseIdleConnections()
			for n := 0; !stop(); n++ {
				if n%10 == 9 {
					client.CloseIdleConnections() // some on a new connection, as a new client would
				}
				start := time.Now()
				got := ask(client, http.MethodGet, url, key, "")
				l.add(time.Since(start), got)
				time.Sleep(politePause())
			}
		})
	}
	wg.Wait()
	return &l
}

// TestManySlowClients: clients that drip their headers or their body, or do not read their answer, all stay connected
// for as long as the server lets them. Meanwhile every other request is served, and in the end all of them are let go.
// The server is the real program with its real limits, so this takes as long as the longest of them: it runs beside
// other tests.
func TestManySlowClients(t *testing.T) {
	t.Parallel()
	clients, most := 999, int64(150<<20)
	if long() {
		clients, most = 9_999, 300<<20
	}
	folder := filepath.Join(t.TempDir(), "data")
	key := crashPartner(t, folder, "")
	s := newServer(t, binary(t, ""), folder, "")
	s.start(t)
	t.Cleanup(s.kill)
	before := rss(t, s.cmd.Process.Pid)

	ctx, giveUp := context.WithTimeout(context.Background(), 5*time.Minute)
	defer giveUp()
	kinds := slowKinds(key)
	var wg sync.WaitGroup
	var connected, ended atomic.Int64
	longest := make([]atomic.Int64, len(kinds))
	dials := make(chan struct{}, 64)
	for n := range clients {
		wg.Go(func() {
			dials <- struct{}{}
			kind := n % len(kinds)
			dialer := net.Dialer{Timeout: time.Minute}
			if kinds[kind].drip == "" {
				dialer.Control = small
			}
			conn, err := dialer.DialContext(ctx, "tcp", s.address)
			<-dials
			if err != nil {
				t.Error(err)
				return
			}
			connected.Add(1)
			start := time.Now()
			if kinds[kind].run(ctx, conn) {
				ended.Add(1)
			} else {
				t.Errorf("a %s client was never let go", kinds[kind].kind)
			}
			for took, old := int64(time.Since(start)), longest[kind].Load(); took > old && !longest[kind].CompareAndSwap(old, took); {
				old = longest[kind].Load()
			}
		})
	}
	all := make(chan struct{})
	go func() { wg.Wait(); close(all) }()
	var peak atomic.Int64
	served := healthy("http://"+s.address+"/v1/cyber/services", key, func() bool {
		peak.Store(max(peak.Load(), rss(t, s.cmd.Process.Pid)))
		select {
		case <-all:
			return true
		default:
			return false
		}
	})
	if ended.Load() != int64(clients) {
		t.Errorf("%d slow clients, %d connected, %d let go", clients, connected.Load(), ended.Load())
	}
	if served.failed > 0 || len(served.took) == 0 {
		t.Errorf("of the other requests %d went well and %d did not: %s", len(served.took), served.failed, served.first)
	}
	if peak.Load() > most {
		t.Errorf("%d MB of memory, at most %d MB are meant to be", peak.Load()>>20, most>>20)
	}
	t.Logf("%d slow clients let go; longest: header %v, body %v, reader %v; %d other requests, p50 %v, p99 %v; memory %d MB, before %d MB",
		ended.Load(), time.Duration(longest[0].Load()).Round(time.Second), time.Duration(longest[1].Load()).Round(time.Second),
		time.Duration(longest[2].Load()).Round(time.Second), len(served.took), served.at(0.5), served.at(0.99), peak.Load()>>20, before>>20)
}
