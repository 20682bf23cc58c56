package cyber

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// breachBook remembers judged breaches: thousands of people are in the same one. What an operator changes about a
// breach shows within offeredFor; a breach that is new is looked up at once.
type breachBook struct {
	mu sync.Mutex
	// known is by what JoinBreachNames writes of a breach: those in which the same classes were exposed of people are
	// one.
	known map[string]bookEntry
}

// bookEntry is a breach in the book and until when it may be used without being read again.
type bookEntry struct {
	breach *judged
	until  time.Time
}

func (b *breachBook) fillPosture(ctx context.Context, store PersonStore, p *Posture, now time.Time) error {
	if words := b.missingWords(p, now); len(words) > 0 {
		if err := b.loadBreaches(ctx, store, words, now); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock() // held to the end, so that a breach is one and the same for all values of the person
	for i := range p.Assets {
		a := &p.Assets[i]
		a.open = nil
		for word := range strings.FieldsSeq(a.Breaches) {
			if e, ok := b.known[word]; ok {
				a.open = append(a.open, e.breach)
			}
		}
	}
	return nil
}

// missingWords returns what the book does not know of a posture, or has known for too long.
func (b *breachBook) missingWords(p *Posture, now time.Time) (words []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range p.Assets {
		for word := range strings.FieldsSeq(p.Assets[i].Breaches) {
			if !now.Before(b.known[word].until) && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return words
}

// loadBreaches looks up the breaches that the words name and judges each as far as it concerns the person.
func (b *breachBook) loadBreaches(ctx context.Context, store PersonStore, words []string, now time.Time) error {
	var names []string
	for _, w := range words {
		name, repeated, _ := parseBreachName(w)
		names = append(names, name, cmp.Or(repeated, name))
	}
	slices.Sort(names)
	found, err := store.BreachesByName(ctx, slices.Compact(names))
	if err != nil {
		return err
	}
	byName := make(map[string]Breach, len(found))
	for _, one := range found {
		byName[one.Name] = one
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range words {
		name, repeated, trace := parseBreachName(w)
		if one, ok := byName[name]; ok {
			j := judgeBreach(one.ForTrace(trace), now)
			if first, ok := byName[repeated]; ok {
				j.content = first.contentKey() // it counts as a copy of that one
			}
			b.known[w] = bookEntry{j, now.Add(offeredFor)}
		}
	}
	return nil
}

// contentKey tells breaches apart by what they hold, or by their name if they hold nothing of their own.
func (b Breach) contentKey() string { return cmp.Or(b.Content, "~"+b.Name) }
