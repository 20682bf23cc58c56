package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/user"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

type caseCmd struct {
	List     caseListCmd     `cmd:"" help:"List the newest cases."`
	Show     caseShowCmd     `cmd:"" help:"Show a case with what the person wrote, and its history."`
	Move     caseMoveCmd     `cmd:"" help:"Move a case to another status; its partner is told."`
	Note     caseNoteCmd     `cmd:"" help:"Write something into a case's history."`
	Reply    caseReplyCmd    `cmd:"" help:"Write to the person of a case; the partner is told."`
	Assign   caseAssignCmd   `cmd:"" help:"Say who works on a case."`
	Target   caseTargetCmd   `cmd:"" help:"Set the working time for new cases of a service."`
	Question caseQuestionCmd `cmd:"" help:"Triage questions of a service: add, list, remove."`
	Slot     caseSlotCmd     `cmd:"" help:"Calendar of a service: add, list, remove."`
}

type caseView struct {
	ID       string `json:"case_id"`
	Partner  string `json:"partner_id"`
	Service  string `json:"service_id"`
	Status   string `json:"status"`
	Assignee string `json:"assignee"`
	Booked   string `json:"booked"`
	Used     string `json:"time_used"`
	Target   string `json:"time_target"`
	Due      string `json:"due"`
	Late     bool   `json:"late"`
	Created  string `json:"created_at"`
	Changed  string `json:"changed_at"`
}

func viewCase(c cyber.Case, now time.Time) caseView {
	v := caseView{
		ID: string(c.ID), Partner: string(c.Partner), Service: string(c.Service), Status: string(c.Status), Assignee: c.Assignee,
		Booked: stamp(c.Booked), Used: c.Clock.UsedAt(now).Round(time.Second).String(), Late: c.Clock.Late(now), Created: stamp(c.CreatedAt),
		Changed: stamp(c.ChangedAt),
	}
	if c.Clock.Target > 0 {
		v.Target = c.Clock.Target.String()
	}
	if due, ok := c.Clock.Due(); ok {
		v.Due = stamp(due)
	}
	return v
}

type caseListCmd struct {
	Partner  string `placeholder:"ID" help:"Only of this partner."`
	Service  string `placeholder:"ID" help:"Only for this service."`
	Status   string `placeholder:"STATUS" help:"Only in this status, such as em-andamento."`
	Assignee string `placeholder:"NAME" help:"Only of this person."`
	Open     bool   `help:"Only those that somebody still has to do something about."`
	Limit    int    `default:"50" help:"At most so many."`
}

// Help shows examples.
func (caseListCmd) Help() string {
	return "Example:\n  vigia case list --open --service sv_ajuda_phishing\n  vigia case list --status aguardando-cliente"
}

// Run lists cases.
func (l *caseListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	f := cyber.CaseFilter{
		Partner: partner.ID(l.Partner), Service: cyber.ServiceID(l.Service), Assignee: l.Assignee, OpenOnly: l.Open, Limit: max(l.Limit, 1),
	}
	if l.Status != "" {
		var err error
		if f.Status, err = cyber.ParseCaseStatus(l.Status); err != nil {
			return err
		}
	}
	return withApp(ctx, c, func(a *app.App) error {
		list, err := a.Cases.List(ctx, f)
		if err != nil {
			return err
		}
		t := table[caseView]{heading: "CASE\tOPENED\tSTATUS\tSERVICE\tASSIGNEE\tDUE\t"}
		for _, cs := range list {
			v := viewCase(cs, time.Now())
			late := ""
			if v.Late {
				late = "LATE"
			}
			t.add(v, v.ID, v.Created, v.Status, v.Service, v.Assignee, v.Due, late)
		}
		return t.print(o)
	})
}

type moveView struct {
	Kind  string `json:"kind"`
	From  string `json:"from"`
	To    string `json:"to"`
	Actor string `json:"actor"`
	Note  string `json:"note"`
	At    string `json:"at"`
}

type caseDetailView struct {
	caseView
	User         string            `json:"user_hash"`
	Appointments []json.RawMessage `json:"appointments"`
	Answers      []json.RawMessage `json:"answers"`
	History      []moveView        `json:"history"`
	Next         []string          `json:"may_move_to"`
}

type caseShowCmd struct {
	ID string `arg:"" name:"case" help:"The case's id (cs_...)."`
}

// Help shows examples.
func (caseShowCmd) Help() string {
	return "Example:\n  vigia case show cs_0198c0de-7a00-7000-8000-000000000001"
}

// Run shows a case.
func (s *caseShowCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		cs, moves, err := a.Cases.Show(ctx, cyber.CaseID(s.ID))
		if err != nil {
			return err
		}
		v := caseDetailView{
			caseView: viewCase(cs, time.Now()), User: string(cs.User), Appointments: rawList(cs.Appointments), Answers: rawList(cs.Answers),
			History: []moveView{}, Next: []string{},
		}
		for _, m := range moves {
			v.History = append(v.History, moveView{string(m.Kind), string(m.From), string(m.To), m.Actor, m.Note, stamp(m.At)})
		}
		for _, to := range cs.Status.Moves() {
			v.Next = append(v.Next, string(to))
		}
		return o.print(v, func(w io.Writer) { printCase(w, v) })
	})
}

func rawList(texts []string) []json.RawMessage {
	list := make([]json.RawMessage, len(texts))
	for i, t := range texts {
		list[i] = json.RawMessage(t)
	}
	return list
}

