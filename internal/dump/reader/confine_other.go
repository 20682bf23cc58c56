//go:build !linux

package reader

import (
	"os"
	"time"
)

// confineProcess limits what the process may use. The sandbox of Linux does not exist here: resource limits are all
// there is.
func confineProcess() (c Confinement) {
	limitResources(&c)
	return c
}

// processUsage is not known here: the reader's own limits and the time are what there is.
func processUsage(int) (memory int64, cpu time.Duration, ok bool) { return 0, 0, false }

// executable returns the path of the running program.
func executable() (string, error) { return os.Executable() }

// widenPipe does nothing: only Linux can change the size of a pipe.
func widenPipe(any) {}

// populatePages does nothing: pages are mapped when they are read.
func populatePages([]byte) {}
