package store

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ leak.Store = Breaches{}

// breachColumns are what a person or partner may be told of a breach; the table goes by b.
const breachColumns = `b.name, b.title, b.day, b.source, b.description, b.exposes, b.kind, b.verified, b.fabricated,
	b.spam_list, b.vendor_words, b.added_at, b.digest || b.pairs_digest, b.mac`

// breachTargets returns where the columns of a breach are scanned to. Of a forged row there is nothing but its name and
// dates, under the neutral title. The made-up breach comes with the schema, before there are keys, so its own text
// needs no MAC and replaces a forged one.
func (c core) breachTargets(b *cyber.Breach, forged *bool) []any {
	b.Exposes = []cyber.Exposed{}
	return []any{
		&b.Name,
		&b.Title,
		&b.Date,
		&b.Source,
		&b.Description,
		splitsTexts(&b.Exposes),
		&b.Kind,
		&b.Verified,
		&b.Fabricated,
		&b.SpamList,
		&b.HasVendorWords,
		&b.AddedAt,
		&b.Content,
		scanFunc(func(mac []byte) error {
			grant := breachGrant(*b)
			if *forged = !c.isGenuine("breach", grant, mac); !*forged {
				return nil
			}
			if made := cyber.MadeUpBreach(); b.Name == made.Name {
				*b, *forged = made, !slices.EqualFunc(grant.parts, breachGrant(made).parts, bytes.Equal)
				return nil
			}
			*b = cyber.Breach{
				Name:    b.Name,
				Title:   cyber.NeutralTitle(b.Date),
				Date:    b.Date,
				AddedAt: b.AddedAt,
				Kind:    cyber.SourceBreach,
				Exposes: []cyber.Exposed{},
				Content: b.Content,
			}
			return nil
		}),
	}
}

// scanBreach reads breachColumns as people may see them.
func (c core) scanBreach(row scanner, b *cyber.Breach) error {
	var r checked[cyber.Breach]
	err := c.scanChecked(row, &r)
	*b = r.value
	return err
}

// scanChecked reads breachColumns. A forged row is no error here: the caller decides what it does with it.
func (c core) scanChecked(row scanner, r *checked[cyber.Breach]) error {
	err := row.Scan(c.breachTargets(&r.value, &r.forged)...)
	r.value, r.row = r.value.ForPeople(), "breach "+r.value.Name
	return err
}

// recordColumns are those of a breach with the state of its files.
const recordColumns = breachColumns + `, b.state, b.segment, b.digest, b.tally, b.published_at, b.retracted_at,
	b.pairs, b.pairs_digest,
	b.renewals, b.renewed_at, b.former`

// scanRecord reads recordColumns. A wrong MAC is no error here: see breachTargets for what is left of a forged breach.
func (c core) scanRecord(row scanner, r *leak.Record) error {
	var former string
	err := row.Scan(
		append(
			c.breachTargets(&r.Breach, new(bool)),
			&r.State,
			&r.Segment,
			&r.Digest,
			parsesJSON(&r.Tally),
			&r.PublishedAt,
			&r.RetractedAt,
			&r.Pairs,
			&r.PairsDigest,
			&r.Renewals,
			&r.RenewedAt,
			&former,
		)...)
	r.Former = strings.Fields(former)
	return err
}

// ListBreaches returns all breaches, oldest first.
func (s Breaches) ListBreaches(ctx context.Context) ([]leak.Record, error) {
	return collectRows(
		ctx,
		s.readQuerier(),
		s.scanRecord,
		`SELECT `+recordColumns+` FROM breach b ORDER BY b.added_at, b.name`,
	)
}

func (s Breaches) BreachByName(ctx context.Context, name string) (leak.Record, error) {
	return s.breachByName(ctx, s.readQuerier(), name)
}

// breachByName returns leak.ErrBreachNotFound when there is no breach of that name.
func (c core) breachByName(ctx context.Context, q querier, name string) (leak.Record, error) {
	return readRow(
		ctx,
		q,
		c.scanRecord,
		leak.ErrBreachNotFound.With("name", fault.NoSuchBreach),
		`SELECT `+recordColumns+` FROM breach b WHERE b.name = $1`,
		name,
	)
}

