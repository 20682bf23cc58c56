package main

import (
	"os"
	"runtime/debug"
)

// What a server or an import holds is little, and most of what it allocates is garbage at once. The default looks for
// garbage whenever a few megabytes have doubled, a sixth of the processor time of a busy server. Here it may grow
// to four times what is held, until both reach collectedMemory: then it is collected as often as that needs.
const (
	collectedMemory = 232 << 20
	garbagePercent  = 400
)

// boundMemory bounds that of a process that serves or imports. What the operator sets in GOGC or GOMEMLIMIT holds.
func boundMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(collectedMemory)
	}
}
