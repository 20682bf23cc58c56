package cyber

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// catalogueIndex is the catalogue that is offered, in order.
type catalogueIndex struct {
	items []Item
	// weight is the sum of all questions' weights.
	weight int
	// translated are the same items in other languages.
	translated map[partner.Language]*catalogueIndex
}

// indexCatalogue weighs items, which are in order and not retired.
func indexCatalogue(items []Item) *catalogueIndex {
	s := &catalogueIndex{items: items}
	for _, it := range items {
		if it.Question != nil {
			s.weight += it.Question.WorstRisk()
		}
	}
	return s
}

// Advice is an item as it is said to one person: Title and Body have everything filled in.
type Advice struct {
	Item        *Item
	Title, Body string
}

// selectAdvice returns what applies to a person, in the order of the catalogue: most urgent first.
func selectAdvice(p *Posture, s *catalogueIndex, now time.Time) []Advice {
	found := p.joinExposures()
	list := make([]Advice, 0, len(s.items))
	for i := range s.items {
		it := &s.items[i]
		if it.Question != nil && it.Question.isSettledBy(p.Answers[it.ID]) || !it.When.holdsFor(p, len(found), now) {
			continue
		}
		if !it.When.aboutFinding() {
			list = append(list, Advice{it, it.Title, it.Body})
			continue
		}
		fitting := slices.DeleteFunc(slices.Clone(found), func(e *exposure) bool { return !it.When.fitsExposure(e) })
		if len(fitting) > 0 {
			list = append(list, it.fillAdvice(fitting[0], len(fitting)-1))
		}
	}
	return list
}

// isSettledBy reports whether an answer leaves nothing to mend.
func (q ValidationQuestion) isSettledBy(answer string) bool { return q.Risk(answer) == 0 }

// holdsFor judges everything of a condition but the findings it picks.
func (c *Condition) holdsFor(p *Posture, breaches int, now time.Time) bool {
	switch {
	case breaches < c.OpenFindings,
		// Nothing is said to be clean that was not looked at.
		c.NoFindings && (breaches > 0 || p.countLooks().Waiting > 0),
		c.NoDevice != "" && p.isProtected(c.NoDevice),
		c.HasDevice != "" && !p.isProtected(c.HasDevice),
		c.KeyEndsWithin > 0 && !p.hasKeyEndingBy(now.AddDate(0, 0, c.KeyEndsWithin)),
		c.NotWatched != 0 && p.watchesKind(c.NotWatched),
		c.Watched != 0 && !p.watchesKind(c.Watched),
		c.OpenCase && p.OpenCases == 0,
		c.WaitingCase && p.WaitingCases == 0:
		return false
	}
	for id, values := range c.Answered {
		if !slices.Contains(values, p.Answers[id]) {
			return false
		}
	}
	return true
}

// fitsExposure reports whether the item speaks of an exposure.
func (c *Condition) fitsExposure(e *exposure) bool {
	return (len(c.Exposes) == 0 || NewClasses(c.Exposes)&e.exposes != 0) && e.namingAsset(c.Assets) != nil &&
		e.severity >= severityOrder(c.Severity) && (len(c.Sources) == 0 || slices.Contains(c.Sources, e.Kind))
}

// breachBlank is how the place for a breach's name is written in the texts of the catalogue.
const breachBlank = "{vazamento}"

// fillAdvice puts the names into an item's text, for the worst exposure that it speaks of and the number of others.
func (it *Item) fillAdvice(worst *exposure, others int) Advice {
	a := worst.namingAsset(it.When.Assets)
	names := strings.NewReplacer(breachBlank, worst.Title, "{valor}", identifier.MaskValue(a.Kind, a.Value),
		"{data}", worst.Date.UTC().Format("01/2006"), "{mais}", strconv.Itoa(others))
	body := it.Body
	if others > 0 && it.More != "" {
		body += " " + it.More
	}
	return Advice{it, names.Replace(it.Title), names.Replace(body)}
}

// Posture is where a person stands at one moment: what advice and score are made from, and nothing else is. Both are
// pure functions of it, of the catalogue and of the time.
type Posture struct {
	Assets  []PostureAsset
	Devices []PostureDevice
	// Answers are the latest answers to validation questions.
	Answers map[ContentID]string
	// OpenCases counts cases that are not resolved, closed or cancelled; WaitingCases those of them that wait for the
	// person.
	OpenCases, WaitingCases int
	// Last is the score of the latest day on which it changed; its zero value means that there was none.
	Last ScoreDay
}

