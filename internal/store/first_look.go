package store

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

var _ cyber.LookStore = Monitoring{}

// The states of a value's first look into past breaches.
const (
	lookDone    = int64(0)
	lookDue     = int64(1) // a worker has to probe it
	lookWaiting = int64(2) // for a token of the partner; the row has no fingerprint until then
)

// heldLooks are tokens for first looks that this process took from the database and has not used yet, and first looks
// that it has not counted there yet. A request for a new value then costs no statement, and the row of a busy partner
// is not locked by each of them. What a process holds when it ends is lost to the partner.
type heldLooks struct {
	mu sync.Mutex
	of map[partner.ID]*heldLook
}

// heldLook is one partner's share: tokens to spend, and looks and hits that are not counted in the database yet.
type heldLook struct {
	tokens      int64
	looks, hits int64
	// dryUntil is before when the database need not be asked for tokens again.
	dryUntil time.Time
}

func (h *heldLooks) changeHeld(id partner.ID, change func(l *heldLook)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of = map[partner.ID]*heldLook{}
	}
	if h.of[id] == nil { // one for each partner: nothing to evict
		h.of[id] = &heldLook{}
	}
	change(h.of[id])
}

// addTokens holds tokens that were taken in a transaction which is on disk now.
func (h *heldLooks) addTokens(id partner.ID, n int64) {
	h.changeHeld(id, func(l *heldLook) { l.tokens += n })
}

// emptyTokens returns the tokens of a partner, which this process holds no longer.
func (h *heldLooks) emptyTokens(id partner.ID) (n int64) {
	h.changeHeld(id, func(l *heldLook) { n, l.tokens = l.tokens, 0 })
	return n
}

// heldPartners returns those that something is held of.
func (h *heldLooks) heldPartners() []partner.ID {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.of))
}

// tokensAtOnce returns how many tokens a process takes at a time: fewer when there are few, so that other replicas get
// theirs.
func tokensAtOnce(left int64) int64 { return min(max(left/20, 1), 64) }

// dryTime is how long a process does not ask for tokens after there were none. Values that are added meanwhile wait,
// and a worker looks after those every second.
const dryTime = 5 * time.Second

// TakeLookToken takes a token: see cyber.MonitoringStore. It takes none while older values wait.
func (s Monitoring) TakeLookToken(ctx context.Context, id partner.ID, pace cyber.LookPace) (bool, error) {
	if pace.IsStopped() {
		return false, nil
	}
	now := s.now()
	var taken, ask bool
	s.looks.changeHeld(id, func(l *heldLook) {
		taken = l.tokens > 0
		ask = !now.Before(l.dryUntil)
		if taken {
			l.tokens--
		}
	})
	if taken || !ask {
		return taken, nil
	}
	err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		taken = false
		b, err := s.lockBucket(ctx, tx, id)
		if err != nil {
			return err
		}
		waiting, err := readValue[bool](ctx, tx,
			`SELECT EXISTS (SELECT 1 FROM asset WHERE partner_id = $1 AND look = 2)`, id)
		if err != nil {
			return err
		}
		b.RefillTokens(now, pace)
		if waiting || b.Left(pace) == 0 {
			s.looks.changeHeld(id, func(l *heldLook) { l.dryUntil = now.Add(dryTime) })
			return nil
		}
		lot := b.TakeTokens(tokensAtOnce(b.Left(pace)), pace)
		if err := s.keepBucket(ctx, tx, id, b); err != nil {
			return err
		}
		if err := s.countLooks(ctx, tx, id); err != nil {
			return err
		}
		taken = true
		tx.AfterCommit(func() { s.looks.addTokens(id, lot-1) })
		return nil
	})
	return taken, err
}

// bucketColumns are those that scanBucket expects, in its order.
const bucketColumns = `partner_id, tokens, onboarded, granted, refilled_at, subscriptions, counted_at, told, mac`

// scanBucket reads the row of a partner's first looks and checks that this program wrote it.
func (s Monitoring) scanBucket(row scanner, r *checked[cyber.LookBucket]) error {
	b := &r.value
	var id partner.ID
	err := row.Scan(
		&id,
		&b.Tokens,
		&b.Onboarded,
		&b.Granted,
		&b.RefilledAt,
		&b.Subscriptions,
		&b.CountedAt,
		&b.Told,
		s.checksMAC(&r.forged, "first_look", func() *grant { return bucketGrant(id, *b) }),
	)
	r.row = "first_look " + string(id)
	return err
}

