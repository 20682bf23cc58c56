package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

// database looks without changing: it opens only what is there, and migrates nothing.
func (p *checkup) database(ctx context.Context, root *seal.Root) {
	const area = "database"
	address := p.common.DatabaseAddress()
	// Opening a missing SQLite file would create it.
	if p.common.Database == "" {
		if _, err := os.Stat(address); errors.Is(err, fs.ErrNotExist) {
			p.reportWarning(area, address+" does not exist yet", "the first start makes it")
			return
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	db, err := sqldb.OpenDatabase(ctx, address, sqldb.Options{MaxConns: 2, Insecure: p.common.DatabaseInsecure})
	if errors.Is(err, sqldb.ErrSharedSession) {
		p.reportProblem(
			area,
			oneLineReason(err),
			"PgBouncer: pool_mode = session, or give --database the address of PostgreSQL itself",
		)
		return
	}
	if errors.Is(err, sqldb.ErrNoConnection) {
		p.reportProblem(
			area,
			sqldb.ErrNoConnection.Error(),
			"docs/operations.md has the figures: PostgreSQL and several replicas, Poolers",
		)
		return
	}
	if err != nil {
		p.reportProblem(
			area,
			oneLineReason(err),
			"is the server up, the address right, may this machine connect, does the user exist? For PostgreSQL try "+
				"psql with the same address",
		)
		return
	}
	defer func() { _ = db.Close() }()
	list, err := store.MigrationList()
	if err != nil {
		p.reportProblem(area, oneLineReason(err), "")
		return
	}
	pending, err := db.CountPending(ctx, list)
	switch {
	case err != nil:
		p.reportProblem(area, oneLineReason(err), "a database newer than this program needs the newer program")
		return
	case pending == len(list):
		p.reportWarning(
			area,
			fmt.Sprintf("%s answers and is empty", db.EngineName()),
			"the first start makes the tables; the user must be allowed to",
		)
		return
	case pending > 0:
		p.reportWarning(
			area,
			fmt.Sprintf("%s answers; %d migrations are to come", db.EngineName(), pending),
			"the next start, or vigia migrate, applies them; take a backup first",
		)
		return
	}
	p.reportOK(area, "%s answers, its settings keep what it confirms, its tables are up to date", db.EngineName())
	if pooled, err := db.ProveSession(ctx); err == nil && pooled {
		p.reportOK(area, "a connection pooler is in between, and gives each connection a session of its own")
	}
	if sqldb.Unverified(address) {
		p.reportWarning(
			area,
			"its certificate is not checked (--database-insecure)",
			"anybody on the way could answer in its place: add sslmode=verify-full to the address",
		)
	}
	p.compareClocks(ctx, db)
	p.checkKeys(ctx, db, root)
}

// skewWorthTelling is from when on clocks count as different.
const skewWorthTelling = 2 * time.Second

// compareClocks reports by how much this machine differs from what the service goes by: the clock of PostgreSQL's
// machine, or, on the embedded database, the time since the server was started.
func (p *checkup) compareClocks(ctx context.Context, db *sqldb.DB) {
	const area = "clock"
	if db.EngineName() == sqldb.SQLite {
		skew, err := store.NewStore(db, nil, time.Now, leak.Judge{}).Upkeep.ClockSkew(ctx)
		switch {
		case err != nil:
			p.reportWarning(area, oneLineReason(err), "")
		case skew.Abs() >= skewWorthTelling:
			p.reportWarning(
				area,
				fmt.Sprintf(
					"it was set while the server ran: it is %s the time that the server goes by", aheadOrBehind(skew),
				),
				"set it right, by NTP; if it is right now, restart the server",
			)
		}
		return
	}
	before := time.Now()
	server, err := db.ServerTime(ctx)
	if err != nil {
		p.reportWarning(area, oneLineReason(err), "")
		return
	}
	skew := before.Add(time.Since(before) / 2).Sub(server)
	if skew.Abs() >= skewWorthTelling {
		p.reportWarning(
			area,
			fmt.Sprintf("it is %s the database's, which the service goes by", aheadOrBehind(skew)),
			"keep both by NTP",
		)
		return
	}
	p.reportOK(area, "agrees with the database's, which the service goes by")
}

// aheadOrBehind says a difference of clocks.
func aheadOrBehind(skew time.Duration) string {
	if skew < 0 {
		return (-skew).Round(time.Second).String() + " behind"
	}
	return skew.Round(time.Second).String() + " ahead of"
}
