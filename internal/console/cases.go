package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// perLane is how many cases of each status the desk shows; a status by itself is read page by page.
const perLane = 25

type casesPage struct {
	List  listView
	Lanes []lane
	Total int64
	// Status is the one that is looked at by itself, if any.
	Status cyber.CaseStatus
}

// Who of the owners is not named by an address.
const (
	ownerMe   = "eu"
	ownerNone = "ninguem"
)

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
	// Pace is the colour of its clock: good, warn, bad, or none without a target or while it stands.
	Pace string
	// Left is the working time that is left; negative when it is late.
	Left time.Duration
}

// pace judges a clock: the last quarter of the time is a warning.
func pace(c cyber.Case, now time.Time) (string, time.Duration) {
	if c.Clock.Target == 0 || !c.Status.Open() {
		return "", 0
	}
	left := c.Clock.Target - c.Clock.UsedAt(now)
	switch {
	case left < 0:
		return "bad", left
	case left < c.Clock.Target/4:
		return "warn", left
	}
	return "good", left
}

// naming gives services and partners their names.
type naming struct {
	services map[cyber.ServiceID]string
	partners map[partner.ID]string
	now      time.Time
	// confined hides who of the service works on a case.
	confined bool
}

func (n naming) tickets(cases []cyber.Case) []ticket {
	list := make([]ticket, len(cases))
	for i, one := range cases {
		list[i] = ticket{Case: one, ServiceName: n.services[one.Service], PartnerName: n.partners[one.Partner]}
		list[i].Pace, list[i].Left = pace(one, n.now)
		if n.confined && one.Assignee != "" {
			list[i].Assignee = theService
		}
	}
	return list
}

func (c *Console) naming(services []cyber.Service, partners []partner.Partner) naming {
	n := naming{make(map[cyber.ServiceID]string, len(services)), partnerChoice{All: partners}.names(), c.Now(), c.confined}
	for _, s := range services {
		n.services[s.ID] = s.Name
	}
	return n
}

// owners are the addresses of those who may work on a case.
func (c *Console) owners(r *request) ([]string, error) {
	all, err := c.Rules.Operators.Operators(r.Context())
	var list []string
	for _, o := range all {
		if o.Role.Covers(operator.Support) && !o.Disabled {
			list = append(list, o.Email)
		}
	}
	return list, err
}

// casesFilter reads what the desk is narrowed to. A partner that there is not has no cases.
func (c *Console) casesFilter(r *request, partners []partner.Partner) (filter, error) {
	id, q := c.chosen(r, partners), r.URL.Query()
	if status, err := cyber.ParseCaseStatus(q.Get("status")); err == nil {
		q.Set("status", string(status))
	}
	if known(partners, id) {
		return c.filterOf(r.Context(), &casesList, q, id, partners)
	}
	f, err := c.filterOf(r.Context(), &casesList, q, "", partners)
	f.Partner = id
	return f, err
}

func showCases(c *Console, r *request) (answer, error) {
	partners, err := c.visible(r)
	if err != nil {
		return nil, err
	}
	f, err := c.casesFilter(r, partners)
	if err != nil {
		return nil, err
	}
	services, err := c.Rules.Services.All(r.Context())
	if err != nil {
		return nil, err
	}
	page := casesPage{Status: cyber.CaseStatus(f.is("status"))}
	names := c.naming(services, partners)
	for _, status := range cyber.CaseStatuses() {
		if page.Status == "" && !status.Open() || page.Status != "" && page.Status != status {
			continue
		}
		l, err := c.lane(r, f, status, page.Status != "")
		if err != nil {
			return nil, err
		}
		l.Tickets = names.tickets(l.Cases)
		page.Lanes, page.Total = append(page.Lanes, l), page.Total+l.Total
	}
	if err := c.pictureCases(r); err != nil {
		return nil, err
	}
	if page.List, err = c.listView(r, &casesList, f, partners, 0, "", page.Total); err != nil {
		return nil, err
	}
	err = c.casesChoices(r, &page.List, services)
	return view{"cases", "Casos", page}, err
}

// lane reads one status of the desk: a few of it beside others, or a page of it alone.
func (c *Console) lane(r *request, f filter, status cyber.CaseStatus, alone bool) (lane, error) {
	asked := f.laneOf(status, perLane)
	if f.is("owner") == ownerMe {
		asked.Assignee = r.who.Email
	}
	if alone {
		asked.Limit, asked.After = 2*perLane, laneMark(r.URL.Query())
	}
	one, err := c.Rules.Cases.LanePage(r.Context(), asked)
	if err != nil {
		return lane{}, err
	}
	q, _ := url.ParseQuery(f.query()) // it was just encoded
	q.Set("status", string(status))
	l := lane{Lane: one, Whole: "/cases?" + q.Encode()}
	if one.Next.ID != "" {
		q.Set("id", string(one.Next.ID))
		if !one.Next.Due.IsZero() {
			q.Set("at", strconv.FormatInt(one.Next.Due.UnixMicro(), 10))
		}
		l.Next = "/cases?" + q.Encode()
	}
	return l, nil
}

// casesChoices puts the services and those who work on cases into the form.
func (c *Console) casesChoices(r *request, v *listView, services []cyber.Service) error {
	owners, err := c.owners(r)
	for i := range v.Fields {
		field := &v.Fields[i]
		switch field.Name {
		case "service":
			for _, s := range services {
				field.Options = append(field.Options, choiceOption{string(s.ID), s.Name})
			}
		case "owner":
			field.Options = []choiceOption{{ownerMe, "Eu"}, {ownerNone, "Ninguém"}}
			for _, o := range owners {
				field.Options = append(field.Options, choiceOption{o, o})
			}
		}
	}
	return err
}

