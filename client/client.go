package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config says where the service is and who calls. Only URL and Key are needed.
type Config struct {
	// URL is where the partner API is, "https://vigia.exemplo.com.br" for example; a trailing /v1 does no harm.
	URL string
	// Key is the partner's API key.
	Key string
	// HTTP sends the requests; nil means a client with a time limit of a minute. Redirects are never followed: they
	// would carry the key to another address.
	HTTP *http.Client
	// Attempts is how often one call is sent at most; 1 means never again. 0 means 4 for what the service refuses, and
	// for as long as 30 seconds, but not fewer than 4, while it cannot be reached: a restart of the service is waited
	// out.
	Attempts int
	// Sleep waits between attempts; nil means a timer. It returns early, with the context's error, when the context
	// ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Client calls the partner API. It may be used by many goroutines at once.
type Client struct {
	base     string
	key      string
	http     *http.Client
	attempts int
	sleep    func(ctx context.Context, d time.Duration) error
}

const (
	defaultAttempts = 4
	defaultTimeout  = time.Minute
	// patience is how long a call goes on by default while the service cannot be reached.
	patience = 30 * time.Second
)

// New checks the configuration and returns a client. It opens no connection.
func New(c Config) (*Client, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, errors.New("client: URL must be an http or https address without query")
	}
	if c.Key == "" || strings.ContainsAny(c.Key, " \r\n\t") {
		return nil, errors.New("client: Key must be the partner's API key")
	}
	if c.Attempts < 0 {
		return nil, fmt.Errorf("client: Attempts is %d", c.Attempts)
	}
	cl := &Client{
		base: strings.TrimSuffix(strings.TrimSuffix(c.URL, "/"), "/v1") + "/v1", key: c.Key,
		http: &http.Client{Timeout: defaultTimeout}, attempts: c.Attempts, sleep: c.Sleep,
	}
	if c.HTTP != nil {
		own := *c.HTTP // the caller's stays as it is
		cl.http = &own
	}
	cl.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if cl.sleep == nil {
		cl.sleep = sleep
	}
	return cl, nil
}

// sleep waits for d, or returns the context's error when that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Reply is what an answer says besides its body.
type Reply struct {
	// RequestID is in every log line of the service about this request: quote it when asking for help.
	RequestID string
	// Replayed says that this is the kept answer to an earlier request with the same idempotency key.
	Replayed bool
	// Truncated says that something was left out: devices beyond the first 1,000, or events that are not kept any
	// more.
	Truncated bool
	// Corpus names what a password was looked up in: "sha1; entries=N; date=YYYY-MM-DD, ntlm; ...". Empty on other
	// operations.
	Corpus string
	// NotCreatedIndex holds the places in a bulk request, from 0, of what NotCreatedItems is about, in the same order.
	NotCreatedIndex []int
	// FirstLooksWaiting is how many of the values that the request adds, or the answer lists or rests on, wait for
	// their first look into known breaches. Until then "monitorado" means that a value was not looked up yet, and an
	// empty list or a low score says nothing of it.
	FirstLooksWaiting int
	// FirstLooksUntil is when the last of the listed values will have had it; zero where none waits.
	FirstLooksUntil time.Time
	// Attempts is how often the request was sent.
	Attempts int
}

// Option changes one call.
type Option func(*call)

// IdempotencyKey names a POST by a key of your own, 1 to 255 characters, so that it is safe to repeat even after a
// restart of your program. Without it each call gets a random key, which covers the attempts of that call only.
func IdempotencyKey(key string) Option { return func(c *call) { c.idempotencyKey = key } }

// RequestID is taken over by the service and comes back in the Reply.
func RequestID(id string) Option { return func(c *call) { c.header.Set("x-request-id", id) } }

// Into fills r when the service has answered, be it with success or with an Error.
func Into(r *Reply) Option { return func(c *call) { c.reply = r } }
