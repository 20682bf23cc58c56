package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ cyber.ServiceStore = Services{}

const serviceColumns = `id, name, description, position, retired, created_at`

func scanService(row scanner) (cyber.Service, error) {
	var sv cyber.Service
	var created int64
	err := row.Scan(&sv.ID, &sv.Name, &sv.Description, &sv.Position, &sv.Retired, &created)
	sv.CreatedAt = fromMicros(created)
	return sv, err
}

// Services returns the whole catalogue in order.
func (s Services) Services(ctx context.Context) ([]cyber.Service, error) {
	return collect(ctx, s.reader(), scanService, `SELECT `+serviceColumns+` FROM service ORDER BY position, id`)
}

// InsertService keeps a new service.
func (s Services) InsertService(ctx context.Context, sv cyber.Service) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error { return insertService(ctx, tx, sv) })
}

func insertService(ctx context.Context, q querier, sv cyber.Service) error {
	_, err := q.ExecContext(ctx, `INSERT INTO service (`+serviceColumns+`) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (id) DO NOTHING`,
		string(sv.ID), sv.Name, sv.Description, sv.Position, sv.Retired, micros(sv.CreatedAt))
	if err != nil {
		return fmt.Errorf("insert service: %w", err)
	}
	return nil
}

// SeedServices fills an empty catalogue; several replicas may do so at once.
func (s Services) SeedServices(ctx context.Context, list []cyber.Service) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		var any bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM service)`).Scan(&any); err != nil {
			return fmt.Errorf("seed services: %w", err)
		}
		if any {
			return nil
		}
		for _, sv := range list {
			if err := insertService(ctx, tx, sv); err != nil {
				return err
			}
		}
		return nil
	})
}

// UpdateService changes one service.
func (s Services) UpdateService(ctx context.Context, id cyber.ServiceID, change func(*cyber.Service) error) (cyber.Service, error) {
	var sv cyber.Service
	err := s.inTx(ctx, func(tx *sqldb.Tx) error {
		var err error
		sv, err = scanService(tx.QueryRowContext(ctx, `SELECT `+serviceColumns+` FROM service WHERE id = $1`, string(id)))
		if errors.Is(err, sql.ErrNoRows) {
			return cyber.ErrServiceNotFound
		}
		if err != nil {
			return fmt.Errorf("read service: %w", err)
		}
		if err := change(&sv); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE service SET name = $2, description = $3, position = $4, retired = $5 WHERE id = $1`,
			string(id), sv.Name, sv.Description, sv.Position, sv.Retired)
		if err != nil {
			return fmt.Errorf("update service: %w", err)
		}
		return nil
	})
	return sv, err
}
