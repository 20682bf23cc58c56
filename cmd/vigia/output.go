package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// output is where a command writes: text for people, one JSON value for machines.
type output struct {
	w, err io.Writer
	json   bool
	// person is who can be asked a question; nil where nobody can.
	person io.Reader
	// given are the arguments and flags of the command line by their names, to name what was not found.
	given map[string]string
}

// printValue writes value as JSON, or calls text.
func (o *output) printValue(value any, text func(w io.Writer)) error {
	if !o.json {
		text(o.w)
		return nil
	}
	enc := json.NewEncoder(o.w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}

// showRecord prints one record; for people lists of records inside it are tables below, and notes come last.
func (o *output) showRecord(r record, notes ...string) error {
	return o.printValue(r, func(w io.Writer) {
		r.writeLines(w)
		for _, note := range notes {
			_, _ = fmt.Fprintf(w, "\n%s\n", note)
		}
	})
}

// listRecords prints records; people see the named columns, or all, and none in place of an empty table.
func (o *output) listRecords(rows []record, none string, columns ...string) error {
	return o.printValue(append([]record{}, rows...), func(w io.Writer) { // an empty list is [] and not null
		if len(rows) == 0 {
			_, _ = fmt.Fprintln(w, none)
			return
		}
		printTable(w, rows, columns...)
	})
}

// warn says on standard error what the user has to know although the command did its work.
func (o *output) warn(text string) {
	if o.json {
		_ = json.NewEncoder(o.err).Encode(map[string]string{"warning": text})
		return
	}
	_, _ = fmt.Fprintln(o.err, "vigia: warning:", text)
}
