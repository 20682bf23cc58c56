package reader

import "time"

// SetIdleCPU changes that limit and returns how to undo it.
func SetIdleCPU(d time.Duration) (undo func()) {
	before := idleCPU
	idleCPU = d
	return func() { idleCPU = before }
}
