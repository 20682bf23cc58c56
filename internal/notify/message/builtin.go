package message

import (
	"bytes"
	_ "embed" // the texts that this program brings
	"fmt"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

//go:embed builtin.yaml
var builtinFile []byte

// builtinText is what the file says of an event in one language: a title, a short text for SMS and push, a long one for
// e-mail and WhatsApp.
type builtinText struct {
	Title string `yaml:"title"`
	Short string `yaml:"short"`
	Long  string `yaml:"long"`
}

// anyEvent is the text of a type that has none of its own.
const anyEvent alert.Type = "any"

var builtin = sync.OnceValues(func() (map[alert.Type]map[partner.Language]builtinText, error) {
	var texts map[alert.Type]map[partner.Language]builtinText
	if err := yaml.NewDecoder(bytes.NewReader(builtinFile), yaml.Strict()).Decode(&texts); err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	return texts, nil
})

// builtinTemplate returns the text that this program brings.
func builtinTemplate(k Key) (Template, error) {
	texts, err := builtin()
	if err != nil {
		return Template{}, err
	}
	said, ok := texts[k.Event][k.Language]
	if !ok {
		said = texts[anyEvent][k.Language]
	}
	t := Template{Key: k, Text: said.Long, Origin: BuiltIn}
	if k.Channel == SMS || k.Channel == Push {
		t.Text = said.Short
	}
	if k.Channel.hasTitle() {
		t.Subject = said.Title
	}
	return t, nil
}
