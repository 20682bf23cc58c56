package api

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// A request with a body of more than lightBody, or a list of more than lightList items, keeps processors and database
// busy for as long as hundreds of single requests. One partner has heavySlots of them at work at once; the next waits
// up to slotWait before anything of it is read, and is then asked to come again. What other partners do changes nothing
// here. A bulk with a smaller body is a single write: a partner that enrols people one by one uses as many connections
// as it has desks.
const (
	lightBody  = 64 << 10
	lightList  = 100
	heavySlots = 2
	slotWait   = 5 * time.Second
)

// Bounds of what is held in memory. The slots of one partner take less than two thirds of bulkRoom, and one partner
// takes at most a quarter of smallOfAll, so that there is always some left for another.
const (
	bulkRoom = 128 << 20
	// itemRoom is what an item takes beside its bytes: its row, or what is wrong with it.
	itemRoom = 512
	// smallOfAll and smallOfOne bound the bodies of all other routes.
	smallOfAll, smallOfOne = 64 << 20, 16 << 20
)

// admission decides how much work is under way in this process: few heavy requests for each partner, bulks on all
// processors but one, and bodies in bounded memory.
type admission struct {
	// processors holds a token for each processor but one, for bulks to compute on: the scheduler looks for arrived
	// packets only when a processor has nothing else to do, or after 10 ms, and a single request takes several.
	processors chan struct{}

	mu sync.Mutex
	of map[partner.ID]*partnerWork
	// bulk is the memory that the items of all bulks take, small that of all other bodies.
	bulk, small int64
}

// partnerWork is what one partner has under way.
type partnerWork struct {
	slots *semaphore.Weighted
	small int64
}

func newAdmission() *admission {
	return &admission{
		of:         map[partner.ID]*partnerWork{},
		processors: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1)),
	}
}

// errBusy asks a partner to come again: it has as much under way as one may have.
var errBusy = errRateLimited.With("body", fault.TooMuchWork)

// isHeavyBody judges a body by its length, which is below zero where it is not known.
func isHeavyBody(length int64) bool { return length < 0 || length > lightBody }

// workOfPartner returns what a partner has under way. The caller holds the lock.
func (a *admission) workOfPartner(id partner.ID) *partnerWork {
	p := a.of[id]
	if p == nil { // one per partner that exists: nothing to evict
		p = &partnerWork{slots: semaphore.NewWeighted(heavySlots)}
		a.of[id] = p
	}
	return p
}

// takeHeavySlot waits for one of a partner's slots for heavy requests and returns what gives it back.
func (a *admission) takeHeavySlot(ctx context.Context, id partner.ID) (release func(), err error) {
	a.mu.Lock()
	slots := a.workOfPartner(id).slots
	a.mu.Unlock()
	waiting, cancel := context.WithTimeout(ctx, slotWait)
	defer cancel()
	if err := slots.Acquire(waiting, 1); err != nil {
		return nil, errBusy
	}
	return func() { slots.Release(1) }, nil
}

// takeBodyRoom takes room for a body that is read whole, and returns what gives it back.
func (a *admission) takeBodyRoom(id partner.ID, length, most int64) (func(), error) {
	if length < 0 || length > most {
		length = most
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.workOfPartner(id)
	if p.small+length > smallOfOne || a.small+length > smallOfAll {
		return nil, errBusy
	}
	p.small += length
	a.small += length
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		p.small -= length
		a.small -= length
	}, nil
}

// bulkWork is a bulk that is being read: its memory, and its turn on a processor.
type bulkWork struct {
	admission    *admission
	items, bytes int
	room         int64
	hasProcessor bool
}

// beginBulk returns the work of one bulk, which must be ended.
func (a *admission) beginBulk() *bulkWork { return &bulkWork{admission: a} }

// growRoom takes room for items that were read, or refuses the whole bulk.
func (b *bulkWork) growRoom(items, bytes int) error {
	n := int64(bytes + items*itemRoom)
	b.admission.mu.Lock()
	defer b.admission.mu.Unlock()
	if b.admission.bulk+n > bulkRoom {
		return errBusy
	}
	b.items += items
	b.bytes += bytes
	b.room += n
	b.admission.bulk += n
	return nil
}

// takeProcessor waits until a processor is free.
func (b *bulkWork) takeProcessor() {
	if !b.hasProcessor {
		b.admission.processors <- struct{}{}
		b.hasProcessor = true
	}
}

// leaveProcessor lets another bulk compute.
func (b *bulkWork) leaveProcessor() {
	if b.hasProcessor {
		<-b.admission.processors
		b.hasProcessor = false
	}
}

// end gives everything back.
func (b *bulkWork) end() {
	b.leaveProcessor()
	b.admission.mu.Lock()
	defer b.admission.mu.Unlock()
	b.admission.bulk -= b.room
}
