package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/partner"
)

type eventCmd struct {
	List   eventListCmd   `cmd:"" help:"List a partner's events, or the deliveries and attempts of one."`
	Replay eventReplayCmd `cmd:"" help:"Push again: one event, a window, or all failed."`
	Report eventReportCmd `cmd:"" help:"Compare what happened with what the partner got: pushed, pulled, missing."`
}

type eventView struct {
	ID   string          `json:"id"`
	Seq  int64           `json:"seq"`
	Type string          `json:"type"`
	At   string          `json:"at"`
	Body json.RawMessage `json:"body"`
}

func viewEvent(e alert.Kept) eventView {
	return eventView{ID: string(e.ID), Seq: e.Seq, Type: string(e.Type), At: stamp(e.At), Body: e.Body}
}

type eventListCmd struct {
	Partner string `required:"" placeholder:"ID" help:"The partner's id."`
	Event   string `placeholder:"ID" help:"Show where this event went, try by try."`
	After   int64  `placeholder:"SEQ" help:"Begin behind this number."`
	Limit   int    `default:"100" placeholder:"N" help:"Events at most, up to 1000."`
}

// Help shows examples.
func (eventListCmd) Help() string {
	return "Examples:\n  vigia event list --partner pt_... --after 2500\n  vigia event list --partner pt_... --event evt_..."
}

// Run lists events or deliveries.
func (l *eventListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		if l.Event != "" {
			return o.deliveries(ctx, a, partner.ID(l.Partner), alert.EventID(l.Event))
		}
		list, err := a.History.Events(ctx, partner.ID(l.Partner), l.After, l.Limit)
		if err != nil {
			return err
		}
		t := table[eventView]{heading: "SEQ\tEVENT\tAT\tTYPE"}
		for _, e := range list {
			v := viewEvent(e)
			t.add(v, v.Seq, v.ID, v.At, v.Type)
		}
		return t.print(o)
	})
}

type deliveryView struct {
	Webhook    string `json:"webhook"`
	State      string `json:"state"`
	Attempts   int    `json:"attempts"`
	NextAt     string `json:"next_at,omitempty"`
	FinishedAt string `json:"finished_at,omitempty"`
}

type attemptView struct {
	Webhook      string `json:"webhook"`
	At           string `json:"at"`
	Status       int    `json:"status"`
	Failure      string `json:"failure,omitempty"`
	Milliseconds int64  `json:"milliseconds"`
	Answer       string `json:"answer,omitempty"`
}

func (o *output) deliveries(ctx context.Context, a *app.App, id partner.ID, event alert.EventID) error {
	list, tries, err := a.History.Deliveries(ctx, id, event)
	if err != nil {
		return err
	}
	view := struct {
		Deliveries []deliveryView `json:"deliveries"`
		Attempts   []attemptView  `json:"attempts"`
	}{make([]deliveryView, len(list)), make([]attemptView, len(tries))}
	rows, logged := make([][]string, len(list)), make([][]string, len(tries))
	for i, d := range list {
		v := deliveryView{string(d.Endpoint), string(d.State), d.Attempts, stamp(d.NextAt), stamp(d.FinishedAt)}
		view.Deliveries[i] = v
		rows[i] = []string{v.Webhook, v.State, strconv.Itoa(v.Attempts), orDash(v.NextAt), orDash(v.FinishedAt)}
	}
	for i, t := range tries {
		v := attemptView{string(t.Endpoint), stamp(t.At), t.Status, string(t.Failure), t.Duration.Milliseconds(), t.Answer}
		view.Attempts[i] = v
		logged[i] = []string{v.Webhook, v.At, strconv.Itoa(v.Status), orDash(v.Failure), strconv.FormatInt(v.Milliseconds, 10), v.Answer}
	}
	return o.print(view, func(w io.Writer) {
		o.table(w, "WEBHOOK\tSTATE\tATTEMPTS\tNEXT\tFINISHED", rows)
		if len(logged) > 0 {
			_, _ = fmt.Fprintln(w)
			o.table(w, "WEBHOOK\tAT\tSTATUS\tFAILURE\tMS\tANSWER", logged)
		}
	})
}

