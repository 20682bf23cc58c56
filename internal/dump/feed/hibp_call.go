package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/platform/job"
)

const (
	hibpPerMinute = 10 // of the smallest subscription
	// An answer by range has some 400 hashes with the names of their breaches.
	maxHIBPAnswer = 4 << 20
	maxCatalogue  = 64 << 20
	// hibpTries is how often one question is put when the service says to wait.
	hibpTries       = 5
	hibpLongestWait = 10 * time.Minute
)

// errAnswer is the failure of a feed whose service answers something else than its documentation says.
var errAnswer = errors.New("ask: the answer is not what the API promises")

// pacer spreads calls over the minute, for all who call at once. When the service says to wait, all of them do.
type pacer struct {
	mu   sync.Mutex
	gap  time.Duration
	held int // how often all had to wait
}

// newPacer returns a pacer that spaces calls evenly over each minute.
func newPacer(perMinute int) *pacer { return &pacer{gap: time.Minute / time.Duration(perMinute)} }

// waitTurn waits for the next call's time and says how often all had waited before it.
func (p *pacer) waitTurn(ctx context.Context) (held int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held, job.PauseStep(ctx, p.gap)
}

// holdAllTurns makes all wait, unless they have since the turn that was refused.
func (p *pacer) holdAllTurns(ctx context.Context, turn int, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held != turn {
		return ctx.Err()
	}
	p.held++
	return job.PauseStep(ctx, d)
}

// fetchJSON asks the service and waits when told to. It says whether there was anything to tell.
func (s *hibpSweep) fetchJSON(ctx context.Context, path string, into any, most int64) (bool, error) {
	where := strings.TrimSuffix(s.f.Target, "/") + path
	for range hibpTries {
		turn, err := s.pace.waitTurn(ctx)
		if err != nil {
			return false, err
		}
		found, after, err := s.getJSONOnce(ctx, where, into, most)
		if err != nil || after == 0 {
			return found, err
		}
		if err := s.pace.holdAllTurns(ctx, turn, min(after, hibpLongestWait)); err != nil {
			return false, err
		}
	}
	return false, errors.New("ask: told to wait again and again")
}

// getJSONOnce asks once for an answer of at most most bytes; after is how long to wait before asking again, 0 when
// there is no need. A 404 is no error: nothing was found.
func (s *hibpSweep) getJSONOnce(
	ctx context.Context, where string, into any, most int64,
) (found bool, after time.Duration, err error) {
	status, header, text, err := s.fs.fetchAnswer(
		ctx,
		where,
		map[string]string{"hibp-api-key": s.f.Secret, "User-Agent": "vigia"},
		most,
	)
	if err != nil {
		return false, 0, fmt.Errorf("ask: %w", err)
	}
	switch status {
	case http.StatusOK:
		if int64(len(text)) > most {
			return false, 0, fmt.Errorf("ask: the answer is larger than %d bytes", most)
		}
		if err := json.Unmarshal(text, into); err != nil {
			return false, 0, errAnswer
		}
		return true, 0, nil
	case http.StatusNotFound:
		return false, 0, nil
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return false, max(retryAfter(header, 2*time.Second), 10*time.Millisecond), nil
	}
	return false, 0, fmt.Errorf("ask: answered %d", status)
}
