package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
)

// output is where a command writes: text for people, one JSON value for machines.
type output struct {
	w, err io.Writer
	json   bool
}

// print writes value as JSON, or calls text.
func (o *output) print(value any, text func(w io.Writer)) error {
	if !o.json {
		text(o.w)
		return nil
	}
	enc := json.NewEncoder(o.w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}

// table prints rows in columns under a heading.
func (o *output) table(w io.Writer, heading string, rows [][]string) {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, heading)
	for _, row := range rows {
		_, _ = fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	_ = tw.Flush()
}

// table is a list of the same things: as JSON the views, for people a line each under a heading.
type table[V any] struct {
	heading string
	none    string // for people, in place of a heading with nothing below
	views   []V
	rows    [][]string
}

func (t *table[V]) add(view V, cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.views, t.rows = append(t.views, view), append(t.rows, row)
}

func (t *table[V]) print(o *output) error {
	return o.print(append([]V{}, t.views...), func(w io.Writer) { // an empty list is [] and not null
		if len(t.rows) == 0 && t.none != "" {
			_, _ = fmt.Fprintln(w, t.none)
			return
		}
		o.table(w, t.heading, t.rows)
	})
}

// failure says what went wrong: a fault by its code and detail, anything else by its text.
func (o *output) failure(err error) {
	var f *fault.Error
	code, text := "failure", err.Error()
	if errors.As(err, &f) {
		code = f.Code
		if f.Detail != "" {
			text = f.Detail
		}
	}
	if o.json {
		_ = json.NewEncoder(o.err).Encode(map[string]string{"error": code, "detail": text})
		return
	}
	_, _ = fmt.Fprintln(o.err, "vigia:", text)
}

// stamp is how times are shown; the zero time is empty.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
