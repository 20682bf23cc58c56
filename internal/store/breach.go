package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ leak.Store = Breaches{}

// breachColumns are what a person or partner may be told of a breach; the table goes by b.
const breachColumns = `b.name, b.title, b.day, b.source, b.description, b.exposes, b.kind, b.verified, b.fabricated, b.spam_list, b.vendor_words, b.added_at, b.mac, b.digest || b.pairs_digest`

// breachRow is a breach as its row holds it, before the MAC is checked: see openBreach.
type breachRow struct {
	b          cyber.Breach
	day, added int64
	exposes    string
	mac        []byte
}

// scanTargets returns where the columns of a breach are scanned to.
func (r *breachRow) scanTargets() []any {
	return []any{
		&r.b.Name, &r.b.Title, &r.day, &r.b.Source, &r.b.Description, &r.exposes, &r.b.Kind, &r.b.Verified, &r.b.Fabricated,
		&r.b.SpamList, &r.b.HasVendorWords, &r.added, &r.mac, &r.b.Content,
	}
}

// openBreach makes a breach of its columns. Of a forged row there is nothing but its name and dates, under the neutral title.
// The made-up breach comes with the schema, before there are keys, so its own text needs no MAC and replaces a forged one.
func (c core) openBreach(r *breachRow) (b cyber.Breach, forged bool) {
	b = r.b
	b.Date, b.AddedAt, b.Exposes = fromMicros(r.day), fromMicros(r.added), parseExposes(r.exposes)
	grant := breachGrant(b)
	if c.isGenuine("breach", grant, r.mac) {
		return b, false
	}
	if made := cyber.MadeUpBreach(); b.Name == made.Name {
		return made, !slices.EqualFunc(grant.parts, breachGrant(made).parts, bytes.Equal)
	}
	return cyber.Breach{
		Name: b.Name, Title: cyber.NeutralTitle(b.Date), Date: b.Date, AddedAt: b.AddedAt, Kind: cyber.SourceBreach, Exposes: []cyber.Exposed{}, Content: b.Content,
	}, true
}

// scanBreach reads breachColumns as people may see them.
func (c core) scanBreach(row scanner) (cyber.Breach, error) {
	b, err := c.scanChecked(row)
	return b.value, err
}

// scanChecked reads the columns of breachRow. A forged row is no error here: the caller decides what it does with it.
func (c core) scanChecked(row scanner) (checked[cyber.Breach], error) {
	var r breachRow
	if err := row.Scan(r.scanTargets()...); err != nil {
		return checked[cyber.Breach]{}, err
	}
	b, forged := c.openBreach(&r)
	return checked[cyber.Breach]{b.ForPeople(), "breach " + r.b.Name, forged}, nil
}

// parseExposes undoes exposesText.
func parseExposes(text string) []cyber.Exposed {
	classes := []cyber.Exposed{}
	for e := range strings.SplitSeq(text, ",") {
		if e != "" {
			classes = append(classes, cyber.Exposed(e))
		}
	}
	return classes
}

// exposesText returns the classes as the column stores them, separated by commas. The MAC covers this text.
func exposesText(classes []cyber.Exposed) string {
	text := make([]string, len(classes))
	for i, c := range classes {
		text[i] = string(c)
	}
	return strings.Join(text, ",")
}

// recordColumns are those of a breach with the state of its files.
const recordColumns = breachColumns + `, b.state, b.segment, b.digest, b.tally, b.published_at, b.retracted_at, b.pairs, b.pairs_digest,
	b.renewals, b.renewed_at, b.former`

// scanRecord reads recordColumns. A wrong MAC is no error here: see openBreach for what is left of a forged breach.
func (c core) scanRecord(row scanner) (leak.Record, error) {
	var b breachRow
	var r leak.Record
	var tally, former string
	var published, retracted, renewed int64
	err := row.Scan(append(b.scanTargets(), &r.State, &r.Segment, &r.Digest, &tally, &published, &retracted, &r.Pairs, &r.PairsDigest,
		&r.Renewals, &renewed, &former)...)
	if err != nil {
		return r, err
	}
	r.Breach, _ = c.openBreach(&b)
	r.PublishedAt, r.RetractedAt, r.RenewedAt = fromMicros(published), fromMicros(retracted), fromMicros(renewed)
	r.Former = strings.Fields(former)
	err = json.Unmarshal([]byte(tally), &r.Tally)
	return r, wrapError("read tally", err)
}

