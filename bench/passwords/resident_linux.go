package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// countResident asks the kernel which pages of the mapping are in memory.
func countResident(data []byte) (int, error) {
	const page = 4096
	in := make([]byte, (len(data)+page-1)/page)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)), uintptr(unsafe.Pointer(&in[0])))
	if errno != 0 {
		return 0, errno
	}
	n := 0
	for _, b := range in {
		n += int(b & 1)
	}
	return n, nil
}
