package leak

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Breaches are the operator's rules for what is told of breaches.
type Breaches struct {
	store   Store
	now     func() time.Time
	counted *hitBook
}

// NewBreaches joins the rules to a store and a clock.
func NewBreaches(store Store, now func() time.Time) *Breaches {
	return &Breaches{store: store, now: now, counted: &hitBook{byName: map[string]hitCount{}}}
}

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

// ListBreaches lists every breach, oldest first; the made-up one of the sandbox is left out.
func (b *Breaches) ListBreaches(ctx context.Context) ([]Record, error) {
	all, err := b.store.ListBreaches(ctx)
	return slices.DeleteFunc(all, func(r Record) bool { return r.Name == cyber.SandboxBreach }), err
}

func (b *Breaches) FindBreach(ctx context.Context, name string) (Record, error) {
	return b.store.BreachByName(ctx, name)
}

// KnownRatio returns which part of the newest measured breach earlier ones had; 0 when none is measured.
func (b *Breaches) KnownRatio(ctx context.Context) (float64, error) {
	all, err := b.ListBreaches(ctx)
	if err != nil {
		return 0, err
	}
	var newest Record
	for _, r := range all {
		if r.State == Published && r.Tally.Measured != nil && !r.PublishedAt.Before(newest.PublishedAt) {
			newest = r
		}
	}
	if newest.Tally.Measured == nil {
		return 0, nil
	}
	return float64(newest.Tally.Measured.Known) / float64(max(1, newest.Tally.Distinct)), nil
}

// EditBreach changes what is told of a breach. Name, state and content stay as they are.
func (b *Breaches) EditBreach(ctx context.Context, name string, edit func(*cyber.Breach)) (Record, error) {
	if err := checkReserved(name); err != nil {
		return Record{}, err
	}
	return b.store.UpdateBreach(ctx, name, func(r *Record) error {
		if r.State == Retracted {
			return ErrRetracted.With("name", fault.WasRetracted)
		}
		before := r.Breach
		edit(&r.Breach)
		r.Name, r.AddedAt = before.Name, before.AddedAt
		if r.State == Importing {
			return CheckNewBreach(&r.Breach, b.now())
		}
		return CheckBreach(&r.Breach, b.now())
	})
}

// RetractBreach takes a breach back: its segment goes, its findings are withdrawn, statuses follow. The name is not
// used again.
func (b *Breaches) RetractBreach(ctx context.Context, name string) (Record, error) {
	if err := checkReserved(name); err != nil {
		return Record{}, err
	}
	return b.store.RetractBreach(ctx, name)
}

// checkReserved refuses names that the service uses itself.
func checkReserved(name string) error {
	if name == cyber.SandboxBreach {
		return ErrBreachInvalid.With("name", fault.SandboxBreach, cyber.SandboxBreach)
	}
	return nil
}

