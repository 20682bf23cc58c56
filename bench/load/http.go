package load

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Server is where requests go, and the line that each of them carries, like "X-Api-Key: abc".
type Server struct {
	Addresses []string // connections are spread over them
	Header    string   // Load needs one
	Headers   []string // of many partners, whom connections of Load are spread over
}

// client takes answers as they are: a page that sends to the log-in is no answer.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Do sends one request, with lines beside the server's, and returns what was answered; the status is 0 without an
// answer.
func (s Server) Do(
	ctx context.Context,
	method, path string,
	body []byte,
	lines ...string,
) (status int, h http.Header, answer []byte) {
	req := Must(http.NewRequestWithContext(ctx, method, "http://"+s.Addresses[0]+path, bytes.NewReader(body)))
	for _, line := range append([]string{"Content-Type: application/json", s.Header}, lines...) {
		if name, value, ok := strings.Cut(line, ": "); ok {
			req.Header.Set(name, value)
		}
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, nil
	}
	defer func() { _ = res.Body.Close() }()
	if answer, err = io.ReadAll(res.Body); err != nil {
		return 0, nil, nil
	}
	return res.StatusCode, res.Header, answer
}

// Ask sends one request and returns the body of a 200.
func (s Server) Ask(method, path string, body []byte) []byte {
	status, _, answer := s.Do(context.Background(), method, path, body)
	if status != http.StatusOK || bytes.Contains(answer, []byte(`"result":"failure"`)) {
		Fail("%s %s answered %d %.300s", method, path, status, answer)
	}
	return answer
}

// Load sends what next makes over Conns connections for Length, each its next request when it has its answer: GET
// without a body, POST with one. Any status but 200 is a failure. next is never called twice at once, so that each
// created person can be a new one.
func (s Server) Load(ctx context.Context, next func() (path string, body []byte)) func() Result {
	var turn sync.Mutex
	return func() (total Result) {
		took := make([][]time.Duration, Conns)
		total = Time(0, func() {
			until := time.Now().Add(Length)
			Parallel(Conns, func(c int) {
				conn := Must((&net.Dialer{}).DialContext(ctx, "tcp", s.Addresses[c%len(s.Addresses)]))
				defer func() { _ = conn.Close() }()
				header := s.Header
				if len(s.Headers) > 0 {
					header = s.Headers[c%len(s.Headers)]
				}
				Check(conn.SetDeadline(until.Add(time.Minute))) // a server that hangs ends the run
				// One request at least, however late a busy machine came to make the connection.
				for r := bufio.NewReaderSize(conn, 64<<10); len(took[c]) == 0 || time.Now().Before(until); {
					turn.Lock()
					path, body := next()
					turn.Unlock()
					message, begin := request(header, path, body), time.Now()
					Must(conn.Write(message))
					Check(answer(r))
					took[c] = append(took[c], time.Since(begin))
				}
			})
		})
		times := slices.Concat(took...)
		total.Requests, total.P50, total.P95 = len(times), Median(times), Percentile(times, 95)
		return total
	}
}

// request makes the bytes of a request.
func request(header, path string, body []byte) []byte {
	const line = " %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n"
	if body == nil {
		return fmt.Appendf(nil, "GET"+line+"\r\n", path, header)
	}
	const more = "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
	return fmt.Appendf(nil, "POST"+line+more, path, header, len(body), body)
}

// answer reads one response to its end.
func answer(r *bufio.Reader) error {
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", res.Status)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err
}
