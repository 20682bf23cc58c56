package store

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// exportPlace binds a part of an export to its file and its number, so that parts cannot be reordered.
func exportPlace(id, number string) seal.Place {
	return seal.Place{Table: "operator_export_part", Column: "body", Row: id + "/" + number}
}

// BeginExport keeps the row of a file that is about to be written.
func (s Operators) BeginExport(ctx context.Context, e operator.Export) error {
	return s.execAlone(
		ctx,
		`INSERT INTO operator_export (id, operator_id, list, about, format, created_at, until, lines, parts, done)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, FALSE)`,
		e.ID,
		e.Operator,
		e.List,
		e.About,
		e.Format,
		e.CreatedAt,
		e.Until,
	)
}

// AddExportPart appends to a file; done says that this was the last part.
func (s Operators) AddExportPart(ctx context.Context, id string, number, lines int64, body []byte, done bool) error {
	sealed, err := s.sealValue(exportPlace(id, fmt.Sprint(number)), body)
	if err != nil {
		return err
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		// Without a row it was dropped while it was written.
		err := execExpecting(ctx, tx, operator.ErrNoExport,
			`UPDATE operator_export SET lines = $2, parts = $3, done = $4 WHERE id = $1 AND until > 0`,
			id, lines, number, done)
		if err != nil {
			return err
		}
		return execStatement(
			ctx,
			tx,
			`INSERT INTO operator_export_part (export_id, number, body) VALUES ($1, $2, $3)`,
			id,
			number,
			sealed,
		)
	})
}

// exportColumns are those that scanning an export expects, in its order.
const exportColumns = `id, operator_id, list, about, format, created_at, until, lines, parts, done`

// scanExport reads the description of an export, without its parts.
func scanExport(row scanner, e *operator.Export) error {
	return row.Scan(
		&e.ID,
		&e.Operator,
		&e.List,
		&e.About,
		&e.Format,
		&e.CreatedAt,
		&e.Until,
		&e.Lines,
		&e.Parts,
		&e.Done,
	)
}

// ListExports returns an operator's files, newest first.
func (s Operators) ListExports(ctx context.Context, owner operator.ID) ([]operator.Export, error) {
	return collectRows(
		ctx,
		s.readQuerier(),
		scanExport,
		`SELECT `+exportColumns+` FROM operator_export WHERE operator_id = $1 AND until > $2
		ORDER BY created_at DESC, id DESC LIMIT 100`,
		owner,
		s.now(),
	)
}

// GetExport returns one of an operator's own files that is all there.
func (s Operators) GetExport(ctx context.Context, owner operator.ID, id string) (operator.Export, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		scanExport,
		operator.ErrNoExport,
		`SELECT `+exportColumns+` FROM operator_export WHERE operator_id = $1 AND id = $2 AND until > $3 AND done`,
		owner,
		id,
		s.now(),
	)
}

// ExportPart returns a part of a file, from 1 on.
func (s Operators) ExportPart(ctx context.Context, id string, number int64) (body []byte, err error) {
	err = s.readSealed(ctx, s.readQuerier(), exportPlace(id, fmt.Sprint(number)), &body, operator.ErrNoExport,
		`SELECT body FROM operator_export_part WHERE export_id = $1 AND number = $2`,
		id,
		number,
	)
	return body, err
}

// DropExport removes one of an operator's own files before its time.
func (s Operators) DropExport(ctx context.Context, owner operator.ID, id string) error {
	_, err := s.dropExports(ctx, `operator_id = $1 AND id = $2`, owner, id)
	return err
}

// SweepExports removes files whose time is over.
func (s Operators) SweepExports(ctx context.Context, now time.Time) error {
	_, err := s.dropExports(ctx, `until <= $1`, now)
	return err
}

// dropNamedExports deletes operators' exports created up to a time that may name a person of the partner: files about
// the partner, and lists across all partners. They are sealed and cannot be searched for a person; their owners can
// create them again.
func (s Subjects) dropNamedExports(ctx context.Context, id partner.ID, upTo int64) (tallies, error) {
	n, err := s.dropExports(ctx, `about IN ('', $1) AND created_at <= $2`, string(id), upTo)
	if err != nil || n == 0 {
		return nil, err
	}
	return tallies{"files": n}, nil
}

// dropExports deletes files: each is marked as expired first, so that it can no longer be found, then its parts are
// deleted, a few at a time.
func (c core) dropExports(ctx context.Context, which string, args ...any) (total int64, err error) {
	files, err := collectValues[string](ctx, c.readQuerier(), `SELECT id FROM operator_export WHERE `+which, args...)
	if err != nil {
		return 0, err
	}
	for _, id := range files {
		if err := c.dropExport(ctx, id); err != nil {
			return total, err
		}
		total++
	}
	return total, nil
}

// partsAtOnce is how many parts of a file go in one transaction: each is large.
const partsAtOnce = 4

// dropExport deletes one file in three steps: it expires, its parts are deleted, its row is deleted. If it is
// interrupted, the next sweep finds it expired and goes on.
func (c core) dropExport(ctx context.Context, id string) error {
	err := c.execAlone(ctx, `UPDATE operator_export SET done = FALSE, until = 0 WHERE id = $1`, id)
	if err == nil {
		_, err = c.runInBatches(ctx, partsAtOnce, func(tx *sqldb.Tx, _, limit int64) (int64, error) {
			return execCounting(ctx, tx, `DELETE FROM operator_export_part WHERE export_id = $1 AND number IN (
				SELECT number FROM operator_export_part WHERE export_id = $1 ORDER BY number LIMIT $2)`,
				id,
				limit,
			)
		})
	}
	if err == nil {
		err = c.execAlone(ctx, `DELETE FROM operator_export WHERE id = $1`, id)
	}
	return err
}
