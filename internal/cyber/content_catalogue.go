package cyber

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ContentStore keeps what the operator changed in the catalogue.
type ContentStore interface {
	// ContentChanges returns every changed item.
	ContentChanges(ctx context.Context) ([]Item, error)
	// KeepContent keeps items over what was there, all or none.
	KeepContent(ctx context.Context, items []Item) error
	// DropContent forgets the operator's change of an item.
	DropContent(ctx context.Context, id ContentID) error
}

// Catalogue is the educational content: what this program brings, and over it, item by item, what the operator changed.
// So a new version of the program brings its new texts wherever the operator wrote none.
type Catalogue struct {
	store ContentStore
	now   func() time.Time
	cache *offeredContent
}

// offeredContent is what was read last, shared by all who were made of one Catalogue.
type offeredContent struct {
	mu     sync.Mutex
	cached *catalogueIndex
	until  time.Time
}

// NewCatalogue joins the rules to a store and a clock.
func NewCatalogue(store ContentStore, now func() time.Time) *Catalogue {
	return &Catalogue{store: store, now: now, cache: &offeredContent{}}
}

// WithStore returns the same catalogue over another store: inside a transaction.
func (c *Catalogue) WithStore(store ContentStore) *Catalogue {
	inside := *c
	inside.store = store
	return &inside
}

// loadOffered returns the catalogue without what is retired, most urgent first. A change by the operator shows within
// offeredFor.
func (c *Catalogue) loadOffered(ctx context.Context) (*catalogueIndex, error) {
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock() // held while reading, so that an expired list is read once and not by every request
	now := c.now()
	if now.Before(c.cache.until) {
		return c.cache.cached, nil
	}
	all, err := c.ListItems(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(it Item) bool { return it.Retired })
	index := indexCatalogue(all)
	index.translated = map[partner.Language]*catalogueIndex{}
	for _, lang := range partner.ListLanguages()[1:] {
		items, err := translateItems(all, lang)
		if err != nil {
			return nil, err
		}
		index.translated[lang] = indexCatalogue(items)
	}
	c.cache.cached = index
	c.cache.until = now.Add(offeredFor)
	return c.cache.cached, nil
}

// ListItems returns the whole catalogue, for the operator: most urgent first, alerts before advice before tips, then by
// id.
func (c *Catalogue) ListItems(ctx context.Context) ([]Item, error) {
	first, err := firstContent()
	if err != nil {
		return nil, err
	}
	changed, err := c.store.ContentChanges(ctx)
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	byID := make(map[ContentID]Item, len(first)+len(changed))
	for _, it := range append(slices.Clone(first), changed...) {
		byID[it.ID] = it
	}
	all := make([]Item, 0, len(byID))
	for _, it := range byID {
		all = append(all, it)
	}
	slices.SortFunc(all, func(a, b Item) int {
		return cmp.Or(
			cmp.Compare(b.Rank, a.Rank),
			cmp.Compare(contentTypeOrder(a.Type), contentTypeOrder(b.Type)),
			cmp.Compare(a.ID, b.ID),
		)
	})
	return all, nil
}

// contentTypeOrder returns the place of a type in the catalogue.
func contentTypeOrder(t ContentType) int {
	return slices.Index([]ContentType{ContentAlert, ContentAdvice, ContentTip}, t)
}

// GetItem returns one item, retired ones too.
func (c *Catalogue) GetItem(ctx context.Context, id ContentID) (Item, error) {
	all, err := c.ListItems(ctx)
	if err != nil {
		return Item{}, err
	}
	if i := slices.IndexFunc(all, func(it Item) bool { return it.ID == id }); i >= 0 {
		return all[i], nil
	}
	return Item{}, ErrContentNotFound.With("content", fault.NoSuchID)
}

// ImportItems puts items over what is there. With fresh, an item that exists already is refused.
func (c *Catalogue) ImportItems(ctx context.Context, items []Item, fresh bool) error {
	if len(items) == 0 {
		return ErrContentInvalid.With("file", fault.NoItemsInIt)
	}
	for _, it := range items {
		if err := it.checkItem(); err != nil {
			return err
		}
		if fresh {
			if _, err := c.GetItem(ctx, it.ID); err == nil {
				return ErrContentExists.With(string(it.ID), fault.ContentThere)
			}
		}
	}
	defer c.forgetOffered()
	return c.store.KeepContent(ctx, items)
}

// EditItem changes one item.
func (c *Catalogue) EditItem(ctx context.Context, id ContentID, edit func(*Item)) (Item, error) {
	it, err := c.GetItem(ctx, id)
	if err != nil {
		return it, err
	}
	edit(&it)
	it.ID = id
	return it, c.ImportItems(ctx, []Item{it}, false)
}

// ResetItem forgets the operator's change: the item is as this program brings it, or gone if it brings none.
func (c *Catalogue) ResetItem(ctx context.Context, id ContentID) error {
	defer c.forgetOffered()
	return c.store.DropContent(ctx, id)
}

// forgetOffered has the next caller read the catalogue again.
func (c *Catalogue) forgetOffered() {
	c.cache.mu.Lock()
	c.cache.until = time.Time{}
	c.cache.mu.Unlock()
}
