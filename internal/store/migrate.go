package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migrations is where the product's migrations are read from. A test of upgrades lays one more beside them, and is the
// next release.
var Migrations fs.FS = migrationFiles

// MigrationList returns the product's migrations.
func MigrationList() ([]sqldb.Migration, error) {
	sub, err := fs.Sub(Migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	return sqldb.Migrations(sub)
}

// Migrate brings the database to this program's schema and returns what was applied. It needs no keys.
func Migrate(ctx context.Context, db *sqldb.DB, now time.Time) ([]sqldb.Migration, error) {
	list, err := MigrationList()
	if err != nil {
		return nil, err
	}
	return db.ApplyMigrations(ctx, list, now)
}
