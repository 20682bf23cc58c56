package console

import (
	"bytes"
	"context"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// listContent shows all items of the catalogue: alerts, advice and tips, retired ones included.
func listContent(c *Console, r *request) (answer, error) {
	all, err := c.Rules.Content.ListItems(r.Context())
	return newView("content", "Conteúdo", all, err)
}

// sampleWords stand for what an item names of a finding.
var sampleWords = strings.NewReplacer(
	"{vazamento}", "Loja Exemplo",
	"{valor}", "a***@e***.br",
	"{data}", "01/03/2026",
	"{mais}", "2",
)

// withSampleWords returns an item with made-up words where it names a finding.
func withSampleWords(it cyber.Item) cyber.Item {
	it.Title = sampleWords.Replace(it.Title)
	it.Body = sampleWords.Replace(it.Body)
	it.More = sampleWords.Replace(it.More)
	return it
}

func contentView(r *request, it cyber.Item) (answer, error) {
	page, shown := newContentForm(it, r.PostForm), withSampleWords(it)
	var b bytes.Buffer
	if err := cyber.WriteContent(&b, []cyber.Item{it}); err != nil {
		return nil, err
	}
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
	next := redirect{joinPath("content", it.ID), "content.saved"}
	return c.changeAndRedirect(r, "content.edit", next, func(ctx context.Context, in *Rules) (string, string, error) {
		return string(it.ID), "", in.Content.ImportItems(ctx, []cyber.Item{it}, false)
	})
}

// resetContent undoes the operators' changes of an item; one that does not come with the program is deleted.
var resetContent = changeHandler("content.reset", "id", "/content", "content.reset",
	func(r *request, in *Rules, id cyber.ContentID) (string, error) {
		return "", in.Content.ResetItem(r.Context(), id)
	})

// retireContent stops showing an item to people without deleting it; offerContent shows it again.
var retireContent, offerContent = setRetired("content.retire", true), setRetired("content.offer", false)

// setRetired retires an item or offers it again, and records the action in the audit trail.
func setRetired(action string, retired bool) handler {
	return changeHandler(action, "id", "/content/{id}", "content.saved",
		func(r *request, in *Rules, id cyber.ContentID) (string, error) {
			_, err := in.Content.EditItem(r.Context(), id, func(it *cyber.Item) { it.Retired = retired })
			return "", err
		})
}
