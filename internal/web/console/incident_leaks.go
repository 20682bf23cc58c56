package console

import (
	"context"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subject"
)

// incidentLeak is a leak that the form offers: Label is what one chooses, with the short name where the title and the
// date are those of another leak, too.
type incidentLeak struct{ Name, Title, Label string }

// mostOwnFindings is among how many of their newest findings a partner's people are offered leaks.
const mostOwnFindings = 500

// incidentLeaks returns the leaks that the form offers, newest first: a partner's people those that hit their own
// people, for the others are not theirs to know.
func (c *Console) incidentLeaks(ctx context.Context) ([]incidentLeak, error) {
	var breaches []cyber.Breach
	if c.confined {
		found, _, err := c.Rules.Review.FindingList(ctx, cyber.FindingFilter{Limit: mostOwnFindings})
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			breaches = append(breaches, one.Finding.Breach)
		}
	} else {
		records, err := c.Rules.Breaches.ListBreaches(ctx)
		if err != nil {
			return nil, err
		}
		for _, one := range slices.Backward(records) {
			if one.State != leak.Importing {
				breaches = append(breaches, one.Breach)
			}
		}
	}
	var leaks []incidentLeak
	twice := map[string]int{}
	for _, b := range breaches {
		if slices.ContainsFunc(leaks, func(l incidentLeak) bool { return l.Name == b.Name }) {
			continue
		}
		label := b.Title
		if !b.Date.IsZero() {
			label += ", " + b.Date.UTC().Format("02/01/2006")
		}
		twice[label]++
		leaks = append(leaks, incidentLeak{b.Name, b.Title, label})
	}
	for i, l := range leaks {
		if twice[l.Label] > 1 {
			leaks[i].Label += " (" + l.Name + ")"
		}
	}
	return leaks, nil
}

// leakAsked returns the short name of the leak that was chosen or typed: what the form offers, a short name, or a title
// that one leak has. Of a leak that is not offered a partner's people are not told whether there is one.
func (c *Console) leakAsked(ctx context.Context, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	leaks, err := c.incidentLeaks(ctx)
	if err != nil {
		return "", err
	}
	var titled []string
	for _, l := range leaks {
		if text == l.Name || text == l.Label {
			return l.Name, nil
		}
		if strings.EqualFold(text, l.Title) {
			titled = append(titled, l.Name)
		}
	}
	switch {
	case len(titled) == 1:
		return titled[0], nil
	case len(titled) > 1:
		return "", subject.ErrInvalid.With("breach", fault.BreachOfMany)
	case c.confined:
		return text, nil
	}
	return "", subject.ErrInvalid.With("breach", fault.UnknownBreach)
}
