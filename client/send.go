package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// call is one operation on its way.
type call struct {
	method, path   string
	query          url.Values
	header         http.Header
	body           []byte
	idempotencyKey string
	keyed          bool // every attempt carries the same idempotency key
	reply          *Reply
}

// newAPICall puts path values in, each escaped as one segment.
func newAPICall(method, template string, values []string, opts []Option) *call {
	c := &call{method: method, header: http.Header{}, query: url.Values{}}
	for _, v := range values {
		at, end := strings.IndexByte(template, '{'), strings.IndexByte(template, '}')
		c.path += template[:at] + url.PathEscape(v)
		template = template[end+1:]
	}
	c.path += template
	for _, o := range opts {
		o(c)
	}
	return c
}

// maxAnswer bounds what is read of an answer. A bulk answer may list 10,000 refused items with all of their errors.
const maxAnswer = 64 << 20

// longestWait is the longest Retry-After that is waited for. A caller decides about a longer one by the Error.
const longestWait = time.Minute

// do sends until an answer is final. Everything it sends is safe to repeat: reads, removals, posts with a key, and
// questions about passwords. It reads the answer into to unless that is nil.
func (c *Client) do(ctx context.Context, k *call, body, to any) error {
	if body != nil {
		raw, err := json.Marshal(body) // once for all attempts, so that each of them sends the same bytes
		if err != nil {
			return fmt.Errorf("client: encode the request: %w", err)
		}
		k.body = raw
	}
	if k.keyed {
		if k.idempotencyKey == "" {
			k.idempotencyKey = rand.Text()
		}
		k.header.Set("idempotency-key", k.idempotencyKey)
	}
	for attempt := 1; ; attempt++ {
		res, answer, err := c.send(ctx, k) //nolint:bodyclose // send has read it to the end and closed it
		if err != nil {
			if ctx.Err() != nil || attempt >= c.attempts {
				return fmt.Errorf("client: %s %s: %w", k.method, c.base, withoutURL(err))
			}
			if err := c.sleep(ctx, pauseAfterAttempt(attempt)); err != nil {
				return err
			}
			continue
		}
		if k.reply != nil {
			*k.reply = Reply{
				RequestID: res.Header.Get("x-request-id"), Replayed: res.Header.Get("idempotency-replayed") == "true",
				Truncated: res.Header.Get("x-truncated") == "true", Corpus: res.Header.Get("x-corpus"),
				NotCreatedIndex: notCreatedIndex(res.Header.Get("x-not-created-index")), Attempts: attempt,
			}
		}
		if res.StatusCode == http.StatusOK {
			if to == nil {
				to = &struct{}{} // a page of a stranger's is no success
			}
			if err := json.Unmarshal(answer, to); err != nil {
				return fmt.Errorf("client: the answer is not what the contract says: %w", err)
			}
			return nil
		}
		refused := readRefusal(res, answer)
		if attempt >= c.attempts || !worthRepeating(refused) {
			return refused
		}
		if err := c.sleep(ctx, max(refused.RetryAfter, pauseAfterAttempt(attempt))); err != nil {
			return errors.Join(err, refused)
		}
	}
}

// send makes one attempt and returns the answer with its whole body, at most maxAnswer bytes of it.
func (c *Client) send(ctx context.Context, k *call) (*http.Response, []byte, error) {
	address := c.base + k.path
	if len(k.query) > 0 {
		address += "?" + strings.ReplaceAll(k.query.Encode(), "+", "%20") // the service takes a plus as it stands
	}
	var body io.Reader
	if k.body != nil {
		body = bytes.NewReader(k.body)
	}
	req, err := http.NewRequestWithContext(ctx, k.method, address, body)
	if err != nil {
		return nil, nil, err
	}
	for name, values := range k.header {
		req.Header[name] = values
	}
	req.Header.Set("x-api-key", c.key)
	req.Header.Set("accept", "application/json")
	if k.body != nil {
		req.Header.Set("content-type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	return res, raw, err
}

// withoutURL takes the address out of an error of net/http: it holds user hashes and CPFs, and errors end up in logs.
func withoutURL(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

// worthRepeating tells refusals that may pass by themselves. A conflict does only where the service says when.
// One that passes later than longestWait is the caller's to repeat.
func worthRepeating(e *Error) bool {
	if e.RetryAfter > longestWait {
		return false
	}
	switch e.StatusCode {
	case http.StatusTooManyRequests,
		http.StatusInternalServerError,
		http.StatusBadGateway,
		http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return true
	case http.StatusConflict:
		return e.RetryAfter > 0
	}
	return false
}

const (
	firstPause   = 200 * time.Millisecond
	longestPause = 10 * time.Second
)

// pauseAfterAttempt doubles from attempt to attempt, up to a limit, and is spread by half, so that many callers do not
// come back at once.
func pauseAfterAttempt(attempt int) time.Duration {
	d := min(firstPause<<min(attempt-1, 10), longestPause)
	return d/2 + mathrand.N(d/2) //nolint:gosec // spreads callers, guards nothing
}

// retryAfter reads whole seconds; the service sends no dates.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("retry-after"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
