package console

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// filter is the filter of a list as its address carries it. It holds ids, words of our own, days and keyed references,
// and never what an operator typed about a person: addresses end up in browser histories and proxy logs.
type filter struct {
	Partner partner.ID
	// Person is the keyed reference to one of the partner's people, user the userHash that it stands for.
	Person string
	user   partner.UserHash
	values url.Values
	// From is a moment, To the one after the period.
	From, To time.Time
	// After is where the page begins; empty at the beginning.
	After string
	// Skipped is how many rows stand before the page, and Trail where the pages before it began, the first excepted.
	Skipped int64
	Trail   []string
	now     time.Time
	// confined leaves out who of the service it was.
	confined bool
}

func (f filter) valueOfName(name string) string { return f.values.Get(name) }

// valueOr returns a word of the filter, or what the list holds unless told otherwise.
func (f filter) valueOr(name, otherwise string) string { return cmp.Or(f.values.Get(name), otherwise) }

// isOfLivePartners reports whether the list is one of all partners: what sandboxes made up is only shown of a sandbox
// that was chosen, or to its own people.
func (f filter) isOfLivePartners() bool { return f.Partner == "" && !f.confined }

// isOldestFirst reports whether the order is turned round.
func (f filter) isOldestFirst() bool { return f.valueOfName("sort") == "old" }

// encodeQuery returns the filter as a query, without the cursor.
func (f filter) encodeQuery() string {
	v := url.Values{}
	for name, list := range f.values {
		if len(list) > 0 && list[0] != "" {
			v[name] = list
		}
	}
	if f.Partner != "" {
		v.Set("partner", string(f.Partner))
	}
	if f.Person != "" {
		v.Set("person", f.Person)
	}
	return v.Encode()
}

// totalUnlessFiltered returns a count that was made beforehand, where nothing but its own word and the order filters
// the list; otherwise -1.
func (f filter) totalUnlessFiltered(counted int64, word string) int64 {
	if f.Partner != "" || f.Person != "" {
		return -1
	}
	for name := range f.values {
		if name != word && name != "sort" {
			return -1
		}
	}
	return counted
}

// parseFilter reads what an address narrows a list to.
func (c *Console) parseFilter(r *request, l *listing, all []partner.Partner) (filter, error) {
	id := askedPartner(r)
	if r.again && !isKnownPartner(all, id) {
		id = ""
	}
	return c.parseFilterQuery(r.Context(), l, r.URL.Query(), id, all)
}

// parseFilterQuery reads a query; unknown words of it do not restrict.
func (c *Console) parseFilterQuery(
	ctx context.Context, l *listing, q url.Values, id partner.ID, all []partner.Partner,
) (filter, error) {
	f := filter{Partner: id, values: url.Values{}, After: q.Get("after"), now: c.Now(), confined: c.confined}
	if f.After != "" {
		f.Skipped, _ = strconv.ParseInt(q.Get("n"), 10, 64) // anything else is not known
		if trail := q.Get("trail"); trail != "" {
			f.Trail = strings.Split(trail, ",")
		}
	}
	if id != "" && !isKnownPartner(all, id) {
		return f, partner.ErrNotFound
	}
	for _, field := range l.fields {
		value := q.Get(field.Name)
		switch {
		case field.Name == "partner" || value == "" || c.confined && field.isServiceOnly():
			continue
		case field.Many:
			for _, word := range q[field.Name] {
				if offersOption(field.Options, word) && !slices.Contains(f.values[field.Name], word) {
					f.values.Add(field.Name, word)
				}
			}
			continue
		case field.Text:
		case field.Max > 0:
			if value = strings.TrimSpace(value); value == "" || len(value) > field.Max {
				continue
			}
		case field.Options == nil:
			day, err := time.ParseInLocation(time.DateOnly, value, brazil)
			if err != nil {
				continue
			}
			if field.Name == "to" {
				f.To = day.AddDate(0, 0, 1)
			} else {
				f.From = day
			}
		case !offersOption(field.Options, value):
			continue
		}
		f.values.Set(field.Name, value)
	}
	if ref := q.Get("person"); ref != "" && id != "" {
		person, err := c.Rules.Subjects.FindReferred(ctx, id, ref)
		if err != nil {
			return f, err
		}
		f.Person, f.user = ref, person.User
	}
	return f, nil
}

// wordsOf returns words of an address as words of the trade.
func wordsOf[W ~string](words []string) []W {
	list := make([]W, len(words))
	for i, word := range words {
		list[i] = W(word)
	}
	return list
}
