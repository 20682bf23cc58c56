package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subscription"
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

// casePage is the data of the page of one case.
type casePage struct {
	ticket
	Talk   []talkLine
	Owners []string
	// Who is the person's subscription, if the partner enrolled them.
	Who    *subscription.Beneficiary
	Person string
	// Reveal says since when and why the person's words are open to who looks; nil while they are closed.
	Reveal   *operator.Entry
	Findings []cyber.Found
	Earlier  []ticket
	Ready    []cyber.ReadyAnswer
	// Writer is another operator who is writing an answer at this moment.
	Writer string
	// Draft is the ready answer that was picked without a script.
	Draft string
}

// Shown reports whether the operator has unlocked the person's words and identity.
func (p casePage) Shown() bool { return p.Reveal != nil }

// talkLine is one line of the conversation. Class is who speaks: person, ours, note or did, which is what happened to the case.
type talkLine struct {
	Class, Who, Mark string
	At               time.Time
	Text             string
	// Closed says that there are words which are not shown without a reason.
	Closed  bool
	Answers []asked
	Wishes  []string
}

// asked is a question and what the person answered.
type asked struct {
	Question string
	Answer   string
	// JSON is an element that says neither in a way that we know.
	JSON string
}

const (
	// earlierCases and openFindings are how many of each stand beside a case.
	earlierCases, openFindings = 5, 5
)

// showCasePage shows a case with all that belongs to it.
func showCasePage(c *Console, r *request) (answer, error) {
	one, moves := callRulePair(r, c.Rules.Cases.GetCase, cyber.CaseID(r.PathValue("id")))
	services, partners := callRule(r, c.Rules.Services.ListServices), callRule(r, c.Rules.Partners.ListPartners)
	page := casePage{
		ticket: c.newTickets(r, []cyber.Case{one}, services, partners)[0],
		Person: c.personPath(one.Partner, one.User),
		Writer: one.OtherWriter(r.who.Email, c.Now()),
	}
	if c.confined {
		moves = c.movesForPartner(r, moves)
	} else {
		page.Owners, page.Ready = c.listCaseOwners(r), callRule(r, c.Rules.Cases.ReadyAnswers)
	}
	for _, a := range page.Ready {
		if a.Title == r.URL.Query().Get("ready") {
			page.Draft = a.Text
		}
	}
	if one.Assignee != "" && !slices.Contains(page.Owners, one.Assignee) {
		page.Owners = append(page.Owners, one.Assignee) // an operator who has left, or a name given by the command
	}
	page.Reveal = c.currentReveals(r)[c.referenceOf(one.Partner, one.User)]
	page.Talk = c.buildConversation(r, page, moves)
	if subscriptions := callRuleWith2(r, c.Rules.FindSubscriptions.SubscriptionsOfUser, one.Partner, one.User); len(subscriptions) > 0 {
		page.Who = &subscriptions[0].Beneficiary
		page.Name, page.Mark = maskPersonName(page.Who.Name), monogramOf(page.Who.Name)
	}
	page.Findings, _ = callRulePair(
		r,
		c.Rules.Review.FindingList,
		cyber.FindingFilter{Partner: one.Partner, User: one.User, OpenOnly: true, Limit: openFindings},
	)
	others := callRuleWith2(r, c.Rules.Cases.ListPersonCases, one.Partner, one.User)
	others = slices.DeleteFunc(others, func(o cyber.Case) bool { return o.ID == one.ID })
	page.Earlier = c.newTickets(r, others[:min(len(others), earlierCases)], services, partners)
	return view{"case", "Caso " + strconv.FormatInt(page.Short, 10), page}, nil
}

