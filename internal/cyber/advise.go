package cyber

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// catalogueIndex is the catalogue that is offered, in order.
type catalogueIndex struct {
	items []Item
	// weight is the sum of all questions' weights.
	weight int
	// translated are the same items in other languages.
	translated map[partner.Language]*catalogueIndex
}

// indexCatalogue weighs items, which are in order and not retired.
func indexCatalogue(items []Item) *catalogueIndex {
	s := &catalogueIndex{items: items}
	for _, it := range items {
		if it.Question != nil {
			s.weight += it.Question.WorstRisk()
		}
	}
	return s
}

// Advice is an item as it is said to one person: Title and Body have everything filled in.
type Advice struct {
	Item        *Item
	Title, Body string
}

// selectAdvice returns what applies to a person, in the order of the catalogue: most urgent first.
func selectAdvice(p *Posture, s *catalogueIndex, now time.Time) []Advice {
	found := p.joinExposures()
	list := make([]Advice, 0, len(s.items))
	for i := range s.items {
		it := &s.items[i]
		if it.Question != nil && it.Question.isSettledBy(p.Answers[it.ID]) || !it.When.holdsFor(p, len(found), now) {
			continue
		}
		if !it.When.aboutFinding() {
			list = append(list, Advice{it, it.Title, it.Body})
			continue
		}
		fitting := slices.DeleteFunc(slices.Clone(found), func(e *exposure) bool { return !it.When.fitsExposure(e) })
		if len(fitting) > 0 {
			list = append(list, it.fillAdvice(fitting[0], len(fitting)-1))
		}
	}
	return list
}

// isSettledBy reports whether an answer leaves nothing to mend.
func (q ValidationQuestion) isSettledBy(answer string) bool { return q.Risk(answer) == 0 }

// holdsFor judges everything of a condition but the findings it picks.
func (c *Condition) holdsFor(p *Posture, breaches int, now time.Time) bool {
	switch {
	case breaches < c.OpenFindings,
		// Nothing is said to be clean that was not looked at.
		c.NoFindings && (breaches > 0 || p.countLooks().Waiting > 0),
		c.NoDevice != "" && p.isProtected(c.NoDevice),
		c.HasDevice != "" && !p.isProtected(c.HasDevice),
		c.KeyEndsWithin > 0 && !p.hasKeyEndingBy(now.AddDate(0, 0, c.KeyEndsWithin)),
		c.NotWatched != 0 && p.watchesKind(c.NotWatched),
		c.Watched != 0 && !p.watchesKind(c.Watched),
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

// fitsExposure reports whether the item speaks of an exposure.
func (c *Condition) fitsExposure(e *exposure) bool {
	return (len(c.Exposes) == 0 || NewClasses(c.Exposes)&e.exposes != 0) && e.namingAsset(c.Assets) != nil &&
		e.severity >= severityOrder(c.Severity) && (len(c.Sources) == 0 || slices.Contains(c.Sources, e.Kind))
}

// breachBlank is how the place for a breach's name is written in the texts of the catalogue.
const breachBlank = "{vazamento}"

// fillAdvice puts the names into an item's text, for the worst exposure that it speaks of and the number of others.
func (it *Item) fillAdvice(worst *exposure, others int) Advice {
	a := worst.namingAsset(it.When.Assets)
	names := strings.NewReplacer(breachBlank, worst.Title, "{valor}", identifier.MaskValue(a.Kind, a.Value),
		"{data}", worst.Date.UTC().Format("01/2006"), "{mais}", strconv.Itoa(others))
	body := it.Body
	if others > 0 && it.More != "" {
		body += " " + it.More
	}
	return Advice{it, names.Replace(it.Title), names.Replace(body)}
}
