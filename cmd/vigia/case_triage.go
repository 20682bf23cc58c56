package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

type caseQuestionCmd struct {
	Add    questionAddCmd    `cmd:"" help:"Ask something when a case of a service is opened."`
	List   questionListCmd   `cmd:"" help:"List the questions."`
	Remove questionRemoveCmd `cmd:"" help:"Ask it no more."`
}

type questionView struct {
	ID       string   `json:"question_id"`
	Service  string   `json:"service_id"`
	Text     string   `json:"text"`
	Required bool     `json:"required"`
	Options  []string `json:"options"`
}

func viewQuestion(q cyber.Question) questionView {
	return questionView{string(q.ID), string(q.Service), q.Text, q.Required, append([]string{}, q.Options...)}
}

type questionAddCmd struct {
	Service  string   `arg:"" help:"The service's id."`
	Text     string   `required:"" placeholder:"TEXT" help:"The question, in Portuguese."`
	Required bool     `help:"Without an answer no case is opened."`
	Option   []string `sep:"none" placeholder:"TEXT" help:"An answer to choose from; repeat for each."`
}

// Help shows examples.
func (questionAddCmd) Help() string {
	return "A partner answers with {\"questionId\": ID or \"question\": TEXT, \"answer\": TEXT} in the array questions.\n\nExample:\n" +
		"  vigia case question add sv_remocao_virus --text 'Qual é o sistema?' --required --option Windows --option macOS"
}

// Run adds a question.
func (q *questionAddCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		made, err := a.Cases.AddQuestion(ctx, cyber.ServiceID(q.Service), q.Text, q.Required, q.Option)
		if err != nil {
			return err
		}
		return o.print(viewQuestion(made), func(w io.Writer) { _, _ = fmt.Fprintln(w, made.ID) })
	})
}

type questionListCmd struct {
	Service string `arg:"" optional:"" help:"The service's id; all services when left out."`
}

// Help shows examples.
func (questionListCmd) Help() string { return "Example:\n  vigia case question list sv_remocao_virus" }

// Run lists questions.
func (q *questionListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		list, err := a.Cases.Questions(ctx, cyber.ServiceID(q.Service))
		if err != nil {
			return err
		}
		t := table[questionView]{heading: "QUESTION\tSERVICE\tREQUIRED\tTEXT\tOPTIONS"}
		for _, x := range list {
			t.add(viewQuestion(x), x.ID, x.Service, x.Required, x.Text, strings.Join(x.Options, " | "))
		}
		return t.print(o)
	})
}

type questionRemoveCmd struct {
	ID string `arg:"" name:"question" help:"The question's id (qs_...)."`
}

// Help shows examples.
func (questionRemoveCmd) Help() string {
	return "Example:\n  vigia case question remove qs_0198c0de-7a00-7000-8000-000000000001"
}

// Run removes a question.
func (q *questionRemoveCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		if err := a.Cases.RemoveQuestion(ctx, cyber.QuestionID(q.ID)); err != nil {
			return err
		}
		return o.print(map[string]string{"removed": q.ID}, func(w io.Writer) { _, _ = fmt.Fprintln(w, "removed", q.ID) })
	})
}

type caseSlotCmd struct {
	Add    slotAddCmd    `cmd:"" help:"Put times into a service's calendar."`
	List   slotListCmd   `cmd:"" help:"List the coming times and who holds them."`
	Remove slotRemoveCmd `cmd:"" help:"Take a free time out."`
	Quota  slotQuotaCmd  `cmd:"" help:"Set how many coming times a partner may hold."`
}

type slotAddCmd struct {
	Service string        `arg:"" help:"The service's id."`
	Times   []string      `arg:"" help:"ISO 8601 date-times; without an offset they are Brasilia time."`
	Until   string        `placeholder:"TIME" help:"With one time and --every: more of them up to this one."`
	Every   time.Duration `placeholder:"DURATION" help:"Distance of repeated times, such as 30m."`
	Partner string        `placeholder:"PARTNER" help:"Keep these times for the people of one partner."`
}

