package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// The parts of a spread import are jobs whose subject is the breach's name, a slash and a number; no name has a slash
// in it. Their beginnings are compared, because what comes after what is another question in each collation.
const partsOf = `kind = 'breach.part' AND substr(subject, 1, $2) = $1`

// partsPrefix returns the arguments of partsOf: how the subjects of a breach's parts begin, and the length of that.
func partsPrefix(breach string) (prefix string, length int64) {
	return breach + "/", int64(len(breach) + 1)
}

// AddSpreadImport stores a breach, the job that watches over its import, and the parts. One with the same parts goes
// on: what is done stays.
func (s Breaches) AddSpreadImport(ctx context.Context, r leak.Record, args any, parts []any, addresses []string) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		err := s.insertBreach(ctx, tx, r)
		fresh := err == nil
		if errors.Is(err, leak.ErrBreachExists) {
			var kept leak.Record
			if kept, err = s.breachByName(ctx, tx, r.Name); err == nil {
				err = kept.CheckCanContinue()
			}
		}
		if err == nil {
			err = lockBreach(ctx, tx, r.Name)
		}
		if err == nil {
			_, err = Jobs(s).insertJob(ctx, tx, intake.KindSpread, r.Name, args)
		}
		if err == nil && !fresh {
			return s.retrySameParts(ctx, tx, r.Name, parts)
		}
		if err == nil {
			err = s.insertAddresses(ctx, tx, r.Name, addresses)
		}
		for i := 0; i < len(parts) && err == nil; i++ {
			_, err = Jobs(s).insertJob(ctx, tx, intake.KindPart, intake.PartSubject(r.Name, i+1), parts[i])
		}
		return err
	})
}

// sourcePlace binds the sealed addresses of an import to its breach: signed links may be secrets.
func sourcePlace(breach string) seal.Place {
	return seal.Place{Table: "import_source", Column: "addresses", Row: breach}
}

// insertAddresses stores, sealed, the addresses that the parts of an import are downloaded from. Without any it stores
// nothing.
func (s Breaches) insertAddresses(ctx context.Context, tx *sqldb.Tx, breach string, addresses []string) error {
	if len(addresses) == 0 {
		return nil
	}
	sealed, err := s.sealValue(sourcePlace(breach), addresses)
	if err != nil {
		return err
	}
	return execStatement(ctx, tx, `INSERT INTO import_source (breach, addresses) VALUES ($1, $2)`, breach, sealed)
}

// SpreadAddresses returns the addresses with secrets of a breach's import; none when it has none.
func (s Breaches) SpreadAddresses(ctx context.Context, breach string) (addresses []string, err error) {
	addresses = []string{}
	err = s.readSealed(ctx, s.readQuerier(), sourcePlace(breach), &addresses, nil, `SELECT addresses FROM import_source WHERE breach = $1`, breach)
	return addresses, err
}

// retrySameParts lets the parts of an import that failed or was cancelled be tried anew.
func (s Breaches) retrySameParts(ctx context.Context, tx *sqldb.Tx, name string, parts []any) error {
	prefix, length := partsPrefix(name)
	kept, err := collectRows(ctx, tx, scanJobRow, `SELECT `+jobColumns+` FROM job WHERE `+partsOf+` ORDER BY subject`, prefix, length)
	if err != nil {
		return err
	}
	if len(kept) == 0 {
		return intake.ErrBusy.With("name", fault.BegunAlone)
	}
	if !slices.EqualFunc(kept, parts, func(j job.Job, part any) bool {
		text, err := json.Marshal(part)
		return err == nil && string(text) == string(j.Args)
	}) {
		return intake.ErrInput.With("inputs", fault.OtherInputs)
	}
	return execStatement(ctx, tx, `UPDATE job SET state = 'ready', lease = '', error = '', attempts = 0, cancel = $4, next_at = $3, finished_at = 0
		WHERE `+partsOf+` AND state <> 'done'`, prefix, length, s.now(), false)
}

// ListParts returns the parts of a breach's import in order, without their arguments, which may name a great many files.
func (s Breaches) ListParts(ctx context.Context, breach string) ([]job.Job, error) {
	prefix, length := partsPrefix(breach)
	return collectRows(ctx, s.readQuerier(), scanJobRow, `SELECT id, kind, subject, state, '{}', progress, error, attempts, next_at, cancel, created_at,
		finished_at FROM job WHERE `+partsOf+` ORDER BY subject`, prefix, length)
}

// StopParts asks the parts of an import to stop: waiting ones at once, running ones when they look.
func (s Breaches) StopParts(ctx context.Context, breach string) error {
	err := s.changeParts(ctx, breach, `UPDATE job SET state = 'cancelled', finished_at = $4 WHERE state = 'ready'`, ` AND state = 'ready'`, s.now())
	if err == nil {
		err = s.changeParts(ctx, breach, `UPDATE job SET cancel = $4 WHERE state = 'running'`, ` AND state = 'running' AND cancel <> $4`, true)
	}
	return err
}

