package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// lines is a writer that a test can wait on.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// startDemo runs the demo until the test ends and returns what it printed.
func startDemo(t *testing.T, data string, args ...string) (printed string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var out, errs lines
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, append([]string{"demo", "--data", data, "--listen", "127.0.0.1:0", "--console-listen", "127.0.0.1:0", "--receiver-listen", "127.0.0.1:0"}, args...), &out, &errs)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if code := <-done; code != 0 {
			t.Errorf("the demo ended with %d: %s", code, errs.String())
		}
	})
	t.Cleanup(stop)
	deadline := time.Now().Add(3 * time.Minute)
	for !strings.Contains(out.String(), "Stop with Ctrl-C") {
		if time.Now().After(deadline) {
			t.Fatalf("the demo did not come up:\n%s\n%s", out.String(), errs.String())
		}
		select {
		case code := <-done:
			done <- code
			t.Fatalf("the demo ended with %d: %s", code, errs.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return out.String(), stop
}

// TestDemoTour pastes every printed line into a shell and compares the answer with what stands under it.
func TestDemoTour(t *testing.T) {
	data := filepath.Join(t.TempDir(), "demo")
	printed, stop := startDemo(t, data)
	rows := strings.Split(printed, "\n")
	pasted := 0
	for i, row := range rows {
		if !strings.HasPrefix(row, "curl ") {
			continue
		}
		want := strings.TrimSpace(strings.TrimPrefix(rows[i+1], "#"))
		got, err := exec.CommandContext(context.Background(), "bash", "-c", row).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s\n%s", err, got, row)
		}
		if !strings.HasPrefix(string(got), want) || want == "" {
			t.Errorf("%s\n%s\n got %s\nwant %s...", rows[i-1], row, got, want)
		}
		pasted++
	}
	if pasted < 14 {
		t.Errorf("%d lines to paste; each of the 14 operations has one", pasted)
	}
	alerts := regexp.MustCompile(`Alerts +(http://\S+)`).FindStringSubmatch(printed)
	if alerts == nil {
		t.Fatal("no alerts page in the tour")
	}
	deadline := time.Now().Add(2 * time.Minute)
	for !strings.Contains(page(t, alerts[1]), "monitoring.leak_detected") {
		if time.Now().After(deadline) {
			t.Fatal("no signed alert arrived")
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()

	key := regexp.MustCompile(`API key +(\S+)`)
	first := key.FindStringSubmatch(printed)[1]
	again, stop := startDemo(t, data)
	if got := key.FindStringSubmatch(again)[1]; got != first {
		t.Error("the second start has another partner")
	}
	stop()
	fresh, _ := startDemo(t, data, "--fresh")
	if got := key.FindStringSubmatch(fresh)[1]; got == first {
		t.Error("--fresh kept the partner")
	}
}

func page(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestFreshLeavesOthersAlone: --fresh removes a demo and nothing else.
func TestFreshLeavesOthersAlone(t *testing.T) {
	data := t.TempDir()
	code, _, errs := vigia(t, "demo", "--data", data, "--fresh", "--listen", "127.0.0.1:0", "--console-listen", "127.0.0.1:0", "--receiver-listen", "127.0.0.1:0")
	if code == 0 || !strings.Contains(errs, "left alone") {
		t.Error(code, errs)
	}
}

// TestFreeAddress: the demo starts beside whatever has its usual ports; an address that somebody asked for is not replaced.
func TestFreeAddress(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	taken := l.Addr().String()
	if got := free(t.Context(), taken, taken); got != "127.0.0.1:0" {
		t.Error(got)
	}
	if got := free(t.Context(), taken, "127.0.0.1:1"); got != taken {
		t.Error(got)
	}
	_ = l.Close()
	if got := free(t.Context(), taken, taken); got != taken {
		t.Error(got)
	}
}