// Help shows examples.
func (slotAddCmd) Help() string {
	return "From the first coming time on, a case of the service that names times is given the first one that is free, and refused when none is.\n\n" +
		"Example:\n  vigia case slot add sv_ajuda_phishing 2026-12-01T09:00 --every 30m --until 2026-12-01T12:00"
}

const maxSlots = 2000

// Run adds slots.
func (s *slotAddCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	var times []time.Time
	for _, text := range s.Times {
		at, err := cyber.ParseAppointment("time", text)
		if err != nil {
			return err
		}
		times = append(times, at)
	}
	if s.Until != "" {
		until, err := cyber.ParseAppointment("until", s.Until)
		if err != nil {
			return err
		}
		if len(times) != 1 || s.Every < time.Minute || until.Sub(times[0])/s.Every > maxSlots {
			return cyber.ErrCaseInvalid.With("--until needs one time and --every of at least 1m, for at most %d times", maxSlots)
		}
		for at := times[0].Add(s.Every); !at.After(until); at = at.Add(s.Every) {
			times = append(times, at)
		}
	}
	return withApp(ctx, c, func(a *app.App) error {
		n, err := a.Cases.AddSlotsFor(ctx, cyber.ServiceID(s.Service), partner.ID(s.Partner), times)
		if err != nil {
			return err
		}
		return o.print(map[string]int{"new": n, "known": len(times) - n}, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "%d times added, %d were there\n", n, len(times)-n)
		})
	})
}

type slotQuotaCmd struct {
	Partner string `arg:"" help:"The partner's id."`
	Quota   int64  `arg:"" help:"Coming times that its people may hold, of all services; 0 means half of them while there are several live partners."`
}

// Help shows examples.
func (slotQuotaCmd) Help() string { return "Example:\n  vigia case slot quota pt_... 40" }

// Run sets a partner's share of the calendars.
func (s *slotQuotaCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		if err := a.Endpoints.SetShare(ctx, partner.ID(s.Partner), cyber.SlotResource, &s.Quota, nil); err != nil {
			return err
		}
		return o.print(map[string]any{"partner_id": s.Partner, "quota": s.Quota}, func(w io.Writer) { _, _ = fmt.Fprintln(w, "The share is set.") })
	})
}

type slotListCmd struct {
	Service string `arg:"" help:"The service's id."`
}

type slotView struct {
	ID     string `json:"slot_id"`
	Starts string `json:"starts"`
	Case   string `json:"case_id"`
	// KeptFor is the partner whose people alone may have it; empty for everybody.
	KeptFor string `json:"kept_for"`
}

// Help shows examples.
func (slotListCmd) Help() string { return "Example:\n  vigia case slot list sv_ajuda_phishing" }

// Run lists slots.
func (s *slotListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		list, err := a.Cases.Slots(ctx, cyber.ServiceID(s.Service))
		if err != nil {
			return err
		}
		t := table[slotView]{heading: "SLOT\tSTARTS\tCASE\tKEPT FOR"}
		for _, x := range list {
			v := slotView{string(x.ID), stamp(x.Starts), string(x.Case), string(x.Partner)}
			t.add(v, v.ID, v.Starts, v.Case, v.KeptFor)
		}
		return t.print(o)
	})
}

type slotRemoveCmd struct {
	ID string `arg:"" name:"slot" help:"The slot's id (sl_...)."`
}

// Help shows examples.
func (slotRemoveCmd) Help() string {
	return "Example:\n  vigia case slot remove sl_0198c0de-7a00-7000-8000-000000000001"
}

// Run removes a slot.
func (s *slotRemoveCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		if err := a.Cases.RemoveSlot(ctx, cyber.SlotID(s.ID)); err != nil {
			return err
		}
		return o.print(map[string]string{"removed": s.ID}, func(w io.Writer) { _, _ = fmt.Fprintln(w, "removed", s.ID) })
	})
}
