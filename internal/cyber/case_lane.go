package cyber

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// LaneOrder is what a lane begins with.
type LaneOrder string

// The orders: the most urgent first, or by the time of opening.
const (
	LaneUrgent LaneOrder = ""
	LaneNewest LaneOrder = "new"
	LaneOldest LaneOrder = "old"
)

// LaneFilter picks cases for the desk; the zero value of a field does not restrict, and without a status all open cases
// fit.
type LaneFilter struct {
	Status  CaseStatus
	Partner partner.ID
	// LiveOnly leaves out cases of sandboxes.
	LiveOnly bool
	// User is a person of the partner.
	User    partner.UserHash
	Service ServiceID
	// From and To are a period of the opening, To exclusive.
	From, To time.Time
	// DueFrom and DueTo are a period of the deadline, DueTo exclusive. A case whose clock stands is never due.
	DueFrom, DueTo time.Time
	Order          LaneOrder
	Assignee       string
	// Unassigned leaves only cases that are assigned to no operator.
	Unassigned bool
	// After is the last case of the page before; its zero value begins at the top.
	After LaneMark
	Limit int
}

// LaneMark is a place in a lane.
type LaneMark struct {
	// Due is zero after a case that nothing is due for; in a lane by age it is when the case was opened.
	Due time.Time
	ID  CaseID
}

// Lane is a page of a status, as a rule the most urgent first. What nothing is due for comes last, the oldest first; of
// what is not open any more the newest come first.
type Lane struct {
	Status CaseStatus
	Cases  []Case
	// Total counts all that fit, on whichever page, up to MaxLaneTotal.
	Total int64
	// Next is where the next page begins; its zero value says that there is none.
	Next LaneMark
}

// MaxLaneTotal is where counting a lane stops: no team works through more, and the closed lane grows for years.
const MaxLaneTotal = 200_000

// Counted reports whether Total is all there is.
func (l Lane) Counted() bool { return l.Total < MaxLaneTotal }

func (c Case) lanePlace(order LaneOrder) LaneMark {
	if order != LaneUrgent {
		return LaneMark{c.CreatedAt, c.ID}
	}
	due, _ := c.Clock.Due()
	return LaneMark{due, c.ID}
}

// compareMarks orders places as a lane of open cases does: without a deadline last.
func compareMarks(a, b LaneMark, order LaneOrder) int {
	switch {
	case order == LaneNewest:
		a, b = b, a
	case a.Due.IsZero() != b.Due.IsZero() && a.Due.IsZero():
		return 1
	case a.Due.IsZero() != b.Due.IsZero():
		return -1
	}
	return cmp.Or(a.Due.Compare(b.Due), strings.Compare(string(a.ID), string(b.ID)))
}

// ListLane returns a page of a lane; without a status, of all open cases in one order. Those are read a status at a
// time, each from its range of an index, and merged.
func (c *Cases) ListLane(ctx context.Context, f LaneFilter) (lane Lane, err error) {
	statuses, asked := []CaseStatus{f.Status}, f.Limit
	if f.Status == "" {
		statuses = []CaseStatus{CaseOpen, CaseInProgress, CaseWaiting}
	}
	lane.Status, f.Limit = f.Status, asked+1
	for _, f.Status = range statuses {
		one, err := c.store.ListLane(ctx, f)
		if err != nil {
			return lane, err
		}
		lane.Cases, lane.Total = append(lane.Cases, one.Cases...), lane.Total+one.Total
	}
	if len(statuses) > 1 {
		slices.SortFunc(
			lane.Cases,
			func(a, b Case) int { return compareMarks(a.lanePlace(f.Order), b.lanePlace(f.Order), f.Order) },
		)
	}
	if len(lane.Cases) > asked {
		lane.Cases = lane.Cases[:asked]
		lane.Next = lane.Cases[asked-1].lanePlace(f.Order)
	}
	return lane, err
}

// WaitingCases are what a day at the desk begins with.
type WaitingCases struct {
	// Late are past their target, Today reach it before the day ends, Free are open and unassigned.
	Late, Today, Free int64
	// Mine are the open ones of the person who asks, Open are all.
	Mine, Open int64
}

// CountWaiting counts the open cases that fit, of all operators and of one. dayEnd is when the operator's day ends.
func (c *Cases) CountWaiting(
	ctx context.Context, f LaneFilter, assignee string, dayEnd time.Time,
) (WaitingCases, error) {
	return c.store.WaitingCases(ctx, f, assignee, c.now(), dayEnd)
}