// publishedBreaches returns those of the named breaches that are published.
func (c core) publishedBreaches(ctx context.Context, q querier, names []string) (map[string]cyber.Breach, error) {
	return c.selectBreaches(ctx, q, names, ` AND b.state = 'published'`)
}

// breachesByName returns those of the named breaches that there are, in whatever state.
func (c core) breachesByName(ctx context.Context, q querier, names []string) (map[string]cyber.Breach, error) {
	return c.selectBreaches(ctx, q, names, "")
}

func (c core) selectBreaches(
	ctx context.Context,
	q querier,
	names []string,
	only string,
) (map[string]cyber.Breach, error) {
	var args []any
	byName := make(map[string]cyber.Breach, len(names))
	err := eachRow(ctx, q, func(row scanner) error {
		var b cyber.Breach
		err := c.scanBreach(row, &b)
		byName[b.Name] = b
		return err
	}, `SELECT `+breachColumns+` FROM breach b WHERE b.name `+inList(c.db.EngineName(), &args, names)+only,
		args...,
	)
	return byName, err
}

// InsertBreach stores a new breach.
func (s Breaches) InsertBreach(ctx context.Context, r leak.Record) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return s.insertBreach(ctx, tx, r) })
}

// insertBreach stores a new breach. A name that is taken is leak.ErrBreachExists, also after the breach was retracted.
func (s Breaches) insertBreach(ctx context.Context, tx *sqldb.Tx, r leak.Record) error {
	return execExpecting(
		ctx,
		tx,
		leak.ErrBreachExists.With("name", fault.IsTaken),
		`INSERT INTO breach (name, title, day, source, description, exposes, kind,
		verified, fabricated, spam_list, vendor_words, state, segment, digest, tally, added_at, published_at,
		retracted_at, mac)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, 0, $18)
		ON CONFLICT (name) DO NOTHING`,
		r.Name,
		r.Title,
		r.Date,
		r.Source,
		r.Description,
		joinTexts(r.Exposes),
		r.Kind,
		r.Verified,
		r.Fabricated,
		r.SpamList,
		r.HasVendorWords,
		r.State,
		r.Segment,
		r.Digest,
		jsonArgument{r.Tally},
		r.AddedAt,
		r.PublishedAt,
		s.grantMAC("breach", breachGrant(r.Breach)),
	)
}

// DropImport gives up a breach that is being imported.
func (s Breaches) DropImport(ctx context.Context, name string) error {
	return s.execAlone(ctx, `DELETE FROM breach WHERE name = $1 AND state = 'importing'`, name)
}

// UpdateBreach changes what is told of a breach. Statuses and severities depend on it, so a job computes them again.
func (s Breaches) UpdateBreach(ctx context.Context, name string, change func(*leak.Record) error) (leak.Record, error) {
	return s.changeBreach(ctx, name, leak.KindRestate, func(r *leak.Record) ([]sqldb.Statement, error) {
		err := change(r)
		return []sqldb.Statement{sqldb.NewStatement(`UPDATE breach SET title = $2, day = $3, source = $4,
			description = $5, exposes = $6, kind = $7,
			verified = $8, fabricated = $9, spam_list = $10, vendor_words = $11, mac = $12 WHERE name = $1`,
			name,
			r.Title,
			r.Date,
			r.Source,
			r.Description,
			joinTexts(r.Exposes),
			r.Kind,
			r.Verified,
			r.Fabricated,
			r.SpamList,
			r.HasVendorWords,
			s.grantMAC("breach", breachGrant(r.Breach)),
		)}, err
	})
}

// changeBreach changes a breach under its lock, by the statements that change returns, and hands over to the stage that
// follows. Without statements nothing is done.
func (s Breaches) changeBreach(
	ctx context.Context,
	name, stage string,
	change func(r *leak.Record) ([]sqldb.Statement, error),
) (leak.Record, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (r leak.Record, err error) {
		if err := lockBreach(ctx, tx, name); err != nil {
			return r, err
		}
		if r, err = s.breachByName(ctx, tx, name); err != nil {
			return r, err
		}
		list, err := change(&r)
		if err != nil || len(list) == 0 {
			return r, err
		}
		if err := tx.RunStatements(ctx, list); err != nil {
			return r, err
		}
		return r, s.addStageJob(ctx, tx, stage, name)
	})
}

