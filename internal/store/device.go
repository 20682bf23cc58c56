package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

var _ cyber.DeviceStore = Devices{}

// keptDevice is what the sealed column holds.
type keptDevice struct {
	User string `json:"user"`
	Name string `json:"name"`
	Key  string `json:"key"`
}

// devicePlace binds a key's sealed details to the partner and the key.
func devicePlace(id partner.ID, key cyber.KeyID) seal.Place {
	return seal.Place{Table: "epp_key", Column: "details", Partner: string(id), Row: string(key)}
}

// activationKeyIndex returns the keyed index of an activation key; it is the same for all partners, as no key is issued
// twice.
func (s Devices) activationKeyIndex(text string) []byte {
	return s.keys.BlindIndex("epp.key", "", []byte(text))
}

// deviceIndex returns the blind index by which a device is found by name; the name itself is stored only sealed.
func (s Devices) deviceIndex(id partner.ID, name string) []byte {
	return s.keys.BlindIndex("epp.device", string(id), []byte(name))
}

// deviceColumns are those that scanDevice expects, in its order.
const deviceColumns = `id, partner_id, system, details, plan_id, issued_at, valid_until, activated_at, seen_at,
	ended_at, end_reason`

// scanDevice reads deviceColumns and unseals the user, the device's name and the key.
func (s Devices) scanDevice(row scanner, d *cyber.Device) error {
	var kept keptDevice
	err := row.Scan(
		&d.ID,
		&d.Partner,
		&d.System,
		s.unseals(&kept, func() seal.Place { return devicePlace(d.Partner, d.ID) }),
		&d.Plan,
		&d.IssuedAt,
		&d.ValidUntil,
		&d.ActivatedAt,
		&d.SeenAt,
		&d.EndedAt,
		&d.EndReason,
	)
	d.User, d.Name, d.Key = partner.UserHash(kept.User), kept.Name, kept.Key
	return err
}

// IssueKey returns the live key of a device or keeps a new one: see cyber.DeviceStore.
func (s Devices) IssueKey(
	ctx context.Context,
	id partner.ID,
	r cyber.DeviceRequest,
	decide func(cyber.Holding) (cyber.NewKey, error),
) (cyber.Device, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (d cyber.Device, err error) {
		u, err := s.findAndNameUser(ctx, tx, id, r.User)
		if err == nil {
			err = lockHolder(ctx, tx, id, u)
		}
		if err == nil {
			err = s.endExpired(ctx, tx, id, u)
		}
		if err != nil {
			return d, err
		}
		if d, err = s.deviceNamed(ctx, tx, id, u, r.System, r.Name); !errors.Is(err, cyber.ErrDeviceUnknown) {
			return d, err
		}
		h, err := s.countHolding(ctx, tx, id, u, r.System)
		if err != nil {
			return d, err
		}
		next, err := decide(h)
		if err != nil {
			return d, err
		}
		d = cyber.Device{
			ID:         next.ID,
			Partner:    id,
			User:       r.User,
			System:     r.System,
			Name:       r.Name,
			Key:        next.Generated,
			IssuedAt:   next.IssuedAt,
			ValidUntil: next.ValidUntil,
			Plan:       next.Plan,
		}
		err = s.insertDevice(ctx, tx, u, &d, r, h.Pooled)
		return d, err
	})
}

// lockHolder makes the decisions about one person's keys take turns.
func lockHolder(ctx context.Context, tx *sqldb.Tx, id partner.ID, u user) error {
	return execStatement(ctx, tx, `INSERT INTO epp_holder (partner_id, user_index, issued) VALUES ($1, $2, 1)
		ON CONFLICT (partner_id, user_index) DO UPDATE SET issued = epp_holder.issued + 1`,
		id,
		u.write,
	)
}

// deviceNamed returns the person's device that has a key which did not end, by system and name.
func (s Devices) deviceNamed(
	ctx context.Context,
	q querier,
	id partner.ID,
	u user,
	system cyber.System,
	name string,
) (cyber.Device, error) {
	return s.findDevice(
		ctx,
		q,
		`partner_id = $1 AND user_index IN ($2, $3) AND system = $4 AND device_index = $5 AND ended_at = 0`,
		id,
		u.write,
		u.other,
		system,
		s.deviceIndex(id, name),
	)
}

// findDevice returns the one key that fits.
func (s Devices) findDevice(ctx context.Context, q querier, where string, args ...any) (cyber.Device, error) {
	return readRow(
		ctx,
		q,
		s.scanDevice,
		cyber.ErrDeviceUnknown,
		`SELECT `+deviceColumns+` FROM epp_key WHERE `+where,
		args...,
	)
}

