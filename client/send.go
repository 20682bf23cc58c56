package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	var refusals int
	var spent time.Duration // in attempts and in pauses
	for attempt := 1; ; attempt++ {
		began := time.Now()
		res, answer, err := c.send(ctx, k) //nolint:bodyclose // send has read it to the end and closed it
		spent += time.Since(began)
		pause := pauseAfterAttempt(attempt)
		if err != nil {
			if ctx.Err() != nil || !c.waitsForService(attempt, spent) {
				return fmt.Errorf("client: %s %s: %w", k.method, c.base, withoutURL(err))
			}
			if err := c.sleep(ctx, pause); err != nil {
				return err
			}
			spent += pause
			continue
		}
		if k.reply != nil {
			*k.reply = readReply(res.Header, attempt)
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
		var again bool
		if isUnreachable(refused) {
			again = c.waitsForService(attempt, spent)
		} else {
			refusals++
			again = worthRepeating(refused) && c.asksAgain(attempt, refusals)
		}
		if !again {
			return refused
		}
		pause = max(refused.RetryAfter, pause)
		if err := c.sleep(ctx, pause); err != nil {
			return errors.Join(err, refused)
		}
		spent += pause
	}
}

// readReply reads what an answer says besides its body.
func readReply(h http.Header, attempt int) Reply {
	waiting, _ := strconv.Atoi(h.Get("x-first-looks-waiting"))             // absent where none waits
	until, _ := time.Parse(time.RFC3339Nano, h.Get("x-first-looks-until")) // zero where it is not told
	return Reply{
		RequestID:         h.Get("x-request-id"),
		Replayed:          h.Get("idempotency-replayed") == "true",
		Truncated:         h.Get("x-truncated") == "true",
		Corpus:            h.Get("x-corpus"),
		NotCreatedIndex:   notCreatedIndex(h.Get("x-not-created-index")),
		FirstLooksWaiting: waiting,
		FirstLooksUntil:   until,
		Attempts:          attempt,
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
