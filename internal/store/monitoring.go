package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

var _ cyber.MonitoringStore = Monitoring{}

// sealedAsset is what the sealed column of a watched value holds.
type sealedAsset struct {
	Value string           `json:"value"`
	User  partner.UserHash `json:"userHash"`
}

// assetPlace binds a sealed watched value to the partner and the asset.
func assetPlace(id partner.ID, asset cyber.AssetID) seal.Place {
	return seal.Place{Table: "asset", Column: "value", Partner: string(id), Row: string(asset)}
}

// sealAssetValue seals a watched value for its row.
func (s Monitoring) sealAssetValue(id partner.ID, a cyber.Asset) ([]byte, error) {
	plain, err := json.Marshal(sealedAsset{Value: a.Value, User: a.User})
	if err != nil {
		return nil, err
	}
	return s.sealValue(assetPlace(id, a.ID), plain)
}

// openAssetValue opens what sealAssetValue sealed.
func (s Monitoring) openAssetValue(a *cyber.Asset, sealed []byte) error {
	plain, err := s.keys.Unseal(assetPlace(a.Partner, a.ID), sealed)
	var v sealedAsset
	if err == nil {
		err = json.Unmarshal(plain, &v)
	}
	a.Value, a.User = v.Value, v.User
	return wrapError("open asset", err)
}

// opensAsset returns a target of Scan for the sealed value; the ID and the partner of the asset come before it.
func (s Monitoring) opensAsset(a *cyber.Asset) sql.Scanner {
	return scanFunc(func(sealed []byte) error { return s.openAssetValue(a, sealed) })
}

// valueIndex returns how a person's value is recognised when it is added again.
func (s Monitoring) valueIndex(id partner.ID, kind identifier.Kind, normal string) []byte {
	return s.keys.BlindIndex("asset", string(id), append([]byte{byte(kind)}, normal...))
}

// InsertAsset stores a new watched value: see cyber.MonitoringStore.
func (s Monitoring) InsertAsset(
	ctx context.Context,
	id partner.ID,
	a cyber.NewAsset,
	limit int,
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
			tx.AfterCommit(func() {
				s.looks.changeHeld(
					id,
					func(l *heldLook) { l.looks, l.hits = l.looks+1, l.hits+int64(min(len(a.Seen.Breaches), 1)) },
				)
			})
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
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	a cyber.NewAsset,
	sealed []byte,
	limit int,
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

// lookDueAt returns since when a look is due that comes into a state now: the zero time where it is not.
func (s Monitoring) lookDueAt(look int64) (since time.Time) {
	if look == lookDue {
		since = s.now()
	}
	return since
}

// decideFirstLook returns what to keep for matching, and the state of the value's first look. A value whose sighting is
// older than the corpora is due: a worker probes it again. A breach that is published while this transaction runs is
// found by its match: see leak.Matcher. A value that waits has no fingerprint, so that no match can meet it.
func (s Monitoring) decideFirstLook(
	id partner.ID,
	a cyber.NewAsset,
	epoch int64,
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

// AssetsOfUser returns a person's values in the order added, each once even if it was added under both digests before
// these were known as one person.
func (s Monitoring) AssetsOfUser(ctx context.Context, id partner.ID, hash partner.UserHash) ([]cyber.Asset, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, id, hash)
	if err != nil {
		return nil, err
	}
	type row struct {
		cyber.Asset
		twin string
	}
	rows, err := collectRows(ctx, q, func(row_ scanner, r *row) error {
		*r = row{Asset: cyber.Asset{Partner: id}}
		var look int64
		var index, sealed []byte
		err := row_.Scan(&r.ID, &r.Kind, &index, &sealed, &r.Status, &r.Source, &r.AddedAt, &look)
		if err != nil {
			return err
		}
		r.twin, r.Waits, r.IsDue = string(index), look != lookDone, look == lookDue
		return s.openAssetValue(&r.Asset, sealed)
	}, `SELECT id, kind, value_index, value, status, source, created_at, look FROM asset
		WHERE partner_id = $1 AND user_index IN ($2, $3) ORDER BY created_at, id`,
		id,
		u.write,
		u.other,
	)
	if err != nil {
		return nil, err
	}
	assets, seen := make([]cyber.Asset, 0, len(rows)), make(map[string]bool, len(rows))
	for _, r := range rows {
		if !seen[r.twin] {
			seen[r.twin] = true
			assets = append(assets, r.Asset)
		}
	}
	return assets, nil
}

// LooksOfUser counts the first looks of a person's values: see cyber.LookStore.
func (s Monitoring) LooksOfUser(
	ctx context.Context,
	id partner.ID,
	hash partner.UserHash,
) (l cyber.PersonLooks, err error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, id, hash)
	if err != nil {
		return l, err
	}
	// A value that was added under both digests counts once.
	return l, readColumns(ctx, q, []any{&l.Values, &l.Waiting, &l.Since, &l.Newest}, `SELECT
		count(DISTINCT value_index), count(DISTINCT CASE WHEN look <> 0 THEN value_index END),
		min(CASE WHEN look <> 0 THEN created_at END), max(CASE WHEN look <> 0 THEN created_at END)
		FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3)`,
		id,
		u.write,
		u.other,
	)
}