// nameForm is what a name looks like: it is part of file names and of what partners read.
var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,79}$`)

// ValidName reports whether a breach can be called so.
func ValidName(name string) bool { return nameForm.MatchString(name) && !strings.Contains(name, "..") }

// CheckBreach validates what is told of a breach, trims its texts and puts its classes in order.
func CheckBreach(b *cyber.Breach, now time.Time) error {
	b.Title = strings.TrimSpace(b.Title)
	b.Source = strings.TrimSpace(b.Source)
	b.Description = strings.TrimSpace(b.Description)
	b.Kind = cmp.Or(b.Kind, cyber.SourceBreach)
	kinds := []cyber.SourceKind{
		cyber.SourceBreach,
		cyber.SourceCombolist,
		cyber.SourceStealer,
		cyber.SourcePaste,
		cyber.SourcePhish,
	}
	return errors.Join(
		fault.When(!ValidName(b.Name), ErrBreachInvalid.With("name", fault.BreachName)),
		checkReserved(b.Name),
		fault.When(!partner.IsPrintableLine(b.Title, 1, 200), ErrBreachInvalid.With("title", fault.PlainLength, 200)),
		fault.When(
			!partner.IsPrintableLine(b.Source, 0, 500) || !partner.Paragraphs(b.Description, 0, 4000),
			ErrBreachInvalid.With("source", fault.BreachTexts),
		),
		fault.When(
			b.Date.IsZero() || b.Date.After(now) || b.Date.Year() < 1970,
			ErrBreachInvalid.With("date", fault.DayRange),
		),
		fault.When(
			!slices.Contains(kinds, b.Kind),
			ErrBreachInvalid.With("kind", fault.OneOf, "breach, combolist, stealer, paste, phish"),
		),
		checkExposes(b),
	)
}

// checkExposes refuses a breach that names no class of data or an unknown one, and puts the classes in their usual
// order, without repeats.
func checkExposes(b *cyber.Breach) error {
	if len(b.Exposes) == 0 {
		return ErrBreachInvalid.With("exposes", fault.NameAClass)
	}
	ordered := selectClasses(func(c cyber.Exposed) bool { return slices.Contains(b.Exposes, c) })
	if slices.ContainsFunc(b.Exposes, func(c cyber.Exposed) bool { return !slices.Contains(ordered, c) }) {
		return ErrBreachInvalid.With("exposes", fault.ClassesAre, classNames())
	}
	b.Exposes = ordered
	return nil
}

// selectClasses returns the classes of data that are wanted, in their usual order.
func selectClasses(wanted func(cyber.Exposed) bool) (list []cyber.Exposed) {
	for _, c := range cyber.AllExposed() {
		if wanted(c) {
			list = append(list, c)
		}
	}
	return list
}

// classNames returns the names of all classes of data, for an error that lists them.
func classNames() string {
	names := make([]string, 0, 16)
	for _, c := range cyber.AllExposed() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// ParseBreachDay reads a day as YYYY-MM-DD.
func ParseBreachDay(s string) (time.Time, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return t, ErrBreachInvalid.With("date", fault.DayFormat).Because(err)
	}
	return t, nil
}

// ParseExposes reads a list of classes separated by commas.
func ParseExposes(list []string) []cyber.Exposed {
	var classes []cyber.Exposed
	for _, part := range list {
		for _, name := range strings.Split(part, ",") {
			if name = strings.TrimSpace(name); name != "" {
				classes = append(classes, cyber.Exposed(name))
			}
		}
	}
	return classes
}

// Auto, among the classes of a breach that is being imported, stands for those that are found in it. Once it is
// published they have taken its place.
const Auto cyber.Exposed = "auto"

// CheckNewBreach is CheckBreach for a breach that is to be imported: Auto may be among its classes, and is if they are
// left out.
func CheckNewBreach(b *cyber.Breach, now time.Time) error {
	named := slices.DeleteFunc(slices.Clone(b.Exposes), func(e cyber.Exposed) bool { return e == Auto })
	auto := len(named) == 0 || len(named) < len(b.Exposes)
	if b.Exposes = named; len(named) == 0 {
		b.Exposes = []cyber.Exposed{cyber.ExposedOther} // for the check
	}
	if err := CheckBreach(b, now); err != nil {
		return err
	}
	if len(named) == 0 {
		b.Exposes = nil
	}
	if auto {
		b.Exposes = append(b.Exposes, Auto)
	}
	return nil
}

// SettleExposes puts the classes that an import found in the place of Auto.
func (Judge) SettleExposes(named []cyber.Exposed, t *Tally) []cyber.Exposed {
	if !slices.Contains(named, Auto) {
		return named
	}
	found := t.FoundClasses()
	list := selectClasses(func(e cyber.Exposed) bool { return slices.Contains(named, e) || slices.Contains(found, e) })
	if len(list) == 0 {
		return []cyber.Exposed{cyber.ExposedOther}
	}
	return list
}

// foundShare is how common a class must be to count as found: it must stand beside one identifier in foundShare. Less
// is noise, such as a note typed into the wrong field.
const foundShare = 100

// ofKinds are the classes that identifiers are themselves.
var ofKinds = map[identifier.Kind]cyber.Exposed{
	identifier.Email:  cyber.ExposedEmail,
	identifier.CPF:    cyber.ExposedCPF,
	identifier.Phone:  cyber.ExposedPhone,
	identifier.Card:   cyber.ExposedCard,
	identifier.PixKey: cyber.ExposedFinancial,
}

// FoundClasses returns the classes that an import found: those that stand in the records of at least one in a hundred
// of the identifiers whose records could be told, and the identifiers themselves, if they are at least one in a
// hundred.
func (t *Tally) FoundClasses() []cyber.Exposed {
	var all int64
	kinds := map[cyber.Exposed]int64{}
	for _, k := range identifier.ListKinds() {
		n := t.Found[k.String()]
		all += n
		if e, ok := ofKinds[k]; ok {
			kinds[e] += n
		}
	}
	return selectClasses(func(e cyber.Exposed) bool {
		n := t.Classes[string(e)]
		return n > 0 && n*foundShare >= t.Told || kinds[e] > 0 && kinds[e]*foundShare >= all
	})
}

// CompareClasses compares the classes that the operator named with those that were found. It returns those named but
// not found, and those found but not named. Where no records could be told apart, only identifiers can be missing.
func (t *Tally) CompareClasses(named []cyber.Exposed) (nowhere, unnamed []cyber.Exposed) {
	if len(t.Found) == 0 || slices.Contains(named, Auto) {
		return nil, nil
	}
	found := t.FoundClasses()
	identifiers := []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedCPF, cyber.ExposedPhone, cyber.ExposedCard}
	nowhere = selectClasses(func(e cyber.Exposed) bool {
		return slices.Contains(named, e) && !slices.Contains(found, e) &&
			(t.Told > 0 || slices.Contains(identifiers, e))
	})
	return nowhere, selectClasses(
		func(e cyber.Exposed) bool { return slices.Contains(found, e) && !slices.Contains(named, e) },
	)
}