type eventReplayCmd struct {
	Event   string    `arg:"" optional:"" name:"event" help:"One event's id."`
	Partner string    `required:"" placeholder:"ID" help:"The partner's id."`
	Webhook string    `placeholder:"ID" help:"Only to this endpoint."`
	From    time.Time `placeholder:"TIME" help:"Events from this time on, as 2026-01-31T00:00:00Z."`
	To      time.Time `placeholder:"TIME" help:"Events before this time."`
	Failed  bool      `help:"All deliveries whose tries are used up."`
}

// Help shows examples.
func (eventReplayCmd) Help() string {
	return "A repeat has the same webhook-id as before, so a receiver that drops repeats takes no harm.\n\nExamples:\n" +
		"  vigia event replay evt_... --partner pt_...\n  vigia event replay --failed --partner pt_...\n" +
		"  vigia event replay --from 2026-01-31T00:00:00Z --to 2026-02-01T00:00:00Z --partner pt_... --webhook whe_..."
}

// Run replays.
func (r *eventReplayCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		n, err := a.History.Replay(ctx, partner.ID(r.Partner), alert.Selection{
			Event: alert.EventID(r.Event), From: r.From, To: r.To, Failed: r.Failed, Endpoint: alert.EndpointID(r.Webhook),
		})
		if err != nil {
			return err
		}
		return o.print(map[string]int64{"deliveries": n}, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%d deliveries will be made again.\n", n) })
	})
}

type eventReportCmd struct {
	Partner string    `required:"" placeholder:"ID" help:"The partner's id."`
	From    time.Time `placeholder:"TIME" help:"Events from this time on, as 2026-01-31T00:00:00Z."`
	To      time.Time `placeholder:"TIME" help:"Events before this time."`
	Show    int       `default:"20" placeholder:"N" help:"How many of the missing to name."`
}

// Help explains the words.
func (eventReportCmd) Help() string {
	return "Pushed: every endpoint that wants the event has received it. Pulled: the partner has come back with a cursor behind\n" +
		"it. Missing: neither; push it with 'vigia event replay'.\n\nExample:\n  vigia event report --partner pt_... --from 2026-01-31T00:00:00Z"
}

type endpointReportView struct {
	Webhook   string `json:"webhook"`
	State     string `json:"state"`
	Delivered int64  `json:"delivered"`
	Pending   int64  `json:"pending"`
	Held      int64  `json:"held"`
	Failed    int64  `json:"failed"`
}

type reportView struct {
	Events    int64                `json:"events"`
	Pushed    int64                `json:"pushed"`
	Pulled    int64                `json:"pulled"`
	Missing   int64                `json:"missing"`
	Oldest    []eventView          `json:"oldest_missing"`
	Endpoints []endpointReportView `json:"webhooks"`
}

// Run reports.
func (r *eventReportCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		got, err := a.History.Report(ctx, partner.ID(r.Partner), alert.ReportOf{From: r.From, To: r.To, Show: min(max(r.Show, 0), alert.MaxPage)})
		if err != nil {
			return err
		}
		view := reportView{
			Events: got.Events, Pushed: got.Pushed, Pulled: got.Pulled, Missing: got.Missing, Oldest: []eventView{}, Endpoints: []endpointReportView{},
		}
		var rows, lost [][]string
		for _, e := range got.Endpoints {
			v := endpointReportView{string(e.Endpoint), string(e.State), e.Delivered, e.Pending, e.Held, e.Failed}
			view.Endpoints = append(view.Endpoints, v)
			rows = append(rows, []string{v.Webhook, v.State, fmt.Sprint(v.Delivered), fmt.Sprint(v.Pending), fmt.Sprint(v.Held), fmt.Sprint(v.Failed)})
		}
		for _, e := range got.Oldest {
			v := viewEvent(e)
			view.Oldest = append(view.Oldest, v)
			lost = append(lost, []string{v.ID, v.At, v.Type})
		}
		return o.print(view, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "Events   %d\nPushed   %d\nPulled   %d\nMissing  %d\n\n", view.Events, view.Pushed, view.Pulled, view.Missing)
			o.table(w, "WEBHOOK\tSTATE\tDELIVERED\tPENDING\tHELD\tFAILED", rows)
			if len(lost) > 0 {
				_, _ = fmt.Fprintln(w)
				o.table(w, "MISSING\tAT\tTYPE", lost)
			}
		})
	})
}
