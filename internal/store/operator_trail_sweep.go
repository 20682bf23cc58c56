package store

import (
	"context"
	"crypto/hmac"
	"database/sql"
	"encoding/binary"
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// trailBaseTag returns the keyed hash of the trail's beginning.
func (s Audit) trailBaseTag(seq int64, mac []byte) []byte {
	return s.keys.MAC("audit.base", binary.BigEndian.AppendUint64(nil, uint64(seq)), mac)
}

// loadBase returns the last line before the trail's beginning, which the first line is chained to; line 0 while nothing
// was dropped.
func (s Audit) loadBase(ctx context.Context, q querier) (operator.Head, error) {
	h := operator.Head{MAC: []byte{}}
	var tag []byte
	err := readColumns(ctx, q, []any{&h.Seq, &h.MAC, &tag}, `SELECT seq, mac, tag FROM audit_base WHERE id = 1`)
	if errors.Is(err, sql.ErrNoRows) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	if !hmac.Equal(tag, s.trailBaseTag(h.Seq, h.MAC)) {
		return h, operator.ErrTrailBroken.With("", fault.TrailBeginningForged)
	}
	return h, nil
}

// SweepAudit deletes lines older than keep from the beginning of the trail, and stores under a keyed hash where the
// trail begins now: without the key the trail cannot be shortened unnoticed. The last line always stays. It returns how
// many lines it deleted.
func (s Audit) SweepAudit(ctx context.Context, keep time.Duration) (int64, error) {
	limit := toMicros(s.now().Add(-keep))
	return s.runInBatches(ctx, sweepBatch, func(tx *sqldb.Tx, _, most int64) (int64, error) {
		// The head's lock first, as everybody who changes the trail takes it.
		if err := execStatement(ctx, tx, `UPDATE audit_head SET seq = seq WHERE id = 1`); err != nil {
			return 0, err
		}
		base, err := s.loadBase(ctx, tx)
		if err != nil {
			return 0, err
		}
		last, err := lastExpiredLine(ctx, tx, base.Seq, limit, most)
		if err != nil || last == 0 {
			return 0, err
		}
		mac, err := readValue[[]byte](ctx, tx, `SELECT mac FROM audit WHERE seq = $1`, last)
		if err == nil {
			err = execStatement(ctx, tx, `INSERT INTO audit_base (id, seq, mac, tag) VALUES (1, $1, $2, $3)
				ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, mac = excluded.mac, tag = excluded.tag`,
				last,
				mac,
				s.trailBaseTag(last, mac),
			)
		}
		if err != nil {
			return 0, err
		}
		return execCounting(ctx, tx, `DELETE FROM audit WHERE seq > $1 AND seq <= $2`, base.Seq, last)
	})
}

// lastExpiredLine returns the last of the lines behind a number, at most so many, that are all past their time, or 0.
// It looks up to the first that is young enough: a clock that was turned back makes no hole.
func lastExpiredLine(ctx context.Context, tx *sqldb.Tx, behind, limit, most int64) (last int64, err error) {
	type line struct{ seq, at int64 }
	lines, err := collectRows(
		ctx,
		tx,
		func(row scanner, l *line) error { return row.Scan(&l.seq, &l.at) },
		`SELECT seq, at FROM audit WHERE seq > $1 AND seq < (SELECT seq FROM audit_head WHERE id = 1)
		ORDER BY seq LIMIT $2`,
		behind,
		most,
	)
	for _, l := range lines {
		if l.at > limit {
			break
		}
		last = l.seq
	}
	return last, err
}