// countHolding counts a person's live keys and finds their plans.
func (s Devices) countHolding(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	u user,
	system cyber.System,
) (cyber.Holding, error) {
	pooled, err := usesKeyPool(ctx, tx, id, system)
	if err != nil {
		return cyber.Holding{}, err
	}
	live, err := readValue[int](
		ctx,
		tx,
		`SELECT count(*) FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3) AND ended_at = 0`,
		id,
		u.write,
		u.other,
	)
	if err != nil {
		return cyber.Holding{}, err
	}
	e, err := Cover(s).readEntitled(ctx, tx, id, u)
	return cyber.NewHolding(live, e, pooled), err
}

// insertDevice gives a device its key, from the pool where the system has one, and keeps it.
func (s Devices) insertDevice(
	ctx context.Context,
	tx *sqldb.Tx,
	u user,
	d *cyber.Device,
	r cyber.DeviceRequest,
	pooled bool,
) error {
	if pooled && r.Mode != "" {
		if err := s.takeFromShare(ctx, tx, d.Partner, r); err != nil {
			return err
		}
	}
	if pooled {
		k, err := s.takeFromPool(ctx, tx, *d)
		if err != nil {
			return err
		}
		d.Key, d.ValidUntil = k.Key, k.EndsAt(d.ValidUntil)
	}
	sealed, err := s.sealValue(devicePlace(d.Partner, d.ID), keptDevice{User: string(d.User), Name: d.Name, Key: d.Key})
	if err != nil {
		return err
	}
	return execStatement(
		ctx,
		tx,
		`INSERT INTO epp_key (id, partner_id, user_index, system, device_index, key_index, details, plan_id,
		issued_at, valid_until, ended_at, end_reason, next_warning)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, '', $11)`,
		d.ID,
		d.Partner,
		u.write,
		d.System,
		s.deviceIndex(d.Partner, d.Name),
		s.activationKeyIndex(d.Key),
		sealed,
		d.Plan,
		d.IssuedAt,
		d.ValidUntil,
		cyber.NextNotice(d.IssuedAt, d.ValidUntil),
	)
}

// ListDevices returns a person's live devices, newest first.
func (s Devices) ListDevices(ctx context.Context, id partner.ID, sent partner.UserHash) ([]cyber.Device, error) {
	return collectOfUser(
		ctx,
		s.core,
		id,
		sent,
		s.scanDevice,
		`SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3)
		AND ended_at = 0 AND valid_until > $4 ORDER BY issued_at DESC, id DESC`,
		s.now(),
	)
}

// PartnerDevices returns a partner's newest live devices.
func (s Devices) PartnerDevices(ctx context.Context, id partner.ID, limit int) ([]cyber.Device, error) {
	return collectRows(
		ctx,
		s.listQuerier(),
		s.scanDevice,
		`SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND ended_at = 0
		AND valid_until > $2 ORDER BY issued_at DESC, id DESC LIMIT $3`,
		id,
		s.now(),
		limit,
	)
}

// DeviceByID returns one key, ended ones too. The operator's question: it names no partner.
func (s Devices) DeviceByID(ctx context.Context, key cyber.KeyID) (cyber.Device, error) {
	return s.findDevice(ctx, s.readQuerier(), `id = $1`, key)
}

// DeviceByKey returns the device that a key was issued for.
func (s Devices) DeviceByKey(ctx context.Context, text string) (cyber.Device, error) {
	return s.findDevice(ctx, s.readQuerier(), `key_index = $1`, s.activationKeyIndex(text))
}

// FindOwnDevice finds a partner's key by its id or by the activation key: see cyber.LifeStore.
func (s Devices) FindOwnDevice(ctx context.Context, id partner.ID, named string) (cyber.Device, error) {
	if strings.HasPrefix(named, "ek_") {
		return s.findDevice(ctx, s.readQuerier(), `partner_id = $1 AND id = $2`, id, named)
	}
	return s.findDevice(ctx, s.readQuerier(), `partner_id = $1 AND key_index = $2`, id, s.activationKeyIndex(named))
}

// NoteReport stores that a device reported, and tells when it did so for the first time: see cyber.LifeStore.
func (s Devices) NoteReport(ctx context.Context, id partner.ID, key cyber.KeyID,
	decide func(d cyber.Device, now time.Time) (cyber.Device, bool),
) (cyber.Device, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (d cyber.Device, err error) {
		now := s.now()
		before, err := s.lockLiveKey(ctx, tx, id, key, now)
		if err != nil {
			return d, err
		}
		var changed bool
		if d, changed = decide(before, now); !changed {
			return d, nil
		}
		if err := execStatement(
			ctx,
			tx,
			`UPDATE epp_key SET activated_at = $3, seen_at = $4 WHERE partner_id = $1 AND id = $2`,
			id,
			key,
			d.ActivatedAt,
			d.SeenAt,
		); err != nil {
			return d, err
		}
		if !before.ActivatedAt.IsZero() {
			return d, nil
		}
		return d, Alerts(s).addPartnerEvents(ctx, tx, id, alert.KeyActivates(d))
	})
}

