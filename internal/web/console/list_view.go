package console

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// listPart is the part of a list that a page shows.
type listPart struct {
	table listTable
	// shown is how many rows the page has, next where those behind them begin; empty at the end.
	shown int
	next  string
	// total is how many there are in all, if that is known; -1 otherwise.
	total int64
	// options are those of fields whose options are not always the same.
	options map[string][]choiceOption
	// more is what the page of this list shows beside it.
	more any
}

// newListPart returns a page of rows.
func newListPart[T any](f filter, list []T, row rowMaker[T], next string, total int64) listPart {
	return listPart{table: newListTable(f, list, row), shown: len(list), next: next, total: total}
}

// longestTrail is how many pages one can go back; from further on the way leads to the first.
const longestTrail = 20

// listView is what every list shows around its table; without a name where it has nothing but a table.
type listView struct {
	filter
	Name   string
	Fields []listField
	// PersonPath leads to the person that the list is filtered by; empty without such a filter.
	PersonPath string
	// Shown is how many rows the page has; Next leads to those behind them, and is empty at the end.
	Shown int
	Next  string
	// Total is how many there are in all, if that is known; -1 otherwise.
	Total int64
	// Persons is set when the list can be filtered by person.
	Persons bool
	Saved   []operator.KeptFilter
	Action  *bulkAction
}

// newListView puts together what stands around the table of a list.
func (c *Console) newListView(ctx context.Context, who viewer, l *listing, f filter, part listPart) (listView, error) {
	v := listView{
		Name:    l.name,
		filter:  f,
		Shown:   part.shown,
		Total:   part.total,
		Persons: l.persons,
	}
	for _, field := range l.fields {
		if c.confined && field.isServiceOnly() {
			continue
		}
		if field.Options == nil {
			field.Options = part.options[field.Name]
		}
		if field.Name == "partner" {
			field.Options = partnerOptions(f.known)
		}
		v.Fields = append(v.Fields, field)
	}
	if part.next != "" {
		trail := f.Trail
		if f.After != "" {
			trail = append(slices.Clone(trail), f.After)
		}
		v.Next = v.placeAt(part.next, f.Skipped+int64(part.shown), trail[max(0, len(trail)-longestTrail):])
	} else if f.After == "" && part.total < 0 {
		v.Total = int64(part.shown)
	}
	if f.Person != "" {
		v.PersonPath = joinPath("people", f.Partner, f.Person)
	}
	if l.action.isAllowedTo(who.who) {
		v.Action = l.action
	}
	kept, err := c.Rules.Saved.KeptFilters(ctx, who.who.ID)
	v.Saved = slices.DeleteFunc(kept, func(one operator.KeptFilter) bool {
		return one.List != l.name || c.confined && !who.scope.coversQuery(one.Query)
	})
	return v, err
}

// placeAt returns the address of the page of the list that begins at a place.
func (v listView) placeAt(after string, skipped int64, trail []string) string {
	q := maps.Clone(v.values)
	q.Set("after", after)
	q.Set("n", strconv.FormatInt(skipped, 10))
	if len(trail) > 0 {
		q.Set("trail", strings.Join(trail, ","))
	}
	return v.Of(q.Encode())
}

// Back returns the address of the page before; empty on the first one.
func (v listView) Back() string {
	n := len(v.Trail)
	switch {
	case v.After == "":
		return ""
	case n == 0:
		return v.Of(v.Query())
	}
	return v.placeAt(v.Trail[n-1], max(0, v.Skipped-perPage), v.Trail[:n-1])
}

// IsNarrowed reports whether a word narrows the list: the queues above a list have links of their own.
func (v listView) IsNarrowed() bool {
	return v.Person != "" || slices.ContainsFunc(v.Fields, func(f listField) bool {
		word := v.valueOfName(f.Name)
		return !f.Tab && word != "" && word != ownerMe && word != ownerNone
	})
}

// TotalText says how many rows the list has.
func (v listView) TotalText() string {
	switch seen := v.Skipped + int64(v.Shown); {
	case v.Total >= 0:
		return groupedNumber(v.Total)
	case v.Next == "":
		return groupedNumber(seen)
	default:
		return "mais de " + groupedNumber(seen)
	}
}

// RangeText says which of the rows are on the page.
func (v listView) RangeText() string {
	if v.Shown == 0 {
		return "0 de " + v.TotalText()
	}
	return groupedNumber(v.Skipped+1) + "–" + groupedNumber(v.Skipped+int64(v.Shown)) + " de " + v.TotalText()
}

// Query returns the filter as a query, for forms and links.
func (v listView) Query() string { return v.values.Encode() }

// Of returns the address of the list under a query.
func (v listView) Of(query string) string { return "/" + v.Name + "?" + query }

// coversQuery reports whether a saved filter belongs to the partner on view. An operator of a partner with a sandbox
// has filters of both.
func (s scope) coversQuery(query string) bool {
	q, err := url.ParseQuery(query)
	return err == nil && q.Get("partner") == string(s.at.ID)
}

// partnerOptions returns the partners as options of a select field, with sandboxes marked as such.
func partnerOptions(all []partner.Partner) []choiceOption {
	options := make([]choiceOption, len(all))
	for i, p := range all {
		options[i] = choiceOption{string(p.ID), p.Name}
		if p.Mode == partner.Sandbox {
			options[i].Label += " (testes)"
		}
	}
	return options
}
