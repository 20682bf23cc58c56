package cyber

import (
	"bytes"
	"embed"
	_ "embed" // the catalogue of steps
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

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

// itemFile is an item as YAML holds it.
type itemFile struct {
	ID       string        `yaml:"id"`
	Type     string        `yaml:"type"`
	Device   string        `yaml:"device"`
	Rank     int           `yaml:"rank"`
	When     conditionFile `yaml:"when,omitempty"`
	Title    string        `yaml:"title"`
	Body     string        `yaml:"body"`
	More     string        `yaml:"more,omitempty"`
	Question *questionFile `yaml:"question,omitempty"`
	Retired  bool          `yaml:"retired,omitempty"`
}

// conditionFile is a Condition as it is written in YAML.
type conditionFile struct {
	Exposes       []string            `yaml:"exposes,flow,omitempty"`
	Sources       []string            `yaml:"sources,flow,omitempty"`
	Assets        []string            `yaml:"assets,flow,omitempty"`
	Severity      string              `yaml:"severity,omitempty"`
	OpenFindings  int                 `yaml:"open_findings,omitempty"`
	NoFindings    bool                `yaml:"no_findings,omitempty"`
	NoDevice      string              `yaml:"no_device,omitempty"`
	HasDevice     string              `yaml:"has_device,omitempty"`
	KeyEndsWithin int                 `yaml:"key_ends_within,omitempty"`
	NotWatched    string              `yaml:"not_watched,omitempty"`
	Watched       string              `yaml:"watched,omitempty"`
	Answered      map[string][]string `yaml:"answered,omitempty"`
	OpenCase      bool                `yaml:"open_case,omitempty"`
	WaitingCase   bool                `yaml:"waiting_case,omitempty"`
}

// questionFile is a question of an assessment as it is written in YAML.
type questionFile struct {
	Text    string       `yaml:"text"`
	Mends   string       `yaml:"mends"`
	Options []optionFile `yaml:"options"`
}

// optionFile is an answer that can be chosen, with the risk that it adds.
type optionFile struct {
	Value string `yaml:"value"`
	Label string `yaml:"label"`
	Risk  int    `yaml:"risk"`
}

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
	var files []itemFile
	if err := yaml.UnmarshalWithOptions(text, &files, yaml.Strict()); err != nil {
		return nil, ErrContentInvalid.With("file", fault.NotYAMLItems, foldToASCII(err.Error())).Because(err)
	}
	items, seen := make([]Item, len(files)), make(map[ContentID]bool, len(files))
	for i, f := range files {
		it, err := f.parseItem()
		if err == nil {
			err = it.checkItem()
		}
		if err != nil {
			return nil, err
		}
		if seen[it.ID] {
			return nil, ErrContentInvalid.With(string(it.ID), fault.TwiceInFile)
		}
		items[i], seen[it.ID] = it, true
	}
	return items, nil
}

// WriteContent writes a catalogue in the form that ReadContent reads.
func WriteContent(w io.Writer, items []Item) error {
	files := make([]itemFile, len(items))
	for i, it := range items {
		files[i] = newItemFile(it)
	}
	text, err := yaml.MarshalWithOptions(files, yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(false))
	if err != nil {
		return fmt.Errorf("write content: %w", err)
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write content: %w", err)
	}
	return nil
}

// parseItem returns the item that a file describes.
func (f itemFile) parseItem() (Item, error) {
	it := Item{
		ID: ContentID(f.ID), Type: ContentType(f.Type), Device: DeviceType(f.Device), Rank: f.Rank, Title: f.Title, Body: f.Body,
		More: f.More, Retired: f.Retired,
	}
	var err error
	if it.When, err = f.When.parseCondition(); err != nil {
		return it, ErrContentInvalid.With(fmt.Sprintf("%s: when", foldToASCII(f.ID)), fault.UnknownKindOfValue)
	}
	if f.Question != nil {
		q := ValidationQuestion{Text: f.Question.Text, Mends: f.Question.Mends}
		for _, o := range f.Question.Options {
			q.Options = append(q.Options, Option(o))
		}
		it.Question = &q
	}
	return it, nil
}

