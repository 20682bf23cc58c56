package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
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
const deviceColumns = `id, partner_id, system, details, plan_id, issued_at, valid_until, activated_at, seen_at, ended_at, end_reason`

// scanDevice reads deviceColumns and unseals the user, the device's name and the key.
func (s Devices) scanDevice(row scanner, d *cyber.Device) error {
	var kept keptDevice
	err := row.Scan(&d.ID, &d.Partner, &d.System, s.unseals(&kept, func() seal.Place { return devicePlace(d.Partner, d.ID) }), &d.Plan, &d.IssuedAt,
		&d.ValidUntil, &d.ActivatedAt, &d.SeenAt, &d.EndedAt, &d.EndReason)
	d.User, d.Name, d.Key = partner.UserHash(kept.User), kept.Name, kept.Key
	return err
}

// IssueKey returns the live key of a device or keeps a new one: see cyber.DeviceStore.
func (s Devices) IssueKey(ctx context.Context, id partner.ID, r cyber.DeviceRequest, decide func(cyber.Holding) (cyber.NewKey, error)) (cyber.Device, error) {
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
			ID: next.ID, Partner: id, User: r.User, System: r.System, Name: r.Name, Key: next.Generated, IssuedAt: next.IssuedAt,
			ValidUntil: next.ValidUntil, Plan: next.Plan,
		}
		err = s.insertDevice(ctx, tx, u, &d, r, h.Pooled)
		return d, err
	})
}

// lockHolder makes the decisions about one person's keys take turns.
func lockHolder(ctx context.Context, tx *sqldb.Tx, id partner.ID, u user) error {
	return execStatement(ctx, tx, `INSERT INTO epp_holder (partner_id, user_index, issued) VALUES ($1, $2, 1)
		ON CONFLICT (partner_id, user_index) DO UPDATE SET issued = epp_holder.issued + 1`, id, u.write)
}

// deviceNamed returns the person's device that has a key which did not end, by system and name.
func (s Devices) deviceNamed(ctx context.Context, q querier, id partner.ID, u user, system cyber.System, name string) (cyber.Device, error) {
	return s.findDevice(ctx, q, `partner_id = $1 AND user_index IN ($2, $3) AND system = $4 AND device_index = $5 AND ended_at = 0`,
		id, u.write, u.other, system, s.deviceIndex(id, name))
}

// findDevice returns the one key that fits.
func (s Devices) findDevice(ctx context.Context, q querier, where string, args ...any) (cyber.Device, error) {
	return readRow(ctx, q, s.scanDevice, cyber.ErrDeviceUnknown, `SELECT `+deviceColumns+` FROM epp_key WHERE `+where, args...)
}

// countHolding counts a person's live keys and finds their plans.
func (s Devices) countHolding(ctx context.Context, tx *sqldb.Tx, id partner.ID, u user, system cyber.System) (cyber.Holding, error) {
	pooled, err := usesKeyPool(ctx, tx, id, system)
	if err != nil {
		return cyber.Holding{}, err
	}
	live, err := readValue[int](ctx, tx, `SELECT count(*) FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3) AND ended_at = 0`,
		id, u.write, u.other)
	if err != nil {
		return cyber.Holding{}, err
	}
	e, err := Cover(s).readEntitled(ctx, tx, id, u)
	return cyber.NewHolding(live, e, pooled), err
}

// insertDevice gives a device its key, from the pool where the system has one, and keeps it.
func (s Devices) insertDevice(ctx context.Context, tx *sqldb.Tx, u user, d *cyber.Device, r cyber.DeviceRequest, pooled bool) error {
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
	return execStatement(ctx, tx, `INSERT INTO epp_key (id, partner_id, user_index, system, device_index, key_index, details, plan_id,
		issued_at, valid_until, ended_at, end_reason, next_warning) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, '', $11)`,
		d.ID, d.Partner, u.write, d.System, s.deviceIndex(d.Partner, d.Name), s.activationKeyIndex(d.Key), sealed, d.Plan, d.IssuedAt,
		d.ValidUntil, cyber.NextNotice(d.IssuedAt, d.ValidUntil))
}

