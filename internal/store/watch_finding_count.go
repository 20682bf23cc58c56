package store

import (
	"context"
	"database/sql"
	"slices"
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// findingsInState returns the condition that a finding is in a state.
func findingsInState(state cyber.FindingState) string {
	switch state {
	case cyber.FindingOpen:
		return ` AND f.resolution = ''`
	case cyber.FindingResolved:
		return ` AND f.resolution <> '' AND f.resolution <> ` + retracted
	case cyber.FindingStanding:
		return ` AND f.resolution <> ` + retracted
	case cyber.FindingRetracted:
		return ` AND f.resolution = ` + retracted
	default:
		return ``
	}
}

// findingsThatFit returns the conditions of a filter; lists and counts both use them, so that they agree.
func (s Overview) findingsThatFit(ctx context.Context, f cyber.FindingFilter) (c conditions, err error) {
	addFilter(&c, `f.partner_id = `, f.Partner)
	if f.User != "" {
		c.addCondition(`f.asset_id IN (SELECT id FROM asset WHERE partner_id = `, f.Partner)
		if err := s.addPerson(ctx, &c, `user_index`, f.Partner, f.User); err != nil {
			return c, err
		}
		c.text += `)` // joined to them, SQLite reads all findings of the partner
	}
	c.addLiveOnly(`f.partner_id`, f.LiveOnly)
	c.text += findingsInState(f.State)
	if f.AlertedOnly {
		c.text += ` AND NOT f.quiet`
	}
	addFilter(&c, `f.breach = `, f.Breach)
	c.addPeriod(`f.found_at`, f.From, f.To)
	return c, nil
}

// GroupFindings counts the findings that fit, parted by all that figures tell apart. It is the one count of findings
// that pages show: a page adds up the groups that it means. Not more than most are looked at; 0 means all.
func (s Overview) GroupFindings(ctx context.Context, f cyber.FindingFilter, most int) ([]cyber.FindingGroup, error) {
	c, err := s.findingsThatFit(ctx, f)
	if err != nil {
		return nil, err
	}
	from := `finding f`
	if f.Kind != "" {
		kind, err := identifier.ParseKind(f.Kind)
		if err != nil {
			return nil, err
		}
		from += ` JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id`
		c.addCondition(`a.kind = `, kind)
	}
	c.args = append(c.args, zoneMicros, dayMicros)
	n := len(c.args)
	day := `(f.found_at + $` + strconv.Itoa(n-1) + `) / $` + strconv.Itoa(n)
	limit := ``
	if most > 0 {
		limit = c.addLimit(most)
	}
	groups, err := collectRows(ctx, s.readQuerier(), func(row scanner, g *cyber.FindingGroup) error {
		var classes sql.NullInt64
		var one cyber.Finding
		err := row.Scan(append(
			[]any{&g.Partner, &g.Breach, &classes, &one.OwnSite, &g.Alerted, &one.Resolution, &g.Day, &g.Count},
			s.breachTargets(&one.Breach, new(bool))...)...)
		one.Breach = one.Breach.ForTrace(cyber.Trace{Told: classes.Valid, Classes: cyber.Classes(classes.Int64)})
		g.State, g.Severity, g.Exposes = one.State(), cyber.SeverityOf(one), one.Breach.Exposes
		return err
	}, `SELECT d.partner_id, d.breach, d.classes, d.own, d.alerted, d.state, d.day, d.n, `+breachColumns+`
		FROM (SELECT l.partner_id, l.breach, l.classes, l.own, l.alerted, l.state, l.day, count(*) AS n
			FROM (SELECT f.partner_id, f.breach, f.classes, f.own_site OR f.watched_site AS own,
				NOT f.quiet AS alerted,
				CASE WHEN f.resolution IN ('', `+retracted+`) THEN f.resolution
					ELSE '`+string(cyber.ResolvedOther)+`' END AS state, `+day+` AS day
				FROM `+from+` WHERE true`+c.text+limit+`) l
			GROUP BY l.partner_id, l.breach, l.classes, l.own, l.alerted, l.state, l.day) d
		JOIN breach b ON b.name = d.breach ORDER BY d.day, d.partner_id, d.breach`,
		c.args...,
	)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(groups, func(g cyber.FindingGroup) bool { return !g.Fits(f) }), nil
}

// affectedGroups are the people with findings that fit, each with the last value that was found.
const affectedGroups = `SELECT f.partner_id, a.user_index, max(a.id) AS asset_id, count(*) AS n,
	count(*) FILTER (WHERE f.resolution = '') AS open, max(f.found_at) AS newest
	FROM finding f JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id WHERE true`

// CountAffected returns how many people of each partner have findings that fit; severity, class and kind do not
// narrow it.
func (s Overview) CountAffected(ctx context.Context, f cyber.FindingFilter) (map[partner.ID]int64, error) {
	c, err := s.findingsThatFit(ctx, f)
	if err != nil {
		return nil, err
	}
	return collectPairs[partner.ID, int64](ctx, s.readQuerier(), `SELECT p.partner_id, count(*) FROM (`+
		affectedGroups+c.text+` GROUP BY f.partner_id, a.user_index) p GROUP BY p.partner_id`, c.args...)
}

// ListAffected returns a page of the people with findings that fit, those with the newest first, and where the next
// begins; severity, class and kind do not narrow it.
func (s Overview) ListAffected(ctx context.Context, f cyber.FindingFilter) ([]cyber.Affected, cyber.Mark, error) {
	c, err := s.findingsThatFit(ctx, f)
	if err != nil {
		return nil, cyber.Mark{}, err
	}
	having := conditions{args: c.args}
	if f.Before.ID != "" {
		having.addPastCondition(`p.newest, p.asset_id`, `<`, f.Before.At, f.Before.ID)
	}
	all := func(cyber.Affected) bool { return true }
	mark := func(p cyber.Affected) cyber.Mark { return cyber.Mark{At: p.Newest, ID: string(p.Asset.ID)} }
	return collectPage(ctx, s.readQuerier(), f.Limit, f.Limit, all, mark, func(row scanner, p *cyber.Affected) error {
		a := &p.Asset
		return row.Scan(
			&p.Findings, &p.Open, &p.Newest,
			&a.ID, &a.Partner, &a.Kind, &a.Status, &a.AddedAt, Monitoring(s).opensAsset(a),
		)
	}, `SELECT p.n, p.open, p.newest, a.id, a.partner_id, a.kind, a.status, a.created_at, a.value
		FROM (`+affectedGroups+c.text+` GROUP BY f.partner_id, a.user_index) p
		JOIN asset a ON a.partner_id = p.partner_id AND a.id = p.asset_id
		WHERE true`+having.text+` ORDER BY p.newest DESC, p.asset_id DESC`+having.addLimit(f.Limit+1),
		having.args...,
	)
}
