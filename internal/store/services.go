package store

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ cyber.ServiceStore = Services{}

const serviceColumns = `id, name, description, position, retired, created_at, mac`

// scanService reads serviceColumns. Of a forged row there is nothing but its ID, and it is not offered.
func (c core) scanService(row scanner) (checked[cyber.Service], error) {
	var sv cyber.Service
	var created int64
	var mac []byte
	err := row.Scan(&sv.ID, &sv.Name, &sv.Description, &sv.Position, &sv.Retired, &created, &mac)
	sv.CreatedAt = fromMicros(created)
	at := "service " + string(sv.ID)
	if !c.isGenuine("service", serviceGrant(sv), mac) {
		return checked[cyber.Service]{cyber.Service{ID: sv.ID, Retired: true, CreatedAt: sv.CreatedAt}, at, true}, err
	}
	return checked[cyber.Service]{value: sv, row: at}, err
}

// ListServices returns the whole catalogue in order.
func (s Services) ListServices(ctx context.Context) ([]cyber.Service, error) {
	rows, err := collectRows(ctx, s.readQuerier(), s.scanService, `SELECT `+serviceColumns+` FROM service ORDER BY position, id`)
	list := make([]cyber.Service, len(rows))
	for i, r := range rows {
		list[i] = r.value
	}
	return list, err
}

// InsertService stores a new service.
func (s Services) InsertService(ctx context.Context, sv cyber.Service) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error { return s.insertService(ctx, tx, sv) })
}

// insertService stores a service; one whose ID exists already is left as it is.
func (s Services) insertService(ctx context.Context, q querier, sv cyber.Service) error {
	return execStatement(ctx, q, "insert service", `INSERT INTO service (`+serviceColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO NOTHING`,
		string(sv.ID), sv.Name, sv.Description, sv.Position, sv.Retired, toMicros(sv.CreatedAt), s.grantMAC("service", serviceGrant(sv)))
}

// SeedServices fills an empty catalogue; several replicas may do so at once.
func (s Services) SeedServices(ctx context.Context, list []cyber.Service) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		var any bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM service)`).Scan(&any); err != nil {
			return fmt.Errorf("seed services: %w", err)
		}
		if any {
			return nil
		}
		for _, sv := range list {
			if err := s.insertService(ctx, tx, sv); err != nil {
				return err
			}
		}
		return nil
	})
}

// UpdateService changes one service. A forged one begins with nothing, so that only what the operator says anew is kept.
func (s Services) UpdateService(ctx context.Context, id cyber.ServiceID, change func(*cyber.Service) error) (cyber.Service, error) {
	var sv cyber.Service
	err := s.runInTx(ctx, func(tx *sqldb.Tx) error {
		kept, err := s.scanService(tx.QueryRowContext(ctx, `SELECT `+serviceColumns+` FROM service WHERE id = $1`, string(id)))
		if err != nil {
			return readError("read service", err, cyber.ErrServiceNotFound)
		}
		if sv = kept.value; kept.forged {
			sv.Retired = false
		}
		if err := change(&sv); err != nil {
			return err
		}
		return execStatement(ctx, tx, "update service", `UPDATE service SET name = $2, description = $3, position = $4, retired = $5, mac = $6 WHERE id = $1`,
			string(id), sv.Name, sv.Description, sv.Position, sv.Retired, s.grantMAC("service", serviceGrant(sv)))
	})
	return sv, err
}
