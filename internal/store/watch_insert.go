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

// InsertAssets stores new watched values in one transaction and few statements: see cyber.MonitoringStore.
func (s Monitoring) InsertAssets(
	ctx context.Context, id partner.ID, list []cyber.NewAsset, limit int,
) (added []cyber.AddedAsset, err error) {
	rows := make([]assetRow, len(list))
	hashes := make([]partner.UserHash, len(list))
	for i, a := range list {
		hashes[i] = a.User
		if rows[i], err = s.newAssetRow(id, a); err != nil {
			return nil, err
		}
	}
	err = s.runInBulkTx(ctx, len(list), func(tx *sqldb.Tx) error {
		if err := s.linkPersons(ctx, tx, id, list); err != nil {
			return err
		}
		users, err := s.findAndNameUsers(ctx, tx, id, hashes)
		if err != nil {
			return err
		}
		for i := range rows {
			rows[i].user = users[rows[i].User]
		}
		kept, err := s.keepAssetRows(ctx, tx, id, rows, limit)
		if err != nil {
			return err
		}
		added = make([]cyber.AddedAsset, len(kept))
		for i, k := range kept {
			added[i] = cyber.AddedAsset{IsNew: k.isNew, Waits: k.look == lookWaiting, Refused: k.refused}
			if list[i].HasToken {
				tx.AfterCommit(func() { s.settleToken(id, list[i], k) })
			}
		}
		return nil
	})
	return added, err
}

// settleToken counts the first look that a token was taken for. The token of a value that was not stored, because the
// person has it already or may have no more, goes back.
func (s Monitoring) settleToken(id partner.ID, a cyber.NewAsset, kept keptAsset) {
	switch {
	case !kept.isNew:
		s.looks.addTokens(id, 1)
	case kept.look == lookDone:
		s.looks.observeLooks(id, 1, min(len(a.Seen.Breaches), 1))
	}
}

// keptAsset is what became of a value that was to be stored.
type keptAsset struct {
	// isNew is false where the person had the value before, or it was refused.
	isNew bool
	// refused is why it was not stored.
	refused error
	// look is the state of its first look, also where the person had the value before.
	look int64
}

// keepAssetRows stores each value that its person does not have yet, and notes for one that the person has why it is
// watched from now on. Values of people who have limit values are refused; those that a subscription names never are.
func (s Monitoring) keepAssetRows(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, rows []assetRow, limit int,
) ([]keptAsset, error) {
	held, err := s.heldValues(ctx, tx, id, rows)
	if err != nil {
		return nil, err
	}
	epoch, err := corporaEpoch(ctx, tx)
	if err != nil {
		return nil, err
	}
	kept := make([]keptAsset, len(rows))
	var inserts []insertedAsset
	var twins sqldb.Statements
	var hits []leak.Hit
	for i, r := range rows {
		value := personsValue{person: string(r.user.write), kind: r.Kind, index: string(r.index)}
		known, isHeld := held.values[value]
		kept[i].look = known.look
		switch {
		case isHeld && known.source&r.Source == r.Source:
			continue
		case isHeld && known.user != value.person:
			twins = append(twins, addSource(id, known.id, r.Source))
			continue
		case !isHeld && r.Source == cyber.AddedByItself && held.count[value.person] >= limit:
			kept[i].refused = cyber.ErrAssetLimit.With("userHash", fault.ValuesOfPerson, limit)
			continue
		}
		// One that is held is inserted as well: its row may be gone by the time that this transaction reaches it.
		fingerprint, look := s.decideFirstLook(id, r.NewAsset, epoch)
		now := heldValue{id: r.ID, user: value.person, source: r.Source | known.source, look: look}
		held.add(value, now, isHeld)
		if !isHeld {
			kept[i].isNew, kept[i].look = true, look
		}
		inserts = append(inserts, insertedAsset{r, fingerprint, look, s.lookDueAt(look)})
		for _, seen := range r.Seen.Breaches {
			hits = append(hits, leak.Hit{Asset: r.ID, Seen: seen})
		}
	}
	if err := tx.RunStatements(ctx, twins); err != nil {
		return nil, err
	}
	if err := insertAssetRows(ctx, tx, id, inserts); err != nil {
		return nil, err
	}
	_, err = s.addFindings(ctx, tx, id, hits)
	return kept, err
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
