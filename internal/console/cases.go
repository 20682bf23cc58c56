package console

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// boardLimit is how many cases the board holds; a filter shows the rest.
const boardLimit = 300

type boardPage struct {
	Lanes    []lane
	Services []cyber.Service
	Service  cyber.ServiceID
	Mine     bool
	All      bool
	Total    int
}

type lane struct {
	Status cyber.CaseStatus
	Cases  []ticket
}

// ticket is a case as the board shows it.
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

func (c *Console) tickets(r *request, cases []cyber.Case) ([]ticket, error) {
	services, err := c.Rules.Services.All(r.Context())
	if err != nil {
		return nil, err
	}
	partners, err := c.names(r)
	if err != nil {
		return nil, err
	}
	byID := make(map[cyber.ServiceID]string, len(services))
	for _, s := range services {
		byID[s.ID] = s.Name
	}
	list := make([]ticket, len(cases))
	for i, one := range cases {
		list[i] = ticket{Case: one, ServiceName: byID[one.Service], PartnerName: partners[one.Partner]}
		list[i].Pace, list[i].Left = pace(one, c.Now())
	}
	return list, nil
}

func showBoard(c *Console, r *request) (answer, error) {
	q := r.URL.Query()
	page := boardPage{Service: cyber.ServiceID(q.Get("service")), Mine: q.Get("mine") != "", All: q.Get("all") != ""}
	filter := cyber.CaseFilter{Service: page.Service, OpenOnly: !page.All, Limit: boardLimit}
	if page.Mine {
		filter.Assignee = r.who.Email
	}
	cases, err := c.Rules.Cases.List(r.Context(), filter)
	if err != nil {
		return nil, err
	}
	list, err := c.tickets(r, cases)
	if err != nil {
		return nil, err
	}
	page.Total = len(list)
	for _, status := range cyber.CaseStatuses() {
		if !page.All && !status.Open() {
			continue
		}
		l := lane{Status: status}
		for _, t := range list {
			if t.Status == status {
				l.Cases = append(l.Cases, t)
			}
		}
		page.Lanes = append(page.Lanes, l)
	}
	if page.Services, err = c.Rules.Services.All(r.Context()); err != nil {
		return nil, err
	}
	return view{"cases", "Casos", page}, nil
}

type casePage struct {
	ticket
	Moves   []caseMoveRow
	Answers []string
	Wishes  []string
	Shown   bool
}

type caseMoveRow struct {
	cyber.CaseMove
	Who string
}

func (c *Console) casePage(r *request) (casePage, error) {
	one, moves, err := c.Rules.Cases.Show(r.Context(), cyber.CaseID(r.PathValue("id")))
	if err != nil {
		return casePage{}, err
	}
	list, err := c.tickets(r, []cyber.Case{one})
	if err != nil {
		return casePage{}, err
	}
	page := casePage{ticket: list[0]}
	for _, m := range moves {
		page.Moves = append(page.Moves, caseMoveRow{m, m.Actor})
	}
	return page, nil
}

func showCase(c *Console, r *request) (answer, error) {
	page, err := c.casePage(r)
	if err != nil {
		return nil, err
	}
	return view{"case", "Caso", page}, nil
}

// revealCase shows what the person wrote: answers and wished times may hold anything.
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
	for _, a := range page.Case.Answers {
		page.Answers = append(page.Answers, indented(a))
	}
	for _, a := range page.Case.Appointments {
		page.Wishes = append(page.Wishes, indented(a))
	}
	return view{"case", "Caso", page}, nil
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

func assignCase(c *Console, r *request) (answer, error) {
	id := cyber.CaseID(r.PathValue("id"))
	to := r.text("assignee")
	if r.PostForm.Has("me") {
		to = r.who.Email
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

// servicePage is a service with what it asks and when it is there.
type servicePage struct {
	cyber.Service
	Questions []cyber.Question
	Slots     []cyber.Slot
}

func setTarget(c *Console, r *request) (answer, error) {
	hours, err := time.ParseDuration(r.text("hours") + "h")
	if err != nil || hours < 0 {
		return nil, cyber.ErrServiceInvalid.With("hours: a number, 0 for no target")
	}
	return c.onService(r, "case.target", "service.target", func(ctx context.Context, in *Rules, id cyber.ServiceID) error {
		return in.Cases.SetTarget(ctx, id, hours)
	})
}

func addQuestion(c *Console, r *request) (answer, error) {
	return c.onService(r, "case.question.add", "service.question", func(ctx context.Context, in *Rules, id cyber.ServiceID) error {
		_, err := in.Cases.AddQuestion(ctx, id, r.text("question"), r.PostForm.Has("required"), lines(r.text("options")))
		return err
	})
}

func removeQuestion(c *Console, r *request) (answer, error) {
	return c.onService(r, "case.question.remove", "service.question_removed", func(ctx context.Context, in *Rules, _ cyber.ServiceID) error {
		return in.Cases.RemoveQuestion(ctx, cyber.QuestionID(r.PathValue("question")))
	})
}

func addSlots(c *Console, r *request) (answer, error) {
	var times []time.Time
	for _, line := range lines(r.text("slots")) {
		t, err := time.ParseInLocation("02/01/2006 15:04", line, brazil)
		if err != nil {
			return nil, cyber.ErrServiceInvalid.With("slots: one a line, such as 24/12/2026 15:00")
		}
		times = append(times, t)
	}
	return c.onService(r, "case.slot.add", "service.slots", func(ctx context.Context, in *Rules, id cyber.ServiceID) error {
		_, err := in.Cases.AddSlots(ctx, id, times)
		return err
	})
}

func removeSlot(c *Console, r *request) (answer, error) {
	return c.onService(r, "case.slot.remove", "service.slot_removed", func(ctx context.Context, in *Rules, _ cyber.ServiceID) error {
		return in.Cases.RemoveSlot(ctx, cyber.SlotID(r.PathValue("slot")))
	})
}

func (c *Console) onService(r *request, action, done string, fn func(ctx context.Context, in *Rules, id cyber.ServiceID) error) (answer, error) {
	id := cyber.ServiceID(r.PathValue("id"))
	err := c.change(r, action, func(ctx context.Context, in *Rules) (string, string, error) { return string(id), "", fn(ctx, in, id) })
	if err != nil {
		return nil, err
	}
	return redirect{at("services", string(id)), done}, nil
}

// partnerOf reads the partner that a path names.
func partnerOf(r *request) partner.ID { return partner.ID(r.PathValue("partner")) }