// parseCondition returns the condition that a file describes.
func (f conditionFile) parseCondition() (Condition, error) {
	c := Condition{
		Exposes: convertTexts[Exposed](f.Exposes), Sources: convertTexts[SourceKind](f.Sources), Severity: Severity(f.Severity), OpenFindings: f.OpenFindings,
		NoFindings: f.NoFindings, NoDevice: DeviceType(f.NoDevice), HasDevice: DeviceType(f.HasDevice), KeyEndsWithin: f.KeyEndsWithin,
		OpenCase: f.OpenCase, WaitingCase: f.WaitingCase,
	}
	for _, name := range f.Assets {
		k, err := identifier.ParseKind(name)
		if err != nil {
			return c, err
		}
		c.Assets = append(c.Assets, k)
	}
	for _, watched := range []struct {
		name string
		kind *identifier.Kind
	}{{f.NotWatched, &c.NotWatched}, {f.Watched, &c.Watched}} {
		if watched.name == "" {
			continue
		}
		var err error
		if *watched.kind, err = identifier.ParseKind(watched.name); err != nil {
			return c, err
		}
	}
	for id, values := range f.Answered {
		if c.Answered == nil {
			c.Answered = map[ContentID][]string{}
		}
		c.Answered[ContentID(id)] = values
	}
	return c, nil
}

// newItemFile returns an item as it is written to a file.
func newItemFile(it Item) itemFile {
	c := it.When
	f := itemFile{
		ID: string(it.ID), Type: string(it.Type), Device: string(it.Device), Rank: it.Rank, Title: it.Title, Body: it.Body, More: it.More,
		Retired: it.Retired,
		When: conditionFile{
			Exposes: convertValues(c.Exposes), Sources: convertValues(c.Sources), Severity: string(c.Severity), OpenFindings: c.OpenFindings,
			NoFindings: c.NoFindings, NoDevice: string(c.NoDevice), HasDevice: string(c.HasDevice), KeyEndsWithin: c.KeyEndsWithin,
			OpenCase: c.OpenCase, WaitingCase: c.WaitingCase,
		},
	}
	for _, k := range c.Assets {
		f.When.Assets = append(f.When.Assets, k.String())
	}
	if c.NotWatched != 0 {
		f.When.NotWatched = c.NotWatched.String()
	}
	if c.Watched != 0 {
		f.When.Watched = c.Watched.String()
	}
	for id, values := range c.Answered {
		if f.When.Answered == nil {
			f.When.Answered = map[string][]string{}
		}
		f.When.Answered[string(id)] = values
	}
	if it.Question != nil {
		f.Question = &questionFile{Text: it.Question.Text, Mends: it.Question.Mends}
		for _, o := range it.Question.Options {
			f.Question.Options = append(f.Question.Options, optionFile(o))
		}
	}
	return f
}

// convertTexts returns texts as values of a string type.
func convertTexts[T ~string](texts []string) (out []T) {
	for _, s := range texts {
		out = append(out, T(s))
	}
	return out
}

// convertValues returns values of a string type as texts.
func convertValues[T ~string](values []T) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
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

// stepFile is a step as YAML holds it.
type stepFile struct {
	ID         string       `yaml:"id"`
	Always     bool         `yaml:"always,omitempty"`
	Exposes    []string     `yaml:"exposes,flow,omitempty"`
	Assets     []string     `yaml:"assets,flow,omitempty"`
	Sources    []string     `yaml:"sources,flow,omitempty"`
	Unless     []string     `yaml:"unless,flow,omitempty"`
	Certain    bool         `yaml:"certain,omitempty"`
	Essential  bool         `yaml:"essential,omitempty"`
	Mends      string       `yaml:"mends,omitempty"`
	Minutes    int          `yaml:"minutes"`
	Days       int          `yaml:"days"`
	Link       string       `yaml:"link,omitempty"`
	Portuguese stepTextFile `yaml:"pt-BR"`
	Spanish    stepTextFile `yaml:"es"`
	English    stepTextFile `yaml:"en"`
}

