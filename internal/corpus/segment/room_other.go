//go:build !linux

package segment

// largePages does nothing: only Linux takes such advice.
func largePages([]byte) {}