// lockBreach orders concurrent changes of one breach.
func lockBreach(ctx context.Context, tx *sqldb.Tx, name string) error {
	return execStatement(ctx, tx, `UPDATE breach SET state = state WHERE name = $1`, name)
}

// addStageJob adds a job in the transaction of what calls for it. One that has not begun will see what this transaction
// wrote; one that runs may have passed it, so it is asked to begin again.
func (s Breaches) addStageJob(ctx context.Context, tx *sqldb.Tx, kind, name string) error {
	if err := execStatement(ctx, tx, `UPDATE job SET progress = '{}', lease = '', state = 'ready', next_at = $3
		WHERE kind = $1 AND subject = $2 AND state IN ('ready', 'running')`,
		kind,
		name,
		s.now(),
	); err != nil {
		return err
	}
	_, err := Jobs(s).insertJob(ctx, tx, kind, name, struct{}{})
	if errors.Is(err, job.ErrExists) {
		return nil
	}
	return err
}

// PublishBreach makes an imported breach visible and hands over to the match.
func (s Breaches) PublishBreach(ctx context.Context, name string, p leak.Publication) error {
	_, err := s.changeBreach(ctx, name, leak.KindMatch, func(r *leak.Record) ([]sqldb.Statement, error) {
		if changes, err := r.Publishes(p.Digest); err != nil || !changes {
			return nil, err
		}
		r.Exposes = s.judge.SettleExposes(r.Exposes, &p.Tally)
		return []sqldb.Statement{sqldb.NewStatement(`UPDATE breach SET state = 'published', segment = $2, digest = $3,
			tally = $4, published_at = $5,
			pairs = $6, pairs_digest = $7, exposes = $8, mac = $9 WHERE name = $1`,
			name,
			p.File,
			p.Digest,
			jsonArgument{p.Tally},
			s.now(),
			p.Pairs,
			p.PairsDigest,
			joinTexts(r.Exposes),
			s.grantMAC("breach", breachGrant(r.Breach)),
		), movesCorpora}, nil
	})
	return err
}

// RetractBreach takes a breach back: from this moment it is neither probed nor told.
func (s Breaches) RetractBreach(ctx context.Context, name string) (leak.Record, error) {
	return s.changeBreach(ctx, name, leak.KindWithdraw, func(r *leak.Record) ([]sqldb.Statement, error) {
		if r.State == leak.Retracted {
			return nil, nil
		}
		r.State, r.RetractedAt = leak.Retracted, s.now()
		return []sqldb.Statement{
			sqldb.NewStatement(
				`UPDATE breach SET state = 'retracted', retracted_at = $2 WHERE name = $1`,
				name,
				r.RetractedAt,
			),
			sqldb.NewStatement(
				`UPDATE job SET cancel = $3 WHERE subject = $2 AND kind IN ($1, $4, $5)
				AND state IN ('ready', 'running')`,
				intake.KindImport,
				name,
				true,
				leak.KindMatch,
				intake.KindRenew,
			),
			movesCorpora,
		}, nil
	})
}

// movesCorpora marks that the published breaches changed. A first look that began before the change notices it: see
// decideFirstLook.
var movesCorpora = sqldb.NewStatement(`UPDATE epoch SET value = value + 1 WHERE name = 'corpora'`)

// corporaEpoch returns the number that grows with each change of the published breaches.
func corporaEpoch(ctx context.Context, q querier) (int64, error) {
	return readValue[int64](ctx, q, `SELECT value FROM epoch WHERE name = 'corpora'`)
}

// CorporaEpoch moves whenever a breach is published or retracted.
func (s Breaches) CorporaEpoch(ctx context.Context) (int64, error) {
	return corporaEpoch(ctx, s.readQuerier())
}

// ListSegments returns all published segments. The epoch is read first: whatever comes between is seen again at the
// next look.
func (s Breaches) ListSegments(ctx context.Context) ([]leak.Segment, int64, error) {
	epoch, err := s.CorporaEpoch(ctx)
	if err != nil {
		return nil, 0, err
	}
	segments, err := collectRows(ctx, s.readQuerier(), func(row scanner, g *leak.Segment) error {
		return row.Scan(&g.Breach, &g.File, &g.Digest, &g.Pairs, &g.PairsDigest)
	}, `SELECT name, segment, digest, pairs, pairs_digest FROM breach WHERE state = 'published' AND segment <> ''
		ORDER BY published_at, name`)
	return segments, epoch, err
}