// stepTextFile is the text of a step in one language, as it is written in YAML.
type stepTextFile struct {
	What    string `yaml:"what"`
	Why     string `yaml:"why"`
	Perhaps string `yaml:"perhaps,omitempty"`
}

// parseSteps reads a catalogue of steps and checks every one. Members it does not know are refused, as in the content.
func parseSteps(text []byte) ([]Step, error) {
	var files []stepFile
	if err := yaml.UnmarshalWithOptions(text, &files, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("read steps: %w", err)
	}
	steps := make([]Step, len(files))
	for i, f := range files {
		s, err := f.parseStep()
		switch {
		case err != nil:
			return nil, fmt.Errorf("step %q: %w", f.ID, err)
		case slices.ContainsFunc(steps[:i], func(other Step) bool { return other.ID == s.ID }):
			return nil, fmt.Errorf("step %q: twice in the file", f.ID)
		case i > 0 && s.Within < steps[i-1].Within:
			return nil, fmt.Errorf("step %q: is due before the one above it", f.ID)
		}
		steps[i] = s
	}
	return steps, nil
}

// parseStep returns the step that a file describes.
func (f stepFile) parseStep() (Step, error) {
	s := Step{
		ID: StepID(f.ID), Link: f.Link, Minutes: f.Minutes, Within: time.Duration(f.Days) * 24 * time.Hour, Essential: f.Essential, Mends: Resolution(f.Mends),
		texts: map[partner.Language]stepText{partner.Portuguese: stepText(f.Portuguese), partner.Spanish: stepText(f.Spanish), partner.English: stepText(f.English)},
		when: stepCondition{
			always: f.Always, exposes: convertTexts[Exposed](f.Exposes), sources: convertTexts[SourceKind](f.Sources), unless: convertTexts[Exposed](f.Unless), certain: f.Certain,
		},
	}
	for _, name := range f.Assets {
		k, err := identifier.ParseKind(name)
		if err != nil {
			return s, err
		}
		s.when.assets = append(s.when.assets, k)
	}
	return s, s.checkStep()
}

// checkStep says what is wrong with a step.
func (s *Step) checkStep() error {
	w := &s.when
	asks := len(w.exposes)+len(w.assets)+len(w.sources) > 0
	switch {
	case !isContentSlug(string(s.ID)):
		return fmt.Errorf("id: lower-case letters, digits and dashes")
	case s.Minutes < 1 || s.Within < 24*time.Hour:
		return fmt.Errorf("minutes, days: at least 1")
	case w.always == asks:
		return fmt.Errorf("always, or any of exposes, assets and sources")
	case !containsAll(w.exposes, AllExposed()) || !containsAll(w.unless, AllExposed()):
		return fmt.Errorf("exposes, unless: no such class")
	case !containsAll(w.sources, []SourceKind{SourceBreach, SourceCombolist, SourceStealer, SourcePaste, SourcePhish}):
		return fmt.Errorf("sources: no such kind")
	case s.Mends != "" && !slices.Contains(givenResolutions, s.Mends):
		return fmt.Errorf("mends: no such resolution")
	}
	if u, err := url.Parse(s.Link); err != nil || s.Link != "" && (u.Scheme != "https" || u.Host == "") {
		return fmt.Errorf("link: an https address")
	}
	for _, in := range partner.ListLanguages() {
		text := s.texts[in]
		if text.What == "" || text.Why == "" || (text.Perhaps != "") != (len(w.exposes) > 0 && !w.certain) {
			return fmt.Errorf("%s: what, why, and perhaps if the step does not ask for certainty", in)
		}
		if strings.Contains(strings.ReplaceAll(text.What+text.Why+text.Perhaps, breachBlank, ""), "{") {
			return fmt.Errorf("%s: a blank that nothing fills", in)
		}
	}
	return nil
}
