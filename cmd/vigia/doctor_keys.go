package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

// checkRoot returns the root key, or nil.
func (p *checkup) checkRoot() *seal.Root {
	const area = "root key"
	place := p.common.RootPlace()
	app.UseKMS()
	root, err := seal.OpenRoot(place)
	if errors.Is(err, seal.ErrNoKeyFile) {
		p.reportWarning(
			area,
			place+" does not exist yet",
			"the first start makes it, but only for a new database; for an old one restore it from its copy",
		)
		return nil
	}
	if err != nil {
		p.reportProblem(
			area,
			oneLineReason(err),
			"restore the file from its copy, or mend its owner and mode: chmod 600 "+place,
		)
		return nil
	}
	p.reportOK(area, "%s, root %s", place, root.ID())
	if app.KeysBesideData(p.common) {
		p.reportWarning(
			area,
			"is in the data folder: whoever copies the folder, or the disk, can read everything",
			"move it and name it with --key-file, or use a KMS: vigia keys root --new",
		)
	}
	return root
}

// checkKeys reports whether the root opens the keys of the database, and those what is in it.
func (p *checkup) checkKeys(ctx context.Context, db *sqldb.DB, root *seal.Root) {
	const area = "keys"
	exists, err := store.HasRing(ctx, db)
	if err != nil || !exists {
		return
	}
	if root == nil {
		p.reportProblem(
			area,
			"the database has sealed data and its root key is missing or unreadable",
			"restore the key file that this database was begun with; without it the personal data is lost",
		)
		return
	}
	keys, err := store.OpenKeys(ctx, db, root, time.Now())
	if err != nil {
		p.reportProblem(area, oneLineReason(err), "give the root that belongs to this database")
		return
	}
	st := store.NewStore(db, keys, time.Now, leak.Judge{})
	lacking, err := st.Upkeep.FindUnopenable(ctx)
	switch {
	case err != nil:
		p.reportWarning(area, oneLineReason(err), "")
	case len(lacking) > 0:
		p.reportProblem(
			area,
			"nobody can open "+strings.Join(lacking, "; "),
			"restore a backup that has these keys; vigia check counts all such values",
		)
	default:
		p.reportOK(area, "epoch %d, %d keys, new values under key %d; a sample of all sealed values has its keys",
			keys.Epoch(), len(keys.ListKeyIDs()), keys.PrimaryID())
	}
	p.checkRootCopies(ctx, st, root)
	if db.EngineName() == sqldb.PostgreSQL {
		p.checkReplicas(ctx, st)
	}
}

// checkRootCopies says when a root exists once only, as far as anybody has shown, and when there is more than one.
func (p *checkup) checkRootCopies(ctx context.Context, st *store.Store, root *seal.Root) {
	const area = "root key"
	ring, err := st.Upkeep.ReadRing(ctx)
	if err != nil {
		p.reportWarning(area, oneLineReason(err), "")
		return
	}
	if own, _ := ring.FindRoot(root.ID()); own.CopiedAt == 0 {
		p.reportWarning(
			area,
			"the first start made "+root.Place()+" and nobody has shown a copy of it: with this disk all personal "+
				"data would be lost",
			"copy it apart from the database and its backups, then run: vigia keys root --copy FILE, on the copy",
		)
	}
	if len(ring.Roots) > 1 {
		p.reportWarning(
			area,
			fmt.Sprintf("%d roots open the keys: %s", len(ring.Roots), strings.Join(ring.RootIDs(), ", ")),
			"start every server with the new one, then run: vigia keys root --drop-old",
		)
	}
}
