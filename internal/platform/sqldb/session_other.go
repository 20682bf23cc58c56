//go:build !linux

package sqldb

import (
	"syscall"
	"time"
)

// setUserTimeout does nothing where the kernel has no such setting: keepalives notice a lost peer there.
func setUserTimeout(syscall.RawConn, time.Duration) error { return nil }
