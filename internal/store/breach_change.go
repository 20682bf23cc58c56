package store

import (
	"context"
	"errors"

	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

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
	return s.changeBreach(ctx, name, leak.KindRestate, func(r *leak.Record) (sqldb.Statements, error) {
		err := change(r)
		return sqldb.Statements{sqldb.NewStatement(`UPDATE breach SET title = $2, day = $3, source = $4,
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
	ctx context.Context, name, stage string, change func(r *leak.Record) (sqldb.Statements, error),
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
	err := execStatement(ctx, tx, `UPDATE job SET progress = '{}', lease = '', state = 'ready', next_at = $3
		WHERE kind = $1 AND subject = $2 AND state IN ('ready', 'running')`,
		kind, name, s.now())
	if err != nil {
		return err
	}
	_, err = Jobs(s).insertJob(ctx, tx, kind, name, struct{}{})
	if errors.Is(err, job.ErrExists) {
		return nil
	}
	return err
}