// laneMark reads where a lane goes on from the address.
func laneMark(q url.Values) cyber.LaneMark {
	m := cyber.LaneMark{ID: cyber.CaseID(q.Get("id"))}
	if at, err := strconv.ParseInt(q.Get("at"), 10, 64); err == nil {
		m.Due = time.UnixMicro(at)
	}
	return m
}

func lineName(m cyber.CaseMove) string { return cmp.Or(lineNames[m.Kind], string(m.To)) }

type casePage struct {
	ticket
	Moves   []cyber.CaseMove
	Owners  []string
	Answers []asked
	Wishes  []string
	// Who is the person's subscription, if the partner enrolled them.
	Who    *subscription.Beneficiary
	Person string
	Shown  bool
}

// asked is a question and what the person answered.
type asked struct {
	Question string
	Answer   string
	// JSON is an element that says neither in a way that we know.
	JSON string
}

func (c *Console) casePage(r *request) (page casePage, err error) {
	one, moves, err := c.Rules.Cases.Show(r.Context(), cyber.CaseID(r.PathValue("id")))
	if err != nil {
		return page, err
	}
	services, err := c.Rules.Services.All(r.Context())
	if err != nil {
		return page, err
	}
	partners, err := c.Rules.Partners.Partners(r.Context())
	if err != nil {
		return page, err
	}
	page = casePage{ticket: c.naming(services, partners).tickets([]cyber.Case{one})[0], Moves: moves, Person: c.personPath(one.Partner, one.User)}
	if c.confined {
		page.Moves, err = c.movesForPartner(r, moves)
	} else {
		page.Owners, err = c.owners(r)
	}
	if err != nil {
		return page, err
	}
	if one.Assignee != "" && !slices.Contains(page.Owners, one.Assignee) {
		page.Owners = append(page.Owners, one.Assignee) // somebody who has left, or a name given by the command
	}
	subscriptions, err := c.Rules.FindSubscriptions.SubscriptionsOfUser(r.Context(), one.Partner, one.User)
	if len(subscriptions) > 0 {
		page.Who = &subscriptions[0].Beneficiary
	}
	return page, err
}

func showCase(c *Console, r *request) (answer, error) {
	page, err := c.casePage(r)
	if err != nil {
		return nil, err
	}
	return view{"case", "Caso", page}, nil
}

// revealCase shows who the person is and what they wrote: answers and wished times may hold anything.
func revealCase(c *Console, r *request) (answer, error) {
	why, err := reason(r)
	if err != nil {
		return nil, err
	}
	page, err := c.casePage(r)
	if err != nil {
		return nil, err
	}
	if err := c.note(r, "case.reveal", string(page.ID), why); err != nil {
		return nil, err
	}
	page.Shown = true
	questions, err := c.Rules.Cases.Questions(r.Context(), page.Service)
	if err != nil {
		return nil, err
	}
	for _, element := range page.Case.Answers {
		page.Answers = append(page.Answers, readAnswer(element, questions))
	}
	for _, a := range page.Case.Appointments {
		page.Wishes = append(page.Wishes, readWish(a))
	}
	return view{"case", "Caso", page}, nil
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
		return asked{JSON: indented(element)}
	}
	for _, q := range questions {
		if a.Question == string(q.ID) {
			a.Question = q.Text
		}
	}
	return a
}

// readWish shows a wished time as people here write times; anything else as it was sent.
func readWish(element string) string {
	var members struct{ Appointment time.Time }
	if err := json.Unmarshal([]byte(element), &members); err != nil || members.Appointment.IsZero() {
		return indented(element)
	}
	return members.Appointment.In(brazil).Format("02/01/2006 15:04")
}

// indented lays JSON out for people; what is no JSON stays as it is.
func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

func moveCase(c *Console, r *request) (answer, error) {
	to, err := cyber.ParseCaseStatus(r.text("to"))
	if err != nil {
		return nil, err
	}
	id := cyber.CaseID(r.PathValue("id"))
	err = c.change(r, "case.move", func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Cases.Move(ctx, id, to, r.who.Email, r.text("note"))
		return string(id), string(to), err
	})
	if err != nil {
		return nil, err
	}
	return redirect{at("cases", string(id)), "case.moved"}, nil
}

func noteCase(c *Console, r *request) (answer, error) {
	id := cyber.CaseID(r.PathValue("id"))
	err := c.change(r, "case.note", func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Cases.Note(ctx, id, r.who.Email, r.text("note"))
		return string(id), "", err
	})
	if err != nil {
		return nil, err
	}
	return redirect{at("cases", string(id)), "case.noted"}, nil
}

func replyCase(c *Console, r *request) (answer, error) {
	id := cyber.CaseID(r.PathValue("id"))
	err := c.change(r, "case.reply", func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Cases.Reply(ctx, id, r.who.Email, r.text("text"))
		return string(id), "", err
	})
	if err != nil {
		return nil, err
	}
	return redirect{at("cases", string(id)), "case.replied"}, nil
}

func assignCase(c *Console, r *request) (answer, error) {
	id := cyber.CaseID(r.PathValue("id"))
	to := r.text("assignee")
	if r.PostForm.Has("me") {
		to = r.who.Email
	}
	if owners, err := c.owners(r); err != nil || to != "" && !slices.Contains(owners, to) {
		return nil, cmp.Or(err, error(cyber.ErrCaseInvalid.With("assignee: an operator who may work on cases")))
	}
	err := c.change(r, "case.assign", func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Cases.Assign(ctx, id, to)
		return string(id), to, err
	})
	if err != nil {
		return nil, err
	}
	return redirect{at("cases", string(id)), "case.assigned"}, nil
}

// partnerOf reads the partner that a path names.
func partnerOf(r *request) partner.ID { return partner.ID(r.PathValue("partner")) }