// ListBreaches returns all breaches, oldest first.
func (s Breaches) ListBreaches(ctx context.Context) ([]leak.Record, error) {
	return collectRows(ctx, s.readQuerier(), s.scanRecord, `SELECT `+recordColumns+` FROM breach b ORDER BY b.added_at, b.name`)
}

// BreachByName returns one breach.
func (s Breaches) BreachByName(ctx context.Context, name string) (leak.Record, error) {
	return s.breachByName(ctx, s.readQuerier(), name)
}

// breachByName returns leak.ErrBreachNotFound when there is no breach of that name.
func (c core) breachByName(ctx context.Context, q querier, name string) (leak.Record, error) {
	r, err := c.scanRecord(q.QueryRowContext(ctx, `SELECT `+recordColumns+` FROM breach b WHERE b.name = $1`, name))
	return r, readError("read breach", err, leak.ErrBreachNotFound.With("name", fault.NoSuchBreach))
}

// publishedBreaches returns those of the named breaches that are published.
func (c core) publishedBreaches(ctx context.Context, q querier, names []string) (map[string]cyber.Breach, error) {
	args := []any{}
	found, err := collectRows(ctx, q, c.scanBreach, `SELECT `+breachColumns+` FROM breach b WHERE b.state = 'published' AND b.name IN (`+appendListMarks(&args, names)+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("read breaches: %w", err)
	}
	byName := make(map[string]cyber.Breach, len(found))
	for _, b := range found {
		byName[b.Name] = b
	}
	return byName, nil
}

// InsertBreach stores a new breach.
func (s Breaches) InsertBreach(ctx context.Context, r leak.Record) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return s.insertBreach(ctx, tx, r) })
}

