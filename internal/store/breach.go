package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
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
	args := []any{}
	found, err := collectRows(
		ctx,
		q,
		c.scanBreach,
		`SELECT `+breachColumns+` FROM breach b WHERE b.state = 'published' AND b.name IN (`+appendMarks(
			&args,
			names,
		)+`)`,
		args...,
	)
	if err != nil {
		return nil, err
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

// RejudgeFindings holds findings of a breach against what it holds now: see leak.Store.
func (s Breaches) RejudgeFindings(
	ctx context.Context,
	breach string,
	since time.Time,
	after cyber.FindingID,
	limit int,
	trace leak.Tracer,
) (leak.Rejudged, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (r leak.Rejudged, err error) {
		found, err := collectRows(
			ctx,
			tx,
			scanFoundIn,
			`SELECT id, partner_id, asset_id FROM finding WHERE breach = $1 AND id > $2 AND found_at >= $4
			ORDER BY id LIMIT $3`,
			breach,
			after,
			limit,
			since,
		)
		if err != nil {
			return r, err
		}
		published, err := s.publishedBreaches(ctx, tx, []string{breach})
		if err != nil {
			return r, err
		}
		b, ok := published[breach]
		if len(found) == 0 || !ok { // retracted meanwhile: they are withdrawn
			return r, nil
		}
		r.Last, r.Checked = found[len(found)-1].id, int64(len(found))
		return r, eachPartner(found, func(id partner.ID, assets []cyber.AssetID) error {
			v, err := Monitoring(s).rejudgeFindings(ctx, tx, id, assets, b, trace)
			r.Withdrawn, r.Changed = r.Withdrawn+int64(len(v.Closed)), r.Changed+int64(len(v.Judged))
			return err
		})
	})
}

// rejudgeFindings judges the findings that values have of a breach.
func (s Monitoring) rejudgeFindings(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	ids []cyber.AssetID,
	b cyber.Breach,
	trace leak.Tracer,
) (leak.Verdict, error) {
	args := []any{id}
	held := map[cyber.AssetID]leak.Held{}
	err := eachRow(ctx, tx, func(row scanner) error {
		var asset cyber.AssetID
		var fingerprint int64
		err := row.Scan(&asset, &fingerprint)
		if err == nil {
			held[asset], err = trace(s.unveilFingerprint(id, fingerprint))
		}
		return err
	}, `SELECT id, fingerprint FROM asset WHERE partner_id = $1 AND fingerprint IS NOT NULL
		AND id IN (`+appendMarks(&args, ids)+`)`,
		args...,
	)
	if err != nil {
		return leak.Verdict{}, err
	}
	values, into, err := s.lockAssets(ctx, tx, id, slices.Clone(ids))
	if err != nil {
		return leak.Verdict{}, err
	}
	for gone, other := range into {
		if h, ok := held[gone]; ok {
			held[other] = h
		}
	}
	if err := s.loadOwnSites(ctx, tx, id, values); err != nil {
		return leak.Verdict{}, err
	}
	v := s.judge.RejudgeFindings(values, b, held, s.now())
	return v, s.keepVerdict(ctx, tx, id, v)
}

// TakeJobOf claims the one unfinished job of a kind and subject, if it is due or already held under this worker's name,
// and returns false when there is none to take. A name that stands for a place rather than a process (a folder that
// only one process can hold) so takes up again what a killed process left, without waiting for its lease.
func (s Jobs) TakeJobOf(ctx context.Context, worker, kind, subject string) (j job.Job, taken bool, err error) {
	now := s.now()
	j, err = runReturning(ctx, s.core, func(tx *sqldb.Tx) (job.Job, error) {
		return readRow(
			ctx,
			tx,
			scanJobRow,
			nil,
			`UPDATE job SET state = 'running', lease = $3, next_at = $5, attempts = attempts + 1, cancel = $6
			WHERE kind = $1 AND subject = $2 AND state IN ('ready', 'running') AND (next_at <= $4 OR state = 'ready'
			OR lease = $3)
			RETURNING `+jobColumns,
			kind,
			subject,
			worker,
			now,
			now.Add(job.Lease),
			false,
		)
	})
	return j, j.ID != "", err
}

