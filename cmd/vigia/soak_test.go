package main

import (
	"crypto/sha1"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// vitals is what a process that leaks has more of every minute.
type vitals struct {
	at              time.Duration
	goroutines, fds int64
	rss             float64 // MB
}

// TestSoak loads a real server with a mixture of everything for as long as SOAK says (`make soak`), and looks at it
// once in a while: goroutines and file descriptors stay where they were, and memory has no slope. Without SOAK it does
// not run: a minute of it shows nothing.
func TestSoak(t *testing.T) {
	text := os.Getenv("SOAK")
	if text == "" {
		return
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal("SOAK:", err)
	}
	folder := filepath.Join(t.TempDir(), "data")
	key := crashPartner(t, folder, "")
	hashes := filepath.Join(t.TempDir(), "hashes.txt")
	if err := os.WriteFile(hashes, fmt.Appendf(nil, "%X:5000\n", sha1.Sum([]byte("password"))), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := vigia(t, "passwords", "import", "--data", folder, "--algorithm", "sha1", hashes); code != 0 {
		t.Fatal(errs)
	}
	s := newServer(t, binary(t, ""), folder, "")
	s.args[slices.Index(s.args, "--roles")+1] = "api,worker,console"
	s.args = append(s.args, "--metrics-token", soakToken)
	s.start(t)
	t.Cleanup(s.kill)

	var stop atomic.Bool
	var requests, failed, people atomic.Int64
	var load sync.WaitGroup
	for n := range 4 {
		load.Go(func() {
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: time.Minute}
			for i := n; !stop.Load(); i++ {
				method, path, body, want := soakRequest(i, &people)
				got := ask(client, method, "http://"+s.address+path, key, body)
				requests.Add(1)
				if got.err != nil || got.status != want {
					if failed.Add(1) < 10 {
						t.Errorf("%s %s: %d %v %.200s", method, path, got.status, got.err, got.body)
					}
				}
				if i%50 == 0 {
					client.CloseIdleConnections()
				}
				time.Sleep(5 * time.Millisecond) // some 500 a second: a load, not a race
			}
		})
	}
	start := time.Now()
	var looks []vitals
	for every := length / 60; time.Since(start) < length; time.Sleep(every) {
		looks = append(looks, look(t, s, start))
	}
	stop.Store(true)
	load.Wait()
	// The first third is warming up. What fills are SQLite's page caches, 16 MB for each of 9 connections at most: in a
	// run of half an hour memory went from 78 to 114 MB in 11 minutes and stayed there, while the heap stood at 13 MB
	// from the first minute.
	steady := looks[len(looks)/3:]
	half := len(steady) / 2
	goroutines := func(v vitals) float64 { return float64(v.goroutines) }
	files := func(v vitals) float64 { return float64(v.fds) }
	first, second := steady[:half], steady[half:]
	slope := slopePerMinute(steady)
	t.Logf(
		"%d requests in %v, %d failed; goroutines %.0f then %.0f, files %.0f then %.0f, memory %.0f MB then %.0f MB, "+
			"slope %.2f MB a minute",
		requests.Load(),
		length,
		failed.Load(),
		median(first, goroutines),
		median(second, goroutines),
		median(first, files),
		median(second, files),
		steady[0].rss,
		steady[len(steady)-1].rss,
		slope,
	)
	for what, of := range map[string]func(vitals) float64{"goroutines": goroutines, "files": files} {
		before, after := median(first, of), median(second, of)
		if after > before*1.05+3 { // a few come and go with connections
			t.Errorf("%s: %.0f, then %.0f", what, before, after)
		}
	}
	// So a shorter run shows the caches' slope, and only tells it.
	if length >= 30*time.Minute && slope >= 0.5 {
		t.Errorf("memory grows by %.2f MB a minute", slope)
	}
}

// soakRequest is the i-th request of a mixture: mostly reads, some writes, some that are wrong.
func soakRequest(i int, people *atomic.Int64) (method, path, body string, want int) {
	switch i % 10 {
	case 0:
		return http.MethodPost, "/v1/subscriptions", "[" + strings.TrimSpace(fmt.Sprintf(itemJSON, madeUpCPF(people.Add(1)))) + "]", http.StatusOK
	case 1, 2:
		return http.MethodPost, "/v1/cyber/password-check", `{"passwordHashPrefix":"5BAA61E4C9"}`, http.StatusOK
	case 3:
		return http.MethodGet, "/v1/subscriptions?page_size=20", "", http.StatusOK
	case 4:
		return http.MethodGet, "/v1/subscriptions/ouro/" + madeUpCPF(900_000+int64(i)), "", http.StatusNotFound
	case 5:
		return http.MethodPost, "/v1/cyber/password-check", `{"passwordHashPrefix":`, http.StatusBadRequest
	case 6:
		return http.MethodGet, "/v1/events", "", http.StatusOK
	case 7:
		return http.MethodGet, "/openapi.yaml", "", http.StatusOK
	}
	return http.MethodGet, "/v1/cyber/services", "", http.StatusOK
}

const soakToken = "made-up token of some length"

func look(t *testing.T, s *server, start time.Time) vitals {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.console+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+soakToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, told := strings.Cut(string(text), "\ngo_goroutines ")
	line, _, _ := strings.Cut(rest, "\n")
	goroutines, err := strconv.ParseInt(line, 10, 64)
	if !told || err != nil {
		t.Fatal("the metrics do not tell the goroutines:", err)
	}
	return vitals{time.Since(start), goroutines, int64(len(files)), float64(rss(t, s.cmd.Process.Pid)) / (1 << 20)}
}

func median(looks []vitals, of func(vitals) float64) float64 {
	values := make([]float64, len(looks))
	for i, v := range looks {
		values[i] = of(v)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// slopePerMinute is that of the line closest to all looks.
func slopePerMinute(looks []vitals) float64 {
	var x, y, xx, xy float64
	for _, v := range looks {
		m := v.at.Minutes()
		x, y, xx, xy = x+m, y+v.rss, xx+m*m, xy+m*v.rss
	}
	n := float64(len(looks))
	return (n*xy - x*y) / (n*xx - x*x)
}
