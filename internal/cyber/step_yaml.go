package cyber

import (
	_ "embed" // the catalogue of steps
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

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
		if strings.Contains(strings.ReplaceAll(text.What+text.Why+text.Perhaps, blanks[blankBreach], ""), "{") {
			return fmt.Errorf("%s: a blank that nothing fills", in)
		}
	}
	return nil
}
