//go:build !linux

package app

import "time"

// elapsedTime returns the time since the process began.
func elapsedTime() time.Duration { return time.Since(processStart) }
