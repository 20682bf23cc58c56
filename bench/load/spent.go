package load

import (
	"syscall"
	"time"
)

// Spent is the processor time that this process has used, client and server in one: a figure that other work on the
// machine does not touch as much as requests a second. What PostgreSQL spends is not in it.
func Spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
