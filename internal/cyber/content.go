package cyber

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ContentID names an item of the catalogue: lower-case words joined by hyphens.
type ContentID string

// ContentType is what kind of text an item is.
type ContentType string

// The types, to the letter of the contract.
const (
	ContentAlert  ContentType = "alert"
	ContentAdvice ContentType = "advice"
	ContentTip    ContentType = "tip"
)

// DeviceType is where an item makes sense.
type DeviceType string

// The device types, to the letter of the contract.
const (
	DeviceAll     DeviceType = "all"
	DeviceMobile  DeviceType = "mobile"
	DeviceDesktop DeviceType = "desktop"
)

// Item is one piece of educational content.
type Item struct {
	ID     ContentID   `yaml:"id"`
	Type   ContentType `yaml:"type"`
	Device DeviceType  `yaml:"device"`
	// Rank is the urgency, 1 to 1000; what ranks higher comes first.
	Rank  int       `yaml:"rank"`
	When  Condition `yaml:"when,omitempty"`
	Title string    `yaml:"title"`
	// Body may name the finding the item is about: {vazamento}, {valor}, {data}. More is added when the item is about
	// several, and may say how many others: {mais}.
	Body     string              `yaml:"body"`
	More     string              `yaml:"more,omitempty"`
	Question *ValidationQuestion `yaml:"question,omitempty"`
	Retired  bool                `yaml:"retired,omitempty"`
	// Language is what the texts were translated to; empty while they are as written, in Portuguese.
	Language partner.Language `yaml:"-"`
}

// ValidationQuestion asks whether the advice has been followed.
type ValidationQuestion struct {
	Text string `yaml:"text"`
	// Mends is what the score recommends while the answer leaves a risk.
	Mends   string   `yaml:"mends"`
	Options []Option `yaml:"options"`
}

// Option is an answer to choose.
type Option struct {
	Value string `yaml:"value" json:"value"`
	Label string `yaml:"label" json:"label"`
	// Risk is what this answer leaves to mend, 0 to 10. People who are asked do not see it.
	Risk int `yaml:"risk" json:"-"`
}

// WorstRisk returns the risk of the worst answer, which an unanswered question counts as.
func (q ValidationQuestion) WorstRisk() int {
	weight := 0
	for _, o := range q.Options {
		weight = max(weight, o.Risk)
	}
	return weight
}

// Risk returns what an answer leaves to mend. Without an answer, or with one that is not offered any more, the worst is
// assumed.
func (q ValidationQuestion) Risk(answer string) int {
	for _, o := range q.Options {
		if o.Value == answer && answer != "" {
			return o.Risk
		}
	}
	return q.WorstRisk()
}

// Condition selects the people an item applies to: all of it must hold. The zero value holds for every person.
type Condition struct {
	// An open finding fits when its breach exposed one of Exposes, came from one of Sources, concerns a value of one of
	// Assets and is at least as bad as Severity; an empty one of these does not restrict.
	Exposes  []Exposed         `yaml:"exposes,flow,omitempty"`
	Sources  []SourceKind      `yaml:"sources,flow,omitempty"`
	Assets   []identifier.Kind `yaml:"assets,flow,omitempty"`
	Severity Severity          `yaml:"severity,omitempty"`
	// OpenFindings is the least number of breaches with open findings; NoFindings means none.
	OpenFindings int  `yaml:"open_findings,omitempty"`
	NoFindings   bool `yaml:"no_findings,omitempty"`
	// NoDevice and HasDevice are about protected devices, those whose live key was activated; all means any.
	NoDevice  DeviceType `yaml:"no_device,omitempty"`
	HasDevice DeviceType `yaml:"has_device,omitempty"`
	// KeyEndsWithin is in days: a live key ends no later.
	KeyEndsWithin int `yaml:"key_ends_within,omitempty"`
	// NotWatched and Watched are about kinds of monitored values.
	NotWatched identifier.Kind `yaml:"not_watched,omitempty"`
	Watched    identifier.Kind `yaml:"watched,omitempty"`
	// Answered holds when each named item was answered with one of the values.
	Answered map[ContentID][]string `yaml:"answered,omitempty"`
	// OpenCase and WaitingCase are about support cases; a waiting one needs the person's reply.
	OpenCase    bool `yaml:"open_case,omitempty"`
	WaitingCase bool `yaml:"waiting_case,omitempty"`
}

