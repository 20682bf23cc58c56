package app

import (
	"log/slog"
	"os"
)

// IsRoot reports whether this process may do anything on its machine. On Windows it does not say so.
func IsRoot() bool { return os.Geteuid() == 0 }

// WarnOfRights says at each start what would make a fault of the service one of the whole machine: that it runs as
// root, or that it cannot confine the process that reads dumps.
func WarnOfRights(log *slog.Logger, isRoot, canConfine, readsUnconfined bool) {
	if isRoot {
		log.Warn("the server runs as root: whoever takes it over has the machine",
			"mend", "run it as a user of its own, as deploy/vigia.service does")
	}
	switch {
	case canConfine:
	case readsUnconfined:
		log.Warn("dumps are read by a process that nothing confines: a hostile one may take over this machine",
			"mend", "import on Linux 5.13 or later and leave --reader-unconfined out")
	default:
		log.Warn("no dump is read: the system has neither Landlock nor seccomp to confine the process that reads it",
			"mend", "import on Linux 5.13 or later, or give --reader-unconfined")
	}
}
