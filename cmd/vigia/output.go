package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
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

// printFailure says what went wrong: a fault by its code and detail, a refusal of the partner API by its code, anything
// else by its text.
func (o *output) printFailure(err error) {
	var f *fault.Error
	var refused *client.Error
	code, text := "failure", err.Error()
	switch {
	case errors.As(err, &f):
		code = f.Code
		if detail := f.Detail(); detail != "" {
			text = detail
		}
		text = cmp.Or(o.notFoundSentence(f.Code), text)
	case errors.As(err, &refused):
		code = cmp.Or(string(refused.Code), code)
		text = "the service answered " + strings.TrimPrefix(text, "vigia: ")
	}
	if o.json {
		_ = json.NewEncoder(o.err).Encode(map[string]string{"error": code, "detail": text})
		return
	}
	_, _ = fmt.Fprintln(o.err, "vigia:", text)
}

// listed says how a kind of thing is called, which arguments name one, and which command lists them.
type listed struct {
	noun, argument, list string
}

// listedThings are what a command may not find, by the code of the fault.
var listedThings = map[string]listed{
	"partner.not_found":  {noun: "partner", argument: "partner", list: "vigia partner list"},
	"plan.not_found":     {noun: "plan", argument: "plan", list: "vigia plan list --partner PARTNER"},
	"key.not_found":      {noun: "key", argument: "key", list: "vigia key list --partner PARTNER"},
	"webhook.not_found":  {noun: "webhook", argument: "webhook", list: "vigia webhook list"},
	"event.not_found":    {noun: "event", argument: "event", list: "vigia event list --partner PARTNER"},
	"breach.not_found":   {noun: "breach", argument: "name", list: "vigia breach list"},
	"feed.not_found":     {noun: "feed", argument: "name", list: "vigia feed list"},
	"operator.not_found": {noun: "operator", argument: "email", list: "vigia operator list"},
}

// notFoundSentence says what there is not, and which command lists what there is; empty for any other fault.
func (o *output) notFoundSentence(code string) string {
	thing, found := listedThings[code]
	name := o.given[thing.argument]
	if !found || name == "" {
		return ""
	}
	list := thing.list
	if partner := o.given["partner"]; partner != "" {
		list = strings.Replace(list, "PARTNER", partner, 1)
	}
	return fmt.Sprintf("there is no %s %s; '%s' lists them", thing.noun, name, list)
}

// givenNames returns what the arguments and flags of a command line were given as text.
func givenNames(parsed *kong.Context) map[string]string {
	given := map[string]string{}
	for _, step := range parsed.Path {
		if step.Positional != nil {
			given[step.Positional.Name] = givenText(step.Positional.Target)
		} else if step.Flag != nil {
			given[step.Flag.Name] = givenText(step.Flag.Target)
		}
	}
	return given
}

// warn says on standard error what the user has to know although the command did its work.
func (o *output) warn(text string) {
	if o.json {
		_ = json.NewEncoder(o.err).Encode(map[string]string{"warning": text})
		return
	}
	_, _ = fmt.Fprintln(o.err, "vigia: warning:", text)
}

// formatTime returns a time as output shows it; empty for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// progress shows how far long work has come: one line that changes on a terminal, with a bar, rate and time left; a
// line now and then elsewhere; always on standard error, so that it never mixes with a command's result.
type progress struct {
	w io.Writer
	// columns are those of the terminal; 0 where there is none.
	columns int
	label   string
	unit    string
	begin   time.Time
	said    time.Time
	// before is what an earlier run had done of the work.
	before int64
}

// sayEvery is how often a line is written where there is no terminal, and drawEvery where there is one.
const (
	sayEvery  = 5 * time.Second
	drawEvery = 100 * time.Millisecond
)

// progress starts one; unit is "bytes" or what is counted.
func (o *output) progress(label, unit string) *progress {
	p := &progress{w: o.err, label: label, unit: unit, begin: time.Now(), said: time.Now()}
	if f, ok := o.err.(*os.File); ok && !o.json {
		p.columns, _, _ = term.GetSize(int(f.Fd())) // none where it is no terminal
	}
	return p
}

