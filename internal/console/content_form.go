package console

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/identifier"
)

// contentForm is an item in the fields of a form, with what they offer.
type contentForm struct {
	cyber.Item
	// New is set while there is no such item yet: its id is a field.
	New bool
	// YAML is the same item for those who prefer that.
	YAML string
	// Preview is the item as a person would see it; nil before there is one.
	Preview *cyber.Item
	// Options are the rows of answers, with room for more.
	Options []optionRow
}

// optionRow is an answer in the form; the names of its fields begin with Row.
type optionRow struct {
	Row string
	cyber.Option
}

// answerFieldName names the fields of an answer: by letters, as a refusal names its field in letters.
func answerFieldName(i int) string { return "option_" + string(rune('a'+i)) + "_" }

const (
	// formOptions is how many answers the form has room for at least; spareOptions how many it adds to those that are there.
	formOptions  = 4
	spareOptions = 2
	mostOptions  = 10
)

var (
	contentTypes = []choiceOption{
		{string(cyber.ContentAlert), "Alerta"}, {string(cyber.ContentAdvice), "Conselho"}, {string(cyber.ContentTip), "Dica"},
	}
	contentDevices = []choiceOption{
		{string(cyber.DeviceAll), "Em qualquer lugar"}, {string(cyber.DeviceMobile), "No celular"}, {string(cyber.DeviceDesktop), "No computador"},
	}
	deviceChoices = []choiceOption{
		{string(cyber.DeviceAll), "Qualquer um"}, {string(cyber.DeviceMobile), "Celular"}, {string(cyber.DeviceDesktop), "Computador"},
	}
)

// Types returns the types of items of the catalogue.
func (contentForm) Types() []choiceOption { return contentTypes }

// Devices returns the devices on which an item can be shown.
func (contentForm) Devices() []choiceOption { return contentDevices }

// Holders returns the kinds of devices that a person may have, for the condition of an item.
func (contentForm) Holders() []choiceOption { return deviceChoices }

// Exposable returns the classes of data that a breach can expose.
func (contentForm) Exposable() []choiceOption { return exposedOptions }

// Origins returns the kinds of sources of a breach.
func (contentForm) Origins() []choiceOption { return kindOptions }

// Kinds returns the kinds of values that can be watched.
func (contentForm) Kinds() []choiceOption { return kindField.Options }

// Severities returns the severities of findings.
func (contentForm) Severities() []choiceOption { return severityField.Options }

// Has reports whether a list of conditions holds a word.
func (f contentForm) Has(list, word string) bool {
	switch list {
	case "exposes":
		return slices.Contains(f.When.Exposes, cyber.Exposed(word))
	case "sources":
		return slices.Contains(f.When.Sources, cyber.SourceKind(word))
	case "assets":
		return slices.ContainsFunc(f.When.Assets, func(k identifier.Kind) bool { return k.String() == word })
	}
	return false
}

// Watched returns the label of the kind of value that must be watched for the item to be shown; empty for none.
func (f contentForm) Watched() string { return kindLabel(f.When.Watched) }

// NotWatched returns the label of the kind of value that must not be watched for the item to be shown; empty for none.
func (f contentForm) NotWatched() string { return kindLabel(f.When.NotWatched) }

// kindLabel returns the Portuguese name of a kind of value.
func kindLabel(k identifier.Kind) string {
	if k == 0 {
		return ""
	}
	return k.String()
}

