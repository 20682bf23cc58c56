// Package load is the client of the side-by-side benchmarks: keep-alive connections that send prepared bytes and read
// answers with as little work as possible, so that what is measured is the server.
package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"
)

// Request prepares the bytes of a request.
func Request(method, host, path, apiKey string, body []byte) []byte {
	if apiKey != "" {
		apiKey = "X-Api-Key: " + apiKey
	}
	return RequestWith(method, host, path, apiKey, body)
}

// RequestWith prepares the bytes of a request with a header line of the caller's, or none.
func RequestWith(method, host, path, header string, body []byte) []byte {
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

// Result is what a run saw.
type Result struct {
	Requests int
	Elapsed  time.Duration
	P50, P95 time.Duration
	Bytes    int64
}

// Rate is requests a second.
func (r Result) Rate() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// Run sends what next returns over conns connections for d. Any status but 200 ends the run with an error.
func Run(ctx context.Context, address string, conns int, d time.Duration, next func(i int) []byte) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var (
		mu    sync.Mutex
		times []time.Duration
		total Result
		errs  []error
		wg    sync.WaitGroup
	)
	start := time.Now()
	for c := range conns {
		wg.Go(func() {
			took, n, err := connection(ctx, address, c, conns, next)
			mu.Lock()
			defer mu.Unlock()
			times = append(times, took...)
			total.Bytes += n
			if err != nil {
				errs = append(errs, err)
			}
		})
	}
	wg.Wait()
	total.Elapsed = time.Since(start)
	total.Requests = len(times)
	if len(errs) > 0 {
		return total, errs[0]
	}
	if len(times) == 0 {
		return total, errors.New("no answer arrived")
	}
	sort.Slice(times, func(i, j int) bool { return times[i] < times[j] })
	total.P50, total.P95 = times[len(times)/2], times[len(times)*95/100]
	return total, nil
}

func connection(ctx context.Context, address string, first, step int, next func(int) []byte) ([]time.Duration, int64, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = conn.Close() }()
	r := bufio.NewReaderSize(conn, 64<<10)
	var took []time.Duration
	var read int64
	for i := first; ctx.Err() == nil; i += step {
		begin := time.Now()
		if _, err := conn.Write(next(i)); err != nil {
			return took, read, err
		}
		n, err := answer(r)
		if err != nil {
			return took, read, err
		}
		read += n
		took = append(took, time.Since(begin))
	}
	return took, read, nil
}

// answer reads one response, with a Content-Length or in chunks.
func answer(r *bufio.Reader) (int64, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
		return 0, fmt.Errorf("answered %q", line)
	}
	length, chunked := int64(-1), false
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, err
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
				return 0, err
			}
		}
	}
	if chunked {
		return chunks(r)
	}
	if length < 0 {
		return 0, errors.New("an answer without Content-Length")
	}
	return io.CopyN(io.Discard, r, length)
}

func chunks(r *bufio.Reader) (total int64, err error) {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return total, err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 64)
		if err != nil {
			return total, err
		}
		n, err := io.CopyN(io.Discard, r, size+2) // and the line end behind it
		if err != nil {
			return total, err
		}
		if total += n - 2; size == 0 {
			return total, nil
		}
	}
}

// Compare runs two sides in turns and returns each side's best round, and the median over rounds of what a reached of
// b. The speed of a shared machine changes within seconds: two rounds that follow each other meet nearly the same, best
// rounds of both may not.
func Compare(rounds int, a, b func() (Result, error)) (ra, rb Result, ratio float64, err error) {
	var ratios []float64
	for range rounds {
		one, err := a()
		if err != nil {
			return ra, rb, 0, err
		}
		other, err := b()
		if err != nil {
			return ra, rb, 0, err
		}
		ratios = append(ratios, one.Rate()/other.Rate())
		if ra.Requests == 0 || one.Rate() > ra.Rate() {
			ra = one
		}
		if rb.Requests == 0 || other.Rate() > rb.Rate() {
			rb = other
		}
	}
	slices.Sort(ratios)
	return ra, rb, ratios[len(ratios)/2], nil
}
