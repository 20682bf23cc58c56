package main

import (
	"runtime/debug"
	"testing"
)

// Not parallel: these are settings of the process.
func TestMemoryIsBounded(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
	for _, c := range []struct {
		name, gogc, memoryLimit string
		wantPercent             int
		wantLimit               int64
	}{
		{"nothing set", "", "", garbagePercent, collectedMemory},
		{"garbage set", "50", "", 100, collectedMemory},
		{"limit set", "", "100MiB", garbagePercent, 1 << 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GOGC", c.gogc)
			t.Setenv("GOMEMLIMIT", c.memoryLimit)
			debug.SetGCPercent(100)
			debug.SetMemoryLimit(1 << 30)
			boundMemory()
			if is := debug.SetGCPercent(100); is != c.wantPercent {
				t.Errorf("garbage is let lie up to %d %%, want %d", is, c.wantPercent)
			}
			if is := debug.SetMemoryLimit(-1); is != c.wantLimit {
				t.Errorf("the limit is %d bytes, want %d", is, c.wantLimit)
			}
		})
	}
}
