//go:build unix && !linux

package scan

func populate([]byte) {}
