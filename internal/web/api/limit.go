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
			bulk:      rate.NewLimiter(perSecond*itemsPerRequest, burst*itemsPerRequest),
			list:      rate.NewLimiter(perSecond*itemsPerRequest, burst*itemsPerRequest),
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
