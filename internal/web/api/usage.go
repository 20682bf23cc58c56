package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
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

// usage is the answer of GET /usage.
type usage struct {
	Rate     usageRate       `json:"rate"`
	Budgets  []usageBudget   `json:"budgets"`
	Active   int64           `json:"activeSubscriptions"`
	Looks    *usageLooks     `json:"firstLooks,omitempty"`
	Requests []usageRequests `json:"requests"`
}

// usageRate is the partner's rate limit, for requests and for items of bulk requests.
type usageRate struct {
	PerSecond     int `json:"perSecond"`
	Burst         int `json:"burst"`
	BulkPerSecond int `json:"bulkItemsPerSecond"`
}

// usageBudget is something of which there is only so much.
type usageBudget struct {
	Name  string `json:"name"`
	Limit int64  `json:"limit"`
	Used  int64  `json:"used"`
	Left  int64  `json:"left"`
}

// usageLooks is how many new values can be looked up in past breaches; a sandbox has no limit and does not show it.
type usageLooks struct {
	PerHour int64 `json:"perHour"`
	PerDay  int64 `json:"perDayBySubscriptions"`
	Burst   int64 `json:"burst"`
	Left    int64 `json:"left"`
	Waiting int64 `json:"waiting"`
	// Until is when the last of those that wait will have been looked up; empty when none waits. While they are stopped
	// it is when that would be if they went on now.
	Until   string `json:"until"`
	Overdue int64  `json:"overdue"`
	Stopped bool   `json:"stopped"`
}

// usageRequests counts the requests of one operation on one day.
type usageRequests struct {
	Day       string `json:"day"`
	Operation string `json:"operation"`
	Requests  int64  `json:"requests"`
	Refused   int64  `json:"refused"`
}

// defaultUsageDays is how many days of requests are shown where the request does not say.
const defaultUsageDays = 30

// showUsage answers with the partner's limits and how much of them is used.
func (s *Server) showUsage(r *request) (any, error) {
	days, err := r.countInQuery("days", defaultUsageDays)
	if err != nil {
		return nil, err
	}
	var answer usage
	answer.Rate.PerSecond, answer.Rate.Burst = r.caller.Settings.RateLimit()
	answer.Rate.BulkPerSecond = answer.Rate.PerSecond * itemsPerRequest
	active, err := r.rules.Subscriptions.ListActive(r.ctx, r.caller.Partner, 1, 1)
	if err != nil {
		return nil, err
	}
	answer.Active = active.Total
	if answer.Budgets, err = s.listBudgets(r); err != nil {
		return nil, err
	}
	if !r.caller.Mode.Has(partner.Unpaced) {
		l, err := r.rules.FirstLooks.LookStatus(r.ctx, r.caller.Partner, r.caller.Settings)
		if err != nil {
			return nil, err
		}
		answer.Looks = &usageLooks{
			PerHour: l.Pace.PerHour,
			PerDay:  l.BonusPerDay,
			Burst:   cyber.LookBurst,
			Left:    l.Left,
			Waiting: l.Waiting,
			Until:   formatDay(l.Until.UTC()),
			Overdue: l.Overdue,
			Stopped: l.Pace.IsStopped(),
		}
		if l.Waiting > 0 {
			r.reply.Set(waitingHeader, strconv.FormatInt(l.Waiting, 10))
			r.reply.Set(untilHeader, l.Until.UTC().Format(alert.TimeFormat))
		}
	}
	counts, err := r.rules.Meter.CountsOfDays(r.ctx, r.caller.Partner, days)
	answer.Requests = showAll(counts, func(c partner.Requests) usageRequests {
		return usageRequests{dayNumbered(c.Day), c.Operation, c.Sent, c.Refused}
	})
	return answer, err
}

// dayNumbered returns the date of a day that is counted from 1970-01-01 UTC.
func dayNumbered(day int64) string { return time.Unix(day*24*60*60, 0).UTC().Format(time.DateOnly) }

// listBudgets returns the partner's budgets and how much of each is used.
func (s *Server) listBudgets(r *request) ([]usageBudget, error) {
	id := r.caller.Partner
	endpoints, err := r.rules.Webhooks.ListEndpoints(r.ctx, id)
	if err != nil {
		return nil, err
	}
	keys, err := r.rules.Keys.ListKeys(r.ctx, id)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	live := slices.DeleteFunc(keys, func(k partner.Key) bool { return !k.IsLiveAt(now) })
	return []usageBudget{
		newUsageBudget(
			"webhooks",
			alert.MaxEndpoints,
			int64(len(endpoints)),
		),
		newUsageBudget("keys", partner.MaxOwnKeys, int64(len(live))),
	}, nil
}

// newUsageBudget returns how much of a budget is used.
func newUsageBudget(name string, limit, used int64) usageBudget {
	return usageBudget{name, limit, used, max(limit-used, 0)}
}

// statistics is the answer of GET /statistics.
type statistics struct {
	Days []statisticsDay `json:"days"`
}

// statisticsDay holds the partner's counts of one day.
type statisticsDay struct {
	Day        string `json:"day"`
	Findings   int64  `json:"findings"`
	Alerts     int64  `json:"alerts"`
	Enrolments int64  `json:"enrolments"`
	Cases      int64  `json:"cases"`
}

// Days of statistics where the request does not say, and at most.
const defaultStatisticsDays, mostStatisticsDays = 30, 365

// statistics reads the partner's part of what the service counts for its pictures.
func (s *Server) statistics(r *request) (any, error) {
	asked, err := r.countInQuery("days", defaultStatisticsDays)
	if err != nil {
		return nil, err
	}
	days := int(min(asked, mostStatisticsDays))
	found, err := r.rules.Figures.FiguresByDay(r.ctx, string(r.caller.Partner), days,
		operator.FindingsOfDay, operator.AlertsOfDay, operator.SubscriptionsOfDay, operator.CasesOpenedOfDay)
	if err != nil {
		return nil, err
	}
	answer := statistics{Days: make([]statisticsDay, days)}
	for i := range answer.Days {
		answer.Days[i] = statisticsDay{
			Day:      found[operator.FindingsOfDay][i].Day.Format(time.DateOnly),
			Findings: found[operator.FindingsOfDay][i].Count, Alerts: found[operator.AlertsOfDay][i].Count,
			Enrolments: found[operator.SubscriptionsOfDay][i].Count, Cases: found[operator.CasesOpenedOfDay][i].Count,
		}
	}
	return answer, nil
}
