package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

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
	// singleBody holds a handful of people. Such a request is a single write as any other route has them and takes no
	// bulk's place: whoever enrols people one by one does it over as many connections as there are desks.
	singleBody = 4 << 10
)

// A bulk with a body of more than lightBody keeps processors and database busy for as long as hundreds of single writes.
// Of those one partner has as many at work as heavyOfOne, the others wait before anything of them is read. While other
// partners are at work there is one at a time, and the next begins heavyRest times as long after it as it took, so that
// their writes mostly find the database free.
const (
	lightBody  = 64 << 10
	heavyOfOne = 2
	heavyRest  = 24
	// othersFor is how long a partner's last request counts as being at work, and restMost how long a bulk waits for its
	// turn before it is asked to come again.
	othersFor = time.Second
	restMost  = 5 * time.Second
)

// works is what partners have under way.
type works struct {
	limits *limiter
	now    func() time.Time
	mu     sync.Mutex
	all    underWay
	of     map[partner.ID]*partnerWork
}

type underWay struct {
	bulks       int
	room, small int64
}

type partnerWork struct {
	underWay
	// turn lets heavy bulks in.
	turn *semaphore.Weighted
	// rests is until when heavy bulks wait if others are at work.
	rests time.Time
}

func newWorks(limits *limiter, now func() time.Time) *works {
	return &works{limits: limits, now: now, of: map[partner.ID]*partnerWork{}}
}

func (w *works) partner(id partner.ID) *partnerWork {
	p := w.of[id]
	if p == nil { // one per partner that exists: nothing to evict
		p = &partnerWork{turn: semaphore.NewWeighted(heavyOfOne)}
		w.of[id] = p
	}
	return p
}

// bulkPass is a bulk request's leave to be at work.
type bulkPass struct {
	works        *works
	who          partner.Caller
	work         *partnerWork
	items, bytes int
	room         int64
	places       int // of bulks, taken by this one: none by a single write
}

var errBusy = errRateLimited.With("body: too much work of this partner, or of all, is under way")

// enter begins a bulk request with a body of that length, which is below zero where it is not known, or refuses it.
func (w *works) enter(who partner.Caller, length int64) (*bulkPass, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := &bulkPass{works: w, who: who, work: w.partner(who.Partner)}
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

// grow takes room for items that were read. One who finds none gives back all it has, so that the others get on.
func (b *bulkPass) grow(items, bytes int) error {
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

func (b *bulkPass) leave() {
	b.works.mu.Lock()
	defer b.works.mu.Unlock()
	b.work.bulks -= b.places
	b.works.all.bulks -= b.places
	b.work.room -= b.room
	b.works.all.room -= b.room
}

// heavyBody tells by its length, which is below zero where it is not known.
func heavyBody(length int64) bool { return length < 0 || length > lightBody }

// turn waits until a heavy bulk may begin, and returns what ends it. alone is whether nobody else is at work.
func (b *bulkPass) turn(ctx context.Context, reply http.Header, length int64) (end func(), alone bool, err error) {
	others := b.works.limits.othersAtWork(b.who.Partner, b.works.now())
	if !heavyBody(length) {
		return func() {}, !others, nil
	}
	weight := int64(1)
	if others {
		weight = heavyOfOne
	}
	waiting, cancel := context.WithTimeout(ctx, restMost)
	defer cancel()
	if err := b.work.turn.Acquire(waiting, weight); err != nil {
		return nil, false, errBusy
	}
	if rest := b.rest(b.works.now()); rest > 0 {
		late := rest > restMost
		if !late {
			select {
			case <-ctx.Done():
				late = true
			case <-time.After(rest):
			}
		}
		if late {
			b.work.turn.Release(weight)
			reply.Set("retry-after", wholeSeconds(rest))
			return nil, false, errBusy
		}
	}
	start := b.works.now()
	return func() {
		b.works.mu.Lock()
		end := b.works.now()
		b.work.rests = end.Add(heavyRest * end.Sub(start))
		b.works.mu.Unlock()
		b.work.turn.Release(weight)
	}, !others, nil
}

// rest is how long this partner's heavy work has to wait for the sake of others.
func (b *bulkPass) rest(now time.Time) time.Duration {
	if !b.works.limits.othersAtWork(b.who.Partner, now) {
		return 0
	}
	b.works.mu.Lock()
	defer b.works.mu.Unlock()
	return b.work.rests.Sub(now)
}

// takeBody takes room for a body that is read whole, and returns what gives it back.
func (w *works) takeBody(id partner.ID, length, most int64) (func(), error) {
	if length < 0 || length > most {
		length = most
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.partner(id)
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
