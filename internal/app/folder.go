package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// openFolder prepares the data folder and opens the database.
func openFolder(ctx context.Context, c config.Common, opts sqldb.Options) (*sqldb.DB, error) {
	if err := c.CheckCommon(); err != nil {
		return nil, err
	}
	if err := prepareFolder(c.Data); err != nil {
		return nil, err
	}
	opts.Insecure = c.DatabaseInsecure
	return sqldb.OpenDatabase(ctx, c.DatabaseAddress(), opts)
}

// prepareFolder creates the data folder, or makes sure that an existing one of ours is closed to other users.
func prepareFolder(path string) error {
	err := durable.MakeFolder(filepath.Dir(path), 0o750)
	if err == nil {
		err = os.Mkdir(path, 0o700)
	}
	if err == nil {
		err = durable.SyncFolder(filepath.Dir(path))
	}
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("data folder: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("data folder: %s is not a folder", path)
	}
	if err := checkOwner(path, info, os.Geteuid()); err != nil {
		return err
	}
	// Windows has no modes: there the folder's access list decides, which is the operator's to set.
	if info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return nil
	}
	if !isOwnFolder(path) {
		return fmt.Errorf("data folder: others can look into %s (mode %04o), and it holds files that are not Vigia's; "+
			"choose an empty folder, or run: chmod 700 %s", path, info.Mode().Perm(), path)
	}
	if err := os.Chmod(path, 0o700); err != nil { //nolint:gosec // a folder needs its execute bit
		return fmt.Errorf("data folder: %w", err)
	}
	return nil
}

// checkOwner refuses a folder of another user, who could put another database or key file into it. Windows has no such
// numbers.
func checkOwner(path string, info os.FileInfo, user int) error {
	if owner := seal.FileOwner(info); runtime.GOOS != "windows" && owner != user {
		return fmt.Errorf(
			"data folder: %s belongs to user %d and this program runs as user %d; run it as the owner, or give the "+
				"folder to that user",
			path,
			owner,
			user,
		)
	}
	return nil
}

// isOwnFolder reports whether a folder is empty or already holds our database or keys: only then its mode is ours to
// change.
func isOwnFolder(path string) bool {
	entries, err := os.ReadDir(path)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.Name() == "vigia.db" || e.Name() == "keys.json" {
			return true
		}
	}
	return len(entries) == 0
}
