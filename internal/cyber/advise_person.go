package cyber

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// ScoreDay is a person's score on a day on which it changed.
type ScoreDay struct {
	// Day counts from 1970-01-01, UTC.
	Day int64
	// Breach and Assessment are in tenths, so that equal ones are equal.
	Breach, Assessment int64
}

// Date returns the day.
func (d ScoreDay) Date() time.Time { return time.Unix(d.Day*86400, 0).UTC() }

// PersonStore knows where people stand.
type PersonStore interface {
	// ReadPosture reads everything about a person in one round trip, breaches by name only; Last only when it is to be
	// scored.
	ReadPosture(ctx context.Context, id partner.ID, u partner.UserHash, scored bool) (*Posture, error)
	// BreachesByName returns the named breaches that there are.
	BreachesByName(ctx context.Context, names []string) ([]Breach, error)
	// KeepAnswer keeps an answer over an earlier one.
	KeepAnswer(ctx context.Context, id partner.ID, u partner.UserHash, item ContentID, value string) error
	// KeepScore keeps a day's score over an earlier one of the same day; ScoreDays returns all, oldest first.
	KeepScore(ctx context.Context, id partner.ID, u partner.UserHash, d ScoreDay) error
	ScoreDays(ctx context.Context, id partner.ID, u partner.UserHash) ([]ScoreDay, error)
}

// Persons advises people and scores their risk.
type Persons struct {
	store     PersonStore
	catalogue *Catalogue
	now       func() time.Time
	// missed is told when a day's score could not be kept: the answer stands, and the next one keeps it.
	missed   func(ctx context.Context, err error)
	breaches *breachBook
	// lang is what advice is given in; empty for Portuguese.
	lang partner.Language
}

// NewPersons joins the rules to a store, the catalogue and a clock. missed may be nil.
func NewPersons(store PersonStore, catalogue *Catalogue, now func() time.Time, missed func(context.Context, error)) *Persons {
	if missed == nil {
		missed = func(context.Context, error) {}
	}
	return &Persons{store: store, catalogue: catalogue, now: now, missed: missed, breaches: &breachBook{known: map[string]bookEntry{}}}
}

// WithStore returns the same rules over another store: inside a transaction.
func (s *Persons) WithStore(store PersonStore) *Persons {
	inside := *s
	inside.store = store
	return &inside
}

// InLanguage returns the same rules that speak another language where the catalogue does.
func (s *Persons) InLanguage(lang partner.Language) *Persons {
	inside := *s
	inside.lang = lang
	return &inside
}

// ListAdvice returns what applies to a person, most urgent first.
func (s *Persons) ListAdvice(ctx context.Context, id partner.ID, u partner.UserHash) ([]Advice, error) {
	p, items, err := s.loadPosture(ctx, id, u, false)
	if err != nil {
		return nil, err
	}
	return selectAdvice(p, items, s.now()), nil
}

// ComputeScore returns a person's risk, and keeps it for the day if it is not what the last day says.
func (s *Persons) ComputeScore(ctx context.Context, id partner.ID, u partner.UserHash) (Score, error) {
	p, items, err := s.loadPosture(ctx, id, u, true)
	if err != nil {
		return Score{}, err
	}
	score := computeScore(p, items)
	today := ScoreDay{Day: s.now().Unix() / 86400, Breach: int64(score.Breach*10 + 0.5), Assessment: int64(score.Assessment*10 + 0.5)}
	if today.Breach != p.Last.Breach || today.Assessment != p.Last.Assessment || p.Last.Day == 0 {
		if err := s.store.KeepScore(ctx, id, u, today); err != nil {
			s.missed(ctx, fmt.Errorf("keep score: %w", err))
		}
	}
	return score, nil
}

// ScoreHistory returns the days on which a person's score changed, oldest first.
func (s *Persons) ScoreHistory(ctx context.Context, id partner.ID, u partner.UserHash) ([]ScoreDay, error) {
	return s.store.ScoreDays(ctx, id, u)
}

// SaveAnswer keeps a person's answer to an item's validation question.
func (s *Persons) SaveAnswer(ctx context.Context, id partner.ID, u partner.UserHash, item ContentID, value string) error {
	offered, err := s.catalogue.loadOffered(ctx)
	if err != nil {
		return err
	}
	for i := range offered.items {
		it := &offered.items[i]
		if it.ID != item {
			continue
		}
		if it.Question == nil {
			break
		}
		if !it.Question.offersAnswer(value) {
			return ErrAnswerInvalid.With("value", fault.NotAnOption)
		}
		return s.store.KeepAnswer(ctx, id, u, item, value)
	}
	return ErrContentNotFound.With("catalogId", fault.NoSuchItem)
}

// loadPosture returns what is known of a person, and the catalogue that applies.
func (s *Persons) loadPosture(ctx context.Context, id partner.ID, u partner.UserHash, scored bool) (*Posture, *catalogueIndex, error) {
	items, err := s.catalogue.loadOffered(ctx)
	if err != nil {
		return nil, nil, err
	}
	if translated := items.translated[s.lang]; translated != nil {
		items = translated
	}
	p, err := s.store.ReadPosture(ctx, id, u, scored)
	if err != nil {
		return nil, nil, err
	}
	return p, items, s.breaches.fillPosture(ctx, s.store, p, s.now())
}

// breachBook remembers judged breaches: thousands of people are in the same one. What an operator changes about a
// breach shows within offeredFor; a breach that is new is looked up at once.
type breachBook struct {
	mu sync.Mutex
	// known is by what Names writes of a breach: those in which the same classes were exposed of people are one.
	known map[string]bookEntry
}

// bookEntry is a breach in the book and until when it may be used without being read again.
type bookEntry struct {
	breach *judged
	until  time.Time
}

// fillPosture fills in the breaches of a posture.
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
