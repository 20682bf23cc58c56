package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
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

// The states of a value's first look into past breaches.
const (
	lookDone    = int64(0)
	lookDue     = int64(1) // a worker has to probe it
	lookWaiting = int64(2) // for a token of the partner
)

// InsertAsset stores a new watched value: see cyber.MonitoringStore.
func (s Monitoring) InsertAsset(ctx context.Context, id partner.ID, a cyber.NewAsset, limit int) (added bool, err error) {
	sealed, err := s.sealAssetValue(id, a.Asset)
	if err != nil {
		return false, err
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if a.OwnCPF != "" {
			if err := s.linkPerson(ctx, tx, id, a.OwnCPF, a.Salt); err != nil {
				return err
			}
		}
		var look int64
		if added, look, err = s.insertAsset(ctx, tx, id, a, sealed, limit); err != nil {
			return err
		}
		switch {
		case a.HasToken && !added: // the value had its first look before
			tx.AfterCommit(func() { s.looks.addTokens(id, 1) })
		case a.HasToken && look == lookDone:
			tx.AfterCommit(func() {
				s.looks.changeHeld(id, func(l *heldLook) { l.looks, l.hits = l.looks+1, l.hits+int64(min(len(a.Seen.Breaches), 1)) })
			})
		}
		if !added || len(a.Seen.Breaches) == 0 {
			return nil
		}
		return s.addFindings(ctx, tx, id, mapToList(a.Seen.Breaches, func(b cyber.Seen) leak.Hit { return leak.Hit{Asset: a.ID, Seen: b} }))
	})
	return added, err
}

// insertAsset stores one value unless the person has it already, under either digest. It refuses a person who has limit
// values, and returns which first look the value needs.
func (s Monitoring) insertAsset(ctx context.Context, tx *sqldb.Tx, id partner.ID, a cyber.NewAsset, sealed []byte, limit int) (added bool, look int64, err error) {
	u, err := s.findAndNameUser(ctx, tx, id, a.User)
	if err != nil {
		return false, 0, err
	}
	index := s.valueIndex(id, a.Kind, a.Normal)
	// The limit is a quota: two requests at the same instant may pass it by one. Duplicates are what the constraint forbids.
	var duplicates, all int64
	err = readColumns(ctx, tx, []any{&duplicates, &all}, `SELECT count(*) FILTER (WHERE kind = $4 AND value_index = $5), count(*)
		FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3)`, id, u.write, u.other, a.Kind, index)
	if err != nil || duplicates > 0 {
		return false, 0, err
	}
	if all >= int64(limit) {
		return false, 0, cyber.ErrAssetLimit.With("userHash", fault.ValuesOfPerson, limit)
	}
	fingerprint, look, err := s.decideFirstLook(ctx, tx, id, a)
	if err != nil {
		return false, 0, err
	}
	n, err := execCounting(ctx, tx, `INSERT INTO asset
		(id, partner_id, user_index, kind, value_index, fingerprint, look, value, status, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (partner_id, user_index, kind, value_index) DO NOTHING`,
		a.ID, id, u.write, a.Kind, index, fingerprint, look, sealed, cyber.StatusMonitored, a.AddedAt)
	return n == 1, look, err
}

// decideFirstLook returns what to keep for matching, and the state of the value's first look. A value whose sighting is older
// than the corpora is due: a worker probes it again. A breach that is published while this transaction runs is found by
// its match: see leak.Matcher.
func (s Monitoring) decideFirstLook(ctx context.Context, q querier, id partner.ID, a cyber.NewAsset) (fingerprint sql.NullInt64, look int64, err error) {
	if !a.Matched {
		return fingerprint, lookDone, nil
	}
	fingerprint = sql.NullInt64{Int64: s.veilFingerprint(id, a.Fingerprint), Valid: true}
	if a.Paced && !a.HasToken {
		return fingerprint, lookWaiting, nil
	}
	epoch, err := corporaEpoch(ctx, q)
	if a.Seen.Epoch < epoch {
		look = lookDue
	}
	return fingerprint, look, err
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
		if err := row_.Scan(&r.ID, &r.Kind, &index, &sealed, &r.Status, &r.AddedAt, &look); err != nil {
			return err
		}
		r.twin, r.Waits = string(index), look == lookWaiting
		return s.openAssetValue(&r.Asset, sealed)
	}, `SELECT id, kind, value_index, value, status, created_at, look FROM asset
		WHERE partner_id = $1 AND user_index IN ($2, $3) ORDER BY created_at, id`, id, u.write, u.other)
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