func (s Jobs) NewestJobOf(ctx context.Context, kind, subject string) (job.Job, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		scanJobRow,
		job.ErrNotFound,
		`SELECT `+jobColumns+` FROM job WHERE kind = $1 AND subject = $2
		ORDER BY created_at DESC, id DESC LIMIT 1`,
		kind,
		subject,
	)
}

// veilFingerprint returns how a partner's row keeps a fingerprint, and unveil what it stands for.
func (c core) veilFingerprint(id partner.ID, fingerprint uint64) int64 {
	return int64(c.keys.PartnerVeil(string(id)).HideFingerprint(fingerprint))
}

// unveilFingerprint undoes veilFingerprint.
func (c core) unveilFingerprint(id partner.ID, kept int64) uint64 {
	return c.keys.PartnerVeil(string(id)).ShowFingerprint(uint64(kept))
}

// ListProbes returns watched fingerprints behind a place, by partner.
func (s Breaches) ListProbes(ctx context.Context, after leak.Place, limit int) ([]leak.Probes, leak.Place, error) {
	return s.readProbes(ctx, after, limit, func(id partner.ID, at int64, limit int) ([]int64, error) {
		return s.fingerprints(ctx, `SELECT coalesce(string_agg(CAST(f.fingerprint AS TEXT), ','), '') FROM (
			SELECT fingerprint FROM asset WHERE partner_id = $1 AND fingerprint > $2 ORDER BY fingerprint LIMIT $3) f`,
			id,
			at,
			limit,
		)
	})
}

// ProbesSince returns those of values added at or after a time.
func (s Breaches) ProbesSince(
	ctx context.Context,
	since time.Time,
	after leak.Place,
	limit int,
) ([]leak.Probes, leak.Place, error) {
	return s.readProbes(ctx, after, limit, func(id partner.ID, at int64, limit int) ([]int64, error) {
		return s.fingerprints(ctx, `SELECT coalesce(string_agg(CAST(f.fingerprint AS TEXT), ','), '') FROM (
			SELECT fingerprint FROM asset WHERE partner_id = $1 AND fingerprint > $2 AND created_at >= $4
			ORDER BY fingerprint LIMIT $3) f`,
			id,
			at,
			limit,
			since,
		)
	})
}

// fingerprints reads a page of them as one text, because a row for each costs more than all else that a match does.
func (s Breaches) fingerprints(ctx context.Context, query string, args ...any) ([]int64, error) {
	text, err := readValue[string](ctx, s.readQuerier(), query, args...)
	if err != nil || text == "" {
		return nil, err
	}
	list := make([]int64, 0, probePage)
	for one := range strings.SplitSeq(text, ",") {
		f, err := strconv.ParseInt(one, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("fingerprint: %w", err)
		}
		list = append(list, f)
	}
	if !slices.IsSorted(list) { // no engine promises in which order it joins
		slices.Sort(list)
	}
	return list, nil
}

// probePage is how many fingerprints are read at a time: 160 KB of text.
const probePage = 8192

// readProbes reads from one partner after the other, which costs half of what one statement over all of them does.
func (s Breaches) readProbes(ctx context.Context, place leak.Place, limit int,
	page func(id partner.ID, at int64, limit int) ([]int64, error),
) (list []leak.Probes, last leak.Place, err error) {
	for left := limit; ; {
		of, err := s.readPartnerProbes(&place, left, page)
		if err != nil {
			return nil, place, fmt.Errorf("read fingerprints: %w", err)
		}
		if n := len(of); n > 0 {
			list, left = append(list, leak.Probes{Partner: place.Partner, Fingerprints: of}), left-n
		}
		if left == 0 {
			return list, place, nil
		}
		next, err := readValue[partner.ID](
			ctx,
			s.readQuerier(),
			`SELECT min(partner_id) FROM asset WHERE partner_id > $1 AND fingerprint IS NOT NULL`,
			place.Partner,
		)
		if err != nil || next == "" {
			return list, place, err
		}
		place = leak.Place{Partner: next, At: math.MinInt64}
	}
}

