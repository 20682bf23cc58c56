package main

import (
	"context"
	"fmt"
	"io"
	"math/bits"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/scan/record"
)

// previewed is how many records a dry run shows.
const previewed = 10

// recordView is a record as an import would understand it.
type recordView struct {
	Values   []valueView `json:"values"`
	Exposes  []string    `json:"exposes"`
	Site     string      `json:"site,omitempty"`
	Infected string      `json:"infected,omitempty"`
	Pair     bool        `json:"pair"`
}

type valueView struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// preview prints what an import would make of the first records. What the operator's own file holds is shown to the operator alone: it
// goes neither to a log nor to disk.
func (b *breachImportCmd) preview(ctx context.Context, o *output, spec intake.Spec) error {
	var im intake.Importer
	b.bound(&im)
	seen, tally, err := intake.Preview(ctx, spec, im.Limits, previewed)
	if err != nil {
		return err
	}
	views := make([]recordView, 0, len(seen))
	for _, u := range seen {
		v := recordView{Exposes: exposedWords(u.Classes), Site: u.Site, Pair: u.Password}
		if u.Day != 0 {
			v.Infected = time.Unix(int64(u.Day)*86400, 0).UTC().Format(time.DateOnly)
		}
		for _, value := range u.Values {
			v.Values = append(v.Values, valueView{value.Kind.String(), value.Normal})
		}
		views = append(views, v)
	}
	shown := map[string]any{"records": views}
	if tally != nil {
		shown["values_left_out"], shown["reasons"] = tally.LeftOut, tally.Reasons
	}
	return o.print(shown, func(w io.Writer) {
		for i, v := range views {
			var values []string
			for _, value := range v.Values {
				values = append(values, value.Type+" "+value.Value)
			}
			_, _ = fmt.Fprintf(w, "%2d  %s; exposes %s", i+1, strings.Join(values, ", "), strings.Join(v.Exposes, ", "))
			if v.Pair {
				_, _ = fmt.Fprint(w, "; with a password")
			}
			if v.Site != "" || v.Infected != "" {
				_, _ = fmt.Fprint(w, "; "+strings.TrimSpace("for "+v.Site+" "+v.Infected))
			}
			_, _ = fmt.Fprintln(w)
		}
		_, _ = fmt.Fprintln(w, "Nothing was written.")
		if tally == nil {
			_, _ = fmt.Fprintln(w, "The inputs were not read to their end.")
			return
		}
		_, _ = fmt.Fprintf(w, "Values left out: %d\n", tally.LeftOut)
		for reason, n := range tally.Reasons {
			_, _ = fmt.Fprintf(w, "  %d times %s\n", n, reason)
		}
	})
}

// exposedWords are the classes of a record in the words of the vocabulary.
func exposedWords(c record.Classes) []string {
	words, all := []string{}, cyber.AllExposed()
	for left := uint16(c); left != 0; left &= left - 1 {
		words = append(words, string(all[bits.TrailingZeros16(left)]))
	}
	return words
}