// aboutFinding reports whether the condition picks a finding, which the text may then name.
func (c Condition) aboutFinding() bool {
	return len(c.Exposes)+len(c.Sources)+len(c.Assets) > 0 || c.Severity != ""
}

// Faults of the catalogue.
var (
	ErrContentInvalid  = fault.New(fault.Invalid, "content.invalid")
	ErrContentNotFound = fault.New(fault.NotFound, "content.not_found")
	ErrContentExists   = fault.New(fault.Conflict, "content.exists")
	ErrAnswerInvalid   = fault.New(fault.Invalid, "answer.invalid")
)

var (
	slug        = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	placeholder = regexp.MustCompile(`\{[^}]*\}`)
)

// Bounds of an item of the catalogue, in characters.
const (
	maxSlug     = 64
	maxTitle    = 120
	maxBody     = 1000
	maxOptions  = 10
	maxRisk     = 10
	maxRank     = 1000
	maxKeyAhead = 366
)

// isContentSlug reports whether s is made of lower-case letters, digits and hyphens.
func isContentSlug(s string) bool { return len(s) <= maxSlug && slug.MatchString(s) }

// checkItem says what is wrong with an item.
func (it Item) checkItem() error {
	bad := func(field string, rule fault.Rule, args ...any) *fault.Error {
		return ErrContentInvalid.With(field, rule, args...).In(foldToASCII(string(it.ID)))
	}
	if !isContentSlug(string(it.ID)) {
		return ErrContentInvalid.With("id", fault.HyphenatedWords, maxSlug)
	}
	wrong := []error{
		fault.When(
			it.Type != ContentAlert && it.Type != ContentAdvice && it.Type != ContentTip,
			bad("type", fault.OneOf, "alert, advice, tip"),
		),
		fault.When(!it.Device.isKnown(), bad("device", fault.OneOf, "all, mobile, desktop")),
		fault.When(it.Rank < 1 || it.Rank > maxRank, bad("rank", fault.OneTo, maxRank)),
		fault.When(!partner.Paragraphs(it.Title, 1, maxTitle), bad("title", fault.Length, maxTitle)),
		fault.When(
			!partner.Paragraphs(it.Body, 1, maxBody) || !partner.Paragraphs(it.More, 0, maxBody),
			bad("body", fault.Length, maxBody),
		),
	}
	if word, ok := it.strayPlaceholder(); ok {
		wrong = append(wrong, bad(word, fault.NoSuchWord))
	}
	if f := it.When.checkCondition(); f != nil {
		wrong = append(wrong, f.In("when").In(foldToASCII(string(it.ID))))
	}
	if it.Question != nil && it.When.aboutFinding() {
		wrong = append(wrong, bad("question", fault.FindingCannotAsk))
	} else if it.Question != nil {
		if f := it.Question.checkQuestion(); f != nil {
			wrong = append(wrong, f.In("question").In(foldToASCII(string(it.ID))))
		}
	}
	return errors.Join(wrong...)
}

// strayPlaceholder returns a word in braces that nothing would be put for.
func (it Item) strayPlaceholder() (string, bool) {
	allowed := map[string]bool{}
	if it.When.aboutFinding() {
		allowed = map[string]bool{"{vazamento}": true, "{valor}": true, "{data}": true}
	}
	for _, word := range placeholder.FindAllString(it.Title+it.Body, -1) {
		if !allowed[word] {
			return foldToASCII(word), true
		}
	}
	for _, word := range placeholder.FindAllString(it.More, -1) {
		if !allowed[word] && (word != "{mais}" || !it.When.aboutFinding()) {
			return foldToASCII(word), true
		}
	}
	return "", false
}

