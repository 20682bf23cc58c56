package cyber

import (
	"slices"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
)

// TestCatalogueIsTranslated holds every item that this program brings against its translations: all texts are there,
// with the same blanks and the same answers.
func TestCatalogueIsTranslated(t *testing.T) {
	t.Parallel()
	first, err := firstContent()
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range partner.ListLanguages()[1:] {
		items, err := translateItems(first, lang)
		if err != nil {
			t.Fatal(err)
		}
		for i, it := range items {
			if it.Language != lang {
				t.Errorf("%s is not translated to %s", it.ID, lang)
				continue
			}
			if err := it.checkItem(); err != nil {
				t.Errorf("%s in %s: %v", it.ID, lang, err)
			}
			for _, texts := range [][2]string{{it.Body, first[i].Body}, {it.More, first[i].More}} {
				got, want := placeholder.FindAllString(texts[0], -1), placeholder.FindAllString(texts[1], -1)
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("%s in %s has other blanks: %v", it.ID, lang, got)
				}
			}
		}
	}
}

// TestChangedItemIsNotTranslated keeps an operator's own words as they were written.
func TestChangedItemIsNotTranslated(t *testing.T) {
	t.Parallel()
	first, err := firstContent()
	if err != nil {
		t.Fatal(err)
	}
	own := first[0]
	own.Title = "Palavras do operador"
	moved := first[1]
	moved.Rank++
	items, err := translateItems([]Item{own, moved}, partner.English)
	if err != nil {
		t.Fatal(err)
	}
	if items[0].Title != own.Title || items[0].Language != "" {
		t.Errorf("an operator's text was replaced by %q", items[0].Title)
	}
	if items[1].Language != partner.English || items[1].Rank != moved.Rank {
		t.Errorf("an item with another rank is %+v", items[1])
	}
}
