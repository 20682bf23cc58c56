package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
)

// pastLeak is a dump that came in so many days ago. Two leaks that share strangers know each other's lines.
type pastLeak struct {
	DaysAgo          int              `json:"daysAgo"`
	Name             string           `json:"name"`
	Title            string           `json:"title"`
	Kind             cyber.SourceKind `json:"kind"`
	Verified         bool             `json:"verified"`
	Columns          []string         `json:"columns"`
	EveryNthCustomer int              `json:"everyNthCustomer"`
	FirstStranger    int              `json:"firstStranger"`
	LastStranger     int              `json:"lastStranger"`
}

// customers returns the enrolled people who are in a leak.
func (l pastLeak) customers(enrolled int) (list []int) {
	for n := l.DaysAgo % l.EveryNthCustomer; n < enrolled; n += l.EveryNthCustomer {
		list = append(list, n)
	}
	return list
}

// leakOf returns the index of the leak that came in so many days ago; -1 when none did.
func (p *past) leakOf(ago int) int {
	return slices.IndexFunc(p.plan.Leaks, func(l pastLeak) bool { return l.DaysAgo == ago })
}

// importLeak imports and matches the day's dump.
func (p *past) importLeak(ctx context.Context, ago int) error {
	i := p.leakOf(ago)
	if i < 0 {
		return nil
	}
	l := p.plan.Leaks[i]
	customers := l.customers(p.people)
	list := slices.Clone(customers)
	for n := l.FirstStranger; n < l.LastStranger; n++ {
		list = append(list, strangers+n)
	}
	path := filepath.Join(p.Config.Data, l.Name+".csv")
	if err := writeTable(path, l.Columns, list); err != nil {
		return err
	}
	defer func() { _ = os.Remove(path) }() // as an upload goes after its import
	inputs, err := intake.ListInputs(ctx, nil, []string{path})
	if err != nil {
		return err
	}
	breach := cyber.Breach{
		Name:     l.Name,
		Title:    l.Title,
		Kind:     l.Kind,
		Verified: l.Verified,
		Source:   "demonstração",
		Exposes:  []cyber.Exposed{leak.Auto},
		Date:     p.clock.currentTime().AddDate(0, 0, -20-5*i).Truncate(24 * time.Hour),
	}
	if _, err := p.Leaks.Foreground.ImportBreach(ctx, intake.Spec{Inputs: inputs, Breach: breach}); err != nil {
		return err
	}
	if _, err := p.Leaks.Foreground.MatchBreach(ctx, breach.Name, func(leak.MatchProgress) {}); err != nil {
		return err
	}
	if err := p.Leaks.Library.LoadPublished(ctx); err != nil { // what is watched from now on is looked up in it at once
		return err
	}
	return p.keepScores(ctx, customers...)
}

// resolveFindings has some people deal with a leak two days after it came in.
func (p *past) resolveFindings(ctx context.Context, ago int) error {
	i := p.leakOf(ago + 2)
	if i < 0 {
		return nil
	}
	for k, n := range p.plan.Leaks[i].customers(p.people) {
		if k%3 != 0 {
			continue
		}
		user := p.userHash(n)
		found, err := p.Monitoring.ListFindings(ctx, p.partner.ID, user)
		if err != nil {
			return err
		}
		for _, f := range found {
			done := string(cyber.ResolvedPasswordChanged)
			if err := p.Monitoring.ResolveFinding(ctx, p.partner.ID, user, f.ID, done); err != nil {
				return err
			}
		}
		if err := p.keepScores(ctx, n); err != nil {
			return err
		}
	}
	return nil
}