// bucketGrant covers all that decides how much a partner may learn.
func bucketGrant(id partner.ID, b cyber.LookBucket) *grant {
	return new(grant).addTexts(string(id), string(b.Told)).addNumbers(
		b.Tokens,
		b.Onboarded,
		b.Granted,
		toMicros(b.RefilledAt),
		b.Subscriptions,
		toMicros(b.CountedAt),
	)
}

// insertBucket stores the full bucket of a new partner. There is no other way to a bucket: if a missing one were made
// anew, deleting the row would refill it.
func (s Monitoring) insertBucket(ctx context.Context, tx *sqldb.Tx, id partner.ID) error {
	b := cyber.NewLookBucket(s.now())
	return execStatement(
		ctx,
		tx,
		`INSERT INTO first_look (`+bucketColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		id,
		b.Tokens,
		b.Onboarded,
		b.Granted,
		b.RefilledAt,
		b.Subscriptions,
		b.CountedAt,
		b.Told,
		s.grantMAC("first_look", bucketGrant(id, b)),
	)
}

// lockBucket returns a partner's bucket, locked until the transaction ends.
func (s Monitoring) lockBucket(ctx context.Context, tx *sqldb.Tx, id partner.ID) (cyber.LookBucket, error) {
	return readGenuine(ctx, tx, s.scanBucket, forgedRowError("first_look", string(id)),
		`UPDATE first_look SET tokens = tokens WHERE partner_id = $1 RETURNING `+bucketColumns, id)
}

// keepBucket stores a bucket that lockBucket returned.
func (s Monitoring) keepBucket(ctx context.Context, tx *sqldb.Tx, id partner.ID, b cyber.LookBucket) error {
	return execStatement(ctx, tx, `UPDATE first_look SET tokens = $2, onboarded = $3, granted = $4, refilled_at = $5,
		subscriptions = $6, counted_at = $7, told = $8, mac = $9 WHERE partner_id = $1`,
		id,
		b.Tokens,
		b.Onboarded,
		b.Granted,
		b.RefilledAt,
		b.Subscriptions,
		b.CountedAt,
		b.Told,
		s.grantMAC("first_look", bucketGrant(id, b)),
	)
}

// changeBucket changes a partner's bucket under its lock.
func (s Monitoring) changeBucket(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	change func(*cyber.LookBucket),
) error {
	b, err := s.lockBucket(ctx, tx, id)
	if err != nil {
		return err
	}
	change(&b)
	return s.keepBucket(ctx, tx, id, b)
}

// LookBucket returns a partner's bucket with what this process holds of it: see cyber.LookStore.
func (s Monitoring) LookBucket(ctx context.Context, id partner.ID) (cyber.LookBucket, error) {
	b, err := readGenuine(ctx, s.readQuerier(), s.scanBucket, forgedRowError("first_look", string(id)),
		`SELECT `+bucketColumns+` FROM first_look WHERE partner_id = $1`, id)
	s.looks.changeHeld(id, func(l *heldLook) { b.Tokens += l.tokens })
	return b, err
}

// countLooks writes down the first looks that were counted in this process.
func (s Monitoring) countLooks(ctx context.Context, tx *sqldb.Tx, id partner.ID) error {
	var held heldLook
	s.looks.changeHeld(id, func(l *heldLook) { held = *l })
	if held.looks == 0 {
		return nil
	}
	tx.AfterCommit(func() {
		s.looks.changeHeld(id, func(l *heldLook) {
			l.looks -= held.looks
			l.hits -= held.hits
		})
	})
	return s.addLookHour(ctx, tx, id, cyber.LookHour{Looks: held.looks, Hits: held.hits})
}

// addLookHour adds to the counts of the current hour, which operators compare.
func (s Monitoring) addLookHour(ctx context.Context, tx *sqldb.Tx, id partner.ID, h cyber.LookHour) error {
	return execStatement(ctx, tx, `INSERT INTO first_look_hour (partner_id, hour, looks, hits) VALUES ($1, $2, $3, $4)
		ON CONFLICT (partner_id, hour) DO UPDATE SET
			looks = first_look_hour.looks + excluded.looks,
			hits = first_look_hour.hits + excluded.hits`,
		id,
		cyber.HourNumber(s.now()),
		h.Looks,
		h.Hits,
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

// GrantLooks adds tokens: see cyber.LookStore.
func (s Monitoring) GrantLooks(ctx context.Context, id partner.ID, count int64) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		return s.changeBucket(ctx, tx, id, func(b *cyber.LookBucket) { b.Granted += count })
	})
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
	ctx context.Context,
	id partner.ID,
	pace cyber.LookPace,
	limit int64,
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
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	limit int64,
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
	var list []sqldb.Statement
	for _, a := range assets {
		normal, err := identifier.ParseValue(a.Kind, a.Value, identifier.Waived)
		if err != nil {
			return wrapError("read waiting value", err)
		}
		fingerprint := s.keys.Fingerprint(byte(a.Kind), identifier.MatchForm(a.Kind, normal))
		list = append(list, sqldb.NewStatement(
			`UPDATE asset SET look = $3, fingerprint = $4, due_at = $5
			WHERE partner_id = $1 AND id = $2 AND look = 2`,
			id,
			a.ID,
			lookDue,
			s.veilFingerprint(id, fingerprint),
			s.now(),
		))
	}
	return tx.RunStatements(ctx, list)
}