// Answered returns the condition on answers as text, one item to a line.
func (f contentForm) Answered() string {
	var lines []string
	for id, values := range f.When.Answered {
		lines = append(lines, string(id)+": "+strings.Join(values, ", "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Asks returns the question of the item; an empty one when it asks nothing.
func (f contentForm) Asks() cyber.ValidationQuestion {
	if f.Question == nil {
		return cyber.ValidationQuestion{}
	}
	return *f.Question
}

// Conditional reports whether the item is for some people only.
func (f contentForm) Conditional() bool {
	var b bytes.Buffer
	return cyber.WriteContent(&b, []cyber.Item{{When: f.When}}) == nil && bytes.Contains(b.Bytes(), []byte("when:"))
}

// newContentForm lays an item out; sent is a form that was refused, whose rows are all there again.
func newContentForm(it cyber.Item, sent url.Values) contentForm {
	f := contentForm{Item: it}
	given := f.Asks().Options
	for i := range mostOptions {
		row := optionRow{Row: answerFieldName(i)}
		if i < len(given) {
			row.Option = given[i]
		}
		if i < max(formOptions, len(given)+spareOptions) || sent.Has(row.Row+"value") {
			f.Options = append(f.Options, row)
		}
	}
	return f
}

// parseItemForm reads the fields. What they hold is checked like a file, so that both ways know the same rules.
func parseItemForm(r *request, id cyber.ContentID) (cyber.Item, error) {
	it := cyber.Item{
		ID: id, Type: cyber.ContentType(r.trimmedField("type")), Device: cyber.DeviceType(r.trimmedField("device")), Title: r.trimmedField("title"), Body: unwrapped(r, "body"),
		More: unwrapped(r, "more"),
	}
	it.Rank, it.When, it.Question = r.readNumber("rank", 0), conditionOf(r), questionOf(r)
	var b bytes.Buffer
	if err := cyber.WriteContent(&b, []cyber.Item{it}); err != nil {
		return it, err
	}
	items, err := cyber.ReadContent(&b)
	if r.noteFormError(err); r.wrong != nil {
		return it, r.wrong
	}
	return items[0], nil
}

// unwrapped returns a text of several lines as it is stored: browsers send line breaks as CRLF.
func unwrapped(r *request, name string) string {
	return strings.ReplaceAll(r.trimmedField(name), "\r\n", "\n")
}

// conditionOf parses the condition under which an item is shown. It refuses kinds of values that do not exist.
func conditionOf(r *request) (c cyber.Condition) {
	for _, word := range r.PostForm["exposes"] {
		c.Exposes = append(c.Exposes, cyber.Exposed(word))
	}
	for _, word := range r.PostForm["sources"] {
		c.Sources = append(c.Sources, cyber.SourceKind(word))
	}
	for _, word := range r.PostForm["assets"] {
		kind, err := identifier.ParseKind(word)
		if err != nil {
			r.noteFormError(cyber.ErrContentInvalid.With("assets", fault.UnknownKindOfValue))
			continue
		}
		c.Assets = append(c.Assets, kind)
	}
	for name, kind := range map[string]*identifier.Kind{"watched": &c.Watched, "not_watched": &c.NotWatched} {
		if r.trimmedField(name) == "" {
			continue
		}
		var err error
		if *kind, err = identifier.ParseKind(r.trimmedField(name)); err != nil {
			r.noteFormError(cyber.ErrContentInvalid.With(name, fault.UnknownKindOfValue))
		}
	}
	c.Severity = cyber.Severity(r.trimmedField("severity"))
	c.NoDevice, c.HasDevice = cyber.DeviceType(r.trimmedField("no_device")), cyber.DeviceType(r.trimmedField("has_device"))
	c.NoFindings, c.OpenCase, c.WaitingCase = r.PostForm.Has("no_findings"), r.PostForm.Has("open_case"), r.PostForm.Has("waiting_case")
	c.OpenFindings, c.KeyEndsWithin, c.Answered = r.readNumber("open_findings", 0), r.readNumber("key_ends_within", 0), answeredOf(r)
	return c
}

// answeredOf reads an item and its answers from each line.
func answeredOf(r *request) map[cyber.ContentID][]string {
	answered := map[cyber.ContentID][]string{}
	for line := range strings.Lines(r.trimmedField("answered")) {
		id, list, _ := strings.Cut(line, ":")
		var values []string
		for value := range strings.SplitSeq(list, ",") {
			if value = strings.TrimSpace(value); value != "" {
				values = append(values, value)
			}
		}
		if id = strings.TrimSpace(id); id == "" && len(values) == 0 {
			continue
		}
		if len(values) == 0 {
			r.noteFormError(cyber.ErrContentInvalid.With("answered", fault.ItemAndValues))
			continue
		}
		answered[cyber.ContentID(id)] = values
	}
	return answered
}

// questionOf reads the question; nil when all of its fields are empty.
func questionOf(r *request) *cyber.ValidationQuestion {
	q := cyber.ValidationQuestion{Text: unwrapped(r, "question"), Mends: unwrapped(r, "mends")}
	for i := range mostOptions {
		row := answerFieldName(i)
		o := cyber.Option{Value: r.trimmedField(row + "value"), Label: r.trimmedField(row + "label"), Risk: r.readNumber(row+"risk", 0)}
		if o != (cyber.Option{}) {
			q.Options = append(q.Options, o)
		}
	}
	if q.Text == "" && q.Mends == "" && len(q.Options) == 0 {
		return nil // an item need not ask
	}
	return &q
}
