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

	"github.com/goccy/go-yaml"

	"github.com/vigiahq/vigia/internal/fault"
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
		if text.What == "" || text.Why == "" || (text.Perhaps != "") != (len(w.Exposes) > 0 && !w.Certain) {
			return fmt.Errorf("%s: what, why, and perhaps if the step does not ask for certainty", in)
		}
		if strings.Contains(strings.ReplaceAll(text.What+text.Why+text.Perhaps, breachBlank, ""), "{") {
			return fmt.Errorf("%s: a blank that nothing fills", in)
		}
	}
	return nil
}
