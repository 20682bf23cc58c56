package store

import (
	"context"
	"crypto/hmac"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ partner.Store = Partners{}

// lookupLen is how much of a key's keyed digest stands in the unique index.
const lookupLen = 8

// sealedSaltPlace binds a sealed salt to its partner.
func sealedSaltPlace(id partner.ID) seal.Place {
	return seal.Place{Table: "partner", Column: "salt", Partner: string(id), Row: string(id)}
}

// numberOrNull returns a partner as an argument where there may be none: NULL then.
func numberOrNull(id partner.ID) any {
	if id == "" {
		return nil
	}
	return id
}

// InsertPartner stores a new partner, its sealed salt, its first key and the tokens of its first looks.
func (s Partners) InsertPartner(ctx context.Context, p partner.Partner, salt string, first partner.Key) error {
	sealed, err := s.sealValue(sealedSaltPlace(p.ID), salt)
	if err != nil {
		return err
	}
	set := p.Settings
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := execExpecting(
			ctx,
			tx,
			partner.ErrTaken,
			`INSERT INTO partner (id, name, mode, suspended, rate_per_second,
			burst, default_plan, mask_cards, sites, watched_sites, people, first_looks_per_hour, sandbox_of, officer,
			salt,
			created_at, mac)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
			ON CONFLICT (id) DO NOTHING`,
			p.ID,
			p.Name,
			p.Mode,
			p.Suspended,
			set.RatePerSecond,
			set.Burst,
			set.DefaultPlan,
			set.MaskCards,
			set.Sites,
			set.WatchedSites,
			set.People,
			set.FirstLooksPerHour,
			numberOrNull(set.SandboxOf),
			set.Officer,
			sealed,
			p.CreatedAt,
			s.grantMAC("partner", partnerGrant(p)),
		); err != nil {
			return err
		}
		if err := Monitoring(s).insertBucket(ctx, tx, p.ID); err != nil {
			return err
		}
		return s.insertAPIKey(ctx, tx, p.ID, first)
	})
}

// partnerColumns are those that scanPartner expects, in its order.
const partnerColumns = `id, name, mode, suspended, rate_per_second, burst, default_plan, mask_cards, sites,
	watched_sites,
	people, first_looks_per_hour, sandbox_of, officer, created_at, mac`

// scanPartner reads partnerColumns.
func (c core) scanPartner(row scanner, p *partner.Partner) error {
	return row.Scan(c.partnerTargets(p)...)
}

// partnerTargets returns where the columns of a partner are scanned to; it is noted whether this program wrote them.
func (c core) partnerTargets(p *partner.Partner) []any {
	set := &p.Settings
	return []any{
		&p.ID,
		&p.Name,
		&p.Mode,
		&p.Suspended,
		&set.RatePerSecond,
		&set.Burst,
		&set.DefaultPlan,
		&set.MaskCards,
		&set.Sites,
		&set.WatchedSites,
		&set.People,
		&set.FirstLooksPerHour,
		&set.SandboxOf,
		&set.Officer,
		&p.CreatedAt,
		c.checksMAC(&p.Forged, "partner", func() *grant { return partnerGrant(*p) }),
	}
}

func (s Partners) PartnerByID(ctx context.Context, id partner.ID) (partner.Partner, error) {
	return s.partnerByID(ctx, s.readQuerier(), id)
}

// partnerByID returns partner.ErrNotFound for an unknown partner and refuses a forged row.
func (c core) partnerByID(ctx context.Context, q querier, id partner.ID) (partner.Partner, error) {
	p, err := readRow(
		ctx,
		q,
		c.scanPartner,
		partner.ErrNotFound,
		`SELECT `+partnerColumns+` FROM partner WHERE id = $1`,
		id,
	)
	if err != nil {
		return p, err
	}
	if p.Forged {
		return partner.Partner{}, forgedRowError("partner", string(id))
	}
	return p, nil
}

// ListPartners returns all partners, oldest first, forged ones too.
func (s Partners) ListPartners(ctx context.Context) ([]partner.Partner, error) {
	return collectRows(
		ctx,
		s.readQuerier(),
		s.scanPartner,
		`SELECT `+partnerColumns+` FROM partner ORDER BY created_at, id`,
	)
}

