package console

import (
	"context"
	"maps"
	"time"
)

// queueTab is a queue of the desk: its rows are those that its number counts.
type queueTab struct {
	Label, Path string
	Count       int64
	Current     bool
	Late        bool
}

// Who of the owners is not named by an address.
const (
	ownerMe   = "eu"
	ownerNone = "ninguem"
)

// queueTabs counts the queues of a day among what the filter leaves.
func (c *Console) queueTabs(ctx context.Context, who viewer, f filter) ([]queueTab, error) {
	all := f.laneFilter("", 0)
	all.Assignee, all.Unassigned, all.DueFrom, all.DueTo = "", false, time.Time{}, time.Time{}
	n, err := c.Rules.Cases.CountWaiting(ctx, all, who.who.Email, nextMidnight(c.Now()))
	if err != nil {
		return nil, err
	}
	due, owner := f.valueOfName("due"), f.valueOfName("owner")
	tabs := []queueTab{
		{
			Label:   "Atrasados",
			Path:    f.deskAddressWith("due", "late"),
			Count:   n.Late,
			Current: due == "late",
			Late:    n.Late > 0,
		},
		{
			Label:   "Vencem hoje",
			Path:    f.deskAddressWith("due", "today"),
			Count:   n.Today,
			Current: due == "today",
		},
	}
	if !c.confined { // who of the service works on what is not for partners
		tabs = append(tabs, queueTab{
			Label:   "Meus",
			Path:    f.deskAddressWith("owner", ownerMe),
			Count:   n.Mine,
			Current: owner == ownerMe,
		}, queueTab{
			Label:   "Sem responsável",
			Path:    f.deskAddressWith("owner", ownerNone),
			Count:   n.Free,
			Current: owner == ownerNone,
		})
	}
	return append(tabs, queueTab{
		Label:   "Todos",
		Path:    f.deskAddressWith("owner", ""),
		Count:   n.Open,
		Current: due == "" && owner == "" && f.valueOfName("status") == "",
	}), nil
}

// deskAddressWith returns the path of the desk with another word in the filter, and without the words for queue and
// status.
func (f filter) deskAddressWith(name, word string) string {
	q := maps.Clone(f.values)
	if !q.Has("partner") {
		q.Set("partner", "")
	}
	if name != "view" {
		q.Del("due")
		q.Del("owner")
		q.Del("status")
	}
	if q.Del(name); word != "" {
		q.Set(name, word)
	}
	return "/cases?" + q.Encode()
}