// readPartnerProbes reads those of the place's partner, and moves the place behind them.
func (s Breaches) readPartnerProbes(place *leak.Place, limit int,
	page func(id partner.ID, at int64, limit int) ([]int64, error),
) (list []uint64, err error) {
	veil := s.keys.PartnerVeil(string(place.Partner))
	for full := place.Partner != ""; full && len(list) < limit; {
		most := min(limit-len(list), probePage)
		kept, err := page(place.Partner, place.At, most)
		if err != nil {
			return nil, err
		}
		for _, f := range kept {
			if f != place.At { // two people of the partner watch one value
				list, place.At = append(list, veil.ShowFingerprint(uint64(f))), f
			}
		}
		full = len(kept) == most
	}
	return list, nil
}

// hitBatch bounds an IN list.
const hitBatch = 500

// KeepHits notes the watched values with these fingerprints.
func (s Breaches) KeepHits(ctx context.Context, breach string, hits []leak.Probes) (total int64, err error) {
	for _, of := range hits {
		for part := range slices.Chunk(of.Fingerprints, hitBatch) {
			kept, err := s.keepPartnerHits(ctx, of.Partner, breach, part)
			if total += kept; err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

// keepPartnerHits notes those of one partner.
func (s Breaches) keepPartnerHits(
	ctx context.Context,
	id partner.ID,
	breach string,
	hits []uint64,
) (kept int64, err error) {
	veiled := make([]int64, len(hits))
	for i, h := range hits {
		veiled[i] = s.veilFingerprint(id, h)
	}
	// Any number of people may watch one value. Those that are read are locked: one that is being deleted is passed
	// over, and none is deleted between being read and being referred to. Citus locks by a SELECT alone, so the
	// hits are written by a statement of their own. What is noted or found already is counted, and not asked for by NOT
	// EXISTS, so that PostgreSQL looks each value up: its statistics of a table that was empty a moment ago have it
	// compare every value with every hit.
	return s.runInBatches(ctx, func(tx *sqldb.Tx, _ int64) (int64, error) {
		found, err := collectRows(ctx, tx, scanWatched, `SELECT user_index, id FROM asset
			WHERE partner_id = $1 AND fingerprint `+tx.InListCondition(3)+`
			AND (SELECT count(*) FROM finding f WHERE f.partner_id = $1 AND f.asset_id = asset.id
				AND f.breach = $2) = 0
			AND (SELECT count(*) FROM match_hit h WHERE h.breach = $2 AND h.partner_id = $1
				AND h.user_index = asset.user_index AND h.asset_id = asset.id) = 0
			LIMIT $4`+s.db.KeepRows(),
			id,
			breach,
			tx.ListArgument(veiled),
			hitBatch,
		)
		if err != nil {
			return 0, err
		}
		return int64(len(found)), tx.InsertOrUpdate(ctx, "match_hit",
			[]string{"breach", "partner_id", "user_index", "asset_id"},
			"(breach, partner_id, user_index, asset_id) DO NOTHING",
			rowsOf(found, func(_ int, w watchedRow) ([]any, error) {
				return []any{breach, id, w.user, w.asset}, nil
			}))
	})
}

// watchedRow names a watched value of a partner.
type watchedRow struct {
	user  []byte
	asset cyber.AssetID
}

func scanWatched(row scanner, w *watchedRow) error { return row.Scan(&w.user, &w.asset) }

// keptHit is a stored match of a breach and a watched value that has not become a finding yet.
type keptHit struct {
	partner     partner.ID
	user        string
	asset       cyber.AssetID
	fingerprint uint64
}

// keptHitColumns are those of a hit that waits to become a finding.
const keptHitColumns = `m.partner_id, m.user_index, m.asset_id, a.fingerprint
	FROM match_hit m JOIN asset a ON a.partner_id = m.partner_id AND a.id = m.asset_id`

// scanKeptHit reads keptHitColumns. Fingerprints are stored veiled for each partner, and come back unveiled.
func (s Breaches) scanKeptHit(row scanner, h *keptHit) error {
	var user []byte
	var veiled int64
	err := row.Scan(&h.partner, &user, &h.asset, &veiled)
	h.user, h.fingerprint = string(user), s.unveilFingerprint(h.partner, veiled)
	return err
}

// TellHits turns noted hits into findings, statuses and events, whole persons at a time: a person hears once of a
// breach.
func (s Breaches) TellHits(
	ctx context.Context,
	breach string,
	after leak.HitPlace,
	limit int,
	trace leak.Tracer,
) (leak.Told, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (told leak.Told, err error) {
		kept, err := collectRows(ctx, tx, s.scanKeptHit, `SELECT `+keptHitColumns+` WHERE m.breach = $1
			AND (m.partner_id, m.user_index, m.asset_id) > ($2, $3, $4)
			ORDER BY m.partner_id, m.user_index, m.asset_id LIMIT $5`,
			breach,
			after.Partner,
			[]byte(after.User),
			after.Asset,
			limit,
		)
		if err != nil {
			return told, err
		}
		if len(kept) == limit {
			kept = wholePersons(kept)
		}
		for rest := kept; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].partner == rest[0].partner {
				n++
			}
			done, err := s.createFindings(ctx, tx, rest[0].partner, breach, rest[:n], trace)
			if err != nil {
				return told, err
			}
			last := rest[n-1]
			told.Count += done
			told.Last = leak.HitPlace{Partner: last.partner, User: last.user, Asset: last.asset}
			rest = rest[n:]
		}
		return told, nil
	})
}