// ListDevices returns a person's live devices, newest first.
func (s Devices) ListDevices(ctx context.Context, id partner.ID, sent partner.UserHash) ([]cyber.Device, error) {
	return collectOfUser(ctx, s.core, id, sent, s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3)
		AND ended_at = 0 AND valid_until > $4 ORDER BY issued_at DESC, id DESC`, s.now())
}

// PartnerDevices returns a partner's newest live devices.
func (s Devices) PartnerDevices(ctx context.Context, id partner.ID, limit int) ([]cyber.Device, error) {
	return collectRows(ctx, s.listQuerier(), s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND ended_at = 0
		AND valid_until > $2 ORDER BY issued_at DESC, id DESC LIMIT $3`, id, s.now(), limit)
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
		if err := execStatement(ctx, tx, `UPDATE epp_key SET activated_at = $3, seen_at = $4 WHERE partner_id = $1 AND id = $2`,
			id, key, d.ActivatedAt, d.SeenAt); err != nil {
			return d, err
		}
		if !before.ActivatedAt.IsZero() {
			return d, nil
		}
		return d, Alerts(s).addPartnerEvents(ctx, tx, id, alert.KeyActivates(d))
	})
}

// lockLiveKey locks a live key until the transaction ends and returns it.
func (s Devices) lockLiveKey(ctx context.Context, tx *sqldb.Tx, id partner.ID, key cyber.KeyID, now time.Time) (cyber.Device, error) {
	d, err := readRow(ctx, tx, s.scanDevice, cyber.ErrDeviceEnded.With("key", fault.HasEndedAlready), `UPDATE epp_key SET ended_at = 0
		WHERE partner_id = $1 AND id = $2 AND ended_at = 0 AND valid_until > $3 RETURNING `+deviceColumns, id, key, now)
	if errors.Is(err, cyber.ErrDeviceEnded) {
		if _, missing := s.findDevice(ctx, tx, `partner_id = $1 AND id = $2`, id, key); missing != nil {
			err = missing
		}
	}
	return d, err
}

// EndOwnKey ends a live key and tells of it.
func (s Devices) EndOwnKey(ctx context.Context, id partner.ID, key cyber.KeyID, reason cyber.EndReason) (cyber.Device, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (cyber.Device, error) { return s.endLiveKey(ctx, tx, id, key, reason, "") })
}

// endLiveKey ends a live key in the transaction of the caller.
func (s Devices) endLiveKey(ctx context.Context, tx *sqldb.Tx, id partner.ID, key cyber.KeyID, reason cyber.EndReason, movedTo cyber.KeyID) (cyber.Device, error) {
	now := s.now()
	d, err := s.lockLiveKey(ctx, tx, id, key, now)
	if err != nil {
		return d, err
	}
	d.EndedAt, d.EndReason = now, reason
	return d, s.endKeysOfPartner(ctx, tx, id, []cyber.Device{d}, movedTo)
}