// UpdatePartner changes a partner under the lock of its row and moves the access epoch.
func (s Partners) UpdatePartner(
	ctx context.Context,
	id partner.ID,
	change func(*partner.Partner) error,
) (partner.Partner, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (p partner.Partner, err error) {
		if err := moveAccessEpoch(ctx, tx); err != nil { // first: it also orders concurrent changes
			return p, err
		}
		if p, err = s.partnerByID(ctx, tx, id); err != nil {
			return p, err
		}
		before, set := p.Settings, &p.Settings
		if err := change(&p); err != nil {
			return p, err
		}
		if err := execStatement(
			ctx,
			tx,
			`UPDATE partner SET name = $2, suspended = $3, rate_per_second = $4, burst = $5,
			default_plan = $6, mask_cards = $7, sites = $8, watched_sites = $9, people = $10,
			first_looks_per_hour = $11,
			sandbox_of = $12, officer = $13, mac = $14 WHERE id = $1`,
			id,
			p.Name,
			p.Suspended,
			set.RatePerSecond,
			set.Burst,
			set.DefaultPlan,
			set.MaskCards,
			set.Sites,
			set.WatchedSites,
			set.People,
			set.FirstLooksPerHour,
			numberOrNull(set.SandboxOf),
			set.Officer,
			s.grantMAC("partner", partnerGrant(p)),
		); err != nil {
			return p, err
		}
		if before.Sites == set.Sites && before.WatchedSites == set.WatchedSites {
			return p, nil
		}
		// What was found before is judged by them too.
		return p, Breaches(s).addStageJob(ctx, tx, leak.KindSites, string(id))
	})
}

// moveAccessEpoch tells every process that partners, keys or plans changed, so that caches of them are read again. The
// row stays locked until the transaction ends, which puts concurrent changes in order.
func moveAccessEpoch(ctx context.Context, tx *sqldb.Tx) error {
	return execStatement(ctx, tx, `UPDATE epoch SET value = value + 1 WHERE name = 'access'`)
}

// AccessEpoch changes whenever a key, a partner or one of its plans changes.
func (s Partners) AccessEpoch(ctx context.Context) (int64, error) {
	return readValue[int64](ctx, s.db.ReadPool(), `SELECT value FROM epoch WHERE name = 'access'`)
}

func (s Partners) OpenSalt(ctx context.Context, id partner.ID) (salt string, err error) {
	err = s.readSealed(
		ctx,
		s.readQuerier(),
		sealedSaltPlace(id),
		&salt,
		partner.ErrNotFound,
		`SELECT salt FROM partner WHERE id = $1`,
		id,
	)
	return salt, err
}

// InsertKey stores a new key.
func (s Partners) InsertKey(ctx context.Context, id partner.ID, k partner.Key) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if k.MadeBy != "" {
			// The epoch orders this after a revocation of the maker that has not seen the new key.
			if err := moveAccessEpoch(ctx, tx); err != nil {
				return err
			}
			maker, err := readRow(
				ctx,
				tx,
				s.scanKeyRow,
				partner.ErrUnauthorised,
				`SELECT `+keyColumns+` FROM api_key k WHERE k.partner_id = $1 AND k.id = $2`,
				id,
				k.MadeBy,
			)
			if err == nil && !maker.IsLiveAt(s.now()) {
				err = partner.ErrUnauthorised
			}
			if err != nil {
				return err
			}
		}
		return s.insertAPIKey(ctx, tx, id, k)
	})
}

