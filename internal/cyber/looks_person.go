package cyber

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// PersonLooks is for how many of a person's values past breaches were looked into.
type PersonLooks struct {
	// Values are all that are watched for the person, Waiting those that were not looked for yet.
	Values, Waiting int
	// Since is when the first of those that wait was added, Newest when the last was.
	Since, Newest time.Time
	// Until is when the last of them will have been looked for, as things stand; the zero time when that is not known,
	// because first looks are stopped.
	Until time.Time
}

// Looked returns how many values were looked for.
func (l PersonLooks) Looked() int { return l.Values - l.Waiting }

// Join returns the looks at the values of both.
func (l PersonLooks) Join(other PersonLooks) PersonLooks {
	l.Values += other.Values
	l.Waiting += other.Waiting
	l.Newest = later(l.Newest, other.Newest)
	if l.Since.IsZero() || !other.Since.IsZero() && other.Since.Before(l.Since) {
		l.Since = other.Since
	}
	return l
}

// addValue counts a value.
func (l *PersonLooks) addValue(waits bool, addedAt time.Time) {
	l.Values++
	if !waits {
		return
	}
	l.Waiting++
	if l.Since.IsZero() || addedAt.Before(l.Since) {
		l.Since = addedAt
	}
	l.Newest = later(l.Newest, addedAt)
}

// CountLooks counts the first looks of a person's values. Until is left out: see FirstLooks.EstimateLooks.
func CountLooks(assets []Asset) (l PersonLooks) {
	for _, a := range assets {
		l.addValue(a.Waits, a.AddedAt)
	}
	return l
}

// CountLooksOf counts the first looks of the values of one of a partner's people.
func (f *FirstLooks) CountLooksOf(ctx context.Context, id partner.ID, user partner.UserHash) (PersonLooks, error) {
	return f.store.LooksOfUser(ctx, id, user)
}

// EstimateLooks returns the looks of one of a partner's people with Until.
func (f *FirstLooks) EstimateLooks(
	ctx context.Context, id partner.ID, settings partner.Settings, looks PersonLooks,
) (PersonLooks, error) {
	if looks.Waiting == 0 {
		return looks, nil
	}
	status, err := f.LookStatusSince(ctx, id, settings, looks.Newest)
	if err != nil || status.Pace.IsStopped() {
		return looks, err
	}
	looks.Until = later(status.Until, f.now()) // those that have a token are looked up in a moment
	return looks, nil
}
