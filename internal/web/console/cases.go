package console

import (
	"context"
	"net/url"
	"slices"
	"strconv"
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
	Lanes  []lane
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
	// Whole is the address of the status by itself; Next that of its next page, empty at the end.
	Whole, Next string
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

// deadlineOf is the one definition of late and of due today, for the desk, the case and the numbers of the overview: a case
// whose clock runs and whose time is over, or over before midnight. cyber.WaitingCases counts by the same.
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
	r *request,
	cases []cyber.Case,
	services []cyber.Service,
	partners []partner.Partner,
) []ticket {
	serviceNames, partnerNames := map[cyber.ServiceID]string{}, partnerChoice{All: partners}.namesByID()
	for _, s := range services {
		serviceNames[s.ID] = s.Name
	}
	return mapList(cases, func(one cyber.Case) ticket {
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
		who, _, _ := strings.Cut(one.Spoke, "@")
		switch {
		case one.Spoke == "":
			who = "Pessoa"
		case one.Spoke == r.who.Email:
			who = "Você"
		case c.confined:
			who = theService
		}
		t.LastWord = who + ", há " + formatDuration(max(0, c.Now().Sub(one.SpokeAt)))
		return t
	})
}

// listCaseOwners returns the e-mail addresses of the operators who may work on a case.
func (c *Console) listCaseOwners(r *request) (list []string) {
	for _, o := range callRule(r, c.Rules.Operators.ListOperators) {
		if o.Role.Covers(operator.Support) && !o.Disabled {
			list = append(list, o.Email)
		}
	}
	return list
}

// showCases shows the queue of cases, as a list or with the statuses side by side.
func showCases(c *Console, r *request) (answer, error) {
	partners := c.visiblePartners(r)
	id, q := c.chosenPartner(r, partners), r.URL.Query()
	if status, err := cyber.ParseCaseStatus(q.Get("status")); err == nil {
		q.Set("status", string(status))
	}
	known := id
	if !isKnownPartner(partners, id) { // a partner that there is not has no cases
		known = ""
	}
	f := c.parseFilterQuery(r, &casesList, q, known, partners)
	f.Partner = id
	services := callRule(r, c.Rules.Services.ListServices)
	page := casesPage{Status: cyber.CaseStatus(f.valueOfName("status")), AsLanes: f.valueOfName("view") == "lanes"}
	page.Tabs = c.queueTabs(r, f)
	shown := []cyber.CaseStatus{page.Status}
	if page.AsLanes && page.Status == "" {
		shown = []cyber.CaseStatus{cyber.CaseOpen, cyber.CaseInProgress, cyber.CaseWaiting}
	}
	for _, status := range shown {
		l := c.readDeskLane(r, f, status, len(shown) == 1)
		l.Tickets = c.newTickets(r, l.Cases, services, partners)
		c.nameTickets(r, l.Tickets)
		page.Lanes, page.Total = append(page.Lanes, l), page.Total+l.Total
	}
	page.Other = f.deskAddressWith("view", map[bool]string{false: "lanes", true: ""}[page.AsLanes])
	c.pictureCases(r)
	page.List = c.newListView(r, &casesList, f, partners, 0, "", page.Total)
	page.Owners = c.listCaseOwners(r)
	for _, s := range services {
		page.List.offerOption("service", choiceOption{string(s.ID), s.Name})
	}
	page.List.offerOption("owner", choiceOption{ownerMe, "Eu"})
	page.List.offerOption("owner", choiceOption{ownerNone, "Ninguém"})
	for _, o := range page.Owners {
		page.List.offerOption("owner", choiceOption{o, o})
	}
	return view{"cases", "Casos", page}, nil
}

