package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
)

// casesPage is the data of the queue of cases.
type casesPage struct {
	List listView
	// Tabs are the queues of a day with how many wait in each.
	Tabs []queueTab
	// Lanes are the statuses side by side, or one that holds the rows of a list.
	Lanes []lane
	// Table has the rows of a list; none where statuses stand side by side.
	Table  listTable
	Total  int64
	Owners []string
	// Status is the one that is looked at by itself, if any.
	Status cyber.CaseStatus
	// AsLanes says that statuses stand side by side; Other is the address of the other way to look at them.
	AsLanes bool
	Other   string
}

// perLane is how many cases the desk shows of each status, or of all; a status by itself is read page by page.
const perLane = 25

// lane is one status of the queue with the cases in it.
type lane struct {
	cyber.Lane
	Tickets []ticket
	// Whole is the address of the status by itself.
	Whole string
}

// showCases shows the queue of cases, as a list or with the statuses side by side.
func showCases(c *Console, r *request, l *listing) (answer, error) {
	ctx := r.Context()
	partners, err := c.visiblePartners(ctx, r.viewer)
	if err != nil {
		return nil, err
	}
	id, q := askedPartner(r), r.URL.Query()
	if status, err := cyber.ParseCaseStatus(q.Get("status")); err == nil {
		q.Set("status", string(status))
	}
	known := id
	if !isKnownPartner(partners, id) { // a partner that there is not has no cases
		known = ""
	}
	f, err := c.parseFilter(ctx, l, q, known, partners)
	if err != nil {
		return nil, err
	}
	if f.Partner = id; id != "" {
		f.values.Set("partner", string(id))
	}
	page, part, err := c.gatherDesk(ctx, r.viewer, f)
	if err != nil {
		return nil, err
	}
	page.List, err = c.newListView(ctx, r.viewer, l, f, part)
	if err != nil {
		return nil, err
	}
	charts, err := c.pictureCases(ctx, r.viewer, parsePeriod(r))
	if err != nil {
		return nil, err
	}
	r.addPictures(charts...)
	return view{l.name, l.title, page}, nil
}

// gatherDesk returns the desk under a filter, and its part of the list of cases.
func (c *Console) gatherDesk(ctx context.Context, who viewer, f filter) (page casesPage, part listPart, err error) {
	page = casesPage{Status: cyber.CaseStatus(f.valueOfName("status")), AsLanes: f.valueOfName("view") == "lanes"}
	services, err := c.Rules.Services.ListServices(ctx)
	if err != nil {
		return page, part, err
	}
	page.Tabs, err = c.queueTabs(ctx, who, f)
	if err != nil {
		return page, part, err
	}
	shown := []cyber.CaseStatus{page.Status}
	if page.AsLanes && page.Status == "" {
		shown = []cyber.CaseStatus{cyber.CaseOpen, cyber.CaseInProgress, cyber.CaseWaiting}
	}
	for _, status := range shown {
		asked := f.laneFilter(status, perLane)
		if len(shown) == 1 {
			asked.Limit, asked.After = perPage, parseLaneMark(f.After)
		}
		if f.valueOfName("owner") == ownerMe {
			asked.Assignee = who.who.Email
		}
		one, err := c.Rules.Cases.ListLane(ctx, asked)
		if err != nil {
			return page, part, err
		}
		l := lane{Lane: one, Whole: "/cases?" + f.with("status", string(status))}
		l.Tickets = c.newTickets(who, l.Cases, services, f.partners)
		if err := c.nameTickets(ctx, l.Tickets); err != nil {
			return page, part, err
		}
		page.Lanes, page.Total = append(page.Lanes, l), page.Total+l.Total
	}
	otherView := "lanes"
	if page.AsLanes {
		otherView = ""
	}
	page.Other = f.deskAddressWith("view", otherView)
	page.Owners, err = c.listCaseOwners(ctx)
	if err != nil {
		return page, part, err
	}
	part.total = page.Total
	if rows := page.Lanes[0]; !page.AsLanes {
		if !rows.Counted() {
			part.total = -1
		}
		part = newListPart(f, rows.Tickets, rowOfCase, formatLaneMark(rows.Lane.Next), part.total)
		page.Table = part.table
	}
	owners := []choiceOption{{ownerMe, "Eu"}, {ownerNone, "Ninguém"}}
	part.options = map[string][]choiceOption{"owner": append(owners, plainOptions(page.Owners)...)}
	for _, s := range services {
		part.options["service"] = append(part.options["service"], choiceOption{string(s.ID), s.Name})
	}
	return page, part, nil
}