// checkCondition says what is wrong with a condition, or nothing.
func (c Condition) checkCondition() *fault.Error {
	for _, e := range c.Exposes {
		if !slices.Contains(AllExposed(), e) {
			return ErrContentInvalid.With("exposes", fault.UnknownClass)
		}
	}
	for _, s := range c.Sources {
		if !slices.Contains([]SourceKind{SourceBreach, SourceCombolist, SourceStealer, SourcePaste, SourcePhish}, s) {
			return ErrContentInvalid.With("sources", fault.UnknownSource)
		}
	}
	switch {
	case c.Severity != "" && severityOrder(c.Severity) < 0:
		return ErrContentInvalid.With("severity", fault.OneOf, "low, medium, high, critical")
	case c.NoDevice != "" && !c.NoDevice.isKnown() || c.HasDevice != "" && !c.HasDevice.isKnown():
		return ErrContentInvalid.With("no_device, has_device", fault.OneOf, "all, mobile, desktop")
	case c.KeyEndsWithin < 0 || c.KeyEndsWithin > maxKeyAhead:
		return ErrContentInvalid.With("key_ends_within", fault.DaysUpTo, maxKeyAhead)
	case c.OpenFindings < 0:
		return ErrContentInvalid.With("open_findings", fault.NotNegative)
	}
	for id, values := range c.Answered {
		if !isContentSlug(string(id)) || len(values) == 0 {
			return ErrContentInvalid.With("answered", fault.ItemAndValues)
		}
	}
	return nil
}

// checkQuestion says what is wrong with a question, or nothing.
func (q ValidationQuestion) checkQuestion() *fault.Error {
	if !partner.Paragraphs(q.Text, 1, maxBody) || !partner.Paragraphs(q.Mends, 1, maxBody) {
		return ErrContentInvalid.With("text and mends", fault.Length, maxBody)
	}
	if len(q.Options) < 2 || len(q.Options) > maxOptions {
		return ErrContentInvalid.With("options", fault.TwoToTenOptions)
	}
	seen, best := map[string]bool{}, maxRisk
	for _, o := range q.Options {
		if !isContentSlug(o.Value) || seen[o.Value] || !partner.Paragraphs(o.Label, 1, maxTitle) || o.Risk < 0 ||
			o.Risk > maxRisk {
			return ErrContentInvalid.With("options", fault.OptionFormat)
		}
		seen[o.Value], best = true, min(best, o.Risk)
	}
	if best != 0 || q.WorstRisk() == 0 {
		return ErrContentInvalid.With("options", fault.OptionsOfRisk)
	}
	return nil
}

// isKnown reports whether the type is one of ours.
func (d DeviceType) isKnown() bool { return d == DeviceAll || d == DeviceMobile || d == DeviceDesktop }

// foldToASCII keeps fault details in plain ASCII, whatever an operator wrote.
func foldToASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

// severityOrder returns the rank of a severity, the mildest first; -1 for an unknown one.
func severityOrder(s Severity) int {
	return slices.Index(Severities(), s)
}

// offersAnswer reports whether the value is one of the options.
func (q ValidationQuestion) offersAnswer(value string) bool {
	return slices.ContainsFunc(q.Options, func(o Option) bool { return o.Value == value })
}

// ContentStore keeps what the operator changed in the catalogue.
type ContentStore interface {
	// ContentChanges returns every changed item.
	ContentChanges(ctx context.Context) ([]Item, error)
	// KeepContent keeps items over what was there, all or none.
	KeepContent(ctx context.Context, items []Item) error
	// DropContent forgets the operator's change of an item.
	DropContent(ctx context.Context, id ContentID) error
}

// Catalogue is the educational content: what this program brings, and over it, item by item, what the operator changed.
// So a new version of the program brings its new texts wherever the operator wrote none.
type Catalogue struct {
	store ContentStore
	now   func() time.Time
	cache *offeredContent
}

