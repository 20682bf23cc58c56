package console

import (
	"bytes"
	"context"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
)

func listContent(c *Console, r *request) (answer, error) {
	all, err := c.Rules.Content.All(r.Context())
	if err != nil {
		return nil, err
	}
	return view{"content", "Conteúdo", all}, nil
}

type contentPage struct {
	cyber.Item
	YAML string
	// Preview is the item as it would be shown.
	Preview cyber.Item
	Sample  map[string]string
}

// sampleWords stand for what an item names of a finding.
var sampleWords = strings.NewReplacer("{vazamento}", "Loja Exemplo", "{valor}", "a***@e***.br", "{data}", "01/03/2026", "{mais}", "2")

// sampled is an item with made-up words where it names a finding.
func sampled(it cyber.Item) cyber.Item {
	it.Title, it.Body, it.More = sampleWords.Replace(it.Title), sampleWords.Replace(it.Body), sampleWords.Replace(it.More)
	return it
}

func contentView(it cyber.Item, text string) (answer, error) {
	if text == "" {
		var b bytes.Buffer
		if err := cyber.WriteContent(&b, []cyber.Item{it}); err != nil {
			return nil, err
		}
		text = b.String()
	}
	return view{"content-item", it.Title, contentPage{Item: it, YAML: text, Preview: sampled(it)}}, nil
}

func showContent(c *Console, r *request) (answer, error) {
	it, err := c.Rules.Content.Item(r.Context(), cyber.ContentID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	return contentView(it, "")
}

// oneItem reads the YAML of the form, which must hold the item of the path and nothing else.
func oneItem(r *request) (cyber.Item, error) {
	items, err := cyber.ReadContent(strings.NewReader(r.PostFormValue("yaml")))
	if err != nil {
		return cyber.Item{}, err
	}
	if len(items) != 1 || string(items[0].ID) != r.PathValue("id") {
		return cyber.Item{}, cyber.ErrContentInvalid.With("yaml: exactly this one item, its id unchanged")
	}
	return items[0], nil
}

func saveContent(c *Console, r *request) (answer, error) {
	it, err := oneItem(r)
	if err != nil {
		return nil, err
	}
	if r.PostForm.Has("preview") {
		return contentView(it, r.PostFormValue("yaml"))
	}
	err = c.change(r, "content.edit", func(ctx context.Context, in *Rules) (string, string, error) {
		return string(it.ID), "", in.Content.Import(ctx, []cyber.Item{it}, false)
	})
	if err != nil {
		return nil, err
	}
	return redirect{at("content", string(it.ID)), "content.saved"}, nil
}

func resetContent(c *Console, r *request) (answer, error) {
	id := cyber.ContentID(r.PathValue("id"))
	err := c.change(r, "content.reset", func(ctx context.Context, in *Rules) (string, string, error) {
		return string(id), "", in.Content.Reset(ctx, id)
	})
	if err != nil {
		return nil, err
	}
	return redirect{"/content", "content.reset"}, nil
}

func retireContent(c *Console, r *request) (answer, error) {
	return c.offerContent(r, "content.retire", true)
}

func offerContent(c *Console, r *request) (answer, error) {
	return c.offerContent(r, "content.offer", false)
}

func (c *Console) offerContent(r *request, action string, retired bool) (answer, error) {
	id := cyber.ContentID(r.PathValue("id"))
	err := c.change(r, action, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Content.Edit(ctx, id, func(it *cyber.Item) { it.Retired = retired })
		return string(id), "", err
	})
	if err != nil {
		return nil, err
	}
	return redirect{at("content", string(id)), "content.saved"}, nil
}

func exportContent(c *Console, r *request) (answer, error) {
	all, err := c.Rules.Content.All(r.Context())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := cyber.WriteContent(&b, all); err != nil {
		return nil, err
	}
	return download{"catalogo.yaml", "application/yaml", b.Bytes()}, nil
}

const newContentYAML = `- id: minha-dica
  type: tip
  device: all
  rank: 100
  title: Título que a pessoa lê
  body: Texto em uma ou duas frases.
`

func newContent(*Console, *request) (answer, error) {
	return view{"content-new", "Novo conteúdo", newContentYAML}, nil
}

func addContent(c *Console, r *request) (answer, error) {
	items, err := cyber.ReadContent(strings.NewReader(r.PostFormValue("yaml")))
	if err != nil {
		return nil, err
	}
	err = c.change(r, "content.add", func(ctx context.Context, in *Rules) (string, string, error) {
		names := make([]string, len(items))
		for i, it := range items {
			names[i] = string(it.ID)
		}
		return strings.Join(names, " "), "", in.Content.Import(ctx, items, !r.PostForm.Has("replace"))
	})
	if err != nil {
		return nil, err
	}
	return redirect{"/content", "content.saved"}, nil
}
