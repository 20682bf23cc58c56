//go:build !linux

package reader

import (
	"os"
	"time"
)

func confineProcess() (c Confinement) {
	limitResources(&c)
	return c
}

// processUsage is not known here: the reader's own limits and the time are what there is.
func processUsage(int) (memory int64, cpu time.Duration, ok bool) { return 0, 0, false }

func executable() (string, error) { return os.Executable() }

func widenPipe(any) {}