// offeredContent is what was read last, shared by all who were made of one Catalogue.
type offeredContent struct {
	mu     sync.Mutex
	cached *catalogueIndex
	until  time.Time
}

// NewCatalogue joins the rules to a store and a clock.
func NewCatalogue(store ContentStore, now func() time.Time) *Catalogue {
	return &Catalogue{store: store, now: now, cache: &offeredContent{}}
}

// WithStore returns the same catalogue over another store: inside a transaction.
func (c *Catalogue) WithStore(store ContentStore) *Catalogue {
	inside := *c
	inside.store = store
	return &inside
}

// loadOffered returns the catalogue without what is retired, most urgent first. A change by the operator shows within
// offeredFor.
func (c *Catalogue) loadOffered(ctx context.Context) (*catalogueIndex, error) {
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock() // held while reading, so that an expired list is read once and not by every request
	now := c.now()
	if now.Before(c.cache.until) {
		return c.cache.cached, nil
	}
	all, err := c.ListItems(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(it Item) bool { return it.Retired })
	index := indexCatalogue(all)
	index.translated = map[partner.Language]*catalogueIndex{}
	for _, lang := range partner.ListLanguages()[1:] {
		items, err := translateItems(all, lang)
		if err != nil {
			return nil, err
		}
		index.translated[lang] = indexCatalogue(items)
	}
	c.cache.cached = index
	c.cache.until = now.Add(offeredFor)
	return c.cache.cached, nil
}

// ListItems returns the whole catalogue, for the operator: most urgent first, alerts before advice before tips, then by
// id.
func (c *Catalogue) ListItems(ctx context.Context) ([]Item, error) {
	first, err := firstContent()
	if err != nil {
		return nil, err
	}
	changed, err := c.store.ContentChanges(ctx)
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	byID := make(map[ContentID]Item, len(first)+len(changed))
	for _, it := range append(slices.Clone(first), changed...) {
		byID[it.ID] = it
	}
	all := make([]Item, 0, len(byID))
	for _, it := range byID {
		all = append(all, it)
	}
	slices.SortFunc(all, func(a, b Item) int {
		return cmp.Or(
			cmp.Compare(b.Rank, a.Rank),
			cmp.Compare(contentTypeOrder(a.Type), contentTypeOrder(b.Type)),
			cmp.Compare(a.ID, b.ID),
		)
	})
	return all, nil
}

// contentTypeOrder returns the place of a type in the catalogue.
func contentTypeOrder(t ContentType) int {
	return slices.Index([]ContentType{ContentAlert, ContentAdvice, ContentTip}, t)
}

// GetItem returns one item, retired ones too.
func (c *Catalogue) GetItem(ctx context.Context, id ContentID) (Item, error) {
	all, err := c.ListItems(ctx)
	if err != nil {
		return Item{}, err
	}
	if i := slices.IndexFunc(all, func(it Item) bool { return it.ID == id }); i >= 0 {
		return all[i], nil
	}
	return Item{}, ErrContentNotFound.With("content", fault.NoSuchID)
}

// ImportItems puts items over what is there. With fresh, an item that exists already is refused.
func (c *Catalogue) ImportItems(ctx context.Context, items []Item, fresh bool) error {
	if len(items) == 0 {
		return ErrContentInvalid.With("file", fault.NoItemsInIt)
	}
	for _, it := range items {
		if err := it.checkItem(); err != nil {
			return err
		}
		if fresh {
			if _, err := c.GetItem(ctx, it.ID); err == nil {
				return ErrContentExists.With(string(it.ID), fault.ContentThere)
			}
		}
	}
	defer c.forgetOffered()
	return c.store.KeepContent(ctx, items)
}

// EditItem changes one item.
func (c *Catalogue) EditItem(ctx context.Context, id ContentID, edit func(*Item)) (Item, error) {
	it, err := c.GetItem(ctx, id)
	if err != nil {
		return it, err
	}
	edit(&it)
	it.ID = id
	return it, c.ImportItems(ctx, []Item{it}, false)
}