// endKeysOfPartner stores when and why keys of one partner ended, and tells of each; movedTo is the key that took the place of
// the only one.
func (s Devices) endKeysOfPartner(ctx context.Context, tx *sqldb.Tx, id partner.ID, keys []cyber.Device, movedTo cyber.KeyID) error {
	events := make([]alert.Event, len(keys))
	for i, d := range keys {
		if err := execStatement(ctx, tx, `UPDATE epp_key SET ended_at = $3, end_reason = $4, next_warning = 0 WHERE partner_id = $1 AND id = $2`,
			id, d.ID, d.EndedAt, d.EndReason); err != nil {
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
		WHERE partner_id = $1 AND user_index IN ($2, $3) AND ended_at = 0 AND valid_until <= $4 ORDER BY id`, id, u.write, u.other, s.now())
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
func (s Devices) MoveDevice(ctx context.Context, id partner.ID, key cyber.KeyID, r cyber.DeviceRequest, next cyber.NewKey) (cyber.Device, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (d cyber.Device, err error) {
		old, err := s.findDevice(ctx, tx, `partner_id = $1 AND id = $2`, id, key)
		if err != nil {
			return d, err
		}
		u, err := s.findUser(ctx, tx, id, old.User)
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
			ID: next.ID, Partner: id, User: old.User, System: r.System, Name: r.Name, Key: next.Generated, IssuedAt: next.IssuedAt,
			ValidUntil: old.ValidUntil, Plan: old.Plan,
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
		keys, err := collectOwned[cyber.KeyID](ctx, s.readQuerier(), `SELECT partner_id, id FROM epp_key WHERE (partner_id, id) > ($1, $2)`+alone+`
			ORDER BY partner_id, id LIMIT $4`, after, last, today, noticeBatch)
		if err != nil {
			return total, err
		}
		for id, own := range groupByPartner(keys) {
			err := inEventParts(ctx, s.core, id, own, func(tx *sqldb.Tx, part []cyber.KeyID) error {
				args := []any{id, "", today} // the place of an id in the query above
				ended, err := collectRows(ctx, tx, s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND id > $2`+alone+`
					AND id IN (`+appendMarks(&args, part)+`) ORDER BY id`+s.db.SkipLocked(), args...)
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
	err := row.Scan(&l.system, &l.link, c.checksMAC(&into.forged, "epp_install", func() *grant { return installGrant(l.system, l.link) }))
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
	return s.execAlone(ctx, `INSERT INTO epp_install (system, link, mac) VALUES ($1, $2, $3) ON CONFLICT (system) DO UPDATE SET link = excluded.link,
		mac = excluded.mac`, system, link, s.grantMAC("epp_install", installGrant(system, link)))
}

// noticeBatch is how many keys or findings are looked at in one statement.
const noticeBatch = 200

// GiveNotices writes an event for each key whose notice is due: see cyber.LifeStore. A few of a partner's notices and
// their events are one transaction, and a row that another replica holds is passed over, so each notice is given once.
func (s Devices) GiveNotices(ctx context.Context, decide func(d cyber.Device, now time.Time) cyber.Notice) (int, error) {
	return workOffDue(ctx, s.core, func(tx *sqldb.Tx, id partner.ID, part []cyber.KeyID) (locked, told int, err error) {
		return s.giveNotices(ctx, tx, id, part, decide)
	}, `SELECT partner_id, id FROM epp_key WHERE next_warning > 0 AND next_warning <= $1 ORDER BY next_warning LIMIT $2`)
}

// ownedID names a row of a partner.
type ownedID[T any] struct {
	partner partner.ID
	id      T
}

// collectOwned runs a query for partners and IDs of theirs, in this order.
func collectOwned[T any](ctx context.Context, q querier, query string, args ...any) ([]ownedID[T], error) {
	return collectRows(ctx, q, func(row scanner, o *ownedID[T]) error { return row.Scan(&o.partner, &o.id) }, query, args...)
}

// groupByPartner groups IDs.
func groupByPartner[T any](list []ownedID[T]) map[partner.ID][]T {
	groups := map[partner.ID][]T{}
	for _, o := range list {
		groups[o.partner] = append(groups[o.partner], o.id)
	}
	return groups
}

// workOffDue has rows whose time has come decided about, a few of a partner's in one transaction, until there are no more. The query
// finds the first of them, up to now and noticeBatch. It returns how many were told of.
func workOffDue[T any](ctx context.Context, c core, decide func(tx *sqldb.Tx, id partner.ID, part []T) (locked, told int, err error), query string) (total int, err error) {
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
	due, err := collectRows(ctx, tx, s.scanDevice, `SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND id IN (`+appendMarks(&args, keys)+`)
		AND next_warning > 0 AND next_warning <= $2 ORDER BY id`+s.db.SkipLocked(), args...)
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
		if err := execStatement(ctx, tx, `UPDATE epp_key SET next_warning = $3 WHERE partner_id = $1 AND id = $2`, id, d.ID, notice.Next); err != nil {
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
