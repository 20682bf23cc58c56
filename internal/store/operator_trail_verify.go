package store

import (
	"context"
	"crypto/hmac"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// VerifyAudit walks the trail from its first line to its head.
func (s Audit) VerifyAudit(ctx context.Context, expect operator.Head, progress func(seq int64)) (operator.Head, error) {
	const batch = 1000
	head, err := s.loadHead(ctx, s.readQuerier())
	if err != nil {
		return head, err
	}
	at, err := s.loadBase(ctx, s.readQuerier())
	if err != nil {
		return at, err
	}
	if expect.Seq > 0 && expect.Seq <= at.Seq {
		return at, operator.ErrTrailBroken.With("", fault.TrailLineTooOld, expect.Seq, at.Seq+1)
	}
	for at.Seq < head.Seq {
		rows, err := collectRows(
			ctx,
			s.readQuerier(),
			s.scanAuditLine,
			`SELECT `+auditColumns+` FROM audit WHERE seq > $1 AND seq <= $2 ORDER BY seq LIMIT $3`,
			at.Seq,
			head.Seq,
			batch,
		)
		if err != nil {
			return at, err
		}
		if len(rows) == 0 {
			return at, operator.ErrTrailBroken.With("", fault.TrailLineMissing, at.Seq+1)
		}
		for _, r := range rows {
			if at, err = s.checkLine(at, r, expect); err != nil {
				return at, err
			}
		}
		if progress != nil {
			progress(at.Seq)
		}
	}
	if !hmac.Equal(at.MAC, head.MAC) {
		return at, operator.ErrTrailBroken.With("", fault.TrailLineNotLast, at.Seq)
	}
	if expect.Seq > head.Seq {
		return head, operator.ErrTrailBroken.With("", fault.TrailTooShort, head.Seq, expect.Seq)
	}
	return head, s.nothingBeyond(ctx, head)
}

// checkLine checks one line against the one before.
func (s Audit) checkLine(before operator.Head, r auditRow, expect operator.Head) (operator.Head, error) {
	if r.Seq != before.Seq+1 {
		return before, operator.ErrTrailBroken.With("", fault.TrailLineMissing, before.Seq+1)
	}
	if !hmac.Equal(r.mac, s.chainMAC(before.MAC, r.Entry)) {
		return before, operator.ErrTrailBroken.With("", fault.TrailLineChanged, r.Seq, before.Seq)
	}
	if r.Seq == expect.Seq && !hmac.Equal(r.mac, expect.MAC) {
		return before, operator.ErrTrailBroken.With("", fault.TrailLineNotNoted, r.Seq)
	}
	return operator.Head{Seq: r.Seq, MAC: r.mac}, nil
}

// nothingBeyond finds lines after the head that are not simply newer than the reading of it.
func (s Audit) nothingBeyond(ctx context.Context, head operator.Head) error {
	now, err := s.loadHead(ctx, s.readQuerier())
	if err != nil || now.Seq > head.Seq {
		return err
	}
	base, err := s.loadBase(ctx, s.readQuerier())
	if err != nil {
		return err
	}
	beyond, err := readValue[int64](
		ctx,
		s.readQuerier(),
		`SELECT count(*) FROM audit WHERE seq > $1 OR seq <= $2`,
		head.Seq,
		base.Seq,
	)
	if err != nil {
		return err
	}
	if beyond > 0 {
		return operator.ErrTrailBroken.With("", fault.TrailLinesOutside, beyond)
	}
	return nil
}