// ResetItem forgets the operator's change: the item is as this program brings it, or gone if it brings none.
func (c *Catalogue) ResetItem(ctx context.Context, id ContentID) error {
	defer c.forgetOffered()
	return c.store.DropContent(ctx, id)
}

// forgetOffered has the next caller read the catalogue again.
func (c *Catalogue) forgetOffered() {
	c.cache.mu.Lock()
	c.cache.until = time.Time{}
	c.cache.mu.Unlock()
}

//go:embed translations/*.yaml
var translationFiles embed.FS

// translation is the text of an item of the catalogue in another language.
type translation struct {
	ID       ContentID         `yaml:"id"`
	Title    string            `yaml:"title"`
	Body     string            `yaml:"body"`
	More     string            `yaml:"more,omitempty"`
	Question string            `yaml:"question,omitempty"`
	Mends    string            `yaml:"mends,omitempty"`
	Options  map[string]string `yaml:"options,omitempty"`
}

// translations are the texts that this program brings in languages other than Portuguese.
var translations = sync.OnceValues(func() (map[partner.Language][]translation, error) {
	all := map[partner.Language][]translation{}
	for _, lang := range partner.ListLanguages()[1:] {
		text, err := translationFiles.ReadFile("translations/" + string(lang) + ".yaml")
		var list []translation
		if err == nil {
			err = yaml.UnmarshalWithOptions(text, &list, yaml.Strict())
		}
		if err != nil {
			return nil, fmt.Errorf("read translations: %w", err)
		}
		all[lang] = list
	}
	return all, nil
})

// translateItems returns items in a language. An item whose text an operator wrote stays in Portuguese: a translation
// of the text that it replaced would tell people something else.
func translateItems(items []Item, lang partner.Language) ([]Item, error) {
	first, err := firstContent()
	if err != nil {
		return nil, err
	}
	all, err := translations()
	if err != nil {
		return nil, err
	}
	items = slices.Clone(items)
	for i := range items {
		it := &items[i]
		at := slices.IndexFunc(first, func(f Item) bool {
			return f.ID == it.ID && f.Title == it.Title && f.Body == it.Body && f.More == it.More &&
				reflect.DeepEqual(f.Question, it.Question)
		})
		to := slices.IndexFunc(all[lang], func(t translation) bool { return t.ID == it.ID })
		if at >= 0 && to >= 0 {
			all[lang][to].translateItem(it)
			it.Language = lang
		}
	}
	return items, nil
}

// translateItem puts the translated texts into an item.
func (t translation) translateItem(it *Item) {
	it.Title, it.Body, it.More = t.Title, t.Body, t.More
	if it.Question == nil {
		return
	}
	q := ValidationQuestion{Text: t.Question, Mends: t.Mends, Options: slices.Clone(it.Question.Options)}
	for i := range q.Options {
		q.Options[i].Label = t.Options[q.Options[i].Value]
	}
	it.Question = &q
}

//go:embed catalogue/*.yaml
var catalogueFiles embed.FS

// firstContent is the catalogue that this program brings.
var firstContent = sync.OnceValues(func() ([]Item, error) {
	entries, err := catalogueFiles.ReadDir("catalogue")
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	var all []Item
	for _, e := range entries {
		text, err := catalogueFiles.ReadFile(path.Join("catalogue", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read catalogue: %w", err)
		}
		items, err := ReadContent(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		all = append(all, items...)
	}
	return all, nil
})

// maxContentFile bounds what is read as a catalogue.
const maxContentFile = 8 << 20

// ReadContent reads a catalogue in YAML and checks every item. Members it does not know are refused: a misspelt
// condition would otherwise hold for every person.
func ReadContent(r io.Reader) ([]Item, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxContentFile+1))
	if err != nil {
		return nil, fmt.Errorf("read content: %w", err)
	}
	if len(text) > maxContentFile {
		return nil, ErrContentInvalid.With("file", fault.BytesAtMost, maxContentFile)
	}
	var items []Item
	if err := yaml.UnmarshalWithOptions(text, &items, yaml.Strict()); err != nil {
		return nil, ErrContentInvalid.With("file", fault.NotYAMLItems, foldToASCII(err.Error())).Because(err)
	}
	seen := make(map[ContentID]bool, len(items))
	for _, it := range items {
		if err := it.checkItem(); err != nil {
			return nil, err
		}
		if seen[it.ID] {
			return nil, ErrContentInvalid.With(string(it.ID), fault.TwiceInFile)
		}
		seen[it.ID] = true
	}
	return items, nil
}