// DropParts removes the parts of an import. A worker that is at one finds its lease lost.
func (s Breaches) DropParts(ctx context.Context, breach string) error {
	err := s.changeParts(ctx, breach, `DELETE FROM job WHERE TRUE`, ``)
	if err == nil {
		err = s.execAlone(ctx, `DELETE FROM import_source WHERE breach = $1`, breach)
	}
	return err
}

// changeParts changes parts of an import in transactions of a few: a large dump has thousands, and each may name hundreds of
// files. which tells those that are not yet as they should be.
func (s Breaches) changeParts(ctx context.Context, breach, change, which string, args ...any) error {
	prefix, length := partsPrefix(breach)
	_, err := s.runInBatches(ctx, func(tx *sqldb.Tx, limit int64) (int64, error) {
		return execCounting(ctx, tx, change+` AND id IN (SELECT id FROM job WHERE `+partsOf+which+` LIMIT $3)`,
			append([]any{prefix, length, limit}, args...)...)
	})
	return err
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
		r.Exposes = leak.SettleExposes(n.Exposes, &n.Tally)
		return []sqldb.Statement{sqldb.NewStatement(`UPDATE breach SET segment = $2, digest = $3, tally = $4, pairs = $5, pairs_digest = $6, exposes = $7,
			renewals = renewals + 1, renewed_at = $8, former = $9, mac = $10 WHERE name = $1`, name, n.File, n.Digest, jsonArgument{n.Tally}, n.Pairs, n.PairsDigest,
			joinTexts(r.Exposes), s.now(), strings.Join(former, " "), s.grantMAC("breach", breachGrant(r.Breach))), movesCorpora}, nil
	})
	return err
}

// KeepTally replaces what is counted of a published breach, as long as its content is the one that was counted.
func (s Breaches) KeepTally(ctx context.Context, name, digest string, t leak.Tally) error {
	return s.execAlone(ctx, `UPDATE breach SET tally = $2 WHERE name = $1 AND state = 'published' AND digest = $3`, name, jsonArgument{t}, digest)
}

// ForgetFormer notes that the files of a breach's former contents are removed, unless there are more of them now.
func (s Breaches) ForgetFormer(ctx context.Context, r leak.Record) error {
	return s.execAlone(ctx, `UPDATE breach SET former = '' WHERE name = $1 AND former = $2`, r.Name, strings.Join(r.Former, " "))
}

// RejudgeFindings holds findings of a breach against what it holds now: see leak.Store.
func (s Breaches) RejudgeFindings(ctx context.Context, breach string, since time.Time, after cyber.FindingID, limit int, trace leak.Tracer) (leak.Rejudged, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (r leak.Rejudged, err error) {
		found, err := collectRows(ctx, tx, scanFoundIn, `SELECT id, partner_id, asset_id FROM finding WHERE breach = $1 AND id > $2 AND found_at >= $4
			ORDER BY id LIMIT $3`, breach, after, limit, since)
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
func (s Monitoring) rejudgeFindings(ctx context.Context, tx *sqldb.Tx, id partner.ID, ids []cyber.AssetID, b cyber.Breach, trace leak.Tracer) (leak.Verdict, error) {
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
	}, `SELECT id, fingerprint FROM asset WHERE partner_id = $1 AND fingerprint IS NOT NULL AND id IN (`+appendMarks(&args, ids)+`)`, args...)
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
	v := leak.RejudgeFindings(values, b, held, s.now())
	return v, s.keepVerdict(ctx, tx, id, v)
}

// TakeJobOf claims the one unfinished job of a kind and subject, if it is due or already held under this worker's name,
// and returns false when there is none to take. A name that stands for a place rather than a process (a folder that
// only one process can hold) so takes up again what a killed process left, without waiting for its lease.
func (s Jobs) TakeJobOf(ctx context.Context, worker, kind, subject string) (j job.Job, taken bool, err error) {
	now := s.now()
	j, err = runReturning(ctx, s.core, func(tx *sqldb.Tx) (job.Job, error) {
		return readRow(ctx, tx, scanJobRow, nil, `UPDATE job SET state = 'running', lease = $3, next_at = $5, attempts = attempts + 1, cancel = $6
			WHERE kind = $1 AND subject = $2 AND state IN ('ready', 'running') AND (next_at <= $4 OR state = 'ready' OR lease = $3)
			RETURNING `+jobColumns, kind, subject, worker, now, now.Add(job.Lease), false)
	})
	return j, j.ID != "", err
}

// NewestJobOf returns the newest job of a kind and subject.
func (s Jobs) NewestJobOf(ctx context.Context, kind, subject string) (job.Job, error) {
	return readRow(ctx, s.readQuerier(), scanJobRow, job.ErrNotFound, `SELECT `+jobColumns+` FROM job WHERE kind = $1 AND subject = $2
		ORDER BY created_at DESC, id DESC LIMIT 1`, kind, subject)
}
