package console

import (
	"context"
	"maps"
	"time"
)

// queueTab is a queue of the desk: its rows are those that its number counts.
type queueTab struct {
	listLink
	Count int64
	Late  bool
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
	var tabs []queueTab
	add := func(label, name, word string, count int64) {
		link := listLink{label, f.deskAddressWith(name, word), f.valueOfName(name) == word}
		tabs = append(tabs, queueTab{link, count, word == "late" && count > 0})
	}
	add("Atrasados", "due", "late", n.Late)
	add("Vencem hoje", "due", "today", n.Today)
	if !c.confined { // who of the service works on what is not for partners
		add("Meus", "owner", ownerMe, n.Mine)
		add("Sem responsável", "owner", ownerNone, n.Free)
	}
	add("Todos", "owner", "", n.Open)
	every := &tabs[len(tabs)-1]
	every.Current = every.Current && f.valueOfName("due")+f.valueOfName("status") == ""
	return tabs, nil
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