// lockLiveKey locks a live key until the transaction ends and returns it.
func (s Devices) lockLiveKey(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	key cyber.KeyID,
	now time.Time,
) (cyber.Device, error) {
	d, err := readRow(
		ctx,
		tx,
		s.scanDevice,
		cyber.ErrDeviceEnded.With("key", fault.HasEndedAlready),
		`UPDATE epp_key SET ended_at = 0
		WHERE partner_id = $1 AND id = $2 AND ended_at = 0 AND valid_until > $3 RETURNING `+deviceColumns,
		id,
		key,
		now,
	)
	if errors.Is(err, cyber.ErrDeviceEnded) {
		if _, missing := s.findDevice(ctx, tx, `partner_id = $1 AND id = $2`, id, key); missing != nil {
			err = missing
		}
	}
	return d, err
}

// EndOwnKey ends a live key and tells of it.
func (s Devices) EndOwnKey(
	ctx context.Context,
	id partner.ID,
	key cyber.KeyID,
	reason cyber.EndReason,
) (cyber.Device, error) {
	return runReturning(
		ctx,
		s.core,
		func(tx *sqldb.Tx) (cyber.Device, error) { return s.endLiveKey(ctx, tx, id, key, reason, "") },
	)
}

// endLiveKey ends a live key in the transaction of the caller.
func (s Devices) endLiveKey(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	key cyber.KeyID,
	reason cyber.EndReason,
	movedTo cyber.KeyID,
) (cyber.Device, error) {
	now := s.now()
	d, err := s.lockLiveKey(ctx, tx, id, key, now)
	if err != nil {
		return d, err
	}
	d.EndedAt, d.EndReason = now, reason
	return d, s.endKeysOfPartner(ctx, tx, id, []cyber.Device{d}, movedTo)
}

// endKeysOfPartner stores when and why keys of one partner ended, and tells of each; movedTo is the key that took the
// place of the only one.
func (s Devices) endKeysOfPartner(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	keys []cyber.Device,
	movedTo cyber.KeyID,
) error {
	events := make([]alert.Event, len(keys))
	for i, d := range keys {
		if err := execStatement(
			ctx,
			tx,
			`UPDATE epp_key SET ended_at = $3, end_reason = $4, next_warning = 0 WHERE partner_id = $1 AND id = $2`,
			id,
			d.ID,
			d.EndedAt,
			d.EndReason,
		); err != nil {
			return err
		}
		if d.EndReason == cyber.EndRevoked && d.ActivatedAt.IsZero() {
			if err := s.returnKeyToPool(ctx, tx, d); err != nil {
				return err
			}
		}
		events[i] = alert.NewKeyEndEvent(d, s.now(), movedTo)
	}
	return Alerts(s).addPartnerEvents(ctx, tx, id, events...)
}

