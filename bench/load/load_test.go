package load

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The client reads answers with a length and in chunks, counts each, and ends at the first that is no 200.
func TestRun(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		switch {
		case r.URL.Path == "/bad":
			w.WriteHeader(http.StatusTeapot)
		case n%2 == 0: // too long for a length, so it comes in chunks
			_, _ = w.Write([]byte(strings.Repeat("a long answer\n", 2000)))
		default:
			_, _ = w.Write([]byte("a short one"))
		}
	}))
	defer server.Close()
	Conns, Length = 3, 50*time.Millisecond
	to := Server{Addresses: []string{server.Listener.Addr().String()}, Header: "x-a: b"}
	side := func(path string) (r Result, err error) {
		err = Try(func() { r = to.Load(t.Context(), func() (string, []byte) { return path, nil })() })
		return r, err
	}
	r, err := side("/")
	if err != nil || int64(r.Requests) != asked.Load() || r.P50 <= 0 || r.P95 < r.P50 || r.Rate() <= 0 {
		t.Errorf("%+v of %d, %v", r, asked.Load(), err)
	}
	if _, err := side("/bad"); err == nil || !strings.Contains(err.Error(), "418") {
		t.Errorf("a bad status: %v", err)
	}
}

// Sides take turns, and a ratio is taken round by round.
func TestTurns(t *testing.T) {
	order := ""
	side := func(name string, rates ...int) func() Result {
		return func() Result {
			n := strings.Count(order, name)
			order += name
			return Result{Requests: rates[n], Elapsed: time.Second}
		}
	}
	// The ratios are 0.5, 2 and 1.5: a bar of 1.5 is kept, one above it is not.
	for least, want := range map[float64]int{1.5: 0, 1.51: 1} {
		Rounds, missed, order = 3, 0, ""
		took := Compare(
			"turns",
			"a second",
			Side{Name: "b", Run: side("b", 20, 20, 20)},
			Side{Name: "a", Run: side("a", 10, 40, 30), Least: least},
		)
		if order != "bababa" || missed != want || took[1].Rates()[1] != 40 || Percentile([]int{3, 1, 2}, 95) != 3 {
			t.Errorf("least %v: order %s, %d missed, %+v", least, order, missed, took)
		}
	}
	missed = 0
	broken := errors.New("broken")
	cleaned := false
	err := Try(func() {
		defer func() { cleaned = true }()
		Parallel(4, func(i int) {
			if i == 2 {
				Check(broken)
			}
		})
		t.Error("it went on")
	})
	if !errors.Is(err, broken) || !cleaned {
		t.Errorf("%v, cleaned %v", err, cleaned)
	}
}

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.00456: "0.0046", 0.435: "0.435", 5: "5.00", 45.52: "45.5", 123.4: "123", 1234: "1,230", 1234567: "1,230,000",
	} {
		if got := Figure(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
