package console

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limiter bounds how often one address may try to log in. It is the second net beside the lock of each account, and
// counts in this process only.
type limiter struct {
	now func() time.Time
	mu  sync.Mutex
	by  map[string]*rate.Limiter
}

const (
	triesBurst = 20
	triesEvery = 6 * time.Second
	// maxAddresses bounds the memory; beyond it all addresses start over.
	maxAddresses = 10_000
)

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, by: map[string]*rate.Limiter{}}
}

// allow takes one try of an address.
func (l *limiter) allow(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.by[address]
	if one == nil {
		if len(l.by) >= maxAddresses {
			clear(l.by)
		}
		one = rate.NewLimiter(rate.Every(triesEvery), triesBurst)
		l.by[address] = one
	}
	return one.AllowN(l.now(), 1)
}
