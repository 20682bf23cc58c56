package console

import (
	"bytes"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// parseItemForm reads the fields. What they hold is checked like a file, so that both ways know the same rules.
func parseItemForm(r *request, id cyber.ContentID) (cyber.Item, error) {
	form := newFormReader(r)
	it := cyber.Item{
		ID:       id,
		Type:     cyber.ContentType(r.trimmedField("type")),
		Device:   cyber.DeviceType(r.trimmedField("device")),
		Title:    r.trimmedField("title"),
		Body:     unwrapped(r, "body"),
		More:     unwrapped(r, "more"),
		Rank:     form.readNumber("rank", 0),
		When:     form.readCondition(),
		Question: form.readQuestion(),
	}
	var b bytes.Buffer
	if err := cyber.WriteContent(&b, []cyber.Item{it}); err != nil {
		return it, err
	}
	items, err := cyber.ReadContent(&b)
	if err := form.joinFaults(err); err != nil {
		return it, err
	}
	return items[0], nil
}

// unwrapped returns a text of several lines as it is stored: browsers send line breaks as CRLF.
func unwrapped(r *request, name string) string {
	return strings.ReplaceAll(r.trimmedField(name), "\r\n", "\n")
}

// readCondition reads the condition under which an item is shown. It refuses kinds of values that do not exist.
func (f *formReader) readCondition() cyber.Condition {
	c := cyber.Condition{
		Watched:       f.readKind("watched"),
		NotWatched:    f.readKind("not_watched"),
		Severity:      cyber.Severity(f.trimmedField("severity")),
		NoDevice:      cyber.DeviceType(f.trimmedField("no_device")),
		HasDevice:     cyber.DeviceType(f.trimmedField("has_device")),
		NoFindings:    f.PostForm.Has("no_findings"),
		OpenCase:      f.PostForm.Has("open_case"),
		WaitingCase:   f.PostForm.Has("waiting_case"),
		OpenFindings:  f.readNumber("open_findings", 0),
		KeyEndsWithin: f.readNumber("key_ends_within", 0),
		Answered:      f.readAnswered(),
	}
	for _, word := range f.PostForm["exposes"] {
		c.Exposes = append(c.Exposes, cyber.Exposed(word))
	}
	for _, word := range f.PostForm["sources"] {
		c.Sources = append(c.Sources, cyber.SourceKind(word))
	}
	for _, word := range f.PostForm["assets"] {
		kind, err := identifier.ParseKind(word)
		if err != nil {
			f.noteFault(cyber.ErrContentInvalid.With("assets", fault.UnknownKindOfValue))
			continue
		}
		c.Assets = append(c.Assets, kind)
	}
	return c
}

// readKind returns the kind of value that a field names; an empty field is none.
func (f *formReader) readKind(name string) identifier.Kind {
	if f.trimmedField(name) == "" {
		return 0
	}
	kind, err := identifier.ParseKind(f.trimmedField(name))
	if err != nil {
		f.noteFault(cyber.ErrContentInvalid.With(name, fault.UnknownKindOfValue))
	}
	return kind
}

// readAnswered reads an item and its answers from each line.
func (f *formReader) readAnswered() map[cyber.ContentID][]string {
	answered := map[cyber.ContentID][]string{}
	for line := range strings.Lines(f.trimmedField("answered")) {
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
			f.noteFault(cyber.ErrContentInvalid.With("answered", fault.ItemAndValues))
			continue
		}
		answered[cyber.ContentID(id)] = values
	}
	return answered
}

// readQuestion reads the question; nil when all of its fields are empty.
func (f *formReader) readQuestion() *cyber.ValidationQuestion {
	q := cyber.ValidationQuestion{Text: unwrapped(f.request, "question"), Mends: unwrapped(f.request, "mends")}
	for i := range mostOptions {
		row := answerFieldName(i)
		o := cyber.Option{
			Value: f.trimmedField(row + "value"),
			Label: f.trimmedField(row + "label"),
			Risk:  f.readNumber(row+"risk", 0),
		}
		if o != (cyber.Option{}) {
			q.Options = append(q.Options, o)
		}
	}
	if q.Text == "" && q.Mends == "" && len(q.Options) == 0 {
		return nil // an item need not ask
	}
	return &q
}
