package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	product "github.com/vigiahq/vigia"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

// These are set by -ldflags: the version, the commit and its time. Where they are not, the build's own record speaks.
var version, commit, built string

// recorded returns a setting that the Go toolchain recorded in the build; empty where it recorded none.
func recorded(key string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == key {
				return s.Value
			}
		}
	}
	return ""
}

// versionText returns the version of a release build, or the one that the Go toolchain recorded.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "v" + product.Version + "-devel"
}

// commitText returns the commit that was built, or "unknown".
func commitText() string { return cmp.Or(commit, recorded("vcs.revision"), "unknown") }

// buildTime returns the time of the commit, if it is known.
func buildTime() (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, cmp.Or(built, recorded("vcs.time")))
	return t, err == nil
}

// versionCmd is 'vigia version'.
type versionCmd struct {
	Check bool `help:"Also say what a start of this program would migrate in the database, without changing it."`
}

func (versionCmd) Help() string {
	return "Before an upgrade, run the new program with --check beside the old service: it names the migrations that " +
		"its first start would apply.\n\n" +
		"Example:\n  vigia version --check --data /var/lib/vigia"
}

// Run prints the version and the commit it was made from.
func (v versionCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	r := newRecord("version", versionText(), "commit", commitText())
	var pending []string
	if v.Check {
		var err error
		if pending, err = pendingMigrations(ctx, c); err != nil {
			return err
		}
		r = r.withPairs("migrations", pending)
	}
	return o.printValue(r, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "vigia %s, commit %s\n", versionText(), commitText())
		switch {
		case len(pending) > 0:
			_, _ = fmt.Fprintf(
				w,
				"The first start migrates the database: %s. Take a backup before; afterwards older versions refuse "+
					"it.\n",
				strings.Join(pending, ", "),
			)
		case v.Check:
			_, _ = fmt.Fprintln(w, "The database is up to date; nothing is migrated.")
		}
	})
}

// pendingMigrations names the steps that a start would apply. A database that is missing has all of them before it; one
// that is newer than this program is an error.
func pendingMigrations(ctx context.Context, c *config.Common) ([]string, error) {
	list, err := store.MigrationList()
	if err != nil {
		return nil, err
	}
	pending := len(list)
	// Opening a missing SQLite file would create it.
	if _, err := os.Stat(c.DatabaseAddress()); c.Database != "" || err == nil {
		db, err := sqldb.OpenDatabase(
			ctx, c.DatabaseAddress(), sqldb.Options{MaxConns: 2, Insecure: c.DatabaseInsecure},
		)
		if err != nil {
			return nil, err
		}
		defer func() { _ = db.Close() }()
		if pending, err = db.CountPending(ctx, list); err != nil {
			return nil, err
		}
	}
	names := []string{}
	for _, m := range list[len(list)-pending:] {
		names = append(names, fmt.Sprintf("%04d_%s", m.Version, m.Name))
	}
	return names, nil
}
