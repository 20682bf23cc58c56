package reader

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	"github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// confineProcess gives up all rights but to what is open.
func confineProcess() (c Confinement) {
	// Without any rule nothing is allowed: no path, no port, no signal to others. It sets no_new_privs for all threads.
	if err := landlock.V11.BestEffort().Restrict(); err == nil {
		c.Landlock, _ = syscall.LandlockGetABIVersion() // 0 where there is none
	}
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	c.NoNewPrivileges = err == nil && set == 1
	limitResources(&c)
	return c
}

// processUsage returns the memory of its own that a process holds, and the processor time that it has used.
func processUsage(pid int) (memory int64, cpu time.Duration, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 3 {
		return 0, 0, false
	}
	resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(fields[2]), 10, 64) // files that are mapped are the system's to take back
	text, err = os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields = bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if err != nil || len(fields) < 13 {
		return 0, 0, false
	}
	const tick = time.Second / 100 // USER_HZ is the same on all platforms that Go has
	user, _ := strconv.ParseInt(string(fields[11]), 10, 64)
	system, _ := strconv.ParseInt(string(fields[12]), 10, 64)
	return (resident - shared) * int64(os.Getpagesize()), time.Duration(user+system) * tick, true
}

// executable returns a path to the running program.
func executable() (string, error) { return "/proc/self/exe", nil } // also when an upgrade has replaced the file

// widenPipe lets a pipe hold several batches, so that neither side waits for the other at each.
func widenPipe(pipe any) {
	if f, ok := pipe.(*os.File); ok {
		if raw, err := f.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) }) // as it is will do
		}
	}
}

// populatePages has the system map pages of a file at once, which takes less time than a page fault for each few of them.
// Those that it cannot map are faulted in when they are read.
func populatePages(text []byte) { _ = unix.Madvise(text, unix.MADV_POPULATE_READ) }