// insertAPIKey stores a new key.
func (s Partners) insertAPIKey(ctx context.Context, tx *sqldb.Tx, id partner.ID, k partner.Key) error {
	k.Partner, k.Digest = id, s.keyedDigest("api_key", k.Digest)
	return execStatement(
		ctx,
		tx,
		`INSERT INTO api_key
		(id, partner_id, label, preview, lookup, digest, scopes, created_at, expires_at, revoked_at, made_by, line, mac)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		k.ID,
		id,
		k.Label,
		k.Preview,
		k.Digest[:lookupLen],
		k.Digest,
		joinTexts(k.Scopes),
		k.CreatedAt,
		k.ExpiresAt,
		k.RevokedAt,
		k.MadeBy,
		k.Line,
		s.grantMAC("api_key", apiKeyGrant(k)),
	)
}

// keyColumns are those that scanKeyRow expects, in its order.
const keyColumns = `k.id, k.partner_id, k.label, k.preview, k.digest, k.scopes, k.created_at, k.expires_at,
	k.revoked_at,
	k.made_by, k.line, k.mac`

func (s Partners) scanKeyRow(row scanner, k *partner.Key) error { return row.Scan(s.keyTargets(k)...) }

// keyTargets returns where the columns of a key are scanned to; it is noted whether this program wrote them.
func (s Partners) keyTargets(k *partner.Key) []any {
	return []any{
		&k.ID,
		&k.Partner,
		&k.Label,
		&k.Preview,
		&k.Digest,
		splitsTexts(&k.Scopes),
		&k.CreatedAt,
		&k.ExpiresAt,
		&k.RevokedAt,
		&k.MadeBy,
		&k.Line,
		s.checksMAC(&k.Forged, "api_key", func() *grant { return apiKeyGrant(*k) }),
	}
}

// ListKeys returns a partner's keys, oldest first.
func (s Partners) ListKeys(ctx context.Context, id partner.ID) ([]partner.Key, error) {
	return s.readKeys(ctx, s.readQuerier(), id)
}

// readKeys returns a partner's keys, oldest first.
func (s Partners) readKeys(ctx context.Context, q querier, id partner.ID) ([]partner.Key, error) {
	return collectRows(
		ctx,
		q,
		s.scanKeyRow,
		`SELECT `+keyColumns+` FROM api_key k WHERE k.partner_id = $1 ORDER BY k.created_at, k.id`,
		id,
	)
}

// KeyByDigest returns the key with this digest, and its partner. A row that this program did not write is no key.
func (s Partners) KeyByDigest(ctx context.Context, digest []byte) (k partner.Key, p partner.Partner, err error) {
	keyed := s.keyedDigest("api_key", digest)
	err = readColumns(
		ctx,
		s.db.ReadPool(),
		append(s.partnerTargets(&p), s.keyTargets(&k)...),
		`SELECT p.id, p.name, p.mode, p.suspended, p.rate_per_second,
		p.burst, p.default_plan, p.mask_cards, p.sites, p.watched_sites, p.people, p.first_looks_per_hour,
		p.sandbox_of, p.officer, p.created_at, p.mac, `+keyColumns+`
		FROM api_key k JOIN partner p ON p.id = k.partner_id WHERE k.lookup = $1`,
		keyed[:lookupLen],
	)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (k.Forged || p.Forged || !hmac.Equal(k.Digest, keyed)) {
		return partner.Key{}, partner.Partner{}, partner.ErrKeyNotFound
	}
	k.Digest = digest
	return k, p, err
}

// UpdateKeys stores the times that change sets of a partner's keys, and moves the access epoch.
func (s Partners) UpdateKeys(ctx context.Context, id partner.ID, change func(keys []partner.Key) error) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := moveAccessEpoch(ctx, tx); err != nil { // first: it also orders concurrent changes
			return err
		}
		keys, err := s.readKeys(ctx, tx, id)
		if err != nil {
			return err
		}
		before := slices.Clone(keys)
		if err := change(keys); err != nil {
			return err
		}
		for i, k := range keys {
			if k.ExpiresAt.Equal(before[i].ExpiresAt) && k.RevokedAt.Equal(before[i].RevokedAt) {
				continue
			}
			if k.Forged {
				return forgedRowError("api_key", string(k.ID))
			}
			if err := execStatement(
				ctx,
				tx,
				`UPDATE api_key SET expires_at = $3, revoked_at = $4, mac = $5 WHERE partner_id = $1 AND id = $2`,
				id,
				k.ID,
				k.ExpiresAt,
				k.RevokedAt,
				s.grantMAC("api_key", apiKeyGrant(k)),
			); err != nil {
				return err
			}
		}
		return nil
	})
}

// themePlace: a theme says in whose pages a person's may stand, so it is sealed like what grants power.
func themePlace(id partner.ID) seal.Place {
	return seal.Place{Table: "partner_theme", Column: "body", Partner: string(id), Row: string(id)}
}

// GetTheme returns a partner's theme; its zero value when there is none, or one that this program did not seal.
func (s Partners) GetTheme(ctx context.Context, id partner.ID) (partner.Theme, error) {
	return s.readTheme(ctx, s.readQuerier(), id)
}

// readTheme is GetTheme for a querier.
func (s Partners) readTheme(ctx context.Context, q querier, id partner.ID) (partner.Theme, error) {
	var t partner.Theme
	body, err := readValue[[]byte](ctx, q, `SELECT body FROM partner_theme WHERE partner_id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) || err == nil && s.openSealed(themePlace(id), body, &t) != nil {
		return partner.Theme{}, nil // forged: the page falls back to the default look, and vigia check names the row
	}
	return t, err
}