// setProgress reports how much is done; total is 0 where it is unknown.
func (p *progress) setProgress(done, total int64, note string) {
	every := sayEvery
	if p.columns > 0 {
		every = drawEvery
	}
	if time.Since(p.said) < every {
		return
	}
	p.said = time.Now()
	line := p.progressLine(done, total, note)
	if p.columns == 0 {
		_, _ = fmt.Fprintln(p.w, line)
		return
	}
	p.drawLine(progressBar(done, total) + line)
}

// drawLine replaces the line on the terminal; it must not reach the last column, behind which the next line begins.
func (p *progress) drawLine(line string) {
	if room := max(p.columns-1, 0); len(line) > room { // labels are in ASCII
		line = line[:room]
	}
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", line) // a terminal that is gone stops nothing
}

// progressBar returns a bar as long as the share that is done; empty where the total is unknown.
func progressBar(done, total int64) string {
	const length = 20
	if total <= 0 {
		return ""
	}
	full := int(min(done, total) * length / total)
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", length-full) + "] "
}

// progressLine returns the line that shows how far it is.
func (p *progress) progressLine(done, total int64, note string) string {
	pace := job.EstimatePace(done, p.before, total, time.Since(p.begin))
	text := fmt.Sprintf("%s: %s", p.label, p.formatAmount(done))
	if pace.Percent >= 0 {
		text += fmt.Sprintf(" of %s (%.0f %%)", p.formatAmount(total), pace.Percent)
	}
	if pace.PerSecond > 0 {
		text += fmt.Sprintf(", %s/s", p.formatAmount(int64(pace.PerSecond)))
	}
	if pace.Left > 0 {
		text += fmt.Sprintf(", %v left", pace.Left)
	}
	if note != "" {
		text += ", " + note
	}
	return text
}

// formatAmount writes a number of the unit that is counted.
func (p *progress) formatAmount(n int64) string {
	if p.unit == "bytes" {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d %s", n, p.unit)
}

// clearLine clears the line on the terminal.
func (p *progress) clearLine() {
	if p.columns > 0 {
		p.drawLine("")
	}
}

// errFile is the refusal of a file that the command line names.
var errFile = fault.New(fault.Invalid, "file.unreadable")

// openNamedFile opens a file that the command line names; the error says which and why, for the whole path may differ
// from what was typed.
func openNamedFile(name string) (*os.File, error) {
	file, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, unreadableFile(name, err)
	}
	return file, nil
}

// readNamedFile reads a file that the command line names.
func readNamedFile(name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		return nil, unreadableFile(name, err)
	}
	return text, nil
}

// checkNamedFile refuses a name that is no file that can be read.
func checkNamedFile(name string) error {
	file, err := openNamedFile(name)
	if err != nil {
		return err
	}
	return file.Close()
}

// unreadableFile names a file and why it cannot be read.
func unreadableFile(name string, err error) error {
	var cause *fs.PathError
	why := err.Error()
	if errors.As(err, &cause) {
		why = cause.Err.Error()
	}
	return errFile.Because(err).Note("%s cannot be read: %s", absolutePath(name), why)
}

// longestValue bounds what is read of a value.
const longestValue = 4 << 10

// personal is the value of a flag that names a person. It is read when the command line is, and once: what records the
// command and what runs it see the same.
type personal string

// UnmarshalText implements encoding.TextUnmarshaler, which is how flags are read.
func (p *personal) UnmarshalText(text []byte) error {
	value, err := personalValue(string(text), os.Stdin)
	*p = personal(value)
	return err
}

// personalValue returns the value of a flag, or reads it from elsewhere: "-" is the first line of standard input,
// "@FILE" that of a file. Other users of the machine can see command lines, and shells keep them in their history.
func personalValue(text string, stdin io.Reader) (string, error) {
	name, inFile := strings.CutPrefix(text, "@")
	if text != "-" && !inFile {
		return text, nil
	}
	from := stdin
	if inFile {
		f, err := openNamedFile(name)
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }() // only read
		from = f
	}
	line, err := bufio.NewReader(io.LimitReader(from, longestValue)).ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return "", fmt.Errorf("read the value: %w", err)
	}
	return line, nil
}