func printCase(w io.Writer, v caseDetailView) {
	_, _ = fmt.Fprintf(w, "Case      %s\nPartner   %s\nUser      %s\nService   %s\nStatus    %s\nAssignee  %s\nTime      %s of %s\n",
		v.ID, v.Partner, v.User, v.Service, v.Status, v.Assignee, v.Used, v.Target)
	if v.Booked != "" {
		_, _ = fmt.Fprintf(w, "Booked    %s\n", v.Booked)
	}
	for _, a := range v.Appointments {
		_, _ = fmt.Fprintf(w, "Wishes    %s\n", a)
	}
	for _, a := range v.Answers {
		_, _ = fmt.Fprintf(w, "Answer    %s\n", a)
	}
	for _, m := range v.History {
		line := strings.Join(strings.Fields(fmt.Sprintf("%s %s %s -> %s %s %s", m.At, m.Kind, m.From, m.To, m.Actor, m.Note)), " ")
		_, _ = fmt.Fprintf(w, "History   %s\n", line)
	}
	_, _ = fmt.Fprintf(w, "May move  to %s\n", strings.Join(v.Next, ", "))
}

type caseMoveCmd struct {
	ID   string `arg:"" name:"case" help:"The case's id (cs_...)."`
	To   string `arg:"" name:"status" help:"aberto, em-andamento, aguardando-cliente, resolvido, fechado or cancelado."`
	Note string `placeholder:"TEXT" help:"Why; kept sealed in the history."`
	By   string `placeholder:"NAME" help:"Who moves it; by default the system's user."`
}

// Help shows examples.
func (caseMoveCmd) Help() string {
	return "Example:\n  vigia case move cs_0198c0de-7a00-7000-8000-000000000001 aguardando-cliente --note 'Pedimos a captura de tela'"
}

// Run moves a case.
func (m *caseMoveCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	to, err := cyber.ParseCaseStatus(m.To)
	if err != nil {
		return err
	}
	return changeCase(ctx, c, o, func(a *app.App) (cyber.Case, error) {
		return a.Cases.Move(ctx, cyber.CaseID(m.ID), to, actor(m.By), m.Note)
	})
}

// actor is who the history names: the one given, else the system's user.
func actor(given string) string {
	if given != "" {
		return given
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "cli"
}

// changeCase changes a case and prints where it stands.
func changeCase(ctx context.Context, c *config.Common, o *output, change func(*app.App) (cyber.Case, error)) error {
	return withApp(ctx, c, func(a *app.App) error {
		cs, err := change(a)
		if err != nil {
			return err
		}
		return o.caseLine(cs)
	})
}

func (o *output) caseLine(cs cyber.Case) error {
	v := viewCase(cs, time.Now())
	return o.print(v, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%s  %s  %s\n", v.ID, v.Status, v.Assignee) })
}

type caseNoteCmd struct {
	ID   string `arg:"" name:"case" help:"The case's id (cs_...)."`
	Note string `arg:"" help:"What to write down; the partner does not see it."`
	By   string `placeholder:"NAME" help:"Who writes it; by default the system's user."`
}

// Help shows examples.
func (caseNoteCmd) Help() string {
	return "Example:\n  vigia case note cs_0198c0de-7a00-7000-8000-000000000001 \"ligar amanhã às 10h\" --by bruna"
}

// Run writes a note.
func (s *caseNoteCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return changeCase(ctx, c, o, func(a *app.App) (cyber.Case, error) {
		return a.Cases.Note(ctx, cyber.CaseID(s.ID), actor(s.By), s.Note)
	})
}

type caseReplyCmd struct {
	ID   string `arg:"" name:"case" help:"The case's id (cs_...)."`
	Text string `arg:"" help:"What the person will read."`
	By   string `placeholder:"NAME" help:"Who writes it; by default the system's user."`
}

// Help shows examples.
func (caseReplyCmd) Help() string {
	return "Example:\n  vigia case reply cs_0198c0de-7a00-7000-8000-000000000001 \"Pode nos enviar a mensagem que recebeu?\" --by bruna"
}

// Run writes to the person.
func (s *caseReplyCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return changeCase(ctx, c, o, func(a *app.App) (cyber.Case, error) {
		return a.Cases.Reply(ctx, cyber.CaseID(s.ID), actor(s.By), s.Text)
	})
}

type caseAssignCmd struct {
	ID string `arg:"" name:"case" help:"The case's id (cs_...)."`
	To string `arg:"" optional:"" name:"name" help:"Who; nobody when left out."`
}

// Help shows examples.
func (caseAssignCmd) Help() string {
	return "Example:\n  vigia case assign cs_0198c0de-7a00-7000-8000-000000000001 bruna"
}

// Run assigns a case.
func (s *caseAssignCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return changeCase(ctx, c, o, func(a *app.App) (cyber.Case, error) {
		return a.Cases.Assign(ctx, cyber.CaseID(s.ID), s.To)
	})
}

type caseTargetCmd struct {
	Service string        `arg:"" help:"The service's id."`
	Target  time.Duration `arg:"" help:"Working time, such as 24h; 0 for none. It stands while the client is waited for."`
}

// Help shows examples.
func (caseTargetCmd) Help() string { return "Example:\n  vigia case target sv_ajuda_phishing 24h" }

// Run sets a target.
func (s *caseTargetCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		if err := a.Cases.SetTarget(ctx, cyber.ServiceID(s.Service), s.Target); err != nil {
			return err
		}
		return o.print(map[string]string{"service_id": s.Service, "time_target": s.Target.String()}, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "New cases of %s: %v of working time\n", s.Service, s.Target)
		})
	})
}
