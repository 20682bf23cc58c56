package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/store"
)

type checkCmd struct{}

// Help shows examples.
func (checkCmd) Help() string {
	return "Looks at everything this installation keeps, while servers go on running: the engine's own check of its files, every sealed value,\n" +
		"keyed indexes, references, kept counts, the numbering of events, statuses, cases, erasures, the audit trail, every byte of the segments\n" +
		"and password corpora, and who can read the files. What is wrong is listed, and the command ends with code 1.\n\n" +
		"Examples:\n  vigia check --data /var/lib/vigia\n  vigia check --json | jq '.problems[]'"
}

// Run checks.
func (checkCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withAppFor(ctx, c, func(a *app.App) error {
		bar := o.progress("check", "rows")
		counts, order := map[string]int64{}, []string{}
		list, err := a.Check(ctx, func(name string, rows int64) {
			if _, known := counts[name]; !known {
				order = append(order, name)
			}
			counts[name] = max(counts[name], rows)
			bar.set(rows, 0, name)
		})
		bar.end()
		if err != nil {
			return err
		}
		return errors.Join(o.checked(order, counts, list), found(list))
	})
}

func (o *output) checked(order []string, counts map[string]int64, list []store.Problem) error {
	wrong := map[string]int{}
	for _, p := range list {
		wrong[p.Check]++
	}
	type checkView struct {
		Name     string `json:"name"`
		Looked   int64  `json:"looked_at"`
		Problems int    `json:"problems"`
	}
	views := make([]checkView, len(order))
	rows := make([][]string, len(order))
	for i, name := range order {
		views[i] = checkView{name, counts[name], wrong[name]}
		rows[i] = []string{name, fmt.Sprint(counts[name]), fmt.Sprint(wrong[name])}
	}
	return o.print(map[string]any{"checks": views, "problems": viewProblems(list), "sound": len(list) == 0}, func(w io.Writer) {
		o.table(w, "CHECK\tLOOKED AT\tPROBLEMS", rows)
		_, _ = fmt.Fprintln(w)
		o.problems(w, list)
	})
}
