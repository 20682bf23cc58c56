package main

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

type reportCmd struct {
	Access   reportAccessCmd   `cmd:"" help:"Who saw or changed a person's data, and when."`
	Incident reportIncidentCmd `cmd:"" help:"Whom a breach or a window of time affects, by partner."`
}

type reportAccessCmd struct {
	personFlags
}

// Help shows examples.
func (reportAccessCmd) Help() string {
	return "Reads the audit trail: every line about the person, or about a row of theirs, also of rows that were erased since. A partner's own\n" +
		"requests are not in it: they are the partner's to record.\n\nExamples:\n  vigia report access --cpf 529.982.247-25\n" +
		"  vigia report access --user-hash e3d5a0... --partner pt_... --json"
}

// Run reports.
func (r *reportAccessCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	p, err := r.person()
	if err != nil {
		return err
	}
	return withAppFor(ctx, c, func(a *app.App) error {
		list, err := a.Subjects.Accesses(ctx, p)
		if err != nil {
			return err
		}
		t := table[auditView]{heading: "LINE\tAT\tWHO\tFROM\tACTION\tOF\tDETAIL"}
		for _, e := range list {
			v := auditView{e.Seq, stamp(e.At), e.Name, e.From, e.Action, e.Subject, e.Detail}
			t.add(v, v.Line, v.At, v.Actor, v.From, v.Action, v.Subject, v.Detail)
		}
		return t.print(o)
	})
}

type reportIncidentCmd struct {
	Breach  string    `placeholder:"NAME" help:"People whose values were found in this breach."`
	From    time.Time `placeholder:"TIME" format:"2006-01-02T15:04:05Z07:00" help:"People found in any breach from this time (2026-11-01T00:00:00Z) on..."`
	To      time.Time `placeholder:"TIME" format:"2006-01-02T15:04:05Z07:00" help:"...and before this one; now when it is left out."`
	Known   time.Time `name:"known-at" placeholder:"TIME" format:"2006-01-02T15:04:05Z07:00" help:"When the incident became known, for the deadline; now when it is left out."`
	Partner string    `placeholder:"PARTNER" help:"Only this partner's people."`
	Reveal  bool      `help:"Show the values in clear. Each person gets a line in the audit trail."`
	Reason  string    `placeholder:"TEXT" help:"Why they have to be seen; needed with --reveal."`
	List    bool      `negatable:"" default:"true" help:"List the people; without it only the counts."`
}

// Help shows examples.
func (reportIncidentCmd) Help() string {
	return "People are listed as their partners name them. A report by time also counts who saw or changed personal data in the window.\n\n" +
		"Examples:\n  vigia report incident --breach loja-exemplo\n  vigia report incident --from 2026-11-01T00:00:00Z --to 2026-11-02T00:00:00Z --no-list\n" +
		"  vigia report incident --breach loja-exemplo --partner pt_... --reveal --reason 'aviso aos titulares, processo 77' --json"
}

type affectedView struct {
	Partner  string         `json:"partner_id"`
	User     string         `json:"user_hash"`
	Values   map[string]int `json:"values"`
	Breaches []string       `json:"breaches"`
	First    string         `json:"first_found_at"`
	Last     string         `json:"last_found_at"`
	Clear    []string       `json:"clear_values,omitempty"`
}

// Run reports.
func (r *reportIncidentCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	now := time.Now()
	if !r.From.IsZero() && r.To.IsZero() {
		r.To = now
	}
	if r.Known.IsZero() {
		r.Known = now
	}
	return withAppFor(ctx, c, func(a *app.App) error {
		of := subject.Incident{Breach: r.Breach, From: r.From, To: r.To, Partner: partner.ID(r.Partner)}
		rep, err := a.Subjects.Report(ctx, whoami(), of, r.Known, r.Reveal, strings.TrimSpace(r.Reason))
		if err != nil {
			return err
		}
		return r.print(o, rep)
	})
}

func (r *reportIncidentCmd) print(o *output, rep subject.Report) error {
	type countView struct {
		Partner string `json:"partner_id"`
		People  int    `json:"people"`
	}
	type showingView struct {
		Actor  string `json:"actor"`
		Action string `json:"action"`
		Count  int64  `json:"count"`
	}
	partners, counts := make([]countView, len(rep.Partners)), make([][]string, len(rep.Partners))
	for i, p := range rep.Partners {
		partners[i], counts[i] = countView{string(p.Partner), p.People}, []string{string(p.Partner), fmt.Sprint(p.People)}
	}
	people, rows := []affectedView{}, [][]string{}
	for _, a := range rep.List {
		if !r.List {
			break
		}
		v := affectedView{string(a.Partner), string(a.User), kindCounts(a.Kinds), a.Breaches, stamp(a.First), stamp(a.Last), a.Values}
		people = append(people, v)
		rows = append(rows, []string{v.Partner, v.User, kindText(a.Kinds), strings.Join(a.Breaches, " "), v.First, strings.Join(a.Values, "; ")})
	}
	showings, seen := []showingView{}, [][]string{}
	for _, s := range rep.Showings {
		showings = append(showings, showingView(s))
		seen = append(seen, []string{s.Actor, s.Action, fmt.Sprint(s.Count)})
	}
	view := map[string]any{
		"people": rep.People, "values": rep.Findings, "types": kindCounts(rep.Kinds), "partners": partners, "list": people, "showings": showings,
		"notify_by": stamp(rep.Deadline),
	}
	return o.print(view, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%d people, %d values (%s). If this is an incident of the service itself, the authority and the people have to be told by %s\n"+
			"(three working days; holidays are not counted).\n\n", rep.People, rep.Findings, kindText(rep.Kinds), rep.Deadline.Format(time.DateOnly))
		o.table(w, "PARTNER\tPEOPLE", counts)
		if len(rows) > 0 {
			_, _ = fmt.Fprintln(w)
			o.table(w, "PARTNER\tUSER HASH\tVALUES\tBREACHES\tFIRST FOUND\tIN CLEAR", rows)
		}
		if len(seen) > 0 {
			_, _ = fmt.Fprintln(w, "\nWho saw or changed personal data in the window:")
			o.table(w, "WHO\tACTION\tTIMES", seen)
		}
	})
}

func kindCounts(kinds map[identifier.Kind]int) map[string]int {
	counts := map[string]int{}
	for k, n := range kinds {
		counts[k.String()] = n
	}
	return counts
}

func kindText(kinds map[identifier.Kind]int) string {
	parts := make([]string, 0, len(kinds))
	for k, n := range kinds {
		parts = append(parts, fmt.Sprintf("%d %s", n, k))
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}