// endExpired makes room in the unique index for keys that follow others.
func (s Devices) endExpired(ctx context.Context, tx *sqldb.Tx, id partner.ID, u user) error {
	over, err := collectRows(ctx, tx, s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key
		WHERE partner_id = $1 AND user_index IN ($2, $3) AND ended_at = 0 AND valid_until <= $4 ORDER BY id`,
		id,
		u.write,
		u.other,
		s.now(),
	)
	if err != nil {
		return err
	}
	return s.endKeysOfPartner(ctx, tx, id, markExpired(over), "")
}

// markExpired are keys as they are after their time.
func markExpired(keys []cyber.Device) []cyber.Device {
	for i := range keys {
		keys[i].EndedAt, keys[i].EndReason = keys[i].ValidUntil, cyber.EndExpired
	}
	return keys
}

// MoveDevice ends a live key and issues another for the same person: see cyber.LifeStore.
func (s Devices) MoveDevice(
	ctx context.Context,
	id partner.ID,
	key cyber.KeyID,
	r cyber.DeviceRequest,
	next cyber.NewKey,
) (cyber.Device, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (d cyber.Device, err error) {
		old, err := s.findDevice(ctx, tx, `partner_id = $1 AND id = $2`, id, key)
		if err != nil {
			return d, err
		}
		u, err := s.keepUser(ctx, tx, id, old.User)
		if err == nil { // the holder first, as everybody does who issues
			err = lockHolder(ctx, tx, id, u)
		}
		if err == nil {
			old, err = s.endLiveKey(ctx, tx, id, key, cyber.EndMoved, next.ID)
		}
		if err == nil {
			err = s.endExpired(ctx, tx, id, u)
		}
		if err != nil {
			return d, err
		}
		if _, err = s.deviceNamed(ctx, tx, id, u, r.System, r.Name); !errors.Is(err, cyber.ErrDeviceUnknown) {
			if err == nil {
				err = cyber.ErrDeviceTaken.With("deviceName", fault.HasALiveKey)
			}
			return d, err
		}
		d = cyber.Device{
			ID:         next.ID,
			Partner:    id,
			User:       old.User,
			System:     r.System,
			Name:       r.Name,
			Key:        next.Generated,
			IssuedAt:   next.IssuedAt,
			ValidUntil: old.ValidUntil,
			Plan:       old.Plan,
		}
		pooled, err := usesKeyPool(ctx, tx, id, r.System)
		if err == nil {
			err = s.insertDevice(ctx, tx, u, &d, r, pooled)
		}
		return d, err
	})
}

// EndUnsubscribed ends the keys that were to end with the last subscription of their plan, and tells of each. It looks
// outside of transactions, a page at a time, and ends what it found in those of a few keys of one partner.
func (s Devices) EndUnsubscribed(ctx context.Context) (int, error) {
	const alone = ` AND ended_at = 0 AND plan_id <> '' AND NOT EXISTS (
		SELECT 1 FROM person r JOIN subscription b ON b.partner_id = r.partner_id AND b.cpf = r.cpf
		WHERE r.partner_id = epp_key.partner_id AND (r.user_512 = epp_key.user_index OR r.user_256 = epp_key.user_index)
			AND b.plan_id = epp_key.plan_id AND b.ended_at = 0 AND (b.expiry_day = 0 OR b.expiry_day >= $3))`
	today, total := int64(subscription.DayInBrazil(s.now())), 0
	for after, last := partner.ID(""), cyber.KeyID(""); ; {
		keys, err := collectOwned[cyber.KeyID](
			ctx,
			s.readQuerier(),
			`SELECT partner_id, id FROM epp_key WHERE (partner_id, id) > ($1, $2)`+alone+`
			ORDER BY partner_id, id LIMIT $4`,
			after,
			last,
			today,
			noticeBatch,
		)
		if err != nil {
			return total, err
		}
		for id, own := range groupByPartner(keys) {
			err := inEventParts(ctx, s.core, id, own, func(tx *sqldb.Tx, part []cyber.KeyID) error {
				args := []any{id, "", today} // the place of an id in the query above
				ended, err := collectRows(
					ctx,
					tx,
					s.scanDevice,
					`SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND id > $2`+alone+`
					AND id `+inList(tx.EngineName(), &args, part)+` ORDER BY id`+s.db.SkipLocked(),
					args...,
				)
				if err != nil {
					return err
				}
				for i := range ended {
					ended[i].EndedAt, ended[i].EndReason = s.now(), cyber.EndSubscription
				}
				tx.AfterCommit(func() { total += len(ended) })
				return s.endKeysOfPartner(ctx, tx, id, ended, "")
			})
			if err != nil {
				return total, err
			}
		}
		if len(keys) < noticeBatch {
			return total, nil
		}
		after, last = keys[len(keys)-1].partner, keys[len(keys)-1].id
	}
}

// installLink is where the program of a system is installed from.
type installLink struct {
	system cyber.System
	link   string
}

// installColumns are those that scanInstall expects, in its order.
const installColumns = `system, link, mac`

// scanInstall reads an install link and checks its MAC: people follow the link and run what it downloads.
func (c core) scanInstall(row scanner, into *checked[installLink]) error {
	l := &into.value
	err := row.Scan(
		&l.system,
		&l.link,
		c.checksMAC(&into.forged, "epp_install", func() *grant { return installGrant(l.system, l.link) }),
	)
	into.row = "epp_install " + string(l.system)
	return err
}

// InstallLinks returns where the program of each system is installed from; there is none where the row is forged.
func (s Devices) InstallLinks(ctx context.Context) (map[cyber.System]string, error) {
	rows, err := collectGenuine(ctx, s.readQuerier(), s.scanInstall, `SELECT `+installColumns+` FROM epp_install`)
	links := map[cyber.System]string{}
	for _, r := range rows {
		links[r.system] = r.link
	}
	return links, err
}

// SetInstallLink changes where the program of a system is installed from: see cyber.LifeStore.
func (s Devices) SetInstallLink(ctx context.Context, system cyber.System, link string) error {
	if link == "" {
		return s.execAlone(ctx, `DELETE FROM epp_install WHERE system = $1`, system)
	}
	return s.execAlone(
		ctx,
		`INSERT INTO epp_install (system, link, mac) VALUES ($1, $2, $3) ON CONFLICT (system)
		DO UPDATE SET link = excluded.link,
		mac = excluded.mac`,
		system,
		link,
		s.grantMAC("epp_install", installGrant(system, link)),
	)
}

// noticeBatch is how many keys or findings are looked at in one statement.
const noticeBatch = 200

// GiveNotices writes an event for each key whose notice is due: see cyber.LifeStore. A few of a partner's notices and
// their events are one transaction, and a row that another replica holds is passed over, so each notice is given once.
func (s Devices) GiveNotices(
	ctx context.Context,
	decide func(d cyber.Device, now time.Time) cyber.Notice,
) (int, error) {
	return workOffDue(ctx, s.core, func(tx *sqldb.Tx, id partner.ID, part []cyber.KeyID) (locked, told int, err error) {
		return s.giveNotices(ctx, tx, id, part, decide)
	}, `SELECT partner_id, id FROM epp_key WHERE next_warning > 0 AND next_warning <= $1
		ORDER BY next_warning LIMIT $2`)
}

// ownedID names a row of a partner.
type ownedID[T any] struct {
	partner partner.ID
	id      T
}

// collectOwned runs a query for partners and IDs of theirs, in this order.
func collectOwned[T any](ctx context.Context, q querier, query string, args ...any) ([]ownedID[T], error) {
	return collectRows(
		ctx,
		q,
		func(row scanner, o *ownedID[T]) error { return row.Scan(&o.partner, &o.id) },
		query,
		args...,
	)
}

// groupByPartner groups IDs.
func groupByPartner[T any](list []ownedID[T]) map[partner.ID][]T {
	groups := map[partner.ID][]T{}
	for _, o := range list {
		groups[o.partner] = append(groups[o.partner], o.id)
	}
	return groups
}

// workOffDue has rows whose time has come decided about, a few of a partner's in one transaction, until there are no
// more. The query finds the first of them, up to now and noticeBatch. It returns how many were told of.
func workOffDue[T any](
	ctx context.Context,
	c core,
	decide func(tx *sqldb.Tx, id partner.ID, part []T) (locked, told int, err error),
	query string,
) (total int, err error) {
	for {
		due, err := collectOwned[T](ctx, c.readQuerier(), query, c.now(), noticeBatch)
		if err != nil {
			return total, err
		}
		decided := 0
		for id, own := range groupByPartner(due) {
			err := inEventParts(ctx, c, id, own, func(tx *sqldb.Tx, part []T) error {
				locked, told, err := decide(tx, id, part)
				tx.AfterCommit(func() { decided, total = decided+locked, total+told })
				return err
			})
			if err != nil {
				return total, err
			}
		}
		if len(due) < noticeBatch || decided == 0 { // none: another replica has them all
			return total, nil
		}
	}
}

// giveNotices gives the notices of those of a partner's keys that are still due and not locked by another worker.
func (s Devices) giveNotices(ctx context.Context, tx *sqldb.Tx, id partner.ID, keys []cyber.KeyID,
	decide func(d cyber.Device, now time.Time) cyber.Notice,
) (locked, told int, err error) {
	now := s.now()
	args := []any{id, now}
	due, err := collectRows(
		ctx,
		tx,
		s.scanDevice,
		`SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND id `+inList(tx.EngineName(), &args, keys)+`
		AND next_warning > 0 AND next_warning <= $2 ORDER BY id`+s.db.SkipLocked(),
		args...,
	)
	if err != nil {
		return 0, 0, err
	}
	var events []alert.Event
	var over []cyber.Device
	for _, d := range due {
		notice := decide(d, now)
		if notice.Over {
			over = append(over, d)
			continue
		}
		if err := execStatement(
			ctx,
			tx,
			`UPDATE epp_key SET next_warning = $3 WHERE partner_id = $1 AND id = $2`,
			id,
			d.ID,
			notice.Next,
		); err != nil {
			return 0, 0, err
		}
		if !notice.Tell {
			continue
		}
		events = append(events, alert.KeyExpires(d, now))
	}
	if err := s.endKeysOfPartner(ctx, tx, id, markExpired(over), ""); err != nil {
		return 0, 0, err
	}
	return len(due), len(events) + len(over), Alerts(s).addPartnerEvents(ctx, tx, id, events...)
}

// poolKeyPlace binds a sealed vendor key to its row.
func poolKeyPlace(row string) seal.Place {
	return seal.Place{Table: "epp_pool", Column: "vendor_key", Row: row}
}

// usesKeyPool reports whether the partner's keys of a system come from a pool.
func usesKeyPool(ctx context.Context, q querier, id partner.ID, system cyber.System) (bool, error) {
	pooled, err := readValue[bool](
		ctx,
		q,
		`SELECT EXISTS (SELECT 1 FROM epp_source WHERE system = $1 AND pooled)`,
		system,
	)
	if err != nil || !pooled {
		return false, err
	}
	madeUp, err := hasMadeUpStock(ctx, q, id)
	return !madeUp, err
}

// returnKeyToPool puts a revoked key that no device used back into its pool, where the vendor allows that, and gives
// the partner its place in the pool back. The ended device keeps the key's text and loses its index: the key is the
// next device's.
func (s Devices) returnKeyToPool(ctx context.Context, tx *sqldb.Tx, d cyber.Device) error {
	n, err := execCounting(
		ctx,
		tx,
		`UPDATE epp_pool SET taken_at = 0, taken_by = '' WHERE key_index = $1 AND taken_by = $2
		AND EXISTS (SELECT 1 FROM epp_source WHERE system = $3 AND returns)`,
		s.activationKeyIndex(d.Key),
		d.ID,
		d.System,
	)
	if err != nil || n == 0 {
		return err
	}
	return tx.RunStatements(ctx, []sqldb.Statement{
		sqldb.NewStatement(
			`UPDATE epp_key SET key_index = $3 WHERE partner_id = $1 AND id = $2`,
			d.Partner,
			d.ID,
			s.activationKeyIndex("returned "+string(d.ID)),
		),
		sqldb.NewStatement(
			`UPDATE share SET used = used - 1 WHERE partner_id = $1 AND resource = $2 AND used > 0`,
			d.Partner,
			cyber.PoolResource(d.System),
		),
	})
}

// takeFromPool takes the oldest free key that its vendor has not ended. A key that another transaction is taking is
// passed over; should that one fail, the key is free again for the next request.
func (s Devices) takeFromPool(ctx context.Context, tx *sqldb.Tx, d cyber.Device) (cyber.VendorKey, error) {
	// The key is locked as it is found, so no other device gets it.
	return readRow(ctx, tx, func(row scanner, k *cyber.VendorKey) error {
		var id string
		return row.Scan(&id, s.unseals(&k.Key, func() seal.Place { return poolKeyPlace(id) }), &k.Expires)
	}, cyber.ErrPoolEmpty.With("operatingSystem", fault.NoKeyLeft), `UPDATE epp_pool SET taken_at = $2, taken_by = $3
		WHERE id = (
		SELECT id FROM epp_pool WHERE system = $1 AND taken_at = 0 AND (expires_at = 0 OR expires_at > $2)
		ORDER BY loaded_at, id LIMIT 1`+s.db.SkipLocked()+`) RETURNING id, vendor_key, expires_at`,
		d.System,
		d.IssuedAt,
		d.ID,
	)
}

// LoadKeyPool stores a batch of vendor keys: see cyber.PoolStore.
func (s Devices) LoadKeyPool(ctx context.Context, system cyber.System, keys []cyber.VendorKey) (int, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (loaded int, err error) {
		if err := execStatement(ctx, tx, `INSERT INTO epp_source (system, pooled, low_mark, low) VALUES ($1, $2, $3, $4)
			ON CONFLICT (system) DO UPDATE SET pooled = excluded.pooled`,
			system,
			true,
			cyber.DefaultLowMark,
			false,
		); err != nil {
			return 0, err
		}
		for _, k := range keys {
			n, err := s.insertPoolKey(ctx, tx, system, k)
			if err == nil && n == 0 && !k.Expires.IsZero() {
				err = s.endAsVendorSays(ctx, tx, k)
			}
			if err != nil {
				return 0, err
			}
			loaded += int(n)
		}
		return loaded, nil
	})
}

// insertPoolKey adds one vendor key and returns how many were new.
func (s Devices) insertPoolKey(
	ctx context.Context,
	tx *sqldb.Tx,
	system cyber.System,
	k cyber.VendorKey,
) (int64, error) {
	row := "vk_" + uuid.Must(uuid.NewV7()).String()
	sealed, err := s.sealValue(poolKeyPlace(row), k.Key)
	if err != nil {
		return 0, err
	}
	return execCounting(
		ctx,
		tx,
		`INSERT INTO epp_pool (id, system, key_index, vendor_key, loaded_at, taken_at, taken_by, expires_at)
		VALUES ($1, $2, $3, $4, $5, 0, '', $6) ON CONFLICT (key_index) DO NOTHING`,
		row,
		system,
		s.activationKeyIndex(k.Key),
		sealed,
		s.now(),
		k.Expires,
	)
}

// endAsVendorSays gives a known key the end that its vendor states, in the pool and, if it was issued, on the device.
// An issued key is only ever shortened: what its partner was told is what its plan allows.
func (s Devices) endAsVendorSays(ctx context.Context, tx *sqldb.Tx, k cyber.VendorKey) error {
	index := s.activationKeyIndex(k.Key)
	return tx.RunStatements(ctx, []sqldb.Statement{
		sqldb.NewStatement(`UPDATE epp_pool SET expires_at = $2 WHERE key_index = $1`, index, k.Expires),
		sqldb.NewStatement(
			`UPDATE epp_key SET valid_until = $2, next_warning = $3
			WHERE key_index = $1 AND ended_at = 0 AND valid_until > $2`,
			index,
			k.Expires,
			cyber.NextNotice(s.now(), k.Expires),
		),
	})
}

// ListSources returns every system's source.
func (s Devices) ListSources(ctx context.Context) ([]cyber.Source, error) {
	now := s.now()
	found, err := collectRows(ctx, s.readQuerier(), func(row scanner, src *cyber.Source) error {
		return row.Scan(
			&src.System,
			&src.Pooled,
			&src.LowMark,
			&src.ToldLow,
			&src.Returns,
			&src.Free,
			&src.Taken,
			&src.Expired,
		)
	}, `SELECT y.system, coalesce(o.pooled, $1), coalesce(o.low_mark, $2), coalesce(o.low, $1), coalesce(o.returns, $1),
			(SELECT count(*) FROM epp_pool p WHERE p.system = y.system AND p.taken_at = 0 AND (p.expires_at = 0
			OR p.expires_at > $3)),
			(SELECT count(*) FROM epp_pool p WHERE p.system = y.system AND p.taken_at > 0),
			(SELECT count(*) FROM epp_pool p WHERE p.system = y.system AND p.taken_at = 0 AND p.expires_at <> 0
			AND p.expires_at <= $3)
		FROM (SELECT 'android' AS system UNION ALL SELECT 'ios' UNION ALL SELECT 'windows' UNION ALL SELECT 'macos') y
		LEFT JOIN epp_source o ON o.system = y.system`,
		false,
		cyber.DefaultLowMark,
		now,
	)
	if err != nil {
		return nil, err
	}
	// Apart, since the pool is the service's and the keys are the partners'.
	return found, eachRow(ctx, s.readQuerier(), func(row scanner) error {
		var n cyber.Source
		err := row.Scan(&n.System, &n.Live, &n.Active)
		for i := range found {
			if found[i].System == n.System {
				found[i].Live, found[i].Active = n.Live, n.Active
			}
		}
		return err
	}, `SELECT system, count(*), count(*) FILTER (WHERE activated_at > 0) FROM epp_key
		WHERE ended_at = 0 AND valid_until > $1 GROUP BY system`,
		now,
	)
}

// UpdateSource changes where a system's keys come from.
func (s Devices) UpdateSource(ctx context.Context, system cyber.System, change cyber.SourceChange) error {
	list := []sqldb.Statement{
		sqldb.NewStatement(`INSERT INTO epp_source (system, pooled, low_mark, low) VALUES ($1, $2, $3, $4)
		ON CONFLICT (system) DO NOTHING`,
			system,
			false,
			cyber.DefaultLowMark,
			false,
		),
	}
	if change.Pooled != nil {
		list = append(
			list,
			sqldb.NewStatement(`UPDATE epp_source SET pooled = $2 WHERE system = $1`, system, *change.Pooled),
		)
	}
	if change.LowMark != nil {
		list = append(
			list,
			sqldb.NewStatement(`UPDATE epp_source SET low_mark = $2 WHERE system = $1`, system, *change.LowMark),
		)
	}
	if change.Returns != nil {
		list = append(
			list,
			sqldb.NewStatement(`UPDATE epp_source SET returns = $2 WHERE system = $1`, system, *change.Returns),
		)
	}
	return s.runAll(ctx, list...)
}

// PoolsTurnedLow compares each pool with what was last told, and remembers: see cyber.PoolStore.
func (s Devices) PoolsTurnedLow(ctx context.Context) ([]cyber.Source, error) {
	sources, err := s.ListSources(ctx)
	if err != nil {
		return nil, err
	}
	var turned []cyber.Source
	for _, src := range sources {
		if src.Low() == src.ToldLow {
			continue
		}
		n, err := s.countAlone(
			ctx,
			`UPDATE epp_source SET low = $2 WHERE system = $1 AND low <> $2`,
			src.System,
			src.Low(),
		)
		if err != nil {
			return turned, err
		}
		if n == 1 { // and not another replica
			turned = append(turned, src)
		}
	}
	return turned, nil
}

// lockPartnerShare makes those who take for one partner take turns, and returns its share beside the others'.
func lockPartnerShare(ctx context.Context, tx *sqldb.Tx, id partner.ID, of cyber.Resource) (cyber.Taking, error) {
	if err := execStatement(
		ctx,
		tx,
		`INSERT INTO share (partner_id, resource, quota, reserved, used) VALUES ($1, $2, 0, 0, 0)
		ON CONFLICT (partner_id, resource) DO UPDATE SET used = share.used`,
		id,
		of,
	); err != nil {
		return cyber.Taking{}, err
	}
	shares, err := collectRows(ctx, tx, scanShareRow, `SELECT `+shareColumns+` FROM share WHERE resource = $1`, of)
	if err != nil {
		return cyber.Taking{}, err
	}
	var t cyber.Taking
	byPartner := map[partner.ID]cyber.Share{}
	for _, h := range shares {
		t.ByAll += h.Used
		byPartner[h.Partner] = h
	}
	t.Share = byPartner[id]
	live, err := collectValues[partner.ID](ctx, tx, `SELECT id FROM partner WHERE mode = 'live' AND NOT suspended`)
	if err != nil {
		return t, err
	}
	for _, other := range live {
		if other != id {
			t.Others = append(t.Others, byPartner[other])
		}
	}
	return t, nil
}

// takeFromShare counts a key that a partner is about to take from a pool against its share.
func (s Devices) takeFromShare(ctx context.Context, tx *sqldb.Tx, id partner.ID, r cyber.DeviceRequest) error {
	share, err := lockPartnerShare(ctx, tx, id, cyber.PoolResource(r.System))
	if err != nil {
		return err
	}
	if len(share.Others) > 0 { // what is left for others is counted: they must not take meanwhile
		if err := execStatement(ctx, tx, `UPDATE epp_source SET low = low WHERE system = $1`, r.System); err != nil {
			return err
		}
	}
	// No more keys are counted than matter: a pool may hold millions.
	free, err := readValue[int64](
		ctx,
		tx,
		`SELECT count(*) FROM (SELECT 1 FROM epp_pool WHERE system = $1 AND taken_at = 0
		AND (expires_at = 0 OR expires_at > $2) LIMIT $3) f`,
		r.System,
		s.now(),
		share.MostCounted(),
	)
	if err != nil {
		return err
	}
	if err := share.CheckKey(free); err != nil {
		return err
	}
	return execStatement(
		ctx,
		tx,
		`UPDATE share SET used = used + 1 WHERE partner_id = $1 AND resource = $2`,
		id,
		share.Resource,
	)
}

// checkSlotShare refuses an appointment beyond a partner's share of those to come.
func checkSlotShare(ctx context.Context, tx *sqldb.Tx, c cyber.Case, now time.Time) error {
	share, err := lockPartnerShare(ctx, tx, c.Partner, cyber.SlotResource)
	if err != nil {
		return err
	}
	var held, inAll int64
	err = readColumns(
		ctx,
		tx,
		[]any{&held, &inAll},
		`SELECT count(*) FILTER (WHERE b.partner_id = $1), count(*) FROM case_slot sl
		LEFT JOIN case_booking b ON b.slot_id = sl.id WHERE sl.starts_at > $2`,
		c.Partner,
		now,
	)
	if err != nil {
		return err
	}
	return share.Appointment(held, inAll)
}

// ListShares returns what was set or used: see cyber.ShareStore. The operator's question: it names no partner.
func (s Devices) ListShares(ctx context.Context) ([]cyber.Share, error) {
	return collectRows(
		ctx,
		s.readQuerier(),
		scanShareRow,
		`SELECT `+shareColumns+` FROM share ORDER BY resource, partner_id`,
	)
}

// shareColumns are those that scanning a share expects, in its order.
const shareColumns = `partner_id, resource, quota, reserved, used`

// scanShareRow reads a partner's share.
func scanShareRow(row scanner, h *cyber.Share) error {
	return row.Scan(&h.Partner, &h.Resource, &h.Quota, &h.Reserved, &h.Used)
}

// UpdateShare changes a partner's share: see cyber.ShareStore.
func (s Devices) UpdateShare(ctx context.Context, id partner.ID, of cyber.Resource, quota, reserved *int64) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if _, err := s.partnerByID(ctx, tx, id); err != nil {
			return err
		}
		share, err := lockPartnerShare(ctx, tx, id, of)
		if err != nil {
			return err
		}
		if quota != nil {
			share.Quota = *quota
		}
		if reserved != nil {
			share.Reserved = *reserved
		}
		return execStatement(
			ctx,
			tx,
			`UPDATE share SET quota = $3, reserved = $4 WHERE partner_id = $1 AND resource = $2`,
			id,
			of,
			share.Quota,
			share.Reserved,
		)
	})
}
