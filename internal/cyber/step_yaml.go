package cyber

import (
	_ "embed"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

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
