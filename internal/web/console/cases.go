package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
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

// showCases shows the queue of cases, as a list or with the statuses side by side.
func showCases(c *Console, r *request) (answer, error) {
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
	f, err := c.parseFilterQuery(ctx, &casesList, q, known, partners)
	if err != nil {
		return nil, err
	}
	f.Partner = id
	page, err := c.gatherDesk(ctx, r.viewer, f, partners)
	if err != nil {
		return nil, err
	}
	charts, err := c.pictureCases(ctx, r.viewer, parsePeriod(r))
	if err != nil {
		return nil, err
	}
	r.addPictures(charts...)
	return view{"cases", "Casos", page}, nil
}

// gatherDesk returns the desk under a filter.
func (c *Console) gatherDesk(ctx context.Context, who viewer, f filter, partners []partner.Partner) (casesPage, error) {
	page := casesPage{Status: cyber.CaseStatus(f.valueOfName("status")), AsLanes: f.valueOfName("view") == "lanes"}
	services, err := c.Rules.Services.ListServices(ctx)
	if err != nil {
		return page, err
	}
	page.Tabs, err = c.queueTabs(ctx, who, f)
	if err != nil {
		return page, err
	}
	shown := []cyber.CaseStatus{page.Status}
	if page.AsLanes && page.Status == "" {
		shown = []cyber.CaseStatus{cyber.CaseOpen, cyber.CaseInProgress, cyber.CaseWaiting}
	}
	for _, status := range shown {
		asked := f.laneFilter(status, perLane)
		if len(shown) == 1 {
			asked.Limit, asked.After = 2*perLane, parseLaneMark(f.After)
		}
		l, err := c.readDeskLane(ctx, who, f, asked)
		if err != nil {
			return page, err
		}
		l.Tickets = c.newTickets(who, l.Cases, services, partners)
		if err := c.nameTickets(ctx, l.Tickets); err != nil {
			return page, err
		}
		page.Lanes, page.Total = append(page.Lanes, l), page.Total+l.Total
	}
	otherView := "lanes"
	if page.AsLanes {
		otherView = ""
	}
	page.Other = f.deskAddressWith("view", otherView)
	part := listPart{partners: partners, total: page.Total, size: 2 * perLane}
	if !page.AsLanes {
		rows := page.Lanes[0]
		part.shown, part.next = len(rows.Tickets), formatLaneMark(rows.Lane.Next)
		page.Table = c.tableOfCases(rows.Tickets)
		if !rows.Counted() {
			part.total = -1
		}
	}
	page.List, err = c.newListView(ctx, who, &casesList, f, part)
	if err != nil {
		return page, err
	}
	page.Owners, err = c.listCaseOwners(ctx)
	if err != nil {
		return page, err
	}
	for _, s := range services {
		page.List.offerOption("service", choiceOption{string(s.ID), s.Name})
	}
	page.List.offerOption("owner", choiceOption{ownerMe, "Eu"})
	page.List.offerOption("owner", choiceOption{ownerNone, "Ninguém"})
	for _, o := range page.Owners {
		page.List.offerOption("owner", choiceOption{o, o})
	}
	return page, nil
}
