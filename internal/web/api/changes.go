package api

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// What a partner changes of its own set-up is rare, and each change is a line of the audit trail: a partner gets
// changesAtOnce of them without delay and one more every changeEvery.
const (
	changesAtOnce = 60
	changeEvery   = 10 * time.Second
)

// mayChange takes one of the partner's changes.
func (l *limiter) mayChange(id partner.ID, now time.Time) time.Duration {
	l.mu.Lock()
	b := l.changes[id]
	if b == nil { // one per partner that exists: nothing to evict
		b = rate.NewLimiter(rate.Every(changeEvery), changesAtOnce)
		l.changes[id] = b
	}
	l.mu.Unlock()
	return spendToken(b, now)
}

// recordChange takes one of the partner's changes and writes who is about to make it into the audit trail.
func (r *request) recordChange(action, subject, detail string) error {
	if err := r.mayChange(); err != nil {
		return err
	}
	return r.recordAudit(action, subject, detail)
}

// mayChange refuses a partner that changes too much.
func (r *request) mayChange() error {
	if wait := r.server.limits.mayChange(r.caller.Partner, r.server.Now()); wait > 0 {
		r.reply.Set("retry-after", wholeSeconds(wait))
		return errRateLimited.With("rate", fault.ChangesOfPartner)
	}
	return nil
}

// recordAudit writes a line of the audit trail.
func (r *request) recordAudit(action, subject, detail string) error {
	return r.rules.Audit.RecordAction(r.ctx, r.auditActor(), action, subject, detail)
}

// auditActor returns the name of the calling key in the audit trail, and where it was shown from.
func (r *request) auditActor() operator.Actor {
	from := r.server.Callers
	return operator.Actor{Name: "api:" + string(r.caller.KeyID), From: from.AddressForLog(from.CallerAddress(r.http))}
}
