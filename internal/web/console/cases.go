package console

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// perLane is how many cases the desk shows of each status, or of all; a status by itself is read page by page.
const perLane = 25

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

// lane is one status of the queue with the cases in it.
type lane struct {
	cyber.Lane
	Tickets []ticket
	// Whole is the address of the status by itself.
	Whole string
}

// parseLaneMark reads a place in a lane.
func parseLaneMark(text string) cyber.LaneMark {
	due, id, _ := strings.Cut(text, ".")
	return cyber.LaneMark{Due: parseMicros(due), ID: cyber.CaseID(id)}
}

// formatLaneMark writes a place that parseLaneMark reads; empty at the end of the lane.
func formatLaneMark(m cyber.LaneMark) string {
	if m.ID == "" {
		return ""
	}
	return formatMicros(m.Due) + "." + string(m.ID)
}

// ticket is a case as the desk shows it.
type ticket struct {
	cyber.Case
	ServiceName, PartnerName string
	Deadline                 deadline
	// Name is the masked name of the person, Mark its initials; empty when the partner did not enrol them.
	Name, Mark string
	// LastWord is who wrote last and how long ago; FromPerson that it was the person, whose word waits for an answer.
	LastWord   string
	FromPerson bool
}

// deadline is when a case should be resolved, in words. Class is its colour: bad when late, warn when it ends today.
type deadline struct{ Class, Text string }

// deadlineOf is the one definition of late and of due today, for the desk, the case and the numbers of the overview: a
// case whose clock runs and whose time is over, or over before midnight. cyber.WaitingCases counts by the same.
func deadlineOf(c cyber.Case, now time.Time) deadline {
	due, running := c.Clock.Due()
	rest := due.Sub(now)
	switch {
	case !c.Status.Open():
		return deadline{}
	case !running && c.Clock.Target > 0:
		return deadline{Text: "Prazo parado"}
	case !running:
		return deadline{Text: "Sem prazo"}
	case rest < 0:
		return deadline{Class: "bad", Text: "Atrasado há " + formatDuration(-rest)}
	case due.Before(nextMidnight(now)) && rest < 2*time.Hour:
		return deadline{Class: "warn", Text: "Vence em " + formatDuration(rest)}
	case due.Before(nextMidnight(now)):
		return deadline{Class: "warn", Text: "Vence hoje, " + due.In(brazil).Format("15:04")}
	}
	return deadline{Text: "F" + formatTimeLeft(rest)[1:]}
}

// newTickets returns cases as cards of the desk.
func (c *Console) newTickets(
	who viewer,
	cases []cyber.Case,
	services []cyber.Service,
	partners []partner.Partner,
) []ticket {
	serviceNames, partnerNames := map[cyber.ServiceID]string{}, partnerChoice{All: partners}.namesByID()
	for _, s := range services {
		serviceNames[s.ID] = s.Name
	}
	tickets := make([]ticket, len(cases))
	for i, one := range cases {
		t := ticket{
			Case:        one,
			ServiceName: serviceNames[one.Service],
			PartnerName: partnerNames[one.Partner],
			Deadline:    deadlineOf(one, c.Now()),
			FromPerson:  one.Spoke == "",
		}
		if c.confined && one.Assignee != "" { // who of the service works on a case is not for partners
			t.Assignee = theService
		}
		speaker, _, _ := strings.Cut(one.Spoke, "@")
		switch {
		case one.Spoke == "":
			speaker = "Pessoa"
		case one.Spoke == who.who.Email:
			speaker = "Você"
		case c.confined:
			speaker = theService
		}
		t.LastWord = speaker + ", há " + formatDuration(max(0, c.Now().Sub(one.SpokeAt)))
		tickets[i] = t
	}
	return tickets
}

// listCaseOwners returns the e-mail addresses of the operators who may work on a case.
func (c *Console) listCaseOwners(ctx context.Context) ([]string, error) {
	operators, err := c.Rules.Operators.ListOperators(ctx)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, o := range operators {
		if o.Role.Covers(operator.Support) && !o.Disabled {
			list = append(list, o.Email)
		}
	}
	return list, nil
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
func (c *Console) gatherDesk(
	ctx context.Context, who viewer, f filter, partners []partner.Partner,
) (casesPage, error) {
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
	q, _ := url.ParseQuery(f.encodeQuery()) // it was just encoded
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

// nameTickets puts the masked names of enrolled persons on cases.
func (c *Console) nameTickets(ctx context.Context, list []ticket) error {
	users := map[partner.ID][]partner.UserHash{}
	for _, t := range list {
		users[t.Partner] = append(users[t.Partner], t.User)
	}
	for id, of := range users {
		names, err := c.Rules.FindSubscriptions.NamesOfUsers(ctx, id, of)
		if err != nil {
			return err
		}
		for i, t := range list {
			if name := names[t.User]; t.Partner == id && name != "" {
				list[i].Name, list[i].Mark = maskPersonName(name), monogramOf(name)
			}
		}
	}
	return nil
}

// readDeskLane reads one status of the desk.
func (c *Console) readDeskLane(ctx context.Context, who viewer, f filter, asked cyber.LaneFilter) (lane, error) {
	if f.valueOfName("owner") == ownerMe {
		asked.Assignee = who.who.Email
	}
	one, err := c.Rules.Cases.ListLane(ctx, asked)
	if err != nil {
		return lane{}, err
	}
	q, _ := url.ParseQuery(f.encodeQuery()) // it was just encoded
	q.Set("status", string(asked.Status))
	l := lane{Lane: one, Whole: "/cases?" + q.Encode()}
	return l, nil
}

// assignMarkedCases gives the cases that were marked on the desk to one operator: all of them, or none.
func assignMarkedCases(c *Console, r *request) (answer, error) {
	rows := r.PostForm["row"]
	if len(rows) == 0 || len(rows) > perPage {
		return nil, errNothing.With("row", fault.LinesChosen, perPage)
	}
	ids := make([]cyber.CaseID, len(rows))
	for i, row := range rows {
		ids[i] = cyber.CaseID(row)
	}
	if err := c.assignTo(r, ids...); err != nil {
		return nil, err
	}
	back, _ := url.ParseQuery(r.trimmedField("back")) // what is no query is left out
	return redirect{"/cases?" + back.Encode(), "case.assigned"}, nil
}

// assignTo assigns cases to the operator in the form, with a line in the audit trail for each case. It is one
// transaction, so that a case that cannot be assigned leaves the others as they were and the refusal is true of all of
// them.
func (c *Console) assignTo(r *request, ids ...cyber.CaseID) error {
	to := r.trimmedField("assignee")
	if r.PostForm.Has("me") {
		to = r.who.Email
	} else {
		owners, err := c.listCaseOwners(r.Context())
		if err != nil {
			return err
		}
		if to != "" && !slices.Contains(owners, to) {
			return cyber.ErrCaseInvalid.With("assignee", fault.CaseOperator)
		}
	}
	ctx := r.Context()
	return c.InTx(ctx, func(in *Rules) error {
		for _, id := range ids {
			if _, err := in.Cases.AssignCase(ctx, id, to); err != nil {
				return err
			}
			if err := in.Audit.RecordAction(ctx, r.auditActor(), "case.assign", string(id), to); err != nil {
				return err
			}
		}
		return nil
	})
}
