package console

import (
	"bytes"
	"context"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
)

const newContentYAML = `- id: minha-dica
  type: tip
  device: all
  rank: 100
  title: Título que a pessoa lê
  body: Texto em uma ou duas frases.
`

func newContentView(r *request, it cyber.Item, preview *cyber.Item) view {
	page := newContentForm(it, r.PostForm)
	page.New, page.YAML, page.Preview = true, newContentYAML, preview
	return view{"content-new", "Novo conteúdo", page}
}

// newContent shows an empty form for an item of the catalogue.
func newContent(_ *Console, r *request) (answer, error) {
	return newContentView(r, cyber.Item{Type: cyber.ContentTip, Device: cyber.DeviceAll, Rank: 100}, nil), nil
}

// createContent adds the item of the form.
func createContent(c *Console, r *request) (answer, error) {
	it, err := parseItemForm(r, cyber.ContentID(r.trimmedField("id")))
	if err != nil {
		return nil, err
	}
	if r.PostForm.Has("preview") {
		shown := withSampleWords(it)
		return newContentView(r, it, &shown), nil
	}
	return c.addContent(r, []cyber.Item{it}, true)
}

// importContent adds the items of a catalogue in YAML.
func importContent(c *Console, r *request) (answer, error) {
	items, err := cyber.ReadContent(strings.NewReader(r.PostFormValue("yaml")))
	if err != nil {
		return nil, err
	}
	return c.addContent(r, items, !r.PostForm.Has("replace"))
}

// addContent stores items and records their ids in one line of the audit trail; fresh refuses ids that exist already.
func (c *Console) addContent(r *request, items []cyber.Item, fresh bool) (answer, error) {
	next := redirect{"/content", "content.saved"}
	return c.changeAndRedirect(r, "content.add", next, func(ctx context.Context, in *Rules) (string, string, error) {
		names := make([]string, len(items))
		for i, it := range items {
			names[i] = string(it.ID)
		}
		return strings.Join(names, " "), "", in.Content.ImportItems(ctx, items, fresh)
	})
}

// exportContent downloads the catalogue as YAML, in the form that the import of the catalogue takes.
func exportContent(c *Console, r *request) (answer, error) {
	items, err := c.Rules.Content.ListItems(r.Context())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := cyber.WriteContent(&b, items); err != nil {
		return nil, err
	}
	return download{"catalogo.yaml", "application/yaml", &b}, nil
}
