package console

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
)

// dayQueue are the cases that wait now.
type dayQueue struct {
	cyber.WaitingCases
	// OldestLate is for how long the most overdue case is late, NextDue in how long the next one of today is due; zero
	// where there is none.
	OldestLate, NextDue time.Duration
	// Unanswered are those of one's own cases whose person wrote last.
	Unanswered int64
}

// gatherDayQueue returns the cases that wait now, with what makes them urgent.
func (c *Console) gatherDayQueue(ctx context.Context, who operator.Operator) (dayQueue, error) {
	now := c.Now()
	live := cyber.LaneFilter{LiveOnly: true}
	waiting, err := c.Rules.Cases.CountWaiting(ctx, live, who.Email, nextMidnight(now))
	if err != nil {
		return dayQueue{}, err
	}
	queue := dayQueue{WaitingCases: waiting}
	late, err := c.Rules.Cases.ListLane(ctx, cyber.LaneFilter{LiveOnly: true, DueTo: now, Limit: 1})
	if err != nil {
		return queue, err
	}
	for _, first := range late.Cases {
		due, _ := first.Clock.Due()
		queue.OldestLate = now.Sub(due)
	}
	today, err := c.Rules.Cases.ListLane(ctx, cyber.LaneFilter{
		LiveOnly: true,
		DueFrom:  now,
		DueTo:    nextMidnight(now),
		Limit:    1,
	})
	if err != nil {
		return queue, err
	}
	for _, first := range today.Cases {
		due, _ := first.Clock.Due()
		queue.NextDue = due.Sub(now)
	}
	mine, err := c.Rules.Cases.ListLane(ctx, cyber.LaneFilter{LiveOnly: true, Assignee: who.Email, Limit: perPage})
	if err != nil {
		return queue, err
	}
	for _, one := range mine.Cases {
		if one.Spoke == "" {
			queue.Unanswered++
		}
	}
	return queue, nil
}
