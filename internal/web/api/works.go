package api

import (
	"context"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
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
	// singleBody holds a handful of people. Such a request counts as a single write and takes no place of a bulk
	// request: a partner that enrols people one by one uses as many connections as it has desks.
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

// errBusy asks a partner to come again: it has as much under way as one may have.
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

// BUG(api): a partner whose connections all end at one of n replicas gets an n-th of its rate, and for some seconds
// after a replica has come or gone all of them together grant more or less than it.

// limiter holds one token bucket per partner. It is per process: of several replicas each grants its part of the rate.
type limiter struct {
	// replicas is by how many the rate is divided.
	replicas func() int
	mu       sync.Mutex
	buckets  map[partner.ID]*bucket
	// changes bound what partners change of their own set-up.
	changes map[partner.ID]*rate.Limiter
}

// bucket holds the rate limits of one partner.
type bucket struct {
	*rate.Limiter
	// bulk is charged for the items and bytes of bulk requests, and list for those of answers, after they are known: a
	// partner in debt waits before its next one.
	bulk, list *rate.Limiter
	perSecond  rate.Limit
	burst      int
}

// newLimiter returns a limiter that divides each partner's rate by the number of replicas; nil means one replica.
func newLimiter(replicas func() int) *limiter {
	if replicas == nil {
		replicas = func() int { return 1 }
	}
	return &limiter{replicas: replicas, buckets: map[partner.ID]*bucket{}, changes: map[partner.ID]*rate.Limiter{}}
}

// allowance is what the limiter says of one request.
type allowance struct {
	// wait is zero when the request may pass, else how long until one may.
	wait time.Duration
	// left is how many more may follow at once, and perSecond the partner's rate, of which this process grants part.
	left      int
	perSecond int
	part      rate.Limit
}

// takeToken spends a token, or says how long until there is one.
func (l *limiter) takeToken(who partner.Caller, now time.Time) allowance {
	perSecond, burst := l.processShare(who)
	l.mu.Lock()
	b := l.buckets[who.Partner]
	switch {
	case b == nil: // one bucket per partner that exists: nothing to evict
		b = &bucket{
			Limiter:   rate.NewLimiter(perSecond, burst),
			perSecond: perSecond,
			burst:     burst,
			bulk: rate.NewLimiter(
				perSecond*itemsPerRequest,
				burst*itemsPerRequest,
			),
			list: rate.NewLimiter(perSecond*itemsPerRequest, burst*itemsPerRequest),
		}
		l.buckets[who.Partner] = b
	case b.perSecond != perSecond || b.burst != burst:
		b.perSecond, b.burst = perSecond, burst
		b.SetLimitAt(now, perSecond)
		b.SetBurstAt(now, burst)
		for _, items := range []*rate.Limiter{b.bulk, b.list} {
			items.SetLimitAt(now, perSecond*itemsPerRequest)
			items.SetBurstAt(now, burst*itemsPerRequest)
		}
	}
	l.mu.Unlock()
	a := allowance{wait: spendToken(b.Limiter, now), part: perSecond}
	a.perSecond, _ = who.Settings.RateLimit()
	if a.wait == 0 {
		a.left = max(int(b.TokensAt(now)), 0)
	}
	return a
}

// itemsPerRequest is how many items, or KiB, a partner may send in bulks for each request that its rate allows, and how
// many it may read in lists.
const itemsPerRequest = 100

// waitForBulk returns how long a partner has to wait before its next bulk.
func (l *limiter) waitForBulk(who partner.Caller, now time.Time) time.Duration {
	return waitForDebt(l.partnerBucket(who).bulk, now)
}

// waitForList returns how long a partner has to wait before its next list.
func (l *limiter) waitForList(who partner.Caller, now time.Time) time.Duration {
	return waitForDebt(l.partnerBucket(who).list, now)
}

// chargeBulk charges a partner for what it has sent.
func (l *limiter) chargeBulk(who partner.Caller, items, bytes int, now time.Time) {
	chargeTokens(l.partnerBucket(who).bulk, items, bytes, now)
}

// chargeList charges a partner for what it has read.
func (l *limiter) chargeList(who partner.Caller, items, bytes int, now time.Time) {
	chargeTokens(l.partnerBucket(who).list, items, bytes, now)
}

// partnerBucket returns the buckets of a caller's partner.
func (l *limiter) partnerBucket(who partner.Caller) *bucket {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buckets[who.Partner]
}

// waitForDebt returns how long it takes until a bucket has a token again.
func waitForDebt(b *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - b.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return max(time.Duration(missing/float64(b.Limit())*float64(time.Second)), time.Millisecond)
}

// chargeTokens takes a token for each item, or for each KiB where there are more of them, into debt if need be.
func chargeTokens(b *rate.Limiter, items, bytes int, now time.Time) {
	b.ReserveN(now, min(max(items, bytes>>10), b.Burst()))
}

// spendToken takes a token from a bucket, or says how long until there is one.
func spendToken(b *rate.Limiter, now time.Time) time.Duration {
	if b.AllowN(now, 1) {
		return 0
	}
	r := b.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	r.CancelAt(now)
	return max(wait, time.Millisecond)
}

// wholeSeconds rounds a wait up.
func wholeSeconds(d time.Duration) string {
	return strconv.Itoa(int(math.Ceil(max(d.Seconds(), 1))))
}

// setHeaders tells the caller how much is left, and one that has to wait when to come back.
func (a allowance) setHeaders(h http.Header) {
	next := wholeSeconds(time.Duration(float64(time.Second) / float64(a.part)))
	if a.wait > 0 {
		next = wholeSeconds(a.wait)
		h.Set("retry-after", next)
	}
	h.Set("ratelimit-policy", `"partner";q=`+strconv.Itoa(a.perSecond)+`;w=1`)
	h.Set("ratelimit", `"partner";r=`+strconv.Itoa(a.left)+`;t=`+next)
}

// processShare returns the part of a partner's rate and burst that this process grants.
func (l *limiter) processShare(who partner.Caller) (rate.Limit, int) {
	perSecond, burst := who.Settings.RateLimit()
	n := l.replicas()
	return rate.Limit(perSecond) / rate.Limit(n), max(burst/n, 1)
}
