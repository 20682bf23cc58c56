package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

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
	list := sqldb.Statements{
		sqldb.NewStatement(`INSERT INTO epp_source (system, pooled, low_mark, low) VALUES ($1, $2, $3, $4)
		ON CONFLICT (system) DO NOTHING`,
			system,
			false,
			cyber.DefaultLowMark,
			false,
		),
	}
	if change.Pooled != nil {
		list.Add(`UPDATE epp_source SET pooled = $2 WHERE system = $1`, system, *change.Pooled)
	}
	if change.LowMark != nil {
		list.Add(`UPDATE epp_source SET low_mark = $2 WHERE system = $1`, system, *change.LowMark)
	}
	if change.Returns != nil {
		list.Add(`UPDATE epp_source SET returns = $2 WHERE system = $1`, system, *change.Returns)
	}
	return s.runAll(ctx, list...)
}
