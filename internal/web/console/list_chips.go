package console

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// chip is a field that narrows the list, by Raw as the address has it and Value as people read it.
type chip struct {
	listField
	Raw, Value string
	IsDay      bool
	// Links lead to the other words; none where one is typed or several may be chosen.
	Links []listLink
	// Without is the address of the list without the word; empty where the list always has one.
	Without string
}

// listLink is a way to look at the list otherwise.
type listLink struct {
	Label, Path string
	Current     bool
}

// orderField is the name of the field that orders a list: it stands at the end of the filters.
const orderField = "sort"

// Chips returns what narrows the list, in the order of its fields. A field that always has a word is among them.
func (v listView) Chips() (chips []chip) {
	for _, f := range v.Fields {
		word := v.valueOfName(f.Name)
		if f.Tab || f.Name == orderField || word == "" && (f.None != "" || len(f.Options) == 0) {
			continue
		}
		one := chip{listField: f, Raw: word, Value: labelOf(f.Options, word)}
		if word == "" {
			one.Value = f.Options[0].Label
		} else {
			one.Without = v.Of(v.with(f.Name, ""))
		}
		if day, err := time.Parse(time.DateOnly, word); err == nil {
			one.Value, one.IsDay = formatDayField(day), true
		}
		if f.Many {
			var labels []string
			for _, o := range f.Options {
				if v.Has(f.Name, o.Value) {
					labels = append(labels, o.Label)
				}
			}
			one.Value = strings.Join(labels, ", ")
		} else {
			one.Links = v.linksOf(f)
		}
		chips = append(chips, one)
	}
	return chips
}

// Has reports whether a word is among those of a field.
func (v listView) Has(name, word string) bool { return slices.Contains(v.values[name], word) }

// linksOf returns the list under each option of a field.
func (v listView) linksOf(f listField) []listLink {
	var links []listLink
	word := v.valueOfName(f.Name)
	add := func(label, to string, current bool) {
		links = append(links, listLink{label, v.Of(v.with(f.Name, to)), current})
	}
	for i, o := range f.Options {
		add(o.Label, o.Value, o.Value == word || word == "" && i == 0 && f.None == "" && !f.Tab)
	}
	if f.None != "" && len(links) > 0 {
		add(f.None, "", word == "")
	}
	return links
}

// Unset returns the fields that could narrow the list further.
func (v listView) Unset() (fields []listField) {
	for _, f := range v.Fields {
		hidden := f.Tab || f.Name == orderField || f.Text && len(f.Options) == 0
		always := f.None == "" && len(f.Options) > 0 && f.Name != "partner"
		if !hidden && !always && v.valueOfName(f.Name) == "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// LinksOf returns the words of a field as links; none in a list without the field.
func (v listView) LinksOf(name string) []listLink {
	for _, f := range v.Fields {
		if f.Name == name {
			return v.linksOf(f)
		}
	}
	return nil
}

// Without returns the words of the filter but that of one field, for a form that sets it.
func (v listView) Without(name string) (words []choiceOption) {
	for _, field := range slices.Sorted(maps.Keys(v.values)) {
		if field == name {
			continue
		}
		for _, word := range v.values[field] {
			words = append(words, choiceOption{Value: field, Label: word})
		}
	}
	return words
}
