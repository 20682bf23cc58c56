package sqldb

import (
	"syscall"
	"time"
)

// setUserTimeout has the kernel give a connection up when what was sent is not acknowledged for so long.
func setUserTimeout(c syscall.RawConn, after time.Duration) error {
	const tcpUserTimeout = 0x12
	var err error
	if cerr := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(after.Milliseconds()))
	}); cerr != nil {
		return cerr
	}
	return err
}
