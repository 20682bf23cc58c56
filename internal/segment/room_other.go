//go:build !linux

package segment

func largePages([]byte) {}
