package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// InsertAsset stores a new watched value: see cyber.MonitoringStore.
func (s Monitoring) InsertAsset(
	ctx context.Context, id partner.ID, a cyber.NewAsset, limit int,
) (added cyber.AddedAsset, err error) {
	sealed, err := s.sealAssetValue(id, a.Asset)
	if err != nil {
		return cyber.AddedAsset{}, err
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if a.OwnCPF != "" {
			if err := s.linkPerson(ctx, tx, id, a.OwnCPF, a.Salt); err != nil {
				return err
			}
		}
		var look int64
		if added.IsNew, look, err = s.insertAsset(ctx, tx, id, a, sealed, limit); err != nil {
			return err
		}
		added.Waits = look == lookWaiting
		switch {
		case a.HasToken && !added.IsNew: // the value had its first look before
			tx.AfterCommit(func() { s.looks.addTokens(id, 1) })
		case a.HasToken && look == lookDone:
			tx.AfterCommit(func() { s.looks.observeLooks(id, 1, min(len(a.Seen.Breaches), 1)) })
		}
		if !added.IsNew || len(a.Seen.Breaches) == 0 {
			return nil
		}
		hits := make([]leak.Hit, len(a.Seen.Breaches))
		for i, b := range a.Seen.Breaches {
			hits[i] = leak.Hit{Asset: a.ID, Seen: b}
		}
		_, err = s.addFindings(ctx, tx, id, hits)
		return err
	})
	return added, err
}

// insertAsset stores one value unless the person has it already, under either digest. It refuses a person who has limit
// values, and returns the state of the value's first look, also where the person had the value before.
func (s Monitoring) insertAsset(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, a cyber.NewAsset, sealed []byte, limit int,
) (added bool, look int64, err error) {
	u, err := s.findAndNameUser(ctx, tx, id, a.User)
	if err != nil {
		return false, 0, err
	}
	index := s.valueIndex(id, a.Kind, a.Normal)
	// The limit is a quota: two requests at the same instant may pass it by one. Duplicates are what the constraint
	// forbids.
	var addedBefore, named, waiting, all int64
	err = readColumns(
		ctx,
		tx,
		[]any{&addedBefore, &named, &waiting, &all},
		`SELECT count(*) FILTER (WHERE kind = $4 AND value_index = $5 AND source <> 2),
			count(*) FILTER (WHERE kind = $4 AND value_index = $5 AND source = 2),
			count(*) FILTER (WHERE kind = $4 AND value_index = $5 AND look = $6),
			count(*)
		FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3)`,
		id,
		u.write,
		u.other,
		a.Kind,
		index,
		lookWaiting,
	)
	look = lookDone
	if waiting > 0 {
		look = lookWaiting
	}
	if err != nil || addedBefore > 0 {
		return false, look, err
	}
	if named > 0 { // a subscription watches it: from now on it stays when that one ends
		n, err := execCounting(
			ctx,
			tx,
			`UPDATE asset SET source = 3
			WHERE partner_id = $1 AND user_index IN ($2, $3) AND kind = $4 AND value_index = $5 AND source = 2`,
			id,
			u.write,
			u.other,
			a.Kind,
			index,
		)
		if err != nil || n > 0 {
			return false, look, err
		}
	}
	if named == 0 && all >= int64(limit) {
		return false, 0, cyber.ErrAssetLimit.With("userHash", fault.ValuesOfPerson, limit)
	}
	epoch, err := corporaEpoch(ctx, tx)
	if err != nil {
		return false, 0, err
	}
	fingerprint, look := s.decideFirstLook(id, a, epoch)
	// Another transaction may have stored the value meanwhile. Then its row stays and says one reason more.
	kept, err := readValue[cyber.AssetID](ctx, tx, `INSERT INTO asset
		(id, partner_id, user_index, kind, value_index, source, fingerprint, look, value, status, created_at, due_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (partner_id, user_index, kind, value_index) DO UPDATE SET source = asset.source | excluded.source
		RETURNING id`,
		a.ID,
		id,
		u.write,
		a.Kind,
		index,
		a.Source,
		fingerprint,
		look,
		sealed,
		cyber.StatusMonitored,
		a.AddedAt,
		s.lookDueAt(look),
	)
	return kept == a.ID, look, err
}

// addSource returns the statement that adds a reason to watch a value that is there.
func addSource(id partner.ID, asset cyber.AssetID, source cyber.AssetSource) sqldb.Statement {
	return sqldb.NewStatement(
		`UPDATE asset SET source = source | CAST($3 AS INTEGER) WHERE partner_id = $1 AND id = $2`,
		id,
		asset,
		source,
	)
}

// decideFirstLook returns what to keep for matching, and the state of the value's first look. A value whose sighting is
// older than the corpora is due: a worker probes it again. A breach that is published while this transaction runs is
// found by its match: see leak.Matcher. A value that waits has no fingerprint, so that no match can meet it.
func (s Monitoring) decideFirstLook(
	id partner.ID, a cyber.NewAsset, epoch int64,
) (fingerprint sql.NullInt64, look int64) {
	if !a.Matched {
		return fingerprint, lookDone
	}
	if a.Paced && !a.HasToken {
		return fingerprint, lookWaiting
	}
	fingerprint = sql.NullInt64{Int64: s.veilFingerprint(id, a.Fingerprint), Valid: true}
	if a.Seen.Epoch < epoch {
		return fingerprint, lookDue
	}
	return fingerprint, lookDone
}

// lookDueAt returns since when a look is due that comes into a state now: the zero time where it is not.
func (s Monitoring) lookDueAt(look int64) (since time.Time) {
	if look == lookDue {
		since = s.now()
	}
	return since
}