// insertBreach stores a new breach. A name that is taken is leak.ErrBreachExists, also after the breach was retracted.
func (s Breaches) insertBreach(ctx context.Context, tx *sqldb.Tx, r leak.Record) error {
	tally, err := json.Marshal(r.Tally)
	if err != nil {
		return fmt.Errorf("insert breach: %w", err)
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO breach (name, title, day, source, description, exposes, kind, verified, fabricated,
		spam_list, vendor_words, state, segment, digest, tally, added_at, published_at, retracted_at, mac)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, 0, $18) ON CONFLICT (name) DO NOTHING`,
		r.Name, r.Title, toMicros(r.Date), r.Source, r.Description, exposesText(r.Exposes), string(r.Kind), r.Verified, r.Fabricated,
		r.SpamList, r.HasVendorWords, string(r.State), r.Segment, r.Digest, string(tally), toMicros(r.AddedAt), toMicros(r.PublishedAt),
		s.grantMAC("breach", breachGrant(r.Breach)))
	if err != nil {
		return fmt.Errorf("insert breach: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(leak.ErrBreachExists.With("name", fault.IsTaken), err)
	}
	return nil
}

// DropImport gives up a breach that is being imported.
func (s Breaches) DropImport(ctx context.Context, name string) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		return execStatement(ctx, tx, "drop import", `DELETE FROM breach WHERE name = $1 AND state = 'importing'`, name)
	})
}

// UpdateBreach changes what is told of a breach. Statuses and severities depend on it, so a job computes them again.
func (s Breaches) UpdateBreach(ctx context.Context, name string, change func(*leak.Record) error) (leak.Record, error) {
	var r leak.Record
	err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := lockBreach(ctx, tx, name); err != nil {
			return err
		}
		var err error
		if r, err = s.breachByName(ctx, tx, name); err != nil {
			return err
		}
		if err := change(&r); err != nil {
			return err
		}
		if err := execStatement(ctx, tx, "update breach", `UPDATE breach SET title = $2, day = $3, source = $4, description = $5, exposes = $6, kind = $7,
			verified = $8, fabricated = $9, spam_list = $10, vendor_words = $11, mac = $12 WHERE name = $1`, name, r.Title, toMicros(r.Date), r.Source, r.Description,
			exposesText(r.Exposes), string(r.Kind), r.Verified, r.Fabricated, r.SpamList, r.HasVendorWords,
			s.grantMAC("breach", breachGrant(r.Breach))); err != nil {
			return err
		}
		return s.addStageJob(ctx, tx, leak.KindRestate, name)
	})
	return r, err
}

// lockBreach orders concurrent changes of one breach.
func lockBreach(ctx context.Context, tx *sqldb.Tx, name string) error {
	return execStatement(ctx, tx, "lock breach", `UPDATE breach SET state = state WHERE name = $1`, name)
}

// addStageJob adds a job in the transaction of what calls for it. One that has not begun will see what this transaction
// wrote; one that runs may have passed it, so it is asked to begin again.
func (s Breaches) addStageJob(ctx context.Context, tx *sqldb.Tx, kind, name string) error {
	if err := execStatement(ctx, tx, "hand over", `UPDATE job SET progress = '{}', lease = '', state = 'ready', next_at = $3
		WHERE kind = $1 AND subject = $2 AND state IN ('ready', 'running')`, kind, name, toMicros(s.now())); err != nil {
		return err
	}
	_, err := s.jobsArea().insertJob(ctx, tx, kind, name, struct{}{})
	if errors.Is(err, job.ErrExists) {
		return nil
	}
	return err
}

// PublishBreach makes an imported breach visible and hands over to the match.
func (s Breaches) PublishBreach(ctx context.Context, name string, p leak.Publication) error {
	text, err := json.Marshal(p.Tally)
	if err != nil {
		return fmt.Errorf("publish breach: %w", err)
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := lockBreach(ctx, tx, name); err != nil {
			return err
		}
		r, err := s.breachByName(ctx, tx, name)
		if err != nil {
			return err
		}
		if changes, err := r.Publishes(p.Digest); err != nil || !changes {
			return err
		}
		r.Exposes = leak.SettleExposes(r.Exposes, &p.Tally)
		if err := execStatement(ctx, tx, "publish breach", `UPDATE breach SET state = 'published', segment = $2, digest = $3, tally = $4, published_at = $5,
			pairs = $6, pairs_digest = $7, exposes = $8, mac = $9 WHERE name = $1`, name, p.File, p.Digest, string(text), toMicros(s.now()), p.Pairs, p.PairsDigest,
			exposesText(r.Exposes), s.grantMAC("breach", breachGrant(r.Breach))); err != nil {
			return err
		}
		if err := moveCorporaEpoch(ctx, tx); err != nil {
			return err
		}
		return s.addStageJob(ctx, tx, leak.KindMatch, name)
	})
}

// RetractBreach takes a breach back: from this moment it is neither probed nor told.
func (s Breaches) RetractBreach(ctx context.Context, name string) (leak.Record, error) {
	var r leak.Record
	err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := lockBreach(ctx, tx, name); err != nil {
			return err
		}
		var err error
		if r, err = s.breachByName(ctx, tx, name); err != nil || r.State == leak.Retracted {
			return err
		}
		now := s.now()
		if err := execStatement(ctx, tx, "retract breach", `UPDATE breach SET state = 'retracted', retracted_at = $2 WHERE name = $1`, name, toMicros(now)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE job SET cancel = $3 WHERE subject = $2 AND kind IN ($1, $4, $5, $6)
			AND state IN ('ready', 'running')`, intake.KindImport, name, true, leak.KindMatch, intake.KindSpread, intake.KindRenew); err != nil {
			return fmt.Errorf("retract breach: %w", err)
		}
		r.State, r.RetractedAt = leak.Retracted, now
		if err := moveCorporaEpoch(ctx, tx); err != nil {
			return err
		}
		return s.addStageJob(ctx, tx, leak.KindWithdraw, name)
	})
	return r, err
}

// moveCorporaEpoch marks that the published breaches changed. A first look that began before the change notices it: see
// decideFirstLook.
func moveCorporaEpoch(ctx context.Context, tx *sqldb.Tx) error {
	return execStatement(ctx, tx, "move corpora epoch", `UPDATE epoch SET value = value + 1 WHERE name = 'corpora'`)
}

// corporaEpoch returns the number that grows with each change of the published breaches.
func corporaEpoch(ctx context.Context, q querier) (int64, error) {
	var v int64
	err := q.QueryRowContext(ctx, `SELECT value FROM epoch WHERE name = 'corpora'`).Scan(&v)
	return v, classifyError(wrapError("read corpora epoch", err))
}

// CorporaEpoch moves whenever a breach is published or retracted.
func (s Breaches) CorporaEpoch(ctx context.Context) (int64, error) {
	return corporaEpoch(ctx, s.readQuerier())
}

