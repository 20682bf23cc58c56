package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ cyber.LookStore = Monitoring{}

// The states of a value's first look into past breaches.
const (
	lookDone    = int64(0)
	lookDue     = int64(1) // a worker has to probe it
	lookWaiting = int64(2) // for a token of the partner; the row has no fingerprint until then
)

// LooksOfUser counts the first looks of a person's values: see cyber.LookStore.
func (s Monitoring) LooksOfUser(
	ctx context.Context, id partner.ID, hash partner.UserHash,
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

// WaitingLooks returns how many values wait: see cyber.LookStore.
func (s Monitoring) WaitingLooks(ctx context.Context, id partner.ID, from, to time.Time) (int64, error) {
	first, last := timeWindow(from, to)
	return readValue[int64](ctx, s.readQuerier(), `SELECT count(*) FROM asset
		WHERE partner_id = $1 AND look = 2 AND created_at >= $2 AND created_at <= $3`,
		id,
		first,
		last,
	)
}

// WaitingPartners returns the partners with waiting values. It asks for one after the other, which costs less than to
// read all values.
func (s Monitoring) WaitingPartners(ctx context.Context) ([]partner.ID, error) {
	var ids []partner.ID
	for last := partner.ID(""); ; {
		next, err := readValue[partner.ID](ctx, s.readQuerier(),
			`SELECT min(partner_id) FROM asset WHERE look = 2 AND partner_id > $1`, last)
		if err != nil || next == "" {
			return ids, err
		}
		ids = append(ids, next)
		last = next
	}
}

// StartLooks makes first looks due for which there are tokens: see cyber.LookStore.
func (s Monitoring) StartLooks(
	ctx context.Context, id partner.ID, pace cyber.LookPace, limit int64,
) (started int64, err error) {
	b, err := s.LookBucket(ctx, id)
	if err != nil {
		return 0, err
	}
	if b.RefillTokens(s.now(), pace); b.Left(pace) == 0 {
		return 0, nil // without a write, because this is asked every second
	}
	held := s.looks.emptyTokens(id) // they go back to the bucket, or to this process when the transaction failed
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		b, err := s.lockBucket(ctx, tx, id)
		if err != nil {
			return err
		}
		b.RefillTokens(s.now(), pace)
		b.Tokens += held
		oldest, err := s.oldestWaiting(ctx, tx, id, min(limit, b.Left(pace)))
		if err != nil {
			return err
		}
		if started = b.TakeTokens(int64(len(oldest)), pace); started > 0 {
			if err := s.makeLooksDue(ctx, tx, id, oldest); err != nil {
				return err
			}
		}
		return s.keepBucket(ctx, tx, id, b)
	})
	if err != nil {
		s.looks.addTokens(id, held)
	}
	return started, err
}

// oldestWaiting returns the values of a partner that have waited longest.
func (s Monitoring) oldestWaiting(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, limit int64,
) ([]cyber.Asset, error) {
	return collectRows(ctx, tx, func(row scanner, a *cyber.Asset) error {
		a.Partner = id
		return row.Scan(&a.ID, &a.Kind, s.opensAsset(a))
	}, `SELECT id, kind, value FROM asset WHERE partner_id = $1 AND look = 2 ORDER BY created_at, id LIMIT $2`,
		id,
		limit,
	)
}

// makeLooksDue gives values their fingerprint, by which breaches find them from now on, and asks for their first look.
func (s Monitoring) makeLooksDue(ctx context.Context, tx *sqldb.Tx, id partner.ID, assets []cyber.Asset) error {
	var list sqldb.Statements
	for _, a := range assets {
		normal, err := identifier.ParseValue(a.Kind, a.Value, identifier.Waived)
		if err != nil {
			return wrapError("read waiting value", err)
		}
		fingerprint := s.keys.Fingerprint(byte(a.Kind), identifier.MatchForm(a.Kind, normal))
		list.Add(
			`UPDATE asset SET look = $3, fingerprint = $4, due_at = $5
			WHERE partner_id = $1 AND id = $2 AND look = 2`,
			id,
			a.ID,
			lookDue,
			s.veilFingerprint(id, fingerprint),
			s.now(),
		)
	}
	return tx.RunStatements(ctx, list)
}

// ListDueLooks returns values whose first look is due: see leak.Store.
func (s Breaches) ListDueLooks(ctx context.Context, after leak.DuePlace, limit int) ([]leak.DueLook, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, p *leak.DueLook) error {
		var f int64
		err := row.Scan(&p.Partner, &p.Asset, &f, &p.Since)
		p.Fingerprint = s.unveilFingerprint(p.Partner, f)
		return err
	}, `SELECT partner_id, id, fingerprint, due_at FROM asset
		WHERE look = 1 AND fingerprint IS NOT NULL AND (due_at, id) > ($1, $2)
		ORDER BY due_at, id LIMIT $3`,
		after.Since,
		after.Asset,
		limit,
	)
}

// SettleLooks keeps what the first looks of some values of a partner saw: see leak.Store.
func (s Breaches) SettleLooks(
	ctx context.Context, id partner.ID, epoch int64, looked []cyber.AssetID, hits []leak.Hit,
) (int, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (int, error) {
		if _, err := Monitoring(s).addFindings(ctx, tx, id, hits); err != nil {
			return 0, err
		}
		args := []any{id, lookDone, epoch, lookDue}
		done, err := collectValues[cyber.AssetID](ctx, tx, `UPDATE asset SET look = $2
			WHERE partner_id = $1 AND look = $4 AND id `+inList(s.db.EngineName(), &args, looked)+`
			AND EXISTS (SELECT 1 FROM epoch WHERE name = 'corpora' AND value <= $3) RETURNING id`,
			args...,
		)
		if err != nil || len(done) == 0 { // another worker was faster, or the corpora have changed
			return 0, err
		}
		found := make(map[cyber.AssetID]bool, len(hits))
		for _, hit := range hits {
			found[hit.Asset] = true
		}
		withHit := 0
		for _, asset := range done {
			if found[asset] { // a value that stands in several breaches is one hit
				withHit++
			}
		}
		tx.AfterCommit(func() { s.looks.observeLooks(id, len(done), withHit) })
		return len(done), nil
	})
}

// TellLookChange tells a partner that the state of its first looks changed: see cyber.LookStore. Every replica reviews
// first looks; the lock of the row lets one of them tell.
func (s Monitoring) TellLookChange(ctx context.Context, id partner.ID, change cyber.LookChange) (told bool, err error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (bool, error) {
		b, err := s.lockBucket(ctx, tx, id)
		if err != nil || b.Told == change.State {
			return false, err
		}
		b.Told = change.State
		if err := s.keepBucket(ctx, tx, id, b); err != nil {
			return false, err
		}
		return true, Alerts(s).addPartnerEvents(ctx, tx, id, alert.LooksChange(id, change, s.now()))
	})
}
