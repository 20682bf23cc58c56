//go:build unix

package scan

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

func mapFile(f *os.File, offset int64, length int) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), offset, length, unix.PROT_READ, unix.MAP_SHARED)
	if err == nil {
		_ = unix.Madvise(b, unix.MADV_SEQUENTIAL) // advice only
		populate(b)
	}
	return b, err
}

func unmapFile(b []byte) { _ = unix.Munmap(b) }

// faultIn says whether a panic is a fault at an address inside b.
func faultIn(p any, b []byte) bool {
	fault, ok := p.(interface{ Addr() uintptr })
	if !ok {
		return false
	}
	first := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return fault.Addr() >= first && fault.Addr() < first+uintptr(len(b))
}
