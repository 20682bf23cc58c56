package app

import (
	"time"

	"golang.org/x/sys/unix"
)

// elapsedTime returns the time since the machine was started, the time for which it was suspended included, which the
// monotonic clock of Go leaves out.
func elapsedTime() time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &at); err != nil {
		return time.Since(processStart)
	}
	return time.Duration(at.Nano())
}
