package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
)

// veilFingerprint returns how a partner's row keeps a fingerprint, and unveil what it stands for.
func (c core) veilFingerprint(id partner.ID, fingerprint uint64) int64 {
	return int64(c.keys.PartnerVeil(string(id)).HideFingerprint(fingerprint))
}

// unveilFingerprint undoes veilFingerprint.
func (c core) unveilFingerprint(id partner.ID, kept int64) uint64 {
	return c.keys.PartnerVeil(string(id)).ShowFingerprint(uint64(kept))
}

// ListProbes returns watched fingerprints behind a place, by partner.
func (s Breaches) ListProbes(ctx context.Context, after leak.Place, limit int) ([]leak.Probes, leak.Place, error) {
	return s.readProbes(ctx, after, limit, func(id partner.ID, at int64, limit int) ([]int64, error) {
		return s.fingerprints(ctx, `SELECT coalesce(string_agg(CAST(f.fingerprint AS TEXT), ','), '') FROM (
			SELECT fingerprint FROM asset WHERE partner_id = $1 AND fingerprint > $2 ORDER BY fingerprint LIMIT $3) f`,
			id,
			at,
			limit,
		)
	})
}

// ProbesSince returns those of values added at or after a time.
func (s Breaches) ProbesSince(
	ctx context.Context, since time.Time, after leak.Place, limit int,
) ([]leak.Probes, leak.Place, error) {
	return s.readProbes(ctx, after, limit, func(id partner.ID, at int64, limit int) ([]int64, error) {
		return s.fingerprints(ctx, `SELECT coalesce(string_agg(CAST(f.fingerprint AS TEXT), ','), '') FROM (
			SELECT fingerprint FROM asset WHERE partner_id = $1 AND fingerprint > $2 AND created_at >= $4
			ORDER BY fingerprint LIMIT $3) f`,
			id,
			at,
			limit,
			since,
		)
	})
}

// fingerprints reads a page of them as one text, because a row for each costs more than all else that a match does.
func (s Breaches) fingerprints(ctx context.Context, query string, args ...any) ([]int64, error) {
	text, err := readValue[string](ctx, s.readQuerier(), query, args...)
	if err != nil || text == "" {
		return nil, err
	}
	list := make([]int64, 0, probePage)
	for one := range strings.SplitSeq(text, ",") {
		f, err := strconv.ParseInt(one, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("fingerprint: %w", err)
		}
		list = append(list, f)
	}
	if !slices.IsSorted(list) { // no engine promises in which order it joins
		slices.Sort(list)
	}
	return list, nil
}

// probePage is how many fingerprints are read at a time: 160 KB of text.
const probePage = 8192

// readProbes reads from one partner after the other, which costs half of what one statement over all of them does.
func (s Breaches) readProbes(ctx context.Context, place leak.Place, limit int,
	page func(id partner.ID, at int64, limit int) ([]int64, error),
) (list []leak.Probes, last leak.Place, err error) {
	for left := limit; ; {
		of, err := s.readPartnerProbes(&place, left, page)
		if err != nil {
			return nil, place, fmt.Errorf("read fingerprints: %w", err)
		}
		if n := len(of); n > 0 {
			list, left = append(list, leak.Probes{Partner: place.Partner, Fingerprints: of}), left-n
		}
		if left == 0 {
			return list, place, nil
		}
		next, err := readValue[partner.ID](
			ctx,
			s.readQuerier(),
			`SELECT min(partner_id) FROM asset WHERE partner_id > $1 AND fingerprint IS NOT NULL`,
			place.Partner,
		)
		if err != nil || next == "" {
			return list, place, err
		}
		place = leak.Place{Partner: next, At: math.MinInt64}
	}
}

// readPartnerProbes reads those of the place's partner, and moves the place behind them.
func (s Breaches) readPartnerProbes(place *leak.Place, limit int,
	page func(id partner.ID, at int64, limit int) ([]int64, error),
) (list []uint64, err error) {
	veil := s.keys.PartnerVeil(string(place.Partner))
	for full := place.Partner != ""; full && len(list) < limit; {
		most := min(limit-len(list), probePage)
		kept, err := page(place.Partner, place.At, most)
		if err != nil {
			return nil, err
		}
		for _, f := range kept {
			if f != place.At { // two people of the partner watch one value
				list, place.At = append(list, veil.ShowFingerprint(uint64(f))), f
			}
		}
		full = len(kept) == most
	}
	return list, nil
}

// WatchedEmails returns addresses that live partners watch, by partner and id, behind one of a partner. Only they have
// a fingerprint, as those have none that wait for their first look: what is asked about them would be one.
func (s Feeds) WatchedEmails(
	ctx context.Context, of partner.ID, after cyber.AssetID, limit int,
) ([]cyber.Asset, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner, a *cyber.Asset) error {
		var sealed []byte
		if err := row.Scan(&a.ID, &a.Partner, &a.Kind, &sealed); err != nil {
			return err
		}
		return Monitoring(s).openAssetValue(a, sealed)
	}, `SELECT id, partner_id, kind, value FROM asset WHERE kind = $1 AND fingerprint IS NOT NULL
		AND (partner_id, id) > ($2, $3)
		ORDER BY partner_id, id LIMIT $4`,
		identifier.Email,
		of,
		after,
		limit,
	)
}
