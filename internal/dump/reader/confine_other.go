//go:build !linux

package reader

import "os"

// confineProcess limits what the process may use. The sandbox of Linux does not exist here: resource limits are all
// there is.
func confineProcess(omitted) (c Confinement) {
	limitResources(&c)
	return c
}

// HasConfinement reports that there is neither Landlock nor seccomp here.
func HasConfinement() bool { return false }

// measureUsage is not known here: the reader's own limits and the time are what there is.
func measureUsage(int) (usage, bool) { return usage{}, false }

// awaitExit does not wait: only Linux has a way that leaves the child's number its own.
func awaitExit(int) bool { return false }

// executable returns the path of the running program.
func executable() (string, error) { return os.Executable() }

// widenPipe does nothing: only Linux can change the size of a pipe.
func widenPipe(any) {}

// populatePages does nothing: pages are mapped when they are read.
func populatePages([]byte) {}

// limitAddresses does nothing: no other system lets a process bound another.
func limitAddresses(int, int64) {}