// WriteContent writes a catalogue in the form that ReadContent reads.
func WriteContent(w io.Writer, items []Item) error {
	text, err := yaml.MarshalWithOptions(items, yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(false))
	if err != nil {
		return fmt.Errorf("write content: %w", err)
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write content: %w", err)
	}
	return nil
}

//go:embed steps/steps.yaml
var stepsFile []byte

// firstSteps is the catalogue of steps that this program brings, in order.
var firstSteps = sync.OnceValue(func() []Step {
	steps, err := parseSteps(stepsFile)
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return steps
})

// parseSteps reads a catalogue of steps and checks every one. Members it does not know are refused, as in the content.
func parseSteps(text []byte) ([]Step, error) {
	var steps []Step
	if err := yaml.UnmarshalWithOptions(text, &steps, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("read steps: %w", err)
	}
	for i := range steps {
		s := &steps[i]
		err := s.checkStep()
		switch {
		case err != nil:
			return nil, fmt.Errorf("step %q: %w", s.ID, err)
		case slices.ContainsFunc(steps[:i], func(other Step) bool { return other.ID == s.ID }):
			return nil, fmt.Errorf("step %q: twice in the file", s.ID)
		case i > 0 && s.Days < steps[i-1].Days:
			return nil, fmt.Errorf("step %q: is due before the one above it", s.ID)
		}
	}
	return steps, nil
}

// maxStepTitle is how many letters the title of a step may have: it stands in one or two lines of a telephone.
const maxStepTitle = 40

// checkStep says what is wrong with a step.
func (s *Step) checkStep() error {
	w := &s.When
	asks := len(w.Exposes)+len(w.Assets)+len(w.Sources) > 0
	switch {
	case !isContentSlug(string(s.ID)):
		return fmt.Errorf("id: lower-case letters, digits and dashes")
	case s.Minutes < 1 || s.Days < 1:
		return fmt.Errorf("minutes, days: at least 1")
	case w.Always == asks:
		return fmt.Errorf("always, or any of exposes, assets and sources")
	case !containsAll(w.Exposes, AllExposed()) || !containsAll(w.Unless, AllExposed()):
		return fmt.Errorf("exposes, unless: no such class")
	case !containsAll(w.Sources, []SourceKind{SourceBreach, SourceCombolist, SourceStealer, SourcePaste, SourcePhish}):
		return fmt.Errorf("sources: no such kind")
	case s.Mends != "" && !slices.Contains(givenResolutions, s.Mends):
		return fmt.Errorf("mends: no such resolution")
	}
	if u, err := url.Parse(s.Link); err != nil || s.Link != "" && (u.Scheme != "https" || u.Host == "") {
		return fmt.Errorf("link: an https address")
	}
	for _, in := range partner.ListLanguages() {
		text := s.Texts[in]
		if n := utf8.RuneCountInString(text.Title); n == 0 || n > maxStepTitle {
			return fmt.Errorf("%s: a title of up to %d letters", in, maxStepTitle)
		}
		if text.What == "" || text.Why == "" || (text.Perhaps != "") != (len(w.Exposes) > 0 && !w.Certain) {
			return fmt.Errorf("%s: what, why, and perhaps if the step does not ask for certainty", in)
		}
		if strings.Contains(strings.ReplaceAll(text.What+text.Why+text.Perhaps, breachBlank, ""), "{") {
			return fmt.Errorf("%s: a blank that nothing fills", in)
		}
	}
	return nil
}