func (s Partners) UpdateTheme(
	ctx context.Context,
	id partner.ID,
	change func(*partner.Theme) error,
) (partner.Theme, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (t partner.Theme, err error) {
		if err := moveAccessEpoch(ctx, tx); err != nil { // it orders concurrent changes, as it does those of partners
			return t, err
		}
		if _, err := s.partnerByID(ctx, tx, id); err != nil {
			return t, err
		}
		if t, err = s.readTheme(ctx, tx, id); err != nil {
			return t, err
		}
		if err := change(&t); err != nil {
			return t, err
		}
		sealed, err := s.sealValue(themePlace(id), t)
		if err != nil {
			return t, err
		}
		return t, execStatement(ctx, tx, `INSERT INTO partner_theme (partner_id, body) VALUES ($1, $2)
			ON CONFLICT (partner_id) DO UPDATE SET body = excluded.body`,
			id,
			sealed,
		)
	})
}

var _ partner.MeterStore = Partners{}

// AddRequests counts what a partner asked for: see partner.MeterStore.
func (s Partners) AddRequests(ctx context.Context, id partner.ID, counts []partner.Requests, forget int64) error {
	var list []sqldb.Statement
	for _, c := range counts {
		list = append(
			list,
			sqldb.NewStatement(
				`INSERT INTO request_count (partner_id, day, operation, sent, refused) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (partner_id, day, operation) DO UPDATE SET sent = request_count.sent + excluded.sent,
			refused = request_count.refused + excluded.refused`,
				id,
				c.Day,
				c.Operation,
				c.Sent,
				c.Refused,
			),
		)
	}
	return s.runAll(
		ctx,
		append(list, sqldb.NewStatement(`DELETE FROM request_count WHERE partner_id = $1 AND day < $2`, id, forget))...,
	)
}

// RequestsOf returns what a partner asked for: see partner.MeterStore.
func (s Partners) RequestsOf(ctx context.Context, id partner.ID, since int64) ([]partner.Requests, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, r *partner.Requests) error {
		return row.Scan(&r.Day, &r.Operation, &r.Sent, &r.Refused)
	}, `SELECT day, operation, sent, refused FROM request_count WHERE partner_id = $1 AND day >= $2
		ORDER BY day DESC, operation`,
		id,
		since,
	)
}

// LogRequests keeps the latest requests of a partner: see partner.MeterStore.
func (s Partners) LogRequests(ctx context.Context, id partner.ID, lines []partner.LoggedRequest) error {
	if len(lines) == 0 {
		return nil
	}
	var list []sqldb.Statement
	for i, l := range lines {
		list = append(
			list,
			sqldb.NewStatement(`INSERT INTO request_log (partner_id, at, number, operation, status, took, fault, key_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (partner_id, at, number) DO NOTHING`,
				id,
				l.At,
				i,
				l.Operation,
				l.Status,
				l.Took,
				l.Fault,
				l.Key,
			),
		)
	}
	return s.runAll(
		ctx,
		append(
			list,
			sqldb.NewStatement(
				`DELETE FROM request_log WHERE partner_id = $1 AND at < (SELECT at FROM request_log
				WHERE partner_id = $1
		ORDER BY at DESC, number DESC LIMIT 1 OFFSET $2)`,
				id,
				partner.MaxLogged-1,
			),
		)...)
}

// LatestRequests returns the latest requests of a partner: see partner.MeterStore.
func (s Partners) LatestRequests(
	ctx context.Context,
	id partner.ID,
	failedOnly bool,
	limit int,
) ([]partner.LoggedRequest, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, l *partner.LoggedRequest) error {
		return row.Scan(&l.At, &l.Operation, &l.Status, &l.Took, &l.Fault, &l.Key)
	}, `SELECT at, operation, status, took, fault, key_id FROM request_log
		WHERE partner_id = $1 AND (NOT $2 OR status >= 400) ORDER BY at DESC, number DESC LIMIT $3`,
		id,
		failedOnly,
		limit,
	)
}