// buildConversation returns the history of a case as lines of a conversation.
func (c *Console) buildConversation(r *request, page casePage, moves []cyber.CaseMove) []talkLine {
	list := make([]talkLine, 0, len(moves))
	for _, m := range moves {
		l := talkLine{Class: "did", Who: m.Actor, At: m.At, Text: m.Note, Mark: monogramOf(m.Actor)}
		switch m.Actor {
		case "":
			l.Who, l.Mark = "Pessoa", page.Mark
		case r.who.Email:
			l.Who = "Você"
		}
		// The person's own words stay hidden until the operator has given a reason to read them.
		if m.Actor == "" && m.Note != "" && !page.Shown() {
			l.Text, l.Closed = "", true
		}
		switch m.Kind {
		case cyber.MoveNote:
			l.Class = "note"
		case cyber.MoveReply:
			l.Class = "ours"
		case cyber.MoveMessage, cyber.MoveAttachment:
			l.Class = "person"
		case cyber.MoveBooking:
			l.Who = "Outro horário: " + page.Booked.In(brazil).Format("02/01/2006 15:04")
		case cyber.MoveRating:
			l.Who = "Avaliação da pessoa: " + strconv.Itoa(page.Rating) + " de 5"
		case cyber.MoveStatus:
			if m.From != "" {
				l.Who += " · " + string(m.To)
				break
			}
			// The first status carries what the person filled in when they opened the case.
			if l.Who = "Caso aberto"; len(page.Case.Answers) == 0 && len(page.Case.Appointments) == 0 {
				break
			}
			l.Class, l.Who, l.Closed = "person", "Pessoa, ao abrir o caso", !page.Shown()
			if l.Closed {
				break
			}
			questions := callRuleWith(r, c.Rules.Cases.ListQuestions, page.Service)
			for _, element := range page.Case.Answers {
				l.Answers = append(l.Answers, readAnswer(element, questions))
			}
			for _, a := range page.Case.Appointments {
				l.Wishes = append(l.Wishes, formatWish(a))
			}
		}
		list = append(list, l)
	}
	return list
}

// revealCase opens who the person is and what they wrote: answers and wished times may hold anything.
func revealCase(c *Console, r *request) (answer, error) {
	one, _ := callRulePair(r, c.Rules.Cases.GetCase, cyber.CaseID(r.PathValue("id")))
	return c.recordReveal(r, c.referenceOf(one.Partner, one.User), redirect{to: joinPath("cases", string(one.ID))})
}

// readAnswer puts an element of a request into words; a question that is named by its id is shown by its text.
func readAnswer(element string, questions []cyber.Question) asked {
	var members map[string]any
	if err := json.Unmarshal([]byte(element), &members); err != nil {
		return asked{JSON: element}
	}
	first := func(names []string) string {
		for _, name := range names {
			switch v := members[name].(type) {
			case string:
				return v
			case float64, bool:
				return fmt.Sprint(v)
			}
		}
		return ""
	}
	a := asked{Question: first(cyber.QuestionMembers), Answer: first(cyber.AnswerMembers)}
	if a.Answer == "" {
		return asked{JSON: indentJSON(element)}
	}
	for _, q := range questions {
		if a.Question == string(q.ID) {
			a.Question = q.Text
		}
	}
	return a
}

// formatWish shows a wished time as people here write times; anything else as it was sent.
func formatWish(element string) string {
	var members struct{ Appointment time.Time }
	if err := json.Unmarshal([]byte(element), &members); err != nil || members.Appointment.IsZero() {
		return indentJSON(element)
	}
	return members.Appointment.In(brazil).Format("02/01/2006 15:04")
}

// indentJSON lays JSON out for people; what is no JSON stays as it is.
func indentJSON(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

// moveCaseStatus moves a case to the status that the form names.
var moveCaseStatus = changeHandler(
	"case.move",
	"id",
	"/cases/{id}",
	"case.moved",
	func(r *request, in *Rules, id cyber.CaseID) (string, error) {
		to, err := cyber.ParseCaseStatus(r.trimmedField("to"))
		if err == nil {
			_, err = in.Cases.MoveCase(r.Context(), id, to, r.who.Email, "")
		}
		return string(to), err
	},
)

// endCaseLater makes a final move that can be undone for a while, and goes on with the next case.
func endCaseLater(c *Console, r *request) (answer, error) {
	to := parseValue(r, cyber.ParseCaseStatus, r.trimmedField("to"))
	id := cyber.CaseID(r.PathValue("id"))
	c.changeWithAudit(r, "case.move", func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Cases.ScheduleEnd(ctx, id, to, r.who.Email)
		return string(id), string(to), err
	})
	next := joinPath("cases", string(id))
	if r.trimmedField("go") == "next" {
		next = c.nextCasePath(r, id) + "?undo=" + url.QueryEscape(string(id))
	}
	return redirect{next, "case.ending"}, nil
}

