package scantest

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// Heap runs work and returns by how much the heap grew at its largest, looked at often.
func Heap(t testing.TB, work func()) uint64 {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(min(4, runtime.GOMAXPROCS(0)))) // the collector's share grows with the processors
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	peak, stop, stopped := before.HeapAlloc, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapAlloc)
				time.Sleep(5 * time.Millisecond) // reading the figures stops the program
			}
		}
	}()
	work()
	close(stop)
	<-stopped
	return peak - before.HeapAlloc
}