// ListSegments returns all published segments. The epoch is read first: whatever comes between is seen again at the next
// look.
func (s Breaches) ListSegments(ctx context.Context) ([]leak.Segment, int64, error) {
	epoch, err := s.CorporaEpoch(ctx)
	if err != nil {
		return nil, 0, err
	}
	segments, err := collectRows(ctx, s.readQuerier(), func(row scanner) (leak.Segment, error) {
		var g leak.Segment
		return g, row.Scan(&g.Breach, &g.File, &g.Digest, &g.Pairs, &g.PairsDigest)
	}, `SELECT name, segment, digest, pairs, pairs_digest FROM breach WHERE state = 'published' AND segment <> '' ORDER BY published_at, name`)
	return segments, epoch, err
}

// BreachHits counts the people that a breach affected, for each partner: see leak.Store. Only the operator may ask, so
// it takes no partner.
func (s Breaches) BreachHits(ctx context.Context, of cyber.Breach) ([]leak.Hits, error) {
	list, err := collectRows(ctx, s.readQuerier(), func(row scanner) (leak.Hits, error) {
		h := leak.Hits{Severities: map[cyber.Severity]int64{}}
		return h, row.Scan(scanPartnerID(&h.Partner), &h.People, &h.Open, &h.Resolved, &h.Withdrawn, &h.Alerted)
	}, `SELECT f.partner_id, count(DISTINCT a.user_index), count(*) FILTER (WHERE f.resolution = ''), count(*) FILTER (WHERE f.resolution NOT IN ('', $2)),
		count(*) FILTER (WHERE f.resolution = $2), count(*) FILTER (WHERE NOT f.quiet)
		FROM finding f JOIN asset a ON a.partner_id = f.partner_id AND a.id = f.asset_id WHERE f.breach = $1 GROUP BY f.partner_id ORDER BY f.partner_id`,
		of.Name, string(cyber.ResolvedRetracted))
	if err != nil {
		return nil, fmt.Errorf("count hits: %w", err)
	}
	// How grave a finding is follows from what stood in its records, so that a few groups tell it of all of them.
	_, err = collectRows(ctx, s.readQuerier(), func(row scanner) (none struct{}, err error) {
		var id partner.ID
		var classes sql.NullInt64
		var n int64
		f := cyber.Finding{}
		if err := row.Scan(scanPartnerID(&id), &classes, &f.OwnSite, &f.WatchedSite, &n); err != nil {
			return none, err
		}
		f.Breach = of.ForTrace(cyber.Trace{Told: classes.Valid, Classes: cyber.Classes(classes.Int64)})
		if i := slices.IndexFunc(list, func(h leak.Hits) bool { return h.Partner == id }); i >= 0 {
			list[i].Severities[cyber.SeverityOf(f)] += n
		}
		return none, nil
	}, `SELECT partner_id, classes, own_site, watched_site, count(*) FROM finding WHERE breach = $1 AND resolution <> $2
		GROUP BY partner_id, classes, own_site, watched_site`, of.Name, string(cyber.ResolvedRetracted))
	return list, err
}

var _ cyber.BreachStore = Breaches{}

// PublishedPage returns published breaches, newest first: see cyber.BreachStore.
func (s Breaches) PublishedPage(ctx context.Context, without string, offset int64, limit int) ([]cyber.Breach, int64, error) {
	var total int64
	q := s.readQuerier()
	err := q.QueryRowContext(ctx, `SELECT count(*) FROM breach WHERE state = 'published' AND name <> $1`, without).Scan(&total)
	if err != nil {
		return nil, 0, classifyError(fmt.Errorf("count breaches: %w", err))
	}
	page, err := collectRows(ctx, q, s.scanBreach, `SELECT `+breachColumns+` FROM breach b WHERE b.state = 'published' AND b.name <> $1
		ORDER BY b.added_at DESC, b.name DESC LIMIT $2 OFFSET $3`, without, int64(limit), offset)
	return page, total, wrapError("list breaches", err)
}

// PublishedBreach returns one published breach: see cyber.BreachStore.
func (s Breaches) PublishedBreach(ctx context.Context, name string) (cyber.Breach, error) {
	b, err := s.scanBreach(s.readQuerier().QueryRowContext(ctx, `SELECT `+breachColumns+` FROM breach b WHERE b.name = $1 AND b.state = 'published'`, name))
	return b, readError("read breach", err, cyber.ErrBreachUnknown.With("name", fault.BreachNotPublishedByName))
}
