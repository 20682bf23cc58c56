package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Counter counts the requests of each partner in memory until it is flushed.
type Counter struct {
	mu    sync.Mutex
	seen  map[tallied]*partner.Requests
	lines map[partner.ID][]partner.LoggedRequest
}

// tallied is what requests are counted by: partner, day and route.
type tallied struct {
	id  partner.ID
	day int64
	of  *route
}

// NewCounter makes an empty one.
func NewCounter() *Counter {
	return &Counter{seen: map[tallied]*partner.Requests{}, lines: map[partner.ID][]partner.LoggedRequest{}}
}

// countRequest counts one request of a partner. Requests without a known partner or a route are not counted.
func (c *Counter) countRequest(who partner.Caller, rt *route, status int, start, now time.Time, err error) {
	id := who.Partner
	if c == nil || id == "" || rt.method == "-" {
		return
	}
	key := tallied{id, partner.DayNumber(now), rt}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.seen[key]
	if n == nil { // bounded by partners and routes: it is emptied every minute
		n = &partner.Requests{Day: key.day, Operation: rt.method + " " + rt.path}
		c.seen[key] = n
	}
	line := partner.LoggedRequest{
		At:        start,
		Operation: n.Operation,
		Status:    status,
		Took:      now.Sub(start),
		Fault:     faultField(err, rt.scope),
		Key:       who.KeyID,
	}
	if lines := c.lines[id]; len(lines) < partner.MaxLogged {
		c.lines[id] = append(lines, line)
	} else { // the oldest goes: no more are kept anyway
		lines[n.Sent%partner.MaxLogged] = line
	}
	n.Sent++
	if status >= http.StatusBadRequest {
		n.Refused++
	}
}

// faultField returns what the log of a partner's requests has of a fault: the code that the answer had and the field,
// never the value of the field. Of a key that lacks the scope that a route needs it is the scope.
func faultField(err error, need partner.Scope) string {
	if err == nil {
		return ""
	}
	code := publicCode(err)
	if errors.Is(err, partner.ErrScopeMissing) {
		return code + ": " + need.Describe()
	}
	var f *fault.Error
	if errors.As(err, &f) {
		if field, _, named := strings.Cut(f.Detail(), ": "); named && len(field) <= 60 {
			return code + ": " + field
		}
	}
	return code
}

// FlushCounts hands what was counted to keep, partner by partner. What could not be kept is counted on.
func (c *Counter) FlushCounts(
	ctx context.Context,
	keep func(ctx context.Context, id partner.ID, counts []partner.Requests, lines []partner.LoggedRequest) error,
) error {
	c.mu.Lock()
	taken, lines := c.seen, c.lines
	c.seen, c.lines = map[tallied]*partner.Requests{}, map[partner.ID][]partner.LoggedRequest{}
	c.mu.Unlock()
	byPartner := map[partner.ID][]partner.Requests{}
	for key, n := range taken {
		byPartner[key.id] = append(byPartner[key.id], *n)
	}
	var failed error
	for id, counts := range byPartner {
		if err := keep(ctx, id, counts, lines[id]); err != nil {
			failed = err
			c.restoreCounts(id, taken)
		}
	}
	return failed
}

// restoreCounts counts again what could not be kept.
func (c *Counter) restoreCounts(id partner.ID, taken map[tallied]*partner.Requests) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, n := range taken {
		if key.id != id {
			continue
		}
		if now := c.seen[key]; now != nil {
			n.Sent, n.Refused = n.Sent+now.Sent, n.Refused+now.Refused
		}
		c.seen[key] = n
	}
}
