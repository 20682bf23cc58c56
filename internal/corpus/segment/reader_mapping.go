package segment

import (
	"encoding/binary"
	"errors"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"unsafe"
)

// mapping is the file in memory: mapped, or read where a system would not let a mapped file be removed. It is unmapped
// by the garbage collector once no look-up and no Reader refers to it: closing a Reader can therefore never pull the
// memory away under a look-up, and look-ups pay nothing for that.
type mapping struct {
	data []byte
}

func (m *mapping) dataPage(i int) *page {
	return (*page)(m.data[(1+i)*pageSize:])
}

// isIntact reports whether the page still has its mark. It is asked after the page was read, hence the atomic load: the
// order counts.
func isIntact(p *page) bool {
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(&p[pageContent]))) == markInMemory
}

// markInMemory is pageMark as this machine's byte order reads it.
var markInMemory = binary.NativeEndian.Uint64([]byte(pageMark))

// guardRead ends a stretch of code that reads mapped memory. A page that cannot be read (the file was cut, the disk
// failed) or that holds nonsense after all becomes ErrCorrupt instead of the end of the process. Use:
//
//	defer m.guard(debug.SetPanicOnFault(true), &err)
func (m *mapping) guardRead(before bool, err *error) {
	debug.SetPanicOnFault(before)
	if p := recover(); p != nil {
		var re runtime.Error
		if e, ok := p.(error); !ok || !errors.As(e, &re) {
			panic(p)
		}
		*err = ErrCorrupt.Because(re).Note("a page cannot be read: the file was cut or changed while open")
	}
	runtime.KeepAlive(m)
}
