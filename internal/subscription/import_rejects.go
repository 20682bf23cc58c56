package subscription

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// Reject is a record that was not created.
type Reject struct {
	Line     int
	Text     []byte
	Problems []Problem
}

// Rejects writes what was refused in the form of the file it came from: a table with two more columns, or items with
// two more members. So it can be mended and sent as a file of its own. Nothing is written while nothing was refused.
type Rejects struct {
	out   io.Writer
	table *CSV // nil for JSON lines
	say   func(Problem) string
	begun bool
}

// NewRejects writes the rejects of a source, in the words of say.
func NewRejects(out io.Writer, of Source, say func(Problem) string) *Rejects {
	table, _ := of.(*CSV)
	return &Rejects{out: out, table: table, say: say}
}

// Write adds one record.
func (r *Rejects) Write(rejected Reject) error {
	errs := make([]string, len(rejected.Problems))
	for i, p := range rejected.Problems {
		errs[i] = r.say(p)
	}
	if r.table == nil {
		return r.writeJSONLine(rejected, errs)
	}
	if !r.begun {
		r.begun = true
		if err := r.writeCSVRow(append(append([]string{}, r.table.Heading...), "line", "errors")); err != nil {
			return err
		}
	}
	in := csv.NewReader(bytes.NewReader(rejected.Text))
	in.Comma = r.table.Comma
	record, err := in.Read()
	if err != nil { // a line that could not be read: only where and why can be told
		record = make([]string, len(r.table.Heading))
	}
	return r.writeCSVRow(append(record, strconv.Itoa(rejected.Line), strings.Join(errs, "; ")))
}

// writeJSONLine keeps the item an item, with two more members: unknown ones are ignored, so the mended line can be
// imported as it is.
func (r *Rejects) writeJSONLine(rejected Reject, errs []string) error {
	note := struct {
		Line   int      `json:"line"`
		Errors []string `json:"errors"`
		Text   string   `json:"text,omitempty"` // what is not an object
	}{Line: rejected.Line, Errors: errs}
	var members map[string]json.RawMessage
	object := json.Unmarshal(rejected.Text, &members) == nil
	if !object {
		note.Text = string(rejected.Text)
	}
	text, err := json.Marshal(note)
	if err != nil {
		return err
	}
	if object {
		text = text[:len(text)-1]
		if len(members) > 0 {
			text = append(text, ',')
		}
		text = append(text, rejected.Text[1:]...)
	}
	_, err = r.out.Write(append(text, '\n'))
	return err
}

// writeCSVRow writes a record of a table.
func (r *Rejects) writeCSVRow(record []string) error {
	w := csv.NewWriter(r.out)
	w.Comma = r.table.Comma
	if err := w.Write(record); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}
