package reader

import (
	"cmp"
	"sync/atomic"
	"time"
)

// Budget is how much processor time an input may take, all its readers together: Base, and PerMiB for each mebibyte
// that was read or unpacked of it. Zero means the default.
type Budget struct{ Base, PerMiB time.Duration }

// defaultBudget is ten times what the slowest honest format takes: LZMA in a zip comes to 10 MiB read and unpacked a
// second. Base is for two members without progress (see idleCPU).
var defaultBudget = Budget{Base: 20 * time.Second, PerMiB: time.Second}

// orDefault returns the budget with the default in the place of what is zero.
func (b Budget) orDefault() Budget {
	return Budget{Base: cmp.Or(b.Base, defaultBudget.Base), PerMiB: cmp.Or(b.PerMiB, defaultBudget.PerMiB)}
}

// isExceeded reports whether an input took more than it may.
func (b Budget) isExceeded(s Spent) bool {
	return s.Processor-b.Base > time.Duration(float64(s.Bytes)/(1<<20)*float64(b.PerMiB))
}

// Spent is the processor time that an input took, and how many bytes of it were read and unpacked for that.
type Spent struct {
	Processor time.Duration `json:"processor"`
	Bytes     int64         `json:"bytes"`
}

// spending is what the input at hand takes: what its earlier readers spent, and what this one does. From is how far the
// reader had come before.
type spending struct {
	before    Spent
	from      int64
	processor atomic.Int64
}

// Spent returns what the input at hand has taken, by this reader and those before it.
func (p *Process) Spent() Spent {
	s := p.spending.Load()
	if s == nil {
		return Spent{}
	}
	return Spent{
		Processor: s.before.Processor + time.Duration(s.processor.Load()),
		Bytes:     addUpTo(s.before.Bytes, max(0, p.progress.Load()-s.from)),
	}
}
