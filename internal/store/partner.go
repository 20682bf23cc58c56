package store

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ partner.Store = Partners{}

// sealedSaltPlace binds a sealed salt to its partner.
func sealedSaltPlace(id partner.ID) seal.Place {
	return seal.Place{Table: "partner", Column: "salt", Partner: string(id), Row: string(id)}
}

// InsertPartner stores a new partner, its sealed salt, its first key and the tokens of its first looks.
func (s Partners) InsertPartner(ctx context.Context, p partner.Partner, salt string, first partner.Key) error {
	sealed, err := s.sealValue(sealedSaltPlace(p.ID), salt)
	if err != nil {
		return err
	}
	set := p.Settings
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		err := execExpecting(ctx, tx, partner.ErrTaken,
			`INSERT INTO partner (id, name, mode, suspended, rate_per_second,
			burst, default_plan, mask_cards, sites, watched_sites, people, first_looks_per_hour, sandbox_of, officer,
			salt, created_at, mac)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
			ON CONFLICT (id) DO NOTHING`,
			p.ID, p.Name, p.Mode, p.Suspended, set.RatePerSecond, set.Burst, set.DefaultPlan, set.MaskCards, set.Sites,
			set.WatchedSites, set.People, set.FirstLooksPerHour, numberOrNull(set.SandboxOf), set.Officer, sealed,
			p.CreatedAt, s.grantMAC("partner", partnerGrant(p)))
		if err != nil {
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
	ctx context.Context, id partner.ID, change func(*partner.Partner) error,
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
		err = execStatement(ctx, tx, `UPDATE partner SET name = $2, suspended = $3, rate_per_second = $4, burst = $5,
			default_plan = $6, mask_cards = $7, sites = $8, watched_sites = $9, people = $10,
			first_looks_per_hour = $11, sandbox_of = $12, officer = $13, mac = $14 WHERE id = $1`,
			id, p.Name, p.Suspended, set.RatePerSecond, set.Burst, set.DefaultPlan, set.MaskCards, set.Sites,
			set.WatchedSites, set.People, set.FirstLooksPerHour, numberOrNull(set.SandboxOf), set.Officer,
			s.grantMAC("partner", partnerGrant(p)))
		if err != nil {
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

// partnerGrant: settings that are not set are left out, so that a setting of a later release changes nothing for rows
// without it.
func partnerGrant(p partner.Partner) *grant {
	settings, err := json.Marshal(p.Settings, json.OmitZeroStructFields(true), json.Deterministic(true))
	if err != nil {
		panic(err) // a struct of numbers, texts and truths
	}
	return new(grant).addTexts(string(p.ID), p.Name, string(p.Mode)).addBools(p.Suspended).addBytes(settings).
		addNumbers(toMicros(p.CreatedAt))
}

// hasMadeUpStock reports whether a partner takes nothing that live partners share: its times and keys are made up.
func hasMadeUpStock(ctx context.Context, q querier, id partner.ID) (bool, error) {
	mode, err := readValue[partner.Mode](ctx, q, `SELECT mode FROM partner WHERE id = $1`, id)
	return mode.Has(partner.MadeUpStock), err
}
