package cyber

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func newCatalogue() (*Catalogue, *changes, *time.Time) {
	now := modelNow
	c := &changes{}
	return NewCatalogue(c, func() time.Time { return now }), c, &now
}

// tip is an item that passes the checks.
func tip(id ContentID, rank int, kind ContentType) Item {
	return Item{ID: id, Type: kind, Device: DeviceAll, Rank: rank, Title: "T", Body: "B"}
}

// TestCatalogueOrder: most urgent first, alerts before advice before tips, then by id; the operator's item in place of
// ours.
func TestCatalogueOrder(t *testing.T) {
	cat, c, _ := newCatalogue()
	brought, err := cat.ListItems(t.Context())
	if err != nil || len(brought) == 0 {
		t.Fatalf("%d items: %v", len(brought), err)
	}
	changed := brought[0]
	changed.Title, changed.Rank = "Outro", 1
	c.items = []Item{
		changed,
		tip("z", 1000, ContentAlert),
		tip("b", 1000, ContentTip),
		tip("a", 1000, ContentTip),
		tip("c", 1000, ContentAdvice),
	}
	all, err := cat.ListItems(t.Context())
	if err != nil || len(all) != len(brought)+4 {
		t.Fatalf("%d items: %v", len(all), err)
	}
	var ids []ContentID
	for _, it := range all {
		if it.Rank == 1000 && len(it.ID) == 1 {
			ids = append(ids, it.ID)
		}
	}
	if !slices.Equal(ids, []ContentID{"z", "c", "a", "b"}) {
		t.Errorf("order %v", ids)
	}
	if it, err := cat.GetItem(t.Context(), changed.ID); err != nil || it.Title != "Outro" {
		t.Errorf("%q: %v", it.Title, err)
	}
	if _, err := cat.GetItem(t.Context(), "no-such"); !errors.Is(err, ErrContentNotFound) {
		t.Errorf("an item that there is not: %v", err)
	}
	if it, err := cat.GetItem(t.Context(), all[0].ID); err != nil || it.ID != all[0].ID {
		t.Errorf("the most urgent item: %v", err)
	}
	if !slices.IsSortedFunc(all, func(a, b Item) int { return b.Rank - a.Rank }) {
		t.Error("not in the order of urgency")
	}
}

// TestCatalogueChanges: what an operator changes shows at once where it was changed, within two seconds elsewhere, and
// can be undone.
func TestCatalogueChanges(t *testing.T) {
	cat, c, now := newCatalogue()
	offers := func(id ContentID) bool {
		t.Helper()
		list, err := cat.loadOffered(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.items {
			if list.items[i].ID == id {
				return true
			}
		}
		return false
	}
	if offers("novo") {
		t.Fatal("it is there already")
	}
	if err := cat.ImportItems(t.Context(), []Item{tip("novo", 5, ContentTip)}, true); err != nil || !offers("novo") {
		t.Errorf("an imported item is not offered: %v", err)
	}
	if err := cat.ImportItems(t.Context(), []Item{tip("novo", 5, ContentTip)}, true); !errors.Is(err, ErrContentExists) {
		t.Errorf("an item that is there already: %v", err)
	}
	if err := cat.ImportItems(t.Context(), []Item{tip("novo", 6, ContentTip)}, false); err != nil {
		t.Error(err)
	}
	if it, err := cat.EditItem(
		t.Context(),
		"novo",
		func(it *Item) { it.ID, it.Retired = "outro", true },
	); err != nil || it.ID != "novo" ||
		offers("novo") {
		t.Errorf("%s: a retired item is offered: %v", it.ID, err)
	}
	if _, err := cat.EditItem(t.Context(), "no-such", func(*Item) {}); !errors.Is(err, ErrContentNotFound) {
		t.Errorf("an edit of nothing: %v", err)
	}
	if err := cat.ResetItem(t.Context(), "novo"); err != nil || offers("novo") {
		t.Errorf("after a reset: %v", err)
	}
	c.items, c.reads = []Item{tip("novo", 5, ContentTip)}, 0 // by another replica
	*now = now.Add(2*time.Second - 1)
	if offers("novo") || c.reads != 0 {
		t.Error("every request reads the catalogue")
	}
	if *now = now.Add(1); !offers("novo") || c.reads != 1 {
		t.Error("another replica's change does not show after two seconds")
	}
	for name, items := range map[string][]Item{"nothing": nil, "an item without a title": {{ID: "x", Type: ContentTip, Device: DeviceAll, Rank: 1, Body: "B"}}} {
		if err := cat.WithStore(c).ImportItems(t.Context(), items, false); !errors.Is(err, ErrContentInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.fails = errGone
	if _, err := cat.GetItem(t.Context(), "novo"); !errors.Is(err, errGone) {
		t.Errorf("without a database: %v", err)
	}
}
