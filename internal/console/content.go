package console

import (
	"bytes"
	"context"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
)

// listContent shows all items of the catalogue: alerts, advice and tips, retired ones included.
func listContent(c *Console, r *request) (answer, error) {
	all, err := c.Rules.Content.ListItems(r.Context())
	return view{"content", "Conteúdo", all}, err
}

// sampleWords stand for what an item names of a finding.
var sampleWords = strings.NewReplacer("{vazamento}", "Loja Exemplo", "{valor}", "a***@e***.br", "{data}", "01/03/2026", "{mais}", "2")

// withSampleWords returns an item with made-up words where it names a finding.
func withSampleWords(it cyber.Item) cyber.Item {
	it.Title, it.Body, it.More = sampleWords.Replace(it.Title), sampleWords.Replace(it.Body), sampleWords.Replace(it.More)
	return it
}

// contentView shows an item in its form.
func contentView(r *request, it cyber.Item) (answer, error) {
	page := newContentForm(it, r.PostForm)
	var b bytes.Buffer
	if err := cyber.WriteContent(&b, []cyber.Item{it}); err != nil {
		return nil, err
	}
	shown := withSampleWords(it)
	page.YAML, page.Preview = b.String(), &shown
	return view{"content-item", it.Title, page}, nil
}

// showContent shows the form of one item of the catalogue.
func showContent(c *Console, r *request) (answer, error) {
	it, err := c.Rules.Content.GetItem(r.Context(), cyber.ContentID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	return contentView(r, it)
}

// saveContent keeps what the form holds, or shows how it would look.
func saveContent(c *Console, r *request) (answer, error) {
	now, err := c.Rules.Content.GetItem(r.Context(), cyber.ContentID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	it, err := parseItemForm(r, now.ID)
	if err != nil {
		return nil, err
	}
	it.Retired = now.Retired // that has a button of its own
	return c.keepContent(r, it)
}

// saveContentYAML saves an item from YAML, which must hold the item of the path and nothing else.
func saveContentYAML(c *Console, r *request) (answer, error) {
	items, err := cyber.ReadContent(strings.NewReader(r.PostFormValue("yaml")))
	if err != nil {
		return nil, err
	}
	if len(items) != 1 || string(items[0].ID) != r.PathValue("id") {
		return nil, cyber.ErrContentInvalid.With("yaml", fault.ExactlyThisItem)
	}
	return c.keepContent(r, items[0])
}

// keepContent saves a changed item, or only shows it as a person would see it when the preview button was used.
func (c *Console) keepContent(r *request, it cyber.Item) (answer, error) {
	if r.PostForm.Has("preview") {
		return contentView(r, it)
	}
	return c.changeAndRedirect(r, "content.edit", redirect{joinPath("content", string(it.ID)), "content.saved"}, func(ctx context.Context, in *Rules) (string, string, error) {
		return string(it.ID), "", in.Content.ImportItems(ctx, []cyber.Item{it}, false)
	})
}

// resetContent undoes the operators' changes of an item; one that does not come with the program is deleted.
func resetContent(c *Console, r *request) (answer, error) {
	id := cyber.ContentID(r.PathValue("id"))
	return c.changeAndRedirect(r, "content.reset", redirect{"/content", "content.reset"}, func(ctx context.Context, in *Rules) (string, string, error) {
		return string(id), "", in.Content.ResetItem(ctx, id)
	})
}

// retireContent stops showing an item to people without deleting it.
func retireContent(c *Console, r *request) (answer, error) {
	return c.offerContent(r, "content.retire", true)
}

// offerContent shows a retired item to people again.
func offerContent(c *Console, r *request) (answer, error) {
	return c.offerContent(r, "content.offer", false)
}

// offerContent retires an item or offers it again, and records the action in the audit trail.
func (c *Console) offerContent(r *request, action string, retired bool) (answer, error) {
	id := cyber.ContentID(r.PathValue("id"))
	return c.changeAndRedirect(r, action, redirect{joinPath("content", string(id)), "content.saved"}, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Content.EditItem(ctx, id, func(it *cyber.Item) { it.Retired = retired })
		return string(id), "", err
	})
}

// exportContent downloads the catalogue as YAML, in the form that the import of the catalogue takes.
func exportContent(c *Console, r *request) (answer, error) {
	all, err := c.Rules.Content.ListItems(r.Context())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = cyber.WriteContent(&b, all)
	return download{"catalogo.yaml", "application/yaml", b.Bytes()}, err
}

const newContentYAML = `- id: minha-dica
  type: tip
  device: all
  rank: 100
  title: Título que a pessoa lê
  body: Texto em uma ou duas frases.
`

// newContentView returns the form of a new item.
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
	return c.changeAndRedirect(r, "content.add", redirect{"/content", "content.saved"}, func(ctx context.Context, in *Rules) (string, string, error) {
		names := make([]string, len(items))
		for i, it := range items {
			names[i] = string(it.ID)
		}
		return strings.Join(names, " "), "", in.Content.ImportItems(ctx, items, fresh)
	})
}
