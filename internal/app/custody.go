package app

import (
	"log/slog"

	"github.com/vigiahq/vigia/internal/sqldb"
)

// WarnOfCustody says at each start what an operator has chosen, or left as it was, that lets others at the data.
func (a *App) WarnOfCustody(log *slog.Logger, standby string) {
	for option, address := range map[string]string{"--database": a.Config.DatabaseAddress(), "--database-read": standby} {
		if sqldb.Unverified(address) {
			log.Warn("the database's certificate is not checked: anybody on the way could answer in its place", "option", option,
				"mend", "add sslmode=verify-full to the address and leave --database-insecure out")
		}
	}
}
