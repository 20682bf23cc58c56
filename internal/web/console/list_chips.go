package console

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// chip is a word that narrows the list and what may stand in its place.
type chip struct {
	Name, Label, Value string
	// Raw is the word as the address has it; IsDay that it is a day.
	Raw   string
	IsDay bool
	// Options are the other words; none where one is typed. Choices are those of which several may be chosen.
	Options []listLink
	Choices []chipChoice
	// Without is the address of the list without the word; empty where the list always has one.
	Without string
}

// chipChoice is one of several words that a chip may hold at once.
type chipChoice struct {
	Value, Label string
	Chosen       bool
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
		word := v.Value(f.Name)
		if f.Tab || f.Name == orderField || word == "" && (f.None != "" || len(f.Options) == 0) {
			continue
		}
		one := chip{Name: f.Name, Label: f.Label, Raw: word, Value: f.optionLabel(word)}
		if word == "" {
			one.Value = f.Options[0].Label
		} else {
			one.Without = v.with(f.Name, "")
		}
		if day, err := time.Parse(time.DateOnly, word); err == nil {
			one.Value, one.IsDay = formatDayField(day), true
		}
		if f.Many {
			chosen := v.filter.values[f.Name]
			var labels []string
			for _, o := range f.Options {
				is := slices.Contains(chosen, o.Value)
				if one.Choices = append(one.Choices, chipChoice{o.Value, o.Label, is}); is {
					labels = append(labels, o.Label)
				}
			}
			one.Value = strings.Join(labels, ", ")
			chips = append(chips, one)
			continue
		}
		one.Options = v.linksOf(f)
		chips = append(chips, one)
	}
	return chips
}

// linksOf returns the list under each option of a field.
func (v listView) linksOf(f listField) []listLink {
	var links []listLink
	for i, o := range f.Options {
		word := v.Value(f.Name)
		links = append(links, listLink{
			Label:   o.Label,
			Path:    v.with(f.Name, o.Value),
			Current: o.Value == word || word == "" && i == 0 && f.None == "" && !f.Tab,
		})
	}
	if f.None != "" && len(links) > 0 {
		links = append(links, listLink{Label: f.None, Path: v.with(f.Name, ""), Current: v.Value(f.Name) == ""})
	}
	return links
}

// Unset returns the fields that could narrow the list further.
func (v listView) Unset() (fields []listField) {
	for _, f := range v.Fields {
		hidden := f.Tab || f.Name == orderField || f.Text && len(f.Options) == 0
		always := f.None == "" && len(f.Options) > 0 && f.Name != "partner"
		if !hidden && !always && v.Value(f.Name) == "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// Groupings returns the ways to group the rows; none where there is one only.
func (v listView) Groupings() []listLink {
	for _, f := range v.Fields {
		if f.Name == "group" {
			grouped := listLink{"Por vazamento", v.with(f.Name, ""), v.Value(f.Name) == ""}
			return append([]listLink{grouped}, v.linksOf(f)...)
		}
	}
	return nil
}

// Orders returns the orders of the list; none where it has one only.
func (v listView) Orders() []listLink {
	for _, f := range v.Fields {
		if f.Name == orderField {
			return v.linksOf(f)
		}
	}
	return nil
}

// with returns the address of the list with another word in a field; none takes the field out.
func (v listView) with(name, word string) string {
	q, _ := url.ParseQuery(v.Query()) // it was just encoded
	if q.Del(name); word != "" {
		q.Set(name, word)
	}
	if name == "partner" {
		q.Del("person") // of another partner that is another person, or nobody
	}
	return v.Of(q.Encode())
}

// Without returns the words of the filter but that of one field, for a form that sets it.
func (v listView) Without(name string) (words []choiceOption) {
	q, _ := url.ParseQuery(v.Query()) // it was just encoded
	for _, field := range slices.Sorted(maps.Keys(q)) {
		if field == name {
			continue
		}
		for _, word := range q[field] {
			words = append(words, choiceOption{Value: field, Label: word})
		}
	}
	return words
}
