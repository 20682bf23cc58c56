package console

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// listPart is the part of a list that a page shows.
type listPart struct {
	// partners are those that the list can be narrowed to.
	partners []partner.Partner
	// shown is how many lines the page has, next where those behind them begin; empty at the end.
	shown int
	next  string
	// total is how many there are in all, if that is known; -1 otherwise.
	total int64
	// size is how many rows a page has, if not perPage.
	size int
}

// longestTrail is how many pages one can go back; from further on the way leads to the first.
const longestTrail = 20

// listView is what every list shows around its table.
type listView struct {
	Name, Path string
	Fields     []listField
	Person     string
	filter     filter
	// Shown is how many lines the page has; Next leads to those behind them, and is empty at the end.
	Shown int
	Next  string
	// Total is how many there are in all, if that is known; -1 otherwise.
	Total int64
	// Persons is set when the list can be filtered by person.
	Persons  bool
	Saved    []operator.KeptFilter
	Action   *bulkAction
	pageSize int64
}

// Picks reports whether something can be done to many rows.
func (v listView) Picks() bool { return v.Action != nil }

// Value returns the present value of a field.
func (v listView) Value(name string) string {
	if name == "partner" {
		return string(v.filter.Partner)
	}
	return v.filter.valueOfName(name)
}

// IsNarrowed reports whether a word narrows the list: the queues above a list have links of their own.
func (v listView) IsNarrowed() bool {
	return v.Person != "" || slices.ContainsFunc(v.Fields, func(f listField) bool {
		word := v.Value(f.Name)
		return !f.Tab && word != "" && word != ownerMe && word != ownerNone
	})
}

// TotalText says how many rows the list has.
func (v listView) TotalText() string {
	switch {
	case v.Total >= 0:
		return groupedNumber(v.Total)
	case v.Next == "":
		return groupedNumber(v.filter.Skipped + int64(v.Shown))
	}
	return "mais de " + groupedNumber(v.filter.Skipped+int64(v.Shown))
}

// RangeText says which of the rows are on the page.
func (v listView) RangeText() string {
	first := v.filter.Skipped + 1
	if v.Shown == 0 {
		return "0 de " + v.TotalText()
	}
	return groupedNumber(first) + "–" + groupedNumber(first+int64(v.Shown)-1) + " de " + v.TotalText()
}

// Back returns the address of the page before; empty on the first one.
func (v listView) Back() string {
	if v.filter.After == "" {
		return ""
	}
	q, _ := url.ParseQuery(v.Query()) // it was just encoded
	if n := len(v.filter.Trail); n > 0 {
		q.Set("after", v.filter.Trail[n-1])
		q.Set("n", strconv.FormatInt(max(0, v.filter.Skipped-v.pageSize), 10))
		q.Set("trail", strings.Join(v.filter.Trail[:n-1], ","))
	}
	return v.Of(q.Encode())
}

// Query returns the filter as a query, for forms and links.
func (v listView) Query() string { return v.filter.encodeQuery() }

// Of returns the address of the list under a query.
func (v listView) Of(query string) string { return v.Path + "?" + query }

// Ref returns the keyed reference of the person that the list is filtered by; empty without such a filter.
func (v listView) Ref() string { return v.filter.Person }

// Place returns the cursor at which this page of the list begins; empty on the first page.
func (v listView) Place() string { return v.filter.After }

// Inner reports whether the page is a later one than the first.
func (v listView) Inner() bool { return v.filter.After != "" }

func (v listView) Partner() partner.ID { return v.filter.Partner }

// newListView puts together what stands around the table of a list.
func (c *Console) newListView(ctx context.Context, who viewer, l *listing, f filter, part listPart) (listView, error) {
	v := listView{Name: l.name, Path: "/" + l.name, filter: f, Shown: part.shown, Total: part.total, Persons: l.persons}
	for _, field := range l.fields {
		if c.confined && field.isServiceOnly() {
			continue
		}
		if field.Name == "partner" && field.Options == nil {
			field.Options = partnerOptions(part.partners)
		}
		v.Fields = append(v.Fields, field)
	}
	v.pageSize = int64(cmp.Or(part.size, perPage))
	if part.next != "" {
		q, _ := url.ParseQuery(f.encodeQuery()) // it was just encoded
		q.Set("after", part.next)
		q.Set("n", strconv.FormatInt(f.Skipped+int64(part.shown), 10))
		if f.After != "" {
			trail := append(slices.Clone(f.Trail), f.After)
			q.Set("trail", strings.Join(trail[max(0, len(trail)-longestTrail):], ","))
		}
		v.Next = v.Of(q.Encode())
	} else if f.After == "" && part.total < 0 {
		v.Total = int64(part.shown)
	}
	if f.Person != "" {
		v.Person = joinPath("people", string(f.Partner), f.Person)
	}
	if l.action.isAllowedTo(who.who) {
		v.Action = l.action
	}
	kept, err := c.Rules.Saved.KeptFilters(ctx, who.who.ID)
	if err != nil {
		return listView{}, err
	}
	for _, one := range kept {
		if one.List == l.name && (!c.confined || who.scope.coversQuery(one.Query)) {
			v.Saved = append(v.Saved, one)
		}
	}
	return v, nil
}

func (v *listView) offerOption(field string, o choiceOption) {
	for i := range v.Fields {
		if v.Fields[i].Name == field {
			v.Fields[i].Options = append(v.Fields[i].Options, o)
		}
	}
}

// coversQuery reports whether a saved filter belongs to the partner on view. An operator of a partner with a sandbox
// has filters of both.
func (s scope) coversQuery(query string) bool {
	q, err := url.ParseQuery(query)
	return err == nil && q.Get("partner") == string(s.at.ID)
}
