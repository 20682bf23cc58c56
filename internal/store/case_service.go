package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ cyber.ServiceStore = Services{}

// serviceColumns are those that scanning a service expects, in its order.
const serviceColumns = `id, name, description, position, retired, created_at, mac`

// scanService reads serviceColumns. Of a forged row there is nothing but its ID, and it is not offered.
func (c core) scanService(row scanner, into *checked[cyber.Service]) error {
	sv := &into.value
	err := row.Scan(&sv.ID, &sv.Name, &sv.Description, &sv.Position, &sv.Retired, &sv.CreatedAt,
		c.checksMAC(&into.forged, "service", func() *grant { return serviceGrant(*sv) }))
	if into.row = "service " + string(sv.ID); into.forged {
		*sv = cyber.Service{ID: sv.ID, Retired: true, CreatedAt: sv.CreatedAt}
	}
	return err
}

// serviceGrant covers what people see of a service.
func serviceGrant(sv cyber.Service) *grant {
	return new(grant).addTexts(string(sv.ID), sv.Name, sv.Description).addNumbers(sv.Position).addBools(sv.Retired).
		addNumbers(toMicros(sv.CreatedAt))
}

// ListServices returns the whole catalogue in order.
func (s Services) ListServices(ctx context.Context) ([]cyber.Service, error) {
	rows, err := collectRows(
		ctx,
		s.readQuerier(),
		s.scanService,
		`SELECT `+serviceColumns+` FROM service ORDER BY position, id`,
	)
	return valuesOf(rows), err
}

// InsertService stores a new service.
func (s Services) InsertService(ctx context.Context, sv cyber.Service) error {
	return s.runAll(ctx, s.serviceStatement(sv))
}

// serviceStatement stores a service; one whose ID exists already is left as it is.
func (s Services) serviceStatement(sv cyber.Service) sqldb.Statement {
	return sqldb.NewStatement(
		`INSERT INTO service (`+serviceColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`,
		sv.ID,
		sv.Name,
		sv.Description,
		sv.Position,
		sv.Retired,
		sv.CreatedAt,
		s.grantMAC("service", serviceGrant(sv)),
	)
}

// SeedServices fills an empty catalogue; several replicas may do so at once.
func (s Services) SeedServices(ctx context.Context, list []cyber.Service) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		any, err := readValue[bool](ctx, tx, `SELECT EXISTS (SELECT 1 FROM service)`)
		if err != nil || any {
			return err
		}
		inserts := make(sqldb.Statements, len(list))
		for i, sv := range list {
			inserts[i] = s.serviceStatement(sv)
		}
		return tx.RunStatements(ctx, inserts)
	})
}

// UpdateService changes one service. A forged one begins with nothing, so that only what the operator says anew is
// kept.
func (s Services) UpdateService(
	ctx context.Context, id cyber.ServiceID, change func(*cyber.Service) error,
) (cyber.Service, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (sv cyber.Service, err error) {
		kept, err := readRow(
			ctx,
			tx,
			s.scanService,
			cyber.ErrServiceNotFound,
			`SELECT `+serviceColumns+` FROM service WHERE id = $1`,
			id,
		)
		if err != nil {
			return sv, err
		}
		if sv = kept.value; kept.forged {
			sv.Retired = false
		}
		if err := change(&sv); err != nil {
			return sv, err
		}
		return sv, execStatement(
			ctx,
			tx,
			`UPDATE service SET name = $2, description = $3, position = $4, retired = $5, mac = $6 WHERE id = $1`,
			id,
			sv.Name,
			sv.Description,
			sv.Position,
			sv.Retired,
			s.grantMAC("service", serviceGrant(sv)),
		)
	})
}

// SetTarget keeps the working time of a service's new cases.
func (s Cases) SetTarget(ctx context.Context, service cyber.ServiceID, target time.Duration) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := serviceExists(ctx, tx, service); err != nil {
			return err
		}
		return execStatement(ctx, tx, `INSERT INTO case_target (service_id, target) VALUES ($1, $2)
			ON CONFLICT (service_id) DO UPDATE SET target = excluded.target`,
			service,
			target,
		)
	})
}

// serviceExists returns cyber.ErrServiceNotFound for an unknown service; retired services count as existing.
func serviceExists(ctx context.Context, q querier, service cyber.ServiceID) error {
	_, err := readRow(
		ctx,
		q,
		scanValue[int64],
		cyber.ErrServiceNotFound.With("service", fault.NoSuchID),
		`SELECT 1 FROM service WHERE id = $1`,
		service,
	)
	return err
}
