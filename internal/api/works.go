package api

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// Bounds of the work under way in this process. One partner may have half of what there is, so that there is always
// some left for another.
const (
	bulksOfAll, bulksOfOne = 64, 16
	roomOfAll, roomOfOne   = 128 << 20, 64 << 20
	// itemRoom is what an item takes beside its bytes: its row, or what is wrong with it.
	itemRoom = 512
	// smallOfAll and smallOfOne bound the bodies of all other routes.
	smallOfAll, smallOfOne = 64 << 20, 16 << 20
	// singleBody holds a handful of people. Such a request counts as a single write and takes no place of a bulk request:
	// a partner that enrols people one by one uses as many connections as it has desks.
	singleBody = 4 << 10
)

// A bulk with a body of more than lightBody, or a list of more than lightList items, keeps processors and database busy
// for as long as hundreds of single requests. One partner has heavySlots of them at work at once; the next waits up to
// slotWait before anything of it is read, and is then asked to come again. What other partners do changes nothing here.
const (
	lightBody  = 64 << 10
	lightList  = 100
	heavySlots = 2
	slotWait   = 5 * time.Second
)

// works is what partners have under way.
type works struct {
	mu  sync.Mutex
	all underWay
	of  map[partner.ID]*partnerWork
	// processors holds a token for each processor but one: see processorTurn.
	processors chan struct{}
}

// underWay is the work at present: bulk requests, and the bytes reserved for their bodies and for small bodies.
type underWay struct {
	bulks       int
	room, small int64
}

// partnerWork is the work of one partner at present and the limits on it.
type partnerWork struct {
	underWay
	// slots bounds the heavy requests at work.
	slots *semaphore.Weighted
	// load lets one bulk at a time write to the database, while others are read and checked: two that write keep two of
	// the database's processors busy.
	load *semaphore.Weighted
}

// newWorkLimits returns the bounds on heavy requests.
func newWorkLimits() *works {
	return &works{of: map[partner.ID]*partnerWork{}, processors: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))}
}

// processorTurn is a bulk's leave to compute. Together bulks keep all processors busy but one: the scheduler looks for
// arrived packets only when a processor has nothing else to do, or after 10 ms, and a single request takes several.
type processorTurn struct {
	processors chan struct{}
	has        bool
}

// newProcessorTurn returns the turn of one request on the processors.
func (w *works) newProcessorTurn() *processorTurn { return &processorTurn{processors: w.processors} }

// beginProcessorTurn waits until a processor is free.
func (t *processorTurn) beginProcessorTurn() {
	if !t.has {
		t.processors <- struct{}{}
		t.has = true
	}
}

// endProcessorTurn gives the processor back.
func (t *processorTurn) endProcessorTurn() {
	if t.has {
		<-t.processors
		t.has = false
	}
}

// yieldProcessor lets those compute who wait.
func (t *processorTurn) yieldProcessor() {
	t.endProcessorTurn()
	t.beginProcessorTurn()
}

// workOfPartner returns what a partner has under way.
func (w *works) workOfPartner(id partner.ID) *partnerWork {
	p := w.of[id]
	if p == nil { // one per partner that exists: nothing to evict
		p = &partnerWork{slots: semaphore.NewWeighted(heavySlots), load: semaphore.NewWeighted(1)}
		w.of[id] = p
	}
	return p
}

// bulkPass is a bulk request's leave to be at work.
type bulkPass struct {
	works        *works
	work         *partnerWork
	items, bytes int
	room         int64
	places       int // of bulks, taken by this one: none by a single write
}

var errBusy = errRateLimited.With("body", fault.TooMuchWork)

// enterBulk begins a bulk request with a body of that length, which is below zero where it is not known, or refuses it.
func (w *works) enterBulk(id partner.ID, length int64) (*bulkPass, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := &bulkPass{works: w, work: w.workOfPartner(id)}
	if length < 0 || length > singleBody {
		b.places = 1
	}
	if b.work.bulks+b.places > bulksOfOne || w.all.bulks+b.places > bulksOfAll {
		return nil, errBusy
	}
	b.work.bulks += b.places
	w.all.bulks += b.places
	return b, nil
}

// growRoom takes room for items that were read. One who finds none gives back all it has, so that the others get on.
func (b *bulkPass) growRoom(items, bytes int) error {
	n := int64(bytes + items*itemRoom)
	b.works.mu.Lock()
	defer b.works.mu.Unlock()
	if b.work.room+n > roomOfOne || b.works.all.room+n > roomOfAll {
		return errBusy
	}
	b.items, b.bytes = b.items+items, b.bytes+bytes
	b.room += n
	b.work.room += n
	b.works.all.room += n
	return nil
}

// beginLoad waits until no other bulk of the partner writes, and returns what lets the next one begin.
func (b *bulkPass) beginLoad(ctx context.Context) (end func(), err error) {
	if err := b.work.load.Acquire(ctx, 1); err != nil {
		return nil, errBusy
	}
	return func() { b.work.load.Release(1) }, nil
}

// leaveBulk gives everything back.
func (b *bulkPass) leaveBulk() {
	b.works.mu.Lock()
	defer b.works.mu.Unlock()
	b.work.bulks -= b.places
	b.works.all.bulks -= b.places
	b.work.room -= b.room
	b.works.all.room -= b.room
}

// isHeavyBody judges a body by its length, which is below zero where it is not known.
func isHeavyBody(length int64) bool { return length < 0 || length > lightBody }

// takeHeavySlot waits for one of a partner's slots for heavy requests and returns what gives it back.
func (w *works) takeHeavySlot(ctx context.Context, id partner.ID) (release func(), err error) {
	w.mu.Lock()
	slots := w.workOfPartner(id).slots
	w.mu.Unlock()
	waiting, cancel := context.WithTimeout(ctx, slotWait)
	defer cancel()
	if err := slots.Acquire(waiting, 1); err != nil {
		return nil, errBusy
	}
	return func() { slots.Release(1) }, nil
}

// takeBodyRoom takes room for a body that is read whole, and returns what gives it back.
func (w *works) takeBodyRoom(id partner.ID, length, most int64) (func(), error) {
	if length < 0 || length > most {
		length = most
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.workOfPartner(id)
	if p.small+length > smallOfOne || w.all.small+length > smallOfAll {
		return nil, errBusy
	}
	p.small += length
	w.all.small += length
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		p.small -= length
		w.all.small -= length
	}, nil
}
