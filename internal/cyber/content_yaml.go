package cyber

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"path"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/vigiahq/vigia/internal/platform/fault"
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