// BreachHits counts the people that a breach affected, for each partner: see leak.Store. Only the operator may ask, so
// it takes no partner. It counts what the list of findings lists, and as that does.
func (s Breaches) BreachHits(ctx context.Context, of cyber.Breach) ([]leak.Hits, error) {
	groups, err := Overview(s).GroupFindings(ctx, cyber.FindingFilter{Breach: of.Name}, 0)
	if err != nil {
		return nil, err
	}
	people, err := Overview(s).CountAffected(ctx, cyber.FindingFilter{Breach: of.Name, State: cyber.FindingStanding})
	if err != nil {
		return nil, err
	}
	return leak.NewHits(groups, people), nil
}

var _ cyber.BreachStore = Breaches{}

// PublishedPage returns published breaches, newest first: see cyber.BreachStore.
func (s Breaches) PublishedPage(
	ctx context.Context,
	without string,
	offset int64,
	limit int,
) (page []cyber.Breach, total int64, err error) {
	err = s.readSnapshot(ctx, func(in core) error { // so that page and total are of one moment
		q := in.readQuerier()
		total, err = readValue[int64](
			ctx,
			q,
			`SELECT count(*) FROM breach WHERE state = 'published' AND name <> $1`,
			without,
		)
		if err != nil {
			return err
		}
		page, err = collectRows(
			ctx,
			q,
			s.scanBreach,
			`SELECT `+breachColumns+` FROM breach b WHERE b.state = 'published' AND b.name <> $1
			ORDER BY b.added_at DESC, b.name DESC LIMIT $2 OFFSET $3`,
			without,
			limit,
			offset,
		)
		return err
	})
	return page, total, err
}

// PublishedBreach returns one published breach: see cyber.BreachStore.
func (s Breaches) PublishedBreach(ctx context.Context, name string) (cyber.Breach, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		s.scanBreach,
		cyber.ErrBreachUnknown.With("name", fault.BreachNotPublishedByName),
		`SELECT `+breachColumns+` FROM breach b WHERE b.name = $1 AND b.state = 'published'`,
		name,
	)
}

// RenewBreach puts other content in the place of a published breach's and hands over to the match, which holds findings
// against it. Renewing with what is there changes nothing.
func (s Breaches) RenewBreach(ctx context.Context, name string, n leak.Renewal) error {
	_, err := s.changeBreach(ctx, name, leak.KindMatch, func(r *leak.Record) ([]sqldb.Statement, error) {
		if changes, err := r.ApplyRenewal(n); err != nil || !changes {
			return nil, err
		}
		former := r.Former
		for _, f := range r.ListFiles() {
			former = append(former, f.Name)
		}
		r.Exposes = s.judge.SettleExposes(n.Exposes, &n.Tally)
		return []sqldb.Statement{sqldb.NewStatement(`UPDATE breach SET segment = $2, digest = $3, tally = $4,
			pairs = $5, pairs_digest = $6, exposes = $7,
			renewals = renewals + 1, renewed_at = $8, former = $9, mac = $10 WHERE name = $1`,
			name,
			n.File,
			n.Digest,
			jsonArgument{n.Tally},
			n.Pairs,
			n.PairsDigest,
			joinTexts(r.Exposes),
			s.now(),
			strings.Join(former, " "),
			s.grantMAC("breach", breachGrant(r.Breach)),
		), movesCorpora}, nil
	})
	return err
}

// KeepTally replaces what is counted of a published breach, as long as its content is the one that was counted.
func (s Breaches) KeepTally(ctx context.Context, name, digest string, t leak.Tally) error {
	return s.execAlone(
		ctx,
		`UPDATE breach SET tally = $2 WHERE name = $1 AND state = 'published' AND digest = $3`,
		name,
		jsonArgument{t},
		digest,
	)
}

// ForgetFormer notes that the files of a breach's former contents are removed, unless there are more of them now.
func (s Breaches) ForgetFormer(ctx context.Context, r leak.Record) error {
	return s.execAlone(
		ctx,
		`UPDATE breach SET former = '' WHERE name = $1 AND former = $2`,
		r.Name,
		strings.Join(r.Former, " "),
	)
}