// nextCasePath returns the page of the most urgent case that waits for the operator, or else of one without an owner,
// or else the desk.
func (c *Console) nextCasePath(r *request, done cyber.CaseID) string {
	for _, f := range []cyber.LaneFilter{{Assignee: r.who.Email, Limit: perLane}, {Unassigned: true, Limit: perLane}} {
		for _, one := range callRuleWith(r, c.Rules.Cases.ListLane, f).Cases {
			if one.ID != done && one.Ending.At.IsZero() && one.Status != cyber.CaseWaiting {
				return joinPath("cases", string(one.ID))
			}
		}
	}
	return "/cases"
}

// undoCaseEnd takes back a final move.
var undoCaseEnd = changeHandler(
	"case.undo",
	"id",
	"/cases/{id}",
	"case.undone",
	func(r *request, in *Rules, id cyber.CaseID) (string, error) {
		_, err := in.Cases.UndoScheduledEnd(r.Context(), id)
		return "", err
	},
)

// writeCase keeps a note, or sends a reply to the person.
func writeCase(c *Console, r *request) (answer, error) {
	id := cyber.CaseID(r.PathValue("id"))
	action, done, write := "case.reply", "case.replied", (*cyber.Cases).AddReply
	if r.trimmedField("kind") == "note" {
		action, done, write = "case.note", "case.noted", (*cyber.Cases).AddInternalNote
	}
	return c.changeAndRedirect(
		r,
		action,
		redirect{joinPath("cases", string(id)), done},
		func(ctx context.Context, in *Rules) (string, string, error) {
			_, err := write(in.Cases, ctx, id, r.who.Email, r.trimmedField("text"))
			return string(id), "", err
		},
	)
}

// writingCase hears from the script of a page whether an answer is being written, and says who else writes one. It leaves no
// line in the trail: nothing about the case changes.
func writingCase(c *Console, r *request) (answer, error) {
	id := cyber.CaseID(r.PathValue("id"))
	one, _ := callRulePair(r, c.Rules.Cases.GetCase, id)
	if r.failure == nil && r.trimmedField("typing") == "1" {
		r.failure = c.Rules.Cases.NoteWriting(r.Context(), id, r.who.Email)
	}
	other := one.OtherWriter(r.who.Email, c.Now())
	if other != "" && c.confined {
		other = theService
	}
	return document{map[string]string{"other": other}}, nil
}

// takeOverCase assigns a case to the operator who asks.
var takeOverCase = changeHandler(
	"case.assign",
	"id",
	"/cases/{id}",
	"case.taken",
	func(r *request, in *Rules, id cyber.CaseID) (string, error) {
		_, err := in.Cases.TakeCase(r.Context(), id, r.who.Email)
		return r.who.Email, err
	},
)

