package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// record is what a command shows of one thing: names and values in order. As JSON it is an object, for people a line
// for each value, and in a list a row.
type record []field

// field is a named value of a record; records keep the order of their fields.
type field struct {
	name  string
	value any
}

// newRecord makes a record of names and values in turn, as slog takes them. Times become text, lists and maps are never
// null.
func newRecord(pairs ...any) record {
	r := make(record, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		value := pairs[i+1]
		if value == nil {
			value = []string(nil)
		}
		if v := reflect.ValueOf(value); v.Kind() == reflect.Slice && v.IsNil() {
			value = []string{}
		} else if v.Kind() == reflect.Map && v.IsNil() {
			value = map[string]int64{}
		}
		switch v := value.(type) {
		case time.Time:
			value = formatTime(v)
		case fmt.Stringer:
			value = v.String()
		}
		r = append(r, field{name: fmt.Sprint(pairs[i]), value: value})
	}
	return r
}

// withPairs returns the record with further names and values.
func (r record) withPairs(pairs ...any) record { return append(slices.Clip(r), newRecord(pairs...)...) }

// textOfField returns the value of a name as people read it.
func (r record) textOfField(name string) string {
	for _, f := range r {
		if f.name == name {
			return f.textValue()
		}
	}
	return ""
}

// MarshalJSON writes an object whose members stand in the record's order.
func (r record) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, f := range r {
		if i == 0 {
			b.WriteByte('{')
		} else {
			b.WriteByte(',')
		}
		if err := enc.Encode(f.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(f.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// textValue returns the value on one line: "a, b" of a list, "12 cpf, 40 email" of counts.
func (f field) textValue() string {
	switch value := f.value.(type) {
	case json.RawMessage:
		return string(value)
	case map[string]int64:
		return countsText(value)
	}
	v := reflect.ValueOf(f.value)
	if v.Kind() != reflect.Slice {
		return fmt.Sprint(f.value)
	}
	words := make([]string, v.Len())
	for i := range words {
		words[i] = fmt.Sprint(v.Index(i).Interface())
		if inner, ok := v.Index(i).Interface().(record); ok {
			words[i] = inner.joinValues()
		}
	}
	return strings.Join(words, ", ")
}

// joinValues returns the values without their names.
func (r record) joinValues() string {
	words := make([]string, len(r))
	for i, f := range r {
		words[i] = f.textValue()
	}
	return strings.Join(words, " ")
}

// countsText returns "12 cpf, 40 email".
func countsText(counts map[string]int64) string {
	words := make([]string, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%d %s", counts[name], name))
	}
	return strings.Join(words, ", ")
}

// tableRows bounds the tables inside a record: a thousand problems of one kind are shown as a few.
const tableRows = 50

// writeLines writes a name and a value to a line.
func (r record) writeLines(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, f := range r {
		switch f.value.(type) {
		case record, []record:
		default:
			if text := f.textValue(); text != "" { // people are not shown what there is not
				_, _ = fmt.Fprintf(tw, "%s\t%s\n", f.name, text)
			}
		}
	}
	_ = tw.Flush()
	for _, f := range r {
		switch nested := f.value.(type) {
		case record:
			_, _ = fmt.Fprintf(w, "\n%s\n", f.name)
			nested.writeLines(w)
		case []record:
			if len(nested) == 0 {
				continue
			}
			_, _ = fmt.Fprintf(w, "\n%s\n", f.name)
			printTable(w, nested[:min(len(nested), tableRows)])
			if more := len(nested) - tableRows; more > 0 {
				_, _ = fmt.Fprintf(w, "and %d more; --json lists all\n", more)
			}
		}
	}
}

// printTable writes rows in aligned columns; without named columns, those of the first row. There must be a row then.
func printTable(w io.Writer, rows []record, columns ...string) {
	if len(columns) == 0 {
		for _, f := range rows[0] {
			columns = append(columns, f.name)
		}
	}
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, strings.ToUpper(strings.Join(columns, "\t")))
	for _, row := range rows {
		cells := make([]string, len(columns))
		for i, name := range columns {
			cells[i] = row.textOfField(name)
		}
		_, _ = fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	_ = tw.Flush()
}

func makeRecords[T any](all []T, view func(T) record) []record {
	list := make([]record, len(all))
	for i, one := range all {
		list[i] = view(one)
	}
	return list
}

// formatTime returns a time as output shows it; empty for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