// wholePersons drops the hits of the last person, because more of them may follow, unless there is no other person.
func wholePersons(kept []keptHit) []keptHit {
	last := kept[len(kept)-1]
	for n := len(kept); n > 0; n-- {
		if h := kept[n-1]; h.partner != last.partner || h.user != last.user {
			return kept[:n]
		}
	}
	return kept
}

// createFindings turns hits into findings. It includes hits stored under the other digest of the same person: a person
// who was enrolled after values had been added under both digests has hits under both.
func (s Breaches) createFindings(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	breach string,
	kept []keptHit,
	trace leak.Tracer,
) (int, error) {
	indexes := make([][]byte, len(kept))
	for i, h := range kept {
		indexes[i] = []byte(h.user)
	}
	people, err := s.findPersons(ctx, tx, id, indexes)
	if err != nil {
		return 0, err
	}
	var others []string
	for _, h := range kept {
		if other := people[h.user].otherIndex(h.user); other != "" {
			others = append(others, other)
		}
	}
	if len(others) > 0 {
		args := []any{breach, id}
		more, err := collectRows(
			ctx,
			tx,
			s.scanKeptHit,
			`SELECT `+keptHitColumns+` WHERE m.breach = $1 AND m.partner_id = $2
			AND m.user_index IN (`+appendByteMarks(&args, uniqueValues(others))+`) ORDER BY m.user_index, m.asset_id`,
			args...,
		)
		if err != nil {
			return 0, err
		}
		kept = uniqueValues(append(slices.Clip(kept), more...))
	}
	hits, told := make([]leak.Hit, 0, len(kept)), make([]sqldb.Statement, len(kept))
	for i, h := range kept {
		held, err := trace(h.fingerprint)
		if err != nil {
			return 0, err
		}
		if held.Found { // it was noted of content that is not the breach's any more if not
			hits = append(hits, leak.Hit{Asset: h.asset, Seen: cyber.Seen{Breach: breach, Trace: held.Trace}})
		}
		told[i] = sqldb.NewStatement(
			`DELETE FROM match_hit WHERE breach = $1 AND partner_id = $2 AND user_index = $3 AND asset_id = $4`,
			breach,
			id,
			[]byte(h.user),
			h.asset,
		)
	}
	if err := Monitoring(s).addFindings(ctx, tx, id, hits); err != nil {
		return 0, err
	}
	return len(kept), tx.RunStatements(ctx, told)
}

