package main

import (
	"context"
	"math/bits"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/intake"
)

// previewed is how many records a dry run shows.
const previewed = 10

// previewRecords prints what an import would make of the first records. What the operator's own file holds is shown to the operator alone: it
// goes neither to a log nor to disk.
func (b *breachImportCmd) previewRecords(ctx context.Context, o *output, spec intake.Spec) error {
	var im intake.Importer
	b.setLimits(&im)
	seen, tally, err := intake.PreviewRecords(ctx, spec, im.Limits, previewed)
	if err != nil {
		return err
	}
	view := newRecord("records", makeRecords(seen, func(u intake.Understood) record {
		values := makeRecords(u.Values, func(v intake.UnderstoodValue) record { return newRecord("type", v.Kind, "value", v.Normal) })
		infected := ""
		if u.Day != 0 {
			infected = time.Unix(int64(u.Day)*86400, 0).UTC().Format(time.DateOnly)
		}
		return newRecord("values", values, "exposes", exposedWords(uint16(u.Classes)), "site", u.Site, "infected", infected, "pair", u.Password)
	}))
	if tally == nil {
		return o.showRecord(view, "Nothing was written. The inputs were not read to their end.")
	}
	return o.showRecord(view.withPairs("values_left_out", tally.LeftOut, "reasons", tally.Reasons), "Nothing was written.")
}

// exposedWords returns the classes of data in a record, in the words of the vocabulary.
func exposedWords(classes uint16) []string {
	words, all := []string{}, cyber.AllExposed()
	for left := classes; left != 0; left &= left - 1 {
		words = append(words, string(all[bits.TrailingZeros16(left)]))
	}
	return words
}