// DeleteAsset erases a value of one of the kinds, its findings and its history; what was added under the person's other
// digest goes with it.
func (s Monitoring) DeleteAsset(ctx context.Context, id partner.ID, hash partner.UserHash, asset cyber.AssetID, kinds []identifier.Kind) error {
	return s.runAsUser(ctx, id, hash, func(tx *sqldb.Tx, u user) error {
		var kind identifier.Kind
		var index []byte
		err := readColumns(ctx, tx, []any{&kind, &index}, `SELECT kind, value_index FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3) AND id = $4`,
			id, u.write, u.other, asset)
		if errors.Is(err, sql.ErrNoRows) || err == nil && !slices.Contains(kinds, kind) {
			return cyber.ErrAssetNotFound
		}
		if err != nil {
			return err
		}
		return execExpecting(ctx, tx, cyber.ErrAssetNotFound, `DELETE FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3) AND kind = $4 AND value_index = $5`,
			id, u.write, u.other, kind, index)
	})
}

// EnrolledValues returns what a person's subscriptions in force name: see cyber.MonitoringStore.
func (s Monitoring) EnrolledValues(ctx context.Context, id partner.ID, hash partner.UserHash) ([]cyber.EnrolledValue, error) {
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
		values = append(values, cyber.EnrolledValue{Kind: identifier.Email, Value: b.Email}, cyber.EnrolledValue{Kind: identifier.Phone, Value: b.Phone},
			cyber.EnrolledValue{Kind: identifier.CPF, Value: b.CPF}, cyber.EnrolledValue{Kind: identifier.Card, Value: b.PrimaryCard},
			cyber.EnrolledValue{Kind: identifier.Card, Value: b.UserCard})
	}
	return values, nil
}

// TakeGuesses counts questions about values: see cyber.MonitoringStore. A row belongs to no partner and no person; it goes
// with its day.
func (s Monitoring) TakeGuesses(ctx context.Context, fingerprints []uint64, limit int64) (allowed []uint64, err error) {
	today := partner.DayNumber(s.now())
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		allowed = nil
		if err := execStatement(ctx, tx, `DELETE FROM credential_guess WHERE day < $1`, today); err != nil {
			return err
		}
		// In one order, so that two requests about the same values do not wait for each other.
		for _, f := range slices.Compact(slices.Sorted(slices.Values(fingerprints))) {
			n, err := execCounting(ctx, tx, `INSERT INTO credential_guess (day, value, asked) VALUES ($1, $2, 1)
				ON CONFLICT (day, value) DO UPDATE SET asked = credential_guess.asked + 1 WHERE credential_guess.asked < $3`,
				today, s.keys.BlindIndex("guess", "", binary.BigEndian.AppendUint64(nil, f)), limit)
			if err != nil {
				return err
			}
			if n == 1 {
				allowed = append(allowed, f)
			}
		}
		return nil
	})
	return allowed, err
}

var _ cyber.LookStore = Monitoring{}

// heldLooks are tokens for first looks that this process took from the database and has not used yet, and first looks
// that it has not counted there yet. A request for a new value then costs no statement, and the row of a busy partner is
// not locked by each of them. What a process holds when it ends is lost to the partner.
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

// changeHeld changes what is held of a partner.
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

// dryTime is how long a process does not ask for tokens after there were none. Values that are added meanwhile wait, and
// a worker looks after those every second.
const dryTime = 5 * time.Second