// queueTabs counts the queues of a day among what the filter leaves.
func (c *Console) queueTabs(r *request, f filter) []queueTab {
	all := f.laneFilter("", 0)
	all.Assignee, all.Unassigned, all.DueFrom, all.DueTo = "", false, time.Time{}, time.Time{}
	n := callRuleWith3(r, c.Rules.Cases.CountWaiting, all, r.who.Email, nextMidnight(c.Now()))
	tabs := []queueTab{
		{
			Label:   "Atrasados",
			Path:    f.deskAddressWith("due", "late"),
			Count:   n.Late,
			Current: f.valueOfName("due") == "late",
			Late:    n.Late > 0,
		},
		{
			Label:   "Vencem hoje",
			Path:    f.deskAddressWith("due", "today"),
			Count:   n.Today,
			Current: f.valueOfName("due") == "today",
		},
		{
			Label:   "Meus",
			Path:    f.deskAddressWith("owner", ownerMe),
			Count:   n.Mine,
			Current: f.valueOfName("owner") == ownerMe,
		},
		{
			Label:   "Sem responsável",
			Path:    f.deskAddressWith("owner", ownerNone),
			Count:   n.Free,
			Current: f.valueOfName("owner") == ownerNone,
		},
		{
			Label:   "Todos",
			Path:    f.deskAddressWith("owner", ""),
			Count:   n.Open,
			Current: f.valueOfName("due") == "" && f.valueOfName("owner") == "" && f.valueOfName("status") == "",
		},
	}
	if c.confined { // who of the service works on what is not for partners
		tabs = slices.Delete(tabs, 2, 4)
	}
	return tabs
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
func (c *Console) nameTickets(r *request, list []ticket) {
	users := map[partner.ID][]partner.UserHash{}
	for _, t := range list {
		users[t.Partner] = append(users[t.Partner], t.User)
	}
	for id, of := range users {
		names := callRuleWith2(r, c.Rules.FindSubscriptions.NamesOfUsers, id, of)
		for i, t := range list {
			if name := names[t.User]; t.Partner == id && name != "" {
				list[i].Name, list[i].Mark = maskPersonName(name), monogramOf(name)
			}
		}
	}
}

// readDeskLane reads one status of the desk: a few of it beside others, or a page of it alone.
func (c *Console) readDeskLane(r *request, f filter, status cyber.CaseStatus, alone bool) lane {
	asked := f.laneFilter(status, perLane)
	if f.valueOfName("owner") == ownerMe {
		asked.Assignee = r.who.Email
	}
	if alone {
		asked.Limit, asked.After = 2*perLane, cyber.LaneMark{
			ID:  cyber.CaseID(r.URL.Query().Get("id")),
			Due: parseMicros(r.URL.Query().Get("at")),
		}
	}
	one := callRuleWith(r, c.Rules.Cases.ListLane, asked)
	q, _ := url.ParseQuery(f.encodeQuery()) // it was just encoded
	q.Set("status", string(status))
	l := lane{Lane: one, Whole: "/cases?" + q.Encode()}
	if one.Next.ID != "" {
		q.Set("id", string(one.Next.ID))
		if !one.Next.Due.IsZero() {
			q.Set("at", strconv.FormatInt(one.Next.Due.UnixMicro(), 10))
		}
		l.Next = "/cases?" + q.Encode()
	}
	return l
}

// assignCases gives the cases that were marked on the desk to one operator.
func assignCases(c *Console, r *request) (answer, error) {
	ids := mapList(r.PostForm["row"], func(id string) cyber.CaseID { return cyber.CaseID(id) })
	if len(ids) == 0 || len(ids) > perPage {
		return nil, errNothing.With("row", fault.LinesChosen, perPage)
	}
	c.assignCases(r, ids...)
	back, _ := url.ParseQuery(r.trimmedField("back")) // what is no query is left out
	return redirect{"/cases?" + back.Encode(), "case.assigned"}, nil
}

// assignCases assigns cases to the operator in the form, with a line in the audit trail for each case.
func (c *Console) assignCases(r *request, ids ...cyber.CaseID) {
	to := r.trimmedField("assignee")
	if r.PostForm.Has("me") {
		to = r.who.Email
	} else if owners := c.listCaseOwners(r); to != "" && !slices.Contains(owners, to) {
		r.keepFailure(cyber.ErrCaseInvalid.With("assignee", fault.CaseOperator))
	}
	for _, id := range ids {
		c.changeWithAudit(r, "case.assign", func(ctx context.Context, in *Rules) (string, string, error) {
			_, err := in.Cases.AssignCase(ctx, id, to)
			return string(id), to, err
		})
	}
}
