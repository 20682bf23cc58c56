package console

import (
	"context"
	"maps"
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
	// values are all words of the filter, also those that are read below.
	values  url.Values
	Partner partner.ID
	// Person is the keyed reference to one of the partner's people, user the userHash that it stands for.
	Person string
	user   partner.UserHash
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
	// known are the partners that may be seen, partners their names.
	known    []partner.Partner
	partners map[partner.ID]string
}

func (f filter) valueOfName(name string) string { return f.values.Get(name) }

// isOfLivePartners reports whether the list is one of all partners: what sandboxes made up is only shown of a sandbox
// that was chosen, or to its own people.
func (f filter) isOfLivePartners() bool { return f.Partner == "" && !f.confined }

// isOldestFirst reports whether the order is turned round.
func (f filter) isOldestFirst() bool { return f.valueOfName("sort") == "old" }

// with returns the filter as a query, without the cursor, and with another word in a field; none takes the field out.
func (f filter) with(name, word string) string {
	q := maps.Clone(f.values)
	if q.Del(name); word != "" {
		q.Set(name, word)
	}
	if name == "partner" {
		q.Del("person") // of another partner that is another person, or nobody
	}
	return q.Encode()
}

// totalIfOnly returns a count that was made beforehand, where nothing but the named words filters the list; otherwise
// -1.
func (f filter) totalIfOnly(counted int64, names ...string) int64 {
	for name := range f.values {
		if !slices.Contains(names, name) {
			return -1
		}
	}
	return counted
}

// parseFilter reads what a query narrows a list to; unknown words of it do not restrict. known are the partners that
// may be seen.
func (c *Console) parseFilter(
	ctx context.Context, l *listing, q url.Values, id partner.ID, known []partner.Partner,
) (filter, error) {
	f := filter{
		Partner:  id,
		values:   url.Values{},
		After:    q.Get("after"),
		now:      c.Now(),
		confined: c.confined,
		known:    known,
		partners: namesByID(known),
	}
	if f.After != "" {
		f.Skipped, _ = strconv.ParseInt(q.Get("n"), 10, 64) // anything else is not known
		if trail := q.Get("trail"); trail != "" {
			f.Trail = strings.Split(trail, ",")
		}
	}
	if id != "" {
		f.values.Set("partner", string(id))
		if !isKnownPartner(known, id) {
			return f, partner.ErrNotFound
		}
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
		f.values.Set("person", ref)
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
