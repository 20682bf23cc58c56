package reader

import "time"

// watchEvery is how often a child's memory and processor time are looked at.
const watchEvery = 20 * time.Millisecond

// usage is what a process holds in memory of its own, shared and in page tables, its address space, how many threads it
// has, and the processor time that it has used.
type usage struct {
	own, shared, tables, addresses, threads int64
	cpu                                     time.Duration
}

// tableRatio is how many bytes of a file that is mapped and read whole need one of page tables, twice as many as usual
// to spare.
const tableRatio = 256

// moreAddresses is how much a reader may map beside the files that it was started with, each of them twice. Maps of the
// same file again and again cost nothing but page tables. Tests raise it.
var moreAddresses int64 = 16 << 30

// mostThreads is more threads than a reader has: a few for each worker and those of Go's runtime. The parent looks at
// them because they count against the limits of its own unit and user.
const mostThreads = 128

// watchLimits kills a reader that exceeds a limit.
func (p *Process) watchLimits() {
	// Files of a file system in memory that are mapped are shared memory to the kernel.
	mappable := int64(0)
	for _, file := range p.files {
		mappable += fileSize(file)
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	left, counted, idle, seen := idleCPU, time.Duration(0), time.Duration(0), int64(0)
	for {
		select {
		case <-p.done:
			return
		case <-tick.C:
		}
		used, known := measureUsage(p.cmd.Process.Pid)
		own := used.own + max(0, used.shared-mappable) + max(0, used.tables-mappable/tableRatio)
		if known && own > Memory {
			p.killReader(endMemory)
			return
		}
		if known && used.threads > mostThreads {
			p.killReader(endThreads)
			return
		}
		now := p.progress.Load()
		if p.waiting.Load() {
			idle += watchEvery
		}
		if now != seen {
			idle = 0
		}
		if s := p.spending.Load(); s != nil {
			s.processor.Add(int64(used.cpu - counted))
			if p.budget.isExceeded(p.Spent()) {
				p.killReader(EndBudget)
				return
			}
		}
		earned := time.Duration(float64(now-seen) / progressRate * float64(time.Second))
		left = min(idleCPU, left-(used.cpu-counted)+earned)
		counted, seen = used.cpu, now
		if left <= 0 || idle > idleWall {
			p.killReader(endTime)
			return
		}
	}
}
