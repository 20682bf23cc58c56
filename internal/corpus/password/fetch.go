package password

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// answer is what the range service says about one range.
type answer struct {
	number       uint32
	unchanged    bool // since the tag we sent
	tag          string
	keys, widely []uint64 // sorted
	bytes        int64
}

const (
	maxAttempts   = 10
	firstWait     = 500 * time.Millisecond
	longestWait   = 30 * time.Second
	longestAsked  = 10 * time.Minute // the longest Retry-After that is honoured in full
	maxRangeBytes = 64 << 20
	longestTag    = 255
)

// retryable is a failure that may pass; after is how long the service asked us to wait.
type retryable struct {
	error
	after time.Duration
}

func (r retryable) Unwrap() error { return r.error }

// fetchRange asks for one range until it has a whole answer, up to maxAttempts times.
func (d *downloader) fetchRange(ctx context.Context, number uint32, tag string) (answer, error) {
	wait := firstWait
	for attempt := 1; ; attempt++ {
		a, err := d.requestRange(ctx, number, tag)
		var again retryable
		switch {
		case err == nil:
			return a, nil
		case ctx.Err() != nil:
			return answer{}, ctx.Err()
		case !errors.As(err, &again) || attempt == maxAttempts:
			return answer{}, ErrRangeServer.Because(err).With("", fault.RangeFailed, number, attempt)
		}
		// Half of the wait is left to chance, so that many workers do not come back together.
		pause := max(wait/2+time.Duration(d.job.Chance()*float64(wait/2)), min(again.after, longestAsked))
		if err := d.job.Wait(ctx, pause); err != nil {
			return answer{}, err
		}
		wait = min(2*wait, longestWait)
	}
}

func (d *downloader) requestRange(ctx context.Context, number uint32, tag string) (answer, error) {
	address := fmt.Sprintf("%s/range/%05X", d.job.Base, number)
	if d.job.Algorithm == NTLM {
		address += "?mode=ntlm"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("User-Agent", "vigia-passwords")
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	resp, err := d.job.Client.Do(req)
	if err != nil {
		return answer{}, retryable{error: err}
	}
	defer resp.Body.Close()
	switch status := resp.StatusCode; {
	case status == http.StatusOK:
		return d.parseRange(number, resp)
	case status == http.StatusNotModified && tag != "":
		return answer{number: number, unchanged: true, tag: tag}, nil
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500:
		_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // lets the connection be used again
		return answer{}, retryable{fmt.Errorf("status %d", status), d.retryAfter(resp.Header)}
	default:
		return answer{}, fmt.Errorf("status %d", status)
	}
}

// parseRange reads the body of an answer. One that is cut, or is not what a range looks like, is asked for again.
func (d *downloader) parseRange(number uint32, resp *http.Response) (answer, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRangeBytes+1))
	if err != nil {
		return answer{}, retryable{error: err}
	}
	if len(body) > maxRangeBytes {
		return answer{}, retryable{error: errors.New("answer too long")}
	}
	p := rangeParser(d.job.Algorithm, uint64(number))
	if _, err := p.parseLines(trimByteOrderMark(body), true); err != nil {
		return answer{}, retryable{error: err}
	}
	// A body without declared length may have been cut before its first line; only an explicit nothing counts as
	// nothing.
	if len(p.keys) == 0 && resp.ContentLength != 0 && !resp.Uncompressed {
		return answer{}, retryable{error: errors.New("answer without a hash")}
	}
	slices.Sort(p.keys)
	slices.Sort(p.widely)
	tag := resp.Header.Get("ETag")
	if len(tag) > longestTag { // as good as none: the range is fetched again
		tag = ""
	}
	return answer{
		number: number, tag: tag, keys: slices.Compact(p.keys), widely: p.widely, bytes: int64(len(body)),
	}, nil
}

// retryAfter reads the header of that name: seconds or a date.
func (d *downloader) retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 24*3600)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return at.Sub(d.lib.now())
	}
	return 0
}
