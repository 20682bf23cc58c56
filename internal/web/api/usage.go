package api

import (
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

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
		newUsageBudget("webhooks", alert.MaxEndpoints, int64(len(endpoints))),
		newUsageBudget("keys", partner.MaxOwnKeys, int64(len(live))),
	}, nil
}

// newUsageBudget returns how much of a budget is used.
func newUsageBudget(name string, limit, used int64) usageBudget {
	return usageBudget{name, limit, used, max(limit-used, 0)}
}
