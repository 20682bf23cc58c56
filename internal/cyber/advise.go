package cyber

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"vigia/internal/identifier"
)

// shelf is the catalogue made ready to be held against many findings.
type shelf struct {
	items []shelved
	// weight is the sum of all questions' weights.
	weight int
}

type shelved struct {
	Item
	about    bool
	exposes  classes
	severity int
	// rendered is what an edge made of the item: see Advice.Rendered.
	render   sync.Once
	rendered any
}

// shelve prepares items, which are in order and not retired.
func shelve(items []Item) *shelf {
	s := &shelf{items: make([]shelved, len(items))}
	for i, it := range items {
		e := &s.items[i]
		e.Item, e.about, e.exposes, e.severity = it, it.When.aboutFinding(), classesOf(it.When.Exposes), severityOrder(it.When.Severity)
		if it.Question != nil {
			s.weight += it.Question.Weight()
		}
	}
	return s
}

// Advice is an item as it is said to one person.
type Advice struct {
	Item *Item
	// Title and Body have everything filled in. Personal tells that they differ from person to person.
	Title, Body string
	Personal    bool
	shelved     *shelved
}

// Rendered returns what render makes of the item, made once for as long as the item is offered: thousands of people are told
// the same. render must not look at Title and Body of the advice.
func (a Advice) Rendered(render func(it *Item) any) any {
	a.shelved.render.Do(func() { a.shelved.rendered = render(&a.shelved.Item) })
	return a.shelved.rendered
}

// adviseOn returns what applies to a person, in the order of the catalogue: most urgent first.
func adviseOn(p *Posture, s *shelf, now time.Time) []Advice {
	sc := takeScratch()
	defer sc.give()
	found := p.exposures(sc)
	list := make([]Advice, 0, len(s.items))
	for i := range s.items {
		it := &s.items[i]
		if it.Question != nil && it.Question.settled(p.Answers[it.ID]) || !it.When.holds(p, len(found), now) {
			continue
		}
		if !it.about {
			list = append(list, Advice{Item: &it.Item, Title: it.Title, Body: it.Body, shelved: it})
			continue
		}
		if worst, others := it.pick(found); worst != nil {
			list = append(list, it.fill(worst, others))
		}
	}
	return list
}

// settled tells whether an answer leaves nothing to mend.
func (q ValidationQuestion) settled(answer string) bool { return q.Risk(answer) == 0 }

// holds judges everything of a condition but the findings it picks.
func (c *Condition) holds(p *Posture, breaches int, now time.Time) bool {
	switch {
	case breaches < c.OpenFindings, c.NoFindings && breaches > 0,
		c.NoDevice != "" && p.protected(c.NoDevice),
		c.HasDevice != "" && !p.protected(c.HasDevice),
		c.KeyEndsWithin > 0 && !p.keyEndsBy(now.AddDate(0, 0, c.KeyEndsWithin)),
		c.NotWatched != 0 && p.watches(c.NotWatched),
		c.Watched != 0 && !p.watches(c.Watched),
		c.OpenCase && p.OpenCases == 0,
		c.WaitingCase && p.WaitingCases == 0:
		return false
	}
	for id, values := range c.Answered {
		if !slices.Contains(values, p.Answers[id]) {
			return false
		}
	}
	return true
}

// pick returns the worst exposure that fits, and how many others do.
func (it *shelved) pick(found []exposure) (worst *exposure, others int) {
	for i := range found {
		if !it.fits(&found[i]) {
			continue
		}
		if worst == nil {
			worst = &found[i]
		} else {
			others++
		}
	}
	return worst, others
}

func (it *shelved) fits(e *exposure) bool {
	return (it.exposes == 0 || it.exposes&e.exposes != 0) &&
		(len(it.When.Sources) == 0 || slices.Contains(it.When.Sources, e.Kind)) &&
		e.severity >= it.severity && e.asset(it.When.Assets) != nil
}

// fill puts the names into an item's text.
func (it *shelved) fill(worst *exposure, others int) Advice {
	a := worst.asset(it.When.Assets)
	names := [...][2]string{ // the title last: it is an operator's text and may hold anything
		{"{valor}", identifier.Mask(a.Kind, a.Value)}, {"{data}", worst.Date.UTC().Format("01/2006")}, {"{mais}", strconv.Itoa(others)},
		{"{vazamento}", worst.Title},
	}
	title, body := it.Title, it.Body
	if others > 0 && it.More != "" {
		body += " " + it.More
	}
	for _, n := range names {
		title, body = strings.ReplaceAll(title, n[0], n[1]), strings.ReplaceAll(body, n[0], n[1])
	}
	return Advice{Item: &it.Item, Title: title, Body: body, Personal: true, shelved: it}
}
