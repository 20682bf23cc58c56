package leak

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// Hits counts the people of one partner that a breach has hit, and their findings.
type Hits struct {
	Partner partner.ID
	// People have a finding that stands. Open and Resolved are the findings that stand, Alerted those of them that the
	// partner was told of, Withdrawn those that were retracted.
	People, Open, Resolved, Withdrawn, Alerted int64
	// Severities counts the findings that stand by how grave they are.
	Severities map[cyber.Severity]int64
}

// NewHits adds groups of findings up for each partner, in the order of the partners.
func NewHits(groups []cyber.FindingGroup, people map[partner.ID]int64) []Hits {
	byPartner := map[partner.ID]*Hits{}
	for _, g := range groups {
		h := byPartner[g.Partner]
		if h == nil {
			h = &Hits{Partner: g.Partner, People: people[g.Partner], Severities: map[cyber.Severity]int64{}}
			byPartner[g.Partner] = h
		}
		switch g.State {
		case cyber.FindingOpen:
			h.Open += g.Count
		case cyber.FindingRetracted:
			h.Withdrawn += g.Count
			continue // it was never true
		default:
			h.Resolved += g.Count
		}
		h.Severities[g.Severity] += g.Count
		if g.Alerted {
			h.Alerted += g.Count
		}
	}
	list := make([]Hits, 0, len(byPartner))
	for _, id := range slices.Sorted(maps.Keys(byPartner)) {
		list = append(list, *byPartner[id])
	}
	return list
}

// Standing returns how many findings stand: all but those that were retracted.
func (h Hits) Standing() int64 { return h.Open + h.Resolved }

// Graded returns how many of the findings are of a severity.
func (h Hits) Graded(severity string) int64 { return h.Severities[cyber.Severity(severity)] }

// hitBook holds the last counts of breaches whose findings take long to count: a page must not wait for a million rows
// each time it is opened.
type hitBook struct {
	mu     sync.Mutex
	byName map[string]hitCount
}

// hitCount is what was counted of a breach, when, and how long that took.
type hitCount struct {
	hits []Hits
	at   time.Time
	took time.Duration
}

// slowCount is from when on a count is kept. It is kept for keptFor, as the figures of other pages are, and for
// keptTimes as long as it took: so counting takes at most a twentieth of the database's time.
const (
	slowCount = 50 * time.Millisecond
	keptFor   = time.Minute
	keptTimes = 20
)

// CountHits returns how many people a breach has hit, per partner. A count that was slow is used again for a while,
// unless it was made before since, when the findings changed as a whole.
func (b *Breaches) CountHits(ctx context.Context, of cyber.Breach, since time.Time) ([]Hits, error) {
	start := b.now()
	b.counted.mu.Lock()
	last, ok := b.counted.byName[of.Name]
	b.counted.mu.Unlock()
	if ok && last.at.After(since) && start.Sub(last.at) < max(keptFor, keptTimes*last.took) {
		return last.hits, nil
	}
	hits, err := b.store.BreachHits(ctx, of)
	if took := b.now().Sub(start); err == nil && took >= slowCount {
		b.counted.mu.Lock()
		b.counted.byName[of.Name] = hitCount{hits: hits, at: start, took: took}
		b.counted.mu.Unlock()
	}
	return hits, err
}
