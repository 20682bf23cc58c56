package api

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/vigiahq/vigia/internal/partner"
)

// BUG(api): a partner whose connections all end at one of n replicas gets an n-th of its rate, and for some seconds after
// a replica has come or gone all of them together grant more or less than it.

// limiter holds one token bucket per partner. It is per process: of several replicas each grants its part of the rate.
type limiter struct {
	// replicas is by how many the rate is divided.
	replicas func() int
	mu       sync.Mutex
	buckets  map[partner.ID]*bucket
	// seen are the partner whose request came last, and the last one of another.
	seen [2]seenPartner
	// changes bound what partners change of their own set-up.
	changes map[partner.ID]*rate.Limiter
}

type seenPartner struct {
	id partner.ID
	at time.Time
}

type bucket struct {
	*rate.Limiter
	// bulk is charged for the items and the bytes of bulk requests, after they were read: who is in debt waits.
	bulk      *rate.Limiter
	perSecond rate.Limit
	burst     int
	// told are the parts of the RateLimit headers that stay the same from answer to answer.
	told rateTold
}

// rateTold are texts of headers, made when a limit is first met or changes.
type rateTold struct {
	policy []string
	// next is the end of the header: in how many seconds there is one request more.
	next string
}

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
	// left is how many more may follow at once.
	left int
	told rateTold
}

// take spends a token, or says how long until there is one.
func (l *limiter) take(who partner.Caller, now time.Time) allowance {
	perSecond, burst := l.part(who)
	l.mu.Lock()
	b := l.buckets[who.Partner]
	switch {
	case b == nil: // one bucket per partner that exists: nothing to evict
		b = &bucket{
			rate.NewLimiter(perSecond, burst), rate.NewLimiter(perSecond*bulkPerRequest, burst*bulkPerRequest), perSecond, burst, toldOf(who, perSecond),
		}
		l.buckets[who.Partner] = b
	case b.perSecond != perSecond || b.burst != burst:
		b.perSecond, b.burst, b.told = perSecond, burst, toldOf(who, perSecond)
		b.SetLimitAt(now, perSecond)
		b.SetBurstAt(now, burst)
		b.bulk.SetLimitAt(now, perSecond*bulkPerRequest)
		b.bulk.SetBurstAt(now, burst*bulkPerRequest)
	}
	l.see(who.Partner, now)
	told := b.told
	l.mu.Unlock()
	if wait := spend(b.Limiter, now); wait > 0 {
		return allowance{wait: wait, told: told}
	}
	return allowance{left: max(int(b.TokensAt(now)), 0), told: told}
}

// A bulk may bring bulkPerRequest items, or as many KiB, for each request that the partner's rate allows.
const bulkPerRequest = 100

// bulkWait is how long a partner has to wait before its next bulk.
func (l *limiter) bulkWait(who partner.Caller, now time.Time) time.Duration {
	l.mu.Lock()
	b := l.buckets[who.Partner]
	l.mu.Unlock()
	missing := 1 - b.bulk.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return max(time.Duration(missing/float64(b.bulk.Limit())*float64(time.Second)), time.Millisecond)
}

// chargeBulk makes a partner pay for what it has sent.
func (l *limiter) chargeBulk(who partner.Caller, items, bytes int, now time.Time) {
	l.mu.Lock()
	b := l.buckets[who.Partner]
	l.mu.Unlock()
	b.bulk.ReserveN(now, min(max(items, bytes>>10), b.bulk.Burst()))
}

// see notes whose request came. The caller holds the lock.
func (l *limiter) see(id partner.ID, at time.Time) {
	if l.seen[0].id != id {
		l.seen[1] = l.seen[0]
	}
	l.seen[0] = seenPartner{id, at}
}

// othersAtWork tells whether another partner has sent something just now.
func (l *limiter) othersAtWork(id partner.ID, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.seen[0]
	if last.id == id {
		last = l.seen[1]
	}
	return last.id != "" && now.Sub(last.at) < othersFor
}

// spend takes a token from a bucket, or says how long until there is one.
func spend(b *rate.Limiter, now time.Time) time.Duration {
	if b.AllowN(now, 1) {
		return 0
	}
	r := b.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	r.CancelAt(now)
	return max(wait, time.Millisecond)
}

func toldOf(who partner.Caller, part rate.Limit) rateTold {
	perSecond, _ := who.Settings.Rate()
	next := time.Duration(float64(time.Second) / float64(part))
	return rateTold{policy: []string{`"partner";q=` + strconv.Itoa(perSecond) + `;w=1`}, next: ";t=" + wholeSeconds(next)}
}

// wholeSeconds rounds a wait up.
func wholeSeconds(d time.Duration) string {
	return strconv.Itoa(int(math.Ceil(max(d.Seconds(), 1))))
}

// headers tells the caller how much is left, and one that has to wait when to come back. The names are in canonical
// form: these headers go out with every answer, and Set would copy and check them.
func (a allowance) headers(h http.Header) {
	h["Ratelimit-Policy"] = a.told.policy
	if a.wait > 0 {
		seconds := wholeSeconds(a.wait)
		h.Set("retry-after", seconds)
		h["Ratelimit"] = []string{`"partner";r=0;t=` + seconds}
		return
	}
	var room [48]byte
	text := strconv.AppendInt(append(room[:0], `"partner";r=`...), int64(a.left), 10)
	h["Ratelimit"] = []string{string(append(text, a.told.next...))}
}

// part is what this process grants of a partner's rate and burst.
func (l *limiter) part(who partner.Caller) (rate.Limit, int) {
	perSecond, burst := who.Settings.Rate()
	n := l.replicas()
	return rate.Limit(perSecond) / rate.Limit(n), max(burst/n, 1)
}
