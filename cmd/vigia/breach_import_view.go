package main

import (
	"fmt"
	"io"

	"github.com/vigiahq/vigia/internal/container"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/leak"
)

// dumpView is what an import came to.
type dumpView struct {
	breachView
	Probed  int64      `json:"values_probed"`
	Hits    int64      `json:"values_found"`
	Skipped []skipView `json:"skipped"`
}

type skipView struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	Offset int64  `json:"offset"`
}

func viewDump(out intake.Outcome, match leak.MatchProgress) dumpView {
	return dumpView{viewBreach(out.Record), match.Probed, match.Hits, viewSkips(out.Skips)}
}

func viewSkips(skips []container.Skip) []skipView {
	views := make([]skipView, len(skips))
	for i, s := range skips {
		views[i] = skipView{s.Name, s.Reason, s.Offset}
	}
	return views
}

func printSkips(w io.Writer, skips []skipView) {
	for _, s := range skips {
		_, _ = fmt.Fprintf(w, "Skipped    %s at byte %d: %s\n", s.Name, s.Offset, s.Reason)
	}
}

func (v dumpView) text(w io.Writer) {
	v.breachView.text(w)
	_, _ = fmt.Fprintf(w, "Matched    %d watched values probed, %d found\n", v.Probed, v.Hits)
	printSkips(w, v.Skipped)
}

func (o *output) imported(out intake.Outcome, match leak.MatchProgress) error {
	v := viewDump(out, match)
	return o.print(v, v.text)
}
