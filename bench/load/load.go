// Package load is the driver of the programs that measure: sides that take turns in rounds, and a client whose
// keep-alive connections send prepared bytes and read answers with as little work as possible, so that what is measured
// is the server. Errors end the program, so that its lines say what is measured and nothing else.
package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Result is what a round saw.
type Result struct {
	Requests       int // or whatever was counted
	Elapsed, Spent time.Duration
	P50, P95       time.Duration
}

// Rate is requests a second.
func (r Result) Rate() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// Each is the processor time of one request.
func (r Result) Each() time.Duration { return r.Spent / time.Duration(max(1, r.Requests)) }

// Plus is both together.
func (r Result) Plus(other Result) Result {
	return Result{Requests: r.Requests + other.Requests, Elapsed: r.Elapsed + other.Elapsed, Spent: r.Spent + other.Spent}
}

// Time measures work that counts as n requests.
func Time(n int, work func()) Result {
	spent, start := Spent(), time.Now()
	work()
	return Result{Requests: n, Elapsed: time.Since(start), Spent: Spent() - spent}
}

// Rounds is what a side saw, round by round.
type Rounds []Result

// Turns lets the sides take turns. The speed of a shared machine changes within seconds: rounds that follow each other
// meet nearly the same, so the ratio of two sides is taken round by round.
func Turns(rounds int, sides ...func() Result) []Rounds {
	list := make([]Rounds, len(sides))
	for range rounds {
		for i, side := range sides {
			list[i] = append(list[i], side())
		}
	}
	return list
}

// Best is the round with the highest rate.
func (r Rounds) Best() (best Result) {
	for _, one := range r {
		if best.Requests == 0 || one.Rate() > best.Rate() {
			best = one
		}
	}
	return best
}

// Cheapest is the least processor time of a request in any round.
func (r Rounds) Cheapest() time.Duration {
	least := r[0].Each()
	for _, one := range r {
		least = min(least, one.Each())
	}
	return least
}

// Rates of all rounds.
func (r Rounds) Rates() []float64 { return column(r, Result.Rate) }

// Elapsed of all rounds.
func (r Rounds) Elapsed() []time.Duration {
	return column(r, func(one Result) time.Duration { return one.Elapsed })
}

func column[T any](r Rounds, of func(Result) T) (list []T) {
	for _, one := range r {
		list = append(list, of(one))
	}
	return list
}

// Ratios are what a reached of b, round by round.
func Ratios(a, b Rounds) (list []float64) {
	for i := range a {
		list = append(list, a[i].Rate()/b[i].Rate())
	}
	return list
}

// Request prepares the bytes of a request. header is one line, like "x-api-key: abc", or empty.
func Request(method, host, path, header string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, host)
	if header != "" {
		b.WriteString(header + "\r\n")
	}
	if body != nil {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

// Run sends what next returns over conns connections for d, each its next request when it has its answer. Any status but
// 200 is a failure.
func Run(ctx context.Context, address string, conns int, d time.Duration, next func() []byte) (total Result) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	took := make([][]time.Duration, conns)
	total = Time(0, func() {
		Parallel(conns, func(c int) {
			conn := Must((&net.Dialer{}).DialContext(ctx, "tcp", address))
			defer func() { _ = conn.Close() }()
			Check(conn.SetDeadline(time.Now().Add(d + time.Minute))) // a server that hangs ends the run
			for r := bufio.NewReaderSize(conn, 64<<10); ctx.Err() == nil; {
				begin := time.Now()
				Must(conn.Write(next()))
				Check(answer(r))
				took[c] = append(took[c], time.Since(begin))
			}
		})
	})
	var times []time.Duration
	for _, list := range took {
		times = append(times, list...)
	}
	if total.Requests = len(times); total.Requests == 0 {
		Fail("no answer arrived")
	}
	total.P50, total.P95 = Median(times), Percentile(times, 95)
	return total
}

// answer reads one response, with a Content-Length or in chunks.
func answer(r *bufio.Reader) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
		return fmt.Errorf("answered %q", line)
	}
	length, chunked := int64(-1), false
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			chunked = true
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err != nil {
				return err
			}
		}
	}
	if !chunked && length < 0 {
		return errors.New("an answer without Content-Length")
	}
	for chunked && length != 0 {
		line, err := r.ReadSlice('\n')
		if err == nil {
			length, err = strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 64)
		}
		if err == nil {
			_, err = io.CopyN(io.Discard, r, length+2) // and the line end behind it
		}
		if err != nil {
			return err
		}
	}
	_, err = io.CopyN(io.Discard, r, length)
	return err
}

// Ask sends one request and returns the body of a 200. header is one line, or empty.
func Ask(method, address, path, header string, body []byte) []byte {
	req := Must(http.NewRequest(method, "http://"+address+path, bytes.NewReader(body)))
	if name, value, ok := strings.Cut(header, ": "); ok {
		req.Header.Set(name, value)
	}
	req.Header.Set("content-type", "application/json")
	res := Must(http.DefaultClient.Do(req)) //nolint:bodyclose // closed below, behind Must
	defer func() { _ = res.Body.Close() }()
	text := Must(io.ReadAll(res.Body))
	if res.StatusCode != http.StatusOK || bytes.Contains(text, []byte(`"result":"failure"`)) {
		Fail("%s %s answered %d %.300s", method, path, res.StatusCode, text)
	}
	return text
}
