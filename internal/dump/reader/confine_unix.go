//go:build unix

package reader

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// mostData bounds what the reader maps for itself. It is more than Memory, which its parent holds it to: the runtime
// maps ahead of what it uses. What a file merely claims to need does not fit.
const mostData = 2 * Memory

// limitResources takes the right to open anything and to write files: a limit of no files leaves those that are open.
func limitResources(c *Confinement) {
	zero := unix.Rlimit{}
	c.NoFiles = unix.Setrlimit(unix.RLIMIT_NOFILE, &zero) == nil && unix.Setrlimit(unix.RLIMIT_FSIZE, &zero) == nil
	c.DataLimit = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: mostData, Max: mostData}) == nil
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &zero) // a core would hold what was read
}

// mapWholeFile maps a file into memory, which spares a copy of each of its bytes; nil: it has to be read. Touching what
// was cut off meanwhile ends the reader with SIGBUS.
func mapWholeFile(f *os.File) []byte {
	size := fileSize(f)
	if size == 0 || size != int64(int(size)) {
		return nil
	}
	text, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return text
}

// unmapFile gives back what mapWholeFile returned.
func unmapFile(text []byte) { _ = unix.Munmap(text) }

// startInGroup has a command begin a process group of its own, so that what it starts can be ended with it.
func startInGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killGroup ends a process and all of its group. The process must not have been waited for: its number could be
// another's.
func killGroup(process *os.Process) error {
	return errors.Join(unix.Kill(-process.Pid, unix.SIGKILL), process.Kill())
}