// assignCase assigns the case in the path to the operator in the form.
func assignCase(c *Console, r *request) (answer, error) {
	id := cyber.CaseID(r.PathValue("id"))
	c.assignCases(r, id)
	return redirect{joinPath("cases", string(id)), "case.assigned"}, nil
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

// partnerOf reads the partner that a path names.
func partnerOf(r *request) partner.ID { return partner.ID(r.PathValue("partner")) }

// listServices shows all support services, retired ones included.
func listServices(c *Console, r *request) (answer, error) {
	all, err := c.Rules.Services.ListServices(r.Context())
	return view{"services", "Serviços de atendimento", all}, err
}

// addService creates a support service that people can open cases for.
func addService(c *Console, r *request) (answer, error) {
	return c.changeAndRedirect(
		r,
		"service.add",
		redirect{"/services", "service.added"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			sv, err := in.Services.AddService(ctx, r.trimmedField("name"), r.trimmedField("description"))
			return string(sv.ID), sv.Name, err
		},
	)
}

// loadService returns the service that the address names.
func (c *Console) loadService(r *request) cyber.Service {
	for _, sv := range callRule(r, c.Rules.Services.ListServices) {
		if string(sv.ID) == r.PathValue("id") {
			return sv
		}
	}
	r.keepFailure(cyber.ErrServiceNotFound)
	return cyber.Service{}
}

// showService shows a service with its triage questions and its free slots.
func showService(c *Console, r *request) (answer, error) {
	sv := c.loadService(r)
	return view{"service", sv.Name, servicePage{sv, callRuleWith(r, c.Rules.Cases.ListQuestions, sv.ID), callRuleWith(r, c.Rules.Cases.ListSlots, sv.ID)}}, nil
}

// saveService changes a service; a service whose box "offered" is not ticked is retired.
var saveService = changeHandler("service.edit", "id", "/services/{id}", "service.saved", func(r *request, in *Rules, id cyber.ServiceID) (string, error) {
	position := r.readNumber("position", 0)
	sv, err := in.Services.EditService(r.Context(), id, func(sv *cyber.Service) {
		sv.Name, sv.Description, sv.Position, sv.Retired = r.trimmedField("name"), r.trimmedField("description"), int64(position), !r.PostForm.Has("offered")
	})
	return sv.Name, err
})

// retireService stops offering a service for new cases.
var retireService = changeHandler(
	"service.retire",
	"id",
	"/services",
	"service.retired",
	func(r *request, in *Rules, id cyber.ServiceID) (string, error) {
		sv, err := in.Services.RetireService(r.Context(), id)
		return sv.Name, err
	},
)

// servicePage is a service with what it asks and when it is there.
type servicePage struct {
	cyber.Service
	Questions []cyber.Question
	Slots     []cyber.Slot
}

// setTarget sets the working time for new cases of a service; 0 means none. Hours may have a decimal comma.
var setTarget = changeService("case.target", "service.target", func(r *request, in *Rules, id cyber.ServiceID) error {
	hours, err := time.ParseDuration(strings.Replace(r.trimmedField("hours"), ",", ".", 1) + "h")
	if err != nil || hours < 0 {
		return cyber.ErrServiceInvalid.With("hours", fault.HoursOrNone)
	}
	return in.Cases.SetTargetTime(r.Context(), id, hours)
})

// addQuestion adds a triage question that people answer when they open a case; without options the answer is free
// text.
var addQuestion = changeService(
	"case.question.add",
	"service.question",
	func(r *request, in *Rules, id cyber.ServiceID) error {
		_, err := in.Cases.AddQuestion(
			r.Context(),
			id,
			r.trimmedField("question"),
			r.PostForm.Has("required"),
			splitLines(r.trimmedField("options")),
		)
		return err
	},
)

// removeQuestion removes a triage question.
var removeQuestion = changeService(
	"case.question.remove",
	"service.question_removed",
	func(r *request, in *Rules, _ cyber.ServiceID) error {
		return in.Cases.DeleteQuestion(r.Context(), cyber.QuestionID(r.PathValue("question")))
	},
)

// addServiceSlots adds times to a service's calendar.
var addServiceSlots = changeService(
	"case.slot.add",
	"service.slots",
	func(r *request, in *Rules, id cyber.ServiceID) error {
		var times []time.Time
		for _, line := range splitLines(r.trimmedField("slots")) {
			t, err := parseMoment("slots", line)
			if err != nil {
				return cyber.ErrServiceInvalid.With("slots", fault.MomentPerLine)
			}
			times = append(times, t)
		}
		only := partner.ID(r.trimmedField("partner"))
		if only != "" {
			if _, err := in.Partners.GetPartner(r.Context(), only); err != nil {
				return err
			}
		}
		_, err := in.Cases.AddFreeSlots(r.Context(), id, only, times)
		return err
	},
)

// removeSlot deletes a free slot.
var removeSlot = changeService(
	"case.slot.remove",
	"service.slot_removed",
	func(r *request, in *Rules, _ cyber.ServiceID) error {
		return in.Cases.DeleteSlot(r.Context(), cyber.SlotID(r.PathValue("slot")))
	},
)

// changeService makes the handler of a change of the service in the path.
func changeService(action, done string, change func(r *request, in *Rules, id cyber.ServiceID) error) handler {
	return changeHandler(
		action,
		"id",
		"/services/{id}",
		done,
		func(r *request, in *Rules, id cyber.ServiceID) (string, error) {
			return "", change(r, in, id)
		},
	)
}