// DeleteAsset erases a value of one of the kinds, its findings and its history; what was added under the person's other
// digest goes with it. Subscriptions that name the value go on and do not watch it any more.
func (s Monitoring) DeleteAsset(
	ctx context.Context,
	id partner.ID,
	hash partner.UserHash,
	asset cyber.AssetID,
	kinds []identifier.Kind,
) error {
	return s.runAsUser(ctx, id, hash, func(tx *sqldb.Tx, u user) error {
		var kind identifier.Kind
		var index []byte
		err := readColumns(
			ctx,
			tx,
			[]any{&kind, &index},
			`SELECT kind, value_index FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3) AND id = $4`,
			id,
			u.write,
			u.other,
			asset,
		)
		if errors.Is(err, sql.ErrNoRows) || err == nil && !slices.Contains(kinds, kind) {
			return cyber.ErrAssetNotFound
		}
		if err != nil {
			return err
		}
		// First what no subscription names, which is all there is most of the time. The row of a value that an
		// enrolment names at this moment is left to the second step, which waits for the enrolment.
		const sameValue = ` FROM asset
			WHERE partner_id = $1 AND user_index IN ($2, $3) AND kind = $4 AND value_index = $5`
		args := []any{id, u.write, u.other, kind, index}
		gone, err := execCounting(ctx, tx, `DELETE`+sameValue+` AND source < 2`, args...)
		if err != nil {
			return err
		}
		isNamed, err := readValue[bool](ctx, tx, `SELECT EXISTS (SELECT 1`+sameValue+`)`, args...)
		if err != nil {
			return err
		}
		if isNamed && u.cpf != nil {
			if _, err := lockSubscriptions(ctx, tx, id); err != nil {
				return err
			}
			if err := Subscriptions(s).unwatchNamedValue(ctx, tx, id, u, kind, index); err != nil {
				return err
			}
			n, err := execCounting(ctx, tx, `DELETE`+sameValue, args...)
			if err != nil {
				return err
			}
			gone += n
		}
		if gone == 0 {
			return cyber.ErrAssetNotFound
		}
		return nil
	})
}

// EnrolledValues returns what a person's subscriptions in force name: see cyber.MonitoringStore.
func (s Monitoring) EnrolledValues(
	ctx context.Context,
	id partner.ID,
	hash partner.UserHash,
) ([]cyber.EnrolledValue, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, id, hash)
	if err != nil || u.cpf == nil {
		return nil, err
	}
	list, err := Subscriptions(s).readByCPF(ctx, q, id, u.cpf, "")
	if err != nil {
		return nil, err
	}
	var values []cyber.EnrolledValue
	for _, sub := range list {
		if sub.Over(subscription.DayInBrazil(s.now())) {
			continue
		}
		b := sub.Beneficiary
		values = append(
			values,
			cyber.EnrolledValue{Kind: identifier.Email, Value: b.Email},
			cyber.EnrolledValue{Kind: identifier.Phone, Value: b.Phone},
			cyber.EnrolledValue{
				Kind:  identifier.CPF,
				Value: b.CPF,
			},
			cyber.EnrolledValue{Kind: identifier.Card, Value: b.PrimaryCard},
			cyber.EnrolledValue{Kind: identifier.Card, Value: b.UserCard},
		)
	}
	return values, nil
}