// PostureAsset is a watched value and the breaches in which it was found and is not resolved.
type PostureAsset struct {
	Kind    identifier.Kind
	Value   string
	Status  Status
	AddedAt time.Time
	// Waits reports that the value has not had its first look into past breaches.
	Waits bool
	// Breaches are what Names wrote of its findings.
	Breaches string
	// open are the same, looked up and judged.
	open []*judged
}

// PostureDevice is a protected device: one with a live key that was activated on it, or with a live key where devices
// do not report activations.
type PostureDevice struct {
	System     System
	ValidUntil time.Time
}

// judged is a breach with everything that the model says of it, so that it is said once and not for each person.
type judged struct {
	Breach
	severity int
	usable   bool
	exposes  Classes
	mends    Mends
	points   float64
	// content is the same for copies of one dump.
	content string
}

// judgeBreach applies the model to a breach.
func judgeBreach(b Breach, now time.Time) *judged {
	return &judged{
		Breach: b, severity: severityOrder(b.severityLevel()), usable: b.IsUsable(), exposes: NewClasses(b.Exposes),
		mends: b.recommendedMend(), points: b.riskPoints(now), content: b.contentKey(),
	}
}

// exposure is one breach with open findings of the person: however many of their values are in it, it counts once. So
// does a dump that was imported several times: copies are joined under the worst, and what is worst in any of them
// counts.
type exposure struct {
	judged
	assets []*PostureAsset
}

// addExposureCopy adds a copy of the same dump.
func (e *exposure) addExposureCopy(copied *exposure) {
	e.points, e.usable, e.exposes = max(e.points, copied.points), e.usable || copied.usable, e.exposes|copied.exposes
	for _, a := range copied.assets {
		if !slices.Contains(e.assets, a) {
			e.assets = append(e.assets, a)
		}
	}
}

// joinExposures joins findings by breach, the worst first: by severity, then the latest, then by name.
func (p *Posture) joinExposures() []*exposure {
	var all []*exposure
	byBreach := map[*judged]*exposure{}
	for i := range p.Assets {
		for _, b := range p.Assets[i].open {
			if byBreach[b] == nil {
				byBreach[b] = &exposure{judged: *b}
				all = append(all, byBreach[b])
			}
			byBreach[b].assets = append(byBreach[b].assets, &p.Assets[i])
		}
	}
	slices.SortFunc(all, func(a, b *exposure) int {
		return cmp.Or(cmp.Compare(b.severity, a.severity), b.Date.Compare(a.Date), cmp.Compare(a.Name, b.Name))
	})
	first := map[string]*exposure{}
	return slices.DeleteFunc(all, func(e *exposure) bool {
		worst := first[e.content]
		if worst == nil {
			first[e.content] = e
			return false
		}
		worst.addExposureCopy(e)
		return true
	})
}

// namingAsset returns the value by which an exposure is named: the first one added, of the wanted kinds if there are
// any; nil when it has none of them.
func (e *exposure) namingAsset(wanted []identifier.Kind) *PostureAsset {
	for _, a := range e.assets {
		if len(wanted) == 0 || slices.Contains(wanted, a.Kind) {
			return a
		}
	}
	return nil
}

// countLooks counts the first looks of the person's values.
func (p *Posture) countLooks() (l PersonLooks) {
	for _, a := range p.Assets {
		l.addValue(a.Waits, a.AddedAt)
	}
	return l
}

func (p *Posture) watchesKind(k identifier.Kind) bool {
	return slices.ContainsFunc(p.Assets, func(a PostureAsset) bool { return a.Kind == k })
}

func (p *Posture) isProtected(d DeviceType) bool {
	return slices.ContainsFunc(p.Devices, func(x PostureDevice) bool {
		return d == DeviceAll || (d == DeviceMobile) == x.System.IsMobile()
	})
}

// hasKeyEndingBy reports whether a key of the person ends by t.
func (p *Posture) hasKeyEndingBy(t time.Time) bool {
	return slices.ContainsFunc(p.Devices, func(x PostureDevice) bool { return !x.ValidUntil.After(t) })
}

// worstStatus returns the worst status of the person's values.
func (p *Posture) worstStatus() Status {
	worst := StatusMonitored
	for i := range p.Assets {
		switch s := p.Assets[i].Status; {
		case s == StatusCompromised:
			return s
		case s == StatusAlert:
			worst = s
		}
	}
	return worst
}

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
	store PersonStore,
	catalogue *Catalogue,
	now func() time.Time,
	missed func(context.Context, error),
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
	ctx context.Context,
	id partner.ID,
	u partner.UserHash,
	item ContentID,
	value string,
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
	ctx context.Context,
	id partner.ID,
	u partner.UserHash,
	scored bool,
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