// TakeLookToken takes a token: see cyber.MonitoringStore. It takes none while older values wait.
func (s Monitoring) TakeLookToken(ctx context.Context, id partner.ID, perHour int64) (bool, error) {
	now := s.now()
	var taken, ask bool
	s.looks.changeHeld(id, func(l *heldLook) {
		if taken, ask = l.tokens > 0, !now.Before(l.dryUntil); taken {
			l.tokens--
		}
	})
	if taken || !ask {
		return taken, nil
	}
	err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		b, err := s.lockBucket(ctx, tx, id)
		if err != nil {
			return err
		}
		waiting, err := readValue[bool](ctx, tx, `SELECT EXISTS (SELECT 1 FROM asset WHERE partner_id = $1 AND look = 2)`, id)
		if err != nil {
			return err
		}
		b.RefillTokens(now, perHour)
		if waiting || b.Left() == 0 {
			taken = false
			s.looks.changeHeld(id, func(l *heldLook) { l.dryUntil = now.Add(dryTime) })
			return nil
		}
		lot := b.TakeTokens(tokensAtOnce(b.Left()))
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

// bucketColumns are those that scanning a partner's bucket of first looks expects, in its order.
const bucketColumns = `tokens, granted, refilled_at, subscriptions, stopped_at, stopped_for, seen, usual, judged_from`

// scanBucket reads the row of a partner's first looks: the tokens, and why they were stopped, if they were.
func scanBucket(row scanner, b *cyber.LookBucket) error {
	return row.Scan(&b.Tokens, &b.Granted, &b.RefilledAt, &b.Subscriptions, &b.Stop.At, &b.Stop.What, &b.Stop.Seen, &b.Stop.Usual, &b.JudgedFrom)
}

// lockBucket returns a partner's bucket, locked until the transaction ends. The first who asks makes it.
func (s Monitoring) lockBucket(ctx context.Context, tx *sqldb.Tx, id partner.ID) (cyber.LookBucket, error) {
	full := cyber.NewLookBucket(s.now())
	return readRow(ctx, tx, scanBucket, nil, `INSERT INTO first_look
		(partner_id, tokens, granted, refilled_at, subscriptions, counted_at, stopped_at, stopped_for, seen, usual, judged_from)
		VALUES ($1, $2, 0, $3, 0, 0, 0, '', 0, 0, 0)
		ON CONFLICT (partner_id) DO UPDATE SET tokens = first_look.tokens RETURNING `+bucketColumns, id, full.Tokens, full.RefilledAt)
}

// keepBucket stores the tokens. It leaves a stop alone: only a judgement or an operator changes that.
func (s Monitoring) keepBucket(ctx context.Context, tx *sqldb.Tx, id partner.ID, b cyber.LookBucket) error {
	return execStatement(ctx, tx, `UPDATE first_look SET tokens = $2, granted = $3, refilled_at = $4 WHERE partner_id = $1`,
		id, b.Tokens, b.Granted, b.RefilledAt)
}

// countLooks writes down the first looks that were counted in this process.
func (s Monitoring) countLooks(ctx context.Context, tx *sqldb.Tx, id partner.ID) error {
	var held heldLook
	s.looks.changeHeld(id, func(l *heldLook) { held = *l })
	if held.looks == 0 {
		return nil
	}
	tx.AfterCommit(func() {
		s.looks.changeHeld(id, func(l *heldLook) { l.looks, l.hits = l.looks-held.looks, l.hits-held.hits })
	})
	return s.addLookHour(ctx, tx, id, cyber.LookHour{Looks: held.looks, Hits: held.hits})
}

// addLookHour adds to the counts of the current hour, which the judgement of unusual use is based on.
func (s Monitoring) addLookHour(ctx context.Context, tx *sqldb.Tx, id partner.ID, h cyber.LookHour) error {
	return execStatement(ctx, tx, `INSERT INTO first_look_hour (partner_id, hour, looks, hits, granted) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (partner_id, hour) DO UPDATE SET looks = first_look_hour.looks + excluded.looks, hits = first_look_hour.hits + excluded.hits,
			granted = first_look_hour.granted + excluded.granted`, id, cyber.HourNumber(s.now()), h.Looks, h.Hits, h.Granted)
}

// LookBucket returns a partner's bucket with what this process holds of it: see cyber.LookStore.
func (s Monitoring) LookBucket(ctx context.Context, id partner.ID) (cyber.LookBucket, error) {
	b, err := readRow(ctx, s.readQuerier(), scanBucket, sql.ErrNoRows, `SELECT `+bucketColumns+` FROM first_look WHERE partner_id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		return cyber.NewLookBucket(s.now()), nil
	}
	s.looks.changeHeld(id, func(l *heldLook) { b.Tokens += l.tokens })
	return b, err
}

// WaitingLooks returns how many values wait: see cyber.LookStore.
func (s Monitoring) WaitingLooks(ctx context.Context, id partner.ID, from, to time.Time) (n int64, err error) {
	first, last := timeWindow(from, to)
	return readValue[int64](ctx, s.readQuerier(), `SELECT count(*) FROM asset WHERE partner_id = $1 AND look = 2 AND created_at >= $2 AND created_at <= $3`,
		id, first, last)
}

// GrantLooks adds tokens: see cyber.LookStore.
func (s Monitoring) GrantLooks(ctx context.Context, id partner.ID, count int64) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		b, err := s.lockBucket(ctx, tx, id)
		if err != nil {
			return err
		}
		b.Granted += count
		if err := s.keepBucket(ctx, tx, id, b); err != nil {
			return err
		}
		return s.addLookHour(ctx, tx, id, cyber.LookHour{Granted: count})
	})
}

// WaitingPartners returns the partners with waiting values. It asks for one after the other, which costs less than to
// read all values.
func (s Monitoring) WaitingPartners(ctx context.Context) ([]partner.ID, error) {
	var ids []partner.ID
	for last := partner.ID(""); ; {
		next, err := readValue[partner.ID](ctx, s.readQuerier(), `SELECT min(partner_id) FROM asset WHERE look = 2 AND partner_id > $1`, last)
		if err != nil || next == "" {
			return ids, err
		}
		ids, last = append(ids, next), next
	}
}

// StartLooks makes first looks due for which there are tokens: see cyber.LookStore.
func (s Monitoring) StartLooks(ctx context.Context, id partner.ID, perHour, limit int64) (started int64, err error) {
	b, err := s.LookBucket(ctx, id)
	if err != nil {
		return 0, err
	}
	if b.RefillTokens(s.now(), perHour); b.Left() == 0 {
		return 0, nil // without a write, because this is asked every second
	}
	held := s.looks.emptyTokens(id) // they go back to the bucket, or to this process when the transaction failed
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		b, err := s.lockBucket(ctx, tx, id)
		if err != nil {
			return err
		}
		b.RefillTokens(s.now(), perHour)
		b.Tokens += held
		oldest, err := collectValues[cyber.AssetID](ctx, tx, `SELECT id FROM asset WHERE partner_id = $1 AND look = 2 ORDER BY created_at, id LIMIT $2`, id, min(limit, b.Left()))
		if err != nil {
			return err
		}
		if started = b.TakeTokens(int64(len(oldest))); started > 0 {
			args := []any{id, lookDue}
			if err := execStatement(ctx, tx, `UPDATE asset SET look = $2 WHERE partner_id = $1 AND id IN (`+appendMarks(&args, oldest)+`)`, args...); err != nil {
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

// SettleLooks keeps what the first looks of some values of a partner saw: see leak.Store.
func (s Breaches) SettleLooks(ctx context.Context, id partner.ID, epoch int64, looked []cyber.AssetID, hits []leak.Hit) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := Monitoring(s).addFindings(ctx, tx, id, hits); err != nil {
			return err
		}
		args := []any{id, lookDone, epoch, lookDue}
		done, err := collectValues[cyber.AssetID](ctx, tx, `UPDATE asset SET look = $2 WHERE partner_id = $1 AND look = $4 AND id IN (`+appendMarks(&args, looked)+`)
			AND EXISTS (SELECT 1 FROM epoch WHERE name = 'corpora' AND value <= $3) RETURNING id`, args...)
		if err != nil {
			return err
		}
		if len(done) == 0 { // another worker was faster, or the corpora have changed
			return nil
		}
		h := cyber.LookHour{Looks: int64(len(done))}
		for _, asset := range done {
			if slices.ContainsFunc(hits, func(hit leak.Hit) bool { return hit.Asset == asset }) {
				h.Hits++
			}
		}
		return Monitoring(s).addLookHour(ctx, tx, id, h)
	})
}

// countEvery is how often the subscriptions that give tokens are counted.
const countEvery = 24 * time.Hour

// CountSubscriptions counts those that give tokens: see cyber.LookStore.
func (s Monitoring) CountSubscriptions(ctx context.Context, id partner.ID) error {
	now := s.now()
	counted, err := readValue[time.Time](ctx, s.readQuerier(), `SELECT coalesce((SELECT counted_at FROM first_look WHERE partner_id = $1), 0)`, id)
	if err != nil || counted.Add(countEvery).After(now) {
		return err
	}
	since := now.Add(-cyber.LookSubscriptionAge)
	n, err := readValue[int64](ctx, s.listQuerier(), `SELECT count(*) FROM subscription WHERE partner_id = $1 AND ended_at = 0 AND suspended_at = 0
		AND created_at <= $2 AND start_day <= $3 AND (expiry_day = 0 OR expiry_day >= $4)`,
		id, since, subscription.DayInBrazil(since), subscription.DayInBrazil(now))
	if err != nil {
		return err
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if _, err := s.lockBucket(ctx, tx, id); err != nil {
			return err
		}
		return execStatement(ctx, tx, `UPDATE first_look SET subscriptions = $2, counted_at = $3 WHERE partner_id = $1`, id, n, now)
	})
}

// ListLookHours returns what the first looks of all partners came to: see cyber.LookStore. The operator's question: it names
// no partner.
func (s Monitoring) ListLookHours(ctx context.Context, after int64) (map[partner.ID][]cyber.LookHour, error) {
	for _, id := range s.looks.heldPartners() {
		if err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return s.countLooks(ctx, tx, id) }); err != nil {
			return nil, err
		}
	}
	hours := map[partner.ID][]cyber.LookHour{}
	err := eachRow(ctx, s.readQuerier(), func(row scanner) error {
		var id partner.ID
		var h cyber.LookHour
		err := row.Scan(&id, &h.Hour, &h.Looks, &h.Hits, &h.Granted)
		hours[id] = append(hours[id], h)
		return err
	}, `SELECT partner_id, hour, looks, hits, granted FROM first_look_hour WHERE hour > $1 ORDER BY partner_id, hour`, after)
	return hours, err
}

// ForgetLookHours deletes old hours: see cyber.LookStore.
func (s Monitoring) ForgetLookHours(ctx context.Context, before int64) error {
	return s.execAlone(ctx, `DELETE FROM first_look_hour WHERE hour < $1`, before)
}

// StopFirstLooks stops a partner's first looks: see cyber.LookStore.
func (s Monitoring) StopFirstLooks(ctx context.Context, id partner.ID, stop cyber.LookStop) (stopped bool, err error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (stopped bool, err error) {
		n, err := execCounting(ctx, tx, `UPDATE first_look SET stopped_at = $2, stopped_for = $3, seen = $4, usual = $5
			WHERE partner_id = $1 AND stopped_at = 0`, id, stop.At, stop.What, stop.Seen, stop.Usual)
		if stopped = n == 1; err != nil || !stopped {
			return stopped, err
		}
		tx.AfterCommit(func() { s.looks.emptyTokens(id) })
		if err := s.addLookEvent(ctx, tx, id, alert.LooksStopped); err != nil {
			return stopped, err
		}
		_, err = Audit{s.withTransaction(tx)}.AppendAudit(ctx, operator.Entry{
			At: stop.At, Actor: operator.Actor{Name: operator.TheService}, Action: "first_looks.stop", Subject: string(id),
			Detail: string(stop.What) + " " + strconv.FormatInt(stop.Seen, 10) + ", usual up to " + strconv.FormatInt(stop.Usual, 10),
		})
		return stopped, err
	})
}

// ReleaseLooks lets first looks go on: see cyber.LookStore.
func (s Monitoring) ReleaseLooks(ctx context.Context, id partner.ID) (released bool, err error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (released bool, err error) {
		n, err := execCounting(ctx, tx, `UPDATE first_look SET stopped_at = 0, stopped_for = '', seen = 0, usual = 0, judged_from = $2
			WHERE partner_id = $1 AND stopped_at <> 0`, id, cyber.HourNumber(s.now())+1)
		if released = n == 1; err != nil || !released {
			return released, err
		}
		return released, s.addLookEvent(ctx, tx, id, alert.LooksRunning)
	})
}

// addLookEvent tells a partner that its first looks were stopped, or go on.
func (s Monitoring) addLookEvent(ctx context.Context, tx *sqldb.Tx, id partner.ID, state alert.LookState) error {
	return Alerts(s).addPartnerEvents(ctx, tx, id, alert.LooksChange(id, state, s.now()))
}

// StoppedLooks returns the partners whose first looks are stopped. The operator's question: it names no partner.
func (s Monitoring) StoppedLooks(ctx context.Context) (map[partner.ID]cyber.LookStop, error) {
	stops := map[partner.ID]cyber.LookStop{}
	err := eachRow(ctx, s.readQuerier(), func(row scanner) error {
		var id partner.ID
		var stop cyber.LookStop
		err := row.Scan(&id, &stop.At, &stop.What, &stop.Seen, &stop.Usual)
		stops[id] = stop
		return err
	}, `SELECT partner_id, stopped_at, stopped_for, seen, usual FROM first_look WHERE stopped_at <> 0`)
	return stops, err
}
