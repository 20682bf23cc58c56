package cyber

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ScoreDay is a person's score on a day on which it changed.
type ScoreDay struct {
	// Day is the calendar day of Brasília, as partner.DayNumber counts it.
	Day int64
	// Breach and Assessment are in tenths, so that equal ones are equal.
	Breach, Assessment int64
}

// Date returns the day as midnight UTC: it is to be written as it is, in no other zone.
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
func NewPersons(
	store PersonStore, catalogue *Catalogue, now func() time.Time, missed func(context.Context, error),
) *Persons {
	if missed == nil {
		missed = func(context.Context, error) {}
	}
	return &Persons{
		store:     store,
		catalogue: catalogue,
		now:       now,
		missed:    missed,
		breaches:  &breachBook{known: map[string]bookEntry{}},
	}
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

// ListAdvice returns what applies to a person, most urgent first, and on the looks at which of their values it rests.
func (s *Persons) ListAdvice(ctx context.Context, id partner.ID, u partner.UserHash) ([]Advice, PersonLooks, error) {
	p, items, err := s.loadPosture(ctx, id, u, false)
	if err != nil {
		return nil, PersonLooks{}, err
	}
	return selectAdvice(p, items, s.now()), p.countLooks(), nil
}

// ComputeScore returns a person's risk, and keeps it for the day if it is not what the last day says. While values wait
// for their first look only a risk from leaks that has risen is kept: it may be more, but not less.
func (s *Persons) ComputeScore(ctx context.Context, id partner.ID, u partner.UserHash) (Score, error) {
	p, items, err := s.loadPosture(ctx, id, u, true)
	if err != nil {
		return Score{}, err
	}
	score := computeScore(p, items)
	today := ScoreDay{
		Day:        partner.DayNumber(s.now()),
		Breach:     int64(score.Breach*10 + 0.5),
		Assessment: int64(score.Assessment*10 + 0.5),
	}
	isKnown := score.Looks.Waiting == 0 || today.Breach > p.Last.Breach
	if isKnown && (today.Breach != p.Last.Breach || today.Assessment != p.Last.Assessment || p.Last.Day == 0) {
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
func (s *Persons) SaveAnswer(
	ctx context.Context, id partner.ID, u partner.UserHash, item ContentID, value string,
) error {
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
func (s *Persons) loadPosture(
	ctx context.Context, id partner.ID, u partner.UserHash, scored bool,
) (*Posture, *catalogueIndex, error) {
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
