package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// FindingByID returns one finding and its value.
func (s Overview) FindingByID(ctx context.Context, id partner.ID, finding cyber.FindingID) (cyber.Found, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		s.scanFound,
		cyber.ErrFindingNotFound,
		selectFound+` AND f.partner_id = $1 AND f.id = $2`,
		id,
		finding,
	)
}

// selectFound reads findings with the values and breaches they are about. Each has its breach: the outer join keeps
// SQLite from beginning with the breaches where they are few, and sorting all findings of each.
const selectFound = `SELECT ` + findingColumns + `,
		a.id, a.partner_id, a.kind, a.status, a.created_at, a.look <> 0, a.value
	FROM finding f JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id
	LEFT JOIN breach b ON b.name = f.breach WHERE true`

// scanFound reads a row of selectFound.
func (s Overview) scanFound(row scanner, into *cyber.Found) error {
	a := &into.Asset
	more := []any{
		&a.ID, &a.Partner, &a.Kind, &a.Status, &a.AddedAt, &a.Waits, Monitoring(s).opensAsset(a),
	}
	return Monitoring(s).scanFinding(longer{row, more}, &into.Finding)
}

// FindingList returns a page of the findings that fit, and where the next begins. Severity and kind are no columns of
// the table, so they are sifted: see looks.
func (s Overview) FindingList(ctx context.Context, f cyber.FindingFilter) ([]cyber.Found, cyber.Mark, error) {
	c, err := s.findingsThatFit(ctx, f)
	if err != nil {
		return nil, cyber.Mark{}, err
	}
	look := rowsToLook(f.Limit, f.Kind != "" || len(f.Severities)+len(f.Classes) > 0)
	order := ` ORDER BY f.id DESC`
	// Ids grow with time, so the breach's own index has the order; by time a million rows would be sorted.
	if f.Breach != "" {
		addFilter(&c, `f.id < `, f.Before.ID)
	} else {
		at := `f.found_at`
		if f.User != "" {
			at = byPerson + at
		}
		order = c.addOrder(at, `f.id`, f.Before, f.OldestFirst)
	}
	return collectPage(ctx, s.readQuerier(), f.Limit, look, func(one cyber.Found) bool {
		return (f.Kind == "" || one.Asset.Kind.String() == f.Kind) &&
			f.FitsGravity(one.Finding.Severity, one.Finding.Breach.Exposes)
	}, func(one cyber.Found) cyber.Mark {
		return cyber.Mark{At: one.Finding.FoundAt, ID: string(one.Finding.ID)}
	}, s.scanFound, selectFound+c.text+order+c.addLimit(look+1), c.args...)
}

// StepMarks returns what was said of the steps of findings.
func (s Overview) StepMarks(ctx context.Context, id partner.ID, findings []cyber.FindingID) ([]cyber.StepMark, error) {
	return readStepMarks(ctx, s.readQuerier(), id, findings)
}