// SettleLooks keeps what the first looks of some values of a partner saw: see leak.Store.
func (s Breaches) SettleLooks(
	ctx context.Context,
	id partner.ID,
	epoch int64,
	looked []cyber.AssetID,
	hits []leak.Hit,
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
		h := cyber.LookHour{Looks: int64(len(done))}
		for _, asset := range done {
			if found[asset] { // a value that stands in several breaches is one hit
				h.Hits++
			}
		}
		return len(done), Monitoring(s).addLookHour(ctx, tx, id, h)
	})
}

// countEvery is how often the subscriptions that give tokens are counted.
const countEvery = 24 * time.Hour

// CountSubscriptions counts those that give tokens: see cyber.LookStore.
func (s Monitoring) CountSubscriptions(ctx context.Context, id partner.ID) error {
	now := s.now()
	b, err := s.LookBucket(ctx, id)
	if err != nil || b.CountedAt.Add(countEvery).After(now) {
		return err
	}
	since := now.Add(-cyber.LookSubscriptionAge)
	n, err := readValue[int64](ctx, s.listQuerier(), `SELECT count(*) FROM subscription
		WHERE partner_id = $1 AND ended_at = 0 AND suspended_at = 0
		AND created_at <= $2 AND start_day <= $3 AND (expiry_day = 0 OR expiry_day >= $4)`,
		id,
		since,
		subscription.DayInBrazil(since),
		subscription.DayInBrazil(now),
	)
	if err != nil {
		return err
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		return s.changeBucket(ctx, tx, id, func(b *cyber.LookBucket) {
			b.Subscriptions = n
			b.CountedAt = now
		})
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

// ListLookHours returns what the first looks of all partners came to: see cyber.LookStore. The operator's question: it
// names no partner.
func (s Monitoring) ListLookHours(ctx context.Context, after int64) (map[partner.ID][]cyber.LookHour, error) {
	for _, id := range s.looks.heldPartners() {
		err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return s.countLooks(ctx, tx, id) })
		if err != nil {
			return nil, err
		}
	}
	hours := map[partner.ID][]cyber.LookHour{}
	err := eachRow(ctx, s.readQuerier(), func(row scanner) error {
		var id partner.ID
		var h cyber.LookHour
		err := row.Scan(&id, &h.Hour, &h.Looks, &h.Hits)
		hours[id] = append(hours[id], h)
		return err
	}, `SELECT partner_id, hour, looks, hits FROM first_look_hour WHERE hour > $1 ORDER BY partner_id, hour`, after)
	return hours, err
}

// ForgetLookHours deletes old hours: see cyber.LookStore.
func (s Monitoring) ForgetLookHours(ctx context.Context, before int64) error {
	return s.execAlone(ctx, `DELETE FROM first_look_hour WHERE hour < $1`, before)
}

// checkLookBuckets looks at the MACs of all buckets, and for partners that have none.
func (s Upkeep) checkLookBuckets(ctx context.Context, look func(where string, forged bool)) error {
	if err := checkRows(ctx, s.readQuerier(), look, Monitoring(s).scanBucket,
		`SELECT `+bucketColumns+` FROM first_look ORDER BY partner_id`); err != nil {
		return err
	}
	// In two questions: Citus keeps partners on every node and buckets on one each, and answers no NOT EXISTS across
	// them.
	partners, err := collectValues[partner.ID](ctx, s.readQuerier(), `SELECT id FROM partner ORDER BY id`)
	if err != nil {
		return err
	}
	withBucket, err := collectValues[partner.ID](ctx, s.readQuerier(), `SELECT partner_id FROM first_look`)
	if err != nil {
		return err
	}
	for _, id := range partners {
		if !slices.Contains(withBucket, id) {
			look("first_look "+string(id), true)
		}
	}
	return nil
}
