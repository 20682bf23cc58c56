package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// Affected calls found for each person with findings of an incident, in the order of partners.
func (s Subjects) Affected(ctx context.Context, of subject.Incident, found func(subject.Affected) error) error {
	c, order := conditions{}, `a.partner_id, a.user_index, f.id`
	if of.Breach != "" {
		if _, err := Breaches(s).BreachByName(ctx, of.Breach); err != nil {
			return err
		}
		c.addCondition(`f.breach = `, of.Breach)
	} else {
		c.addCondition(`f.found_at >= `, of.From)
		c.addCondition(`f.found_at < `, of.To)
	}
	if of.Partner != "" {
		c.addCondition(`a.partner_id = `, of.Partner)
	}
	var one affectedRows
	for after := (affectedMark{}); ; {
		rows, err := s.affectedPage(ctx, c, order, after)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if one.user != r.user || one.Partner != r.Partner {
				if err := one.tellPerson(found); err != nil {
					return err
				}
				one = affectedRows{
					user:     r.user,
					Affected: subject.Affected{Partner: r.Partner, Kinds: map[identifier.Kind]int{}, First: r.at},
				}
			}
			one.addRow(r)
		}
		if len(rows) < checkBatch {
			return one.tellPerson(found)
		}
		last := rows[len(rows)-1]
		after = affectedMark{last.Partner, []byte(last.user), last.id}
	}
}

// affectedMark is the place of the last row of a page.
type affectedMark struct {
	partner partner.ID
	user    []byte
	id      string
}

// affectedRow is one finding of an incident.
type affectedRow struct {
	subject.Watched
	user, id, breach string
	at               time.Time
}

// affectedPage reads the next page of findings of an incident. Findings of retracted breaches are left out.
func (s Subjects) affectedPage(
	ctx context.Context, c conditions, order string, after affectedMark,
) ([]affectedRow, error) {
	if after.id != "" {
		c.args = append(slices.Clone(c.args), after.partner, after.user, after.id)
		n := len(c.args)
		c.text += fmt.Sprintf(` AND (%s) > ($%d, $%d, $%d)`, order, n-2, n-1, n)
	}
	return collectRows(ctx, s.readQuerier(), func(row scanner, r *affectedRow) error {
		var index, sealed []byte
		if err := row.Scan(&r.Partner, &index, &r.id, &r.breach, &r.at, &r.ID, &r.Kind, &sealed); err != nil {
			return err
		}
		r.user = string(index)
		return Monitoring(s).openAssetValue(&r.Asset, sealed)
	}, `SELECT a.partner_id, a.user_index, f.id, f.breach, f.found_at, a.id, a.kind, a.value FROM finding f
		JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id
		WHERE f.resolution <> 'retracted'`+c.text+` ORDER BY `+order+` LIMIT `+strconv.Itoa(checkBatch),
		c.args...,
	)
}

// affectedRows gathers the findings of one person.
type affectedRows struct {
	subject.Affected
	user   string
	assets map[string]bool
}

// addRow takes a row of the person that is being read.
func (a *affectedRows) addRow(r affectedRow) {
	if a.assets == nil {
		a.assets = map[string]bool{}
	}
	a.User = r.User
	if !a.assets[string(r.ID)] {
		a.assets[string(r.ID)] = true
		a.Kinds[r.Kind]++
		a.Values = append(a.Values, r.Kind.String()+": "+r.Value)
	}
	if !slices.Contains(a.Breaches, r.breach) {
		a.Breaches = append(a.Breaches, r.breach)
	}
	if r.at.Before(a.First) {
		a.First = r.at
	}
	if r.at.After(a.Last) {
		a.Last = r.at
	}
}

// tellPerson calls found for the person that was read.
func (a *affectedRows) tellPerson(found func(subject.Affected) error) error {
	if a.Partner == "" {
		return nil
	}
	return found(a.Affected)
}

// Showings counts the lines of the trail in a window, by who and what; what only keeps house is left out.
func (s Subjects) Showings(ctx context.Context, from, to time.Time) ([]subject.Showing, error) {
	list, err := collectRows(
		ctx,
		s.readQuerier(),
		func(row scanner, v *subject.Showing) error { return row.Scan(&v.Actor, &v.Action, &v.Count) },
		`SELECT actor, action, count(*) FROM audit WHERE at >= $1 AND at < $2 GROUP BY actor, action
		ORDER BY 3 DESC, 1, 2`,
		from,
		to,
	)
	return slices.DeleteFunc(list, func(v subject.Showing) bool { return !showsPeople(v.Action) }), err
}

// showsPeople reports whether an action shows or changes a person's data, unlike actions of housekeeping.
func showsPeople(action string) bool {
	noun, verb, _ := strings.Cut(action, ".")
	switch noun {
	case "subject", "subscription", "asset", "case", "epp", "score", "finding", "report":
		return true
	case "event":
		return verb != "report"
	case "backup", "restore":
		return true
	}
	return strings.HasSuffix(verb, "reveal")
}