// foundIn names a finding and the watched value it is about.
type foundIn struct {
	id      cyber.FindingID
	partner partner.ID
	asset   cyber.AssetID
}

// scanFoundIn reads the finding's ID, its partner and its asset, in this order.
func scanFoundIn(row scanner, f *foundIn) error {
	return row.Scan(&f.id, &f.partner, &f.asset)
}

// eachPartner runs fn for the values of each partner.
func eachPartner(found []foundIn, fn func(id partner.ID, assets []cyber.AssetID) error) error {
	assets := map[partner.ID][]cyber.AssetID{}
	var order []partner.ID
	for _, f := range found {
		if assets[f.partner] == nil {
			order = append(order, f.partner)
		}
		assets[f.partner] = append(assets[f.partner], f.asset)
	}
	for _, id := range order {
		if err := fn(id, assets[id]); err != nil {
			return err
		}
	}
	return nil
}

// WithdrawFindings closes up to limit open findings of a breach as retracted, and forgets hits that were not told.
func (s Breaches) WithdrawFindings(ctx context.Context, breach string, limit int) (int, error) {
	n := 0
	_, err := s.sweepFound(ctx, found{
		table: "match_hit",
		key:   "partner_id, user_index, asset_id",
		first: []any{0, []byte{}, ""},
		args:  []any{breach},
		where: ` AND breach = $4`,
	})
	if err != nil {
		return 0, err
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		found, err := collectRows(
			ctx,
			tx,
			scanFoundIn,
			`SELECT id, partner_id, asset_id FROM finding WHERE breach = $1 AND resolution = ''
			ORDER BY id LIMIT $2`,
			breach,
			limit,
		)
		if err != nil {
			return err
		}
		n = len(found)
		return eachPartner(found, func(id partner.ID, assets []cyber.AssetID) error {
			return Monitoring(s).closeFindings(ctx, tx, id, assets, breach, cyber.ResolvedRetracted)
		})
	})
	return n, err
}

// RestateFindings computes the statuses of values found in a breach again.
func (s Breaches) RestateFindings(
	ctx context.Context,
	breach string,
	after cyber.FindingID,
	limit int,
) (last cyber.FindingID, err error) {
	return s.judgeAgain(
		ctx,
		Monitoring(s).recomputeStatuses,
		`SELECT id, partner_id, asset_id FROM finding WHERE breach = $1 AND id > $2
		ORDER BY id LIMIT $3`,
		breach,
		after,
		limit,
	)
}

// judgeAgain judges the values of some findings again, in one transaction, and returns the last finding; none is empty.
func (s Breaches) judgeAgain(
	ctx context.Context,
	judge func(context.Context, *sqldb.Tx, partner.ID, []cyber.AssetID) error,
	query string,
	args ...any,
) (last cyber.FindingID, err error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (last cyber.FindingID, err error) {
		last = ""
		found, err := collectRows(ctx, tx, scanFoundIn, query, args...)
		if err != nil {
			return last, err
		}
		if len(found) > 0 {
			last = found[len(found)-1].id
		}
		return last, eachPartner(
			found,
			func(id partner.ID, assets []cyber.AssetID) error { return judge(ctx, tx, id, assets) },
		)
	})
}

// ListDueLooks returns values whose first look is due: see leak.Store.
func (s Breaches) ListDueLooks(ctx context.Context, limit int) ([]leak.DueLook, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, p *leak.DueLook) error {
		var f int64
		err := row.Scan(&p.Partner, &p.Asset, &f)
		p.Fingerprint = s.unveilFingerprint(p.Partner, f)
		return err
	}, `SELECT partner_id, id, fingerprint FROM asset WHERE look = 1 AND fingerprint IS NOT NULL
		ORDER BY created_at LIMIT $1`,
		limit,
	)
}

// SettleAssets keeps what a source outside told of some values of a partner. It says nothing of the corpora, which were
// not asked, and is no hit of a value that was just added.
func (s Breaches) SettleAssets(ctx context.Context, id partner.ID, hits []leak.Hit) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return Monitoring(s).addFindings(ctx, tx, id, hits) })
}
