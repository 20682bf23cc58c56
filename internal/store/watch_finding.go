package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
)

// ownFindingColumns are those of a finding's own row; findingColumns are followed by what its value and its breach say.
const (
	ownFindingColumns = `f.id, f.partner_id, f.asset_id, f.found_at, f.resolution, f.resolved_at, f.classes,
		f.logins, f.own_site, f.watched_site, f.quiet, f.renewed_at`
	findingColumns = ownFindingColumns + `, a.kind, ` + breachColumns
)

// scanFinding reads findingColumns.
func (s Monitoring) scanFinding(row scanner, f *cyber.Finding) error {
	more := append([]any{&f.Kind}, s.breachTargets(&f.Breach, new(bool))...)
	err := s.scanOwnFinding(longer{row, more}, f)
	attachBreach(f, f.Breach)
	return err
}

// scanOwnFinding reads ownFindingColumns.
func (s Monitoring) scanOwnFinding(row scanner, f *cyber.Finding) error {
	var classes sql.NullInt64
	var logins []byte
	err := row.Scan(
		&f.ID,
		&f.Partner,
		&f.Asset,
		&f.FoundAt,
		&f.Resolution,
		&f.ResolvedAt,
		&classes,
		&logins,
		&f.OwnSite,
		&f.WatchedSite,
		&f.Quiet,
		&f.RenewedAt,
	)
	if err == nil && len(logins) > 0 {
		f.Trace, err = s.openLogins(*f, logins)
	}
	f.Trace.Told, f.Trace.Classes = classes.Valid, cyber.Classes(classes.Int64)
	return err
}

// attachBreach says of a finding what its breach, and with it the severity, is as it stands now, not as it was when
// found: an operator may have learned more.
func attachBreach(f *cyber.Finding, b cyber.Breach) {
	breach := b.ForPeople()
	f.Breach = breach.ForTrace(f.Trace)
	f.Severity = cyber.SeverityOf(*f)
}

// sealTrace gives the columns that say what stood beside a value. Sites are sealed: they tell where a person is a
// customer; and so is which passwords were beside it.
func (s Monitoring) sealTrace(id partner.ID, f cyber.Finding) (classes sql.NullInt64, logins []byte, err error) {
	classes = sql.NullInt64{Int64: int64(f.Trace.Classes), Valid: f.Trace.Told}
	if len(f.Trace.Sites) > 0 || f.Trace.Day != 0 || len(f.Trace.Passwords) > 0 || f.Trace.Spellings != 0 {
		logins, err = s.sealValue(loginsPlace(id, f.ID), leak.AppendTrace(nil, f.Trace))
	}
	return classes, logins, err
}

// loginsPlace binds what a stealer took to the finding it belongs to.
func loginsPlace(id partner.ID, finding cyber.FindingID) seal.Place {
	return seal.Place{Table: "finding", Column: "logins", Partner: string(id), Row: string(finding)}
}

// openLogins unseals the sites, the day and the passwords of a finding from a stealer log.
func (s Monitoring) openLogins(f cyber.Finding, sealed []byte) (cyber.Trace, error) {
	plain, err := s.keys.Unseal(loginsPlace(f.Partner, f.ID), sealed)
	if err != nil {
		return cyber.Trace{}, err
	}
	return leak.ParseTrace(plain)
}

// FindingsOfUser returns a person's findings, newest first, each under the id of a value that the listing shows: a
// value that was added under both digests counts once.
func (s Monitoring) FindingsOfUser(ctx context.Context, id partner.ID, hash partner.UserHash) ([]cyber.Finding, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, id, hash)
	if err != nil {
		return nil, err
	}
	byAsset, shown := map[cyber.AssetID]*leak.Watched{}, map[cyber.AssetID]cyber.AssetID{}
	var values []*leak.Watched
	err = eachRow(ctx, q, func(row scanner) error {
		var first cyber.AssetID
		var added time.Time
		var f cyber.Finding
		err := s.scanFinding(longer{row, []any{&first, &added}}, &f)
		w := byAsset[f.Asset]
		if w == nil {
			w = &leak.Watched{Asset: cyber.Asset{ID: f.Asset, AddedAt: added}, Same: string(first)}
			byAsset[f.Asset], values = w, append(values, w)
		}
		w.Findings, shown[f.Asset] = append(w.Findings, f), first
		return err
	}, `SELECT `+findingColumns+`, a.first, a.created_at FROM (SELECT partner_id, id, kind, created_at,
		first_value(id) OVER (PARTITION BY kind, value_index ORDER BY created_at, id) AS first
			FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3)) a
			JOIN finding f ON f.partner_id = a.partner_id AND f.asset_id = a.id
		LEFT JOIN breach b ON b.name = f.breach ORDER BY `+byPerson+`f.found_at, f.id`,
		id,
		u.write,
		u.other,
	)
	if err != nil {
		return nil, err
	}
	stay, _ := s.judge.UniteValues(values)
	findings := []cyber.Finding{}
	for _, w := range stay {
		for _, f := range w.Findings {
			f.Asset = shown[w.ID]
			findings = append(findings, f)
		}
	}
	slices.SortFunc(
		findings,
		func(a, b cyber.Finding) int { return cmp.Or(b.FoundAt.Compare(a.FoundAt), cmp.Compare(b.ID, a.ID)) },
	)
	return findings, nil
}
