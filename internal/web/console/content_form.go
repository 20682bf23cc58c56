package console

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
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
	// formOptions is how many answers the form has room for at least; spareOptions how many it adds to those that are
	// there.
	formOptions  = 4
	spareOptions = 2
	mostOptions  = 10
)

var (
	contentTypes = []choiceOption{
		{string(cyber.ContentAlert), "Alerta"},
		{string(cyber.ContentAdvice), "Conselho"},
		{string(cyber.ContentTip), "Dica"},
	}
	contentDevices = []choiceOption{
		{string(cyber.DeviceAll), "Em qualquer lugar"},
		{string(cyber.DeviceMobile), "No celular"},
		{string(cyber.DeviceDesktop), "No computador"},
	}
	deviceChoices = []choiceOption{
		{string(cyber.DeviceAll), "Qualquer um"},
		{string(cyber.DeviceMobile), "Celular"},
		{string(cyber.DeviceDesktop), "Computador"},
	}
)

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