// AgeSandbox makes everything of a partner so many days older: subscriptions, findings with their steps, antivirus
// keys, cases with their appointments, and erasures. A time of 0 means that something did not happen, and stays, as
// does when a subscription was made: its sealed body is bound to that.
func (s Partners) AgeSandbox(ctx context.Context, id partner.ID, days int) error {
	micros, number := (time.Duration(days) * 24 * time.Hour).Microseconds(), id
	return s.runAll(
		ctx,
		sqldb.NewStatement(
			`UPDATE subscription SET suspended_at = CASE WHEN suspended_at > 0 THEN suspended_at - $2 ELSE 0 END,
			ended_at = CASE WHEN ended_at > 0 THEN ended_at - $2 ELSE 0 END, start_day = start_day - $3,
			expiry_day = CASE WHEN expiry_day > 0 THEN expiry_day - $3 ELSE 0 END WHERE partner_id = $1`,
			number,
			micros,
			days,
		),
		// Through negative numbers: a row must never meet the one that is still where it goes.
		sqldb.NewStatement(
			`UPDATE subscription_expiry SET expiry_day = $2 - expiry_day WHERE partner_id = $1 AND expiry_day > 0`,
			number,
			days,
		),
		sqldb.NewStatement(
			`UPDATE subscription_expiry SET expiry_day = -expiry_day WHERE partner_id = $1 AND expiry_day < 0`,
			number,
		),
		sqldb.NewStatement(
			`UPDATE finding SET found_at = found_at - $2, resolved_at = CASE
			WHEN resolved_at > 0 THEN resolved_at - $2 ELSE 0 END,
			renewed_at = CASE WHEN renewed_at > 0 THEN renewed_at - $2 ELSE 0 END,
			remind_at = CASE WHEN remind_at > 0 THEN remind_at - $2 ELSE 0 END WHERE partner_id = $1`,
			number,
			micros,
		),
		sqldb.NewStatement(`UPDATE finding_step SET marked_at = marked_at - $2 WHERE partner_id = $1`, number, micros),
		sqldb.NewStatement(
			`UPDATE epp_key SET issued_at = issued_at - $2, valid_until = valid_until - $2, ended_at = CASE
			WHEN ended_at > 0 THEN ended_at - $2 ELSE 0 END,
			next_warning = CASE WHEN next_warning > 0 THEN next_warning - $2 ELSE 0 END,
			activated_at = CASE WHEN activated_at > 0 THEN activated_at - $2 ELSE 0 END,
			seen_at = CASE WHEN seen_at > 0 THEN seen_at - $2 ELSE 0 END WHERE partner_id = $1`,
			number,
			micros,
		),
		sqldb.NewStatement(`UPDATE support_case SET created_at = created_at - $2, changed_at = changed_at - $2,
			clock_since = CASE WHEN clock_since > 0 THEN clock_since - $2 ELSE 0 END, due_at = CASE
			WHEN due_at < $3 THEN due_at - $2 ELSE due_at END,
			made_up_at = CASE WHEN made_up_at > 0 THEN made_up_at - $2 ELSE 0 END, spoke_at = CASE
			WHEN spoke_at > 0 THEN spoke_at - $2 ELSE 0 END,
			ending_at = CASE WHEN ending_at > 0 THEN ending_at - $2 ELSE 0 END WHERE partner_id = $1`,
			number,
			micros,
			int64(nothingDue),
		),
		sqldb.NewStatement(
			`UPDATE erasure_request SET requested_at = requested_at - $2, due_at = due_at - $2, next_at = next_at - $2,
			ended_at = CASE WHEN ended_at > 0 THEN ended_at - $2 ELSE 0 END WHERE partner_id = $1`,
			number,
			micros,
		),
		// Otherwise what a person got after an erasure would become older than it.
		sqldb.NewStatement(
			`UPDATE erasure SET erased_at = erased_at - $2 WHERE partner_id = $1 AND done`,
			number,
			micros,
		),
	)
}
