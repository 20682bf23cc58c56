package main

import (
	"context"
	"errors"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/store"
)

// checkCmd is 'vigia check', which checks the consistency of all data and changes nothing.
type checkCmd struct{}

func (checkCmd) Help() string {
	return "Looks at everything this installation keeps, while servers go on running: the engine's own check of its " +
		"files, every sealed value,\n" +
		"keyed indexes, references, kept counts, the numbering of events, statuses, cases, erasures, the audit " +
		"trail, every byte of the segments\n" +
		"and password corpora, and who can read the files. What is wrong is listed, and the command ends with code " +
		"1.\n\n" +
		"Examples:\n  vigia check --data /var/lib/vigia\n  vigia check --json | jq '.problems[]'"
}

func (checkCmd) Run(ctx context.Context, a *app.App, o *output) error {
	bar := o.progress("check", "rows")
	counts, order := map[string]int64{}, []string{}
	list, err := a.CheckAll(ctx, func(name string, rows int64) {
		if _, known := counts[name]; !known {
			order = append(order, name)
		}
		counts[name] = max(counts[name], rows)
		bar.setProgress(rows, 0, name)
	})
	bar.clearLine()
	if err != nil {
		return err
	}
	wrong := map[string]int{}
	for _, p := range list {
		wrong[p.Check]++
	}
	err = o.showRecord(newRecord("sound", len(list) == 0, "checks", makeRecords(order, func(name string) record {
		return newRecord("name", name, "looked_at", counts[name], "problems", wrong[name])
	}), "problems", viewProblems(list)))
	return errors.Join(err, problemsError(list))
}

// errProblems ends a command that found something wrong.
var errProblems = fault.New(fault.Internal, "check.problems")

// viewProblems returns the problems of a database as records of output.
func viewProblems(list []store.Problem) []record {
	return makeRecords(
		list, func(p store.Problem) record { return newRecord("check", p.Check, "where", p.Where, "what", p.What) },
	)
}

// problemsError turns problems into how the command ends.
func problemsError(list []store.Problem) error {
	if len(list) == 0 {
		return nil
	}
	return errProblems.Note("%d problems were found", len(list))
}
