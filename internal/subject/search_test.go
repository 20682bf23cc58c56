package subject

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

// fakeFinder finds what it was given, notes what it was asked and fails when told to.
type fakeFinder struct {
	found []Hit
	asked []string
	fails bool
}

func (f *fakeFinder) find(at []partner.ID, format string, args ...any) ([]Hit, error) {
	f.asked = append(f.asked, fmt.Sprintf("%s at %d", fmt.Sprintf(format, args...), len(at)))
	if f.fails {
		return f.found, errOnPurpose
	}
	return f.found, nil
}

func (f *fakeFinder) PersonsOfCPF(_ context.Context, at []partner.ID, cpf string) ([]Hit, error) {
	return f.find(at, "cpf %s", cpf)
}

func (f *fakeFinder) PersonsOfValue(
	_ context.Context, at []partner.ID, kind identifier.Kind, normal string,
) ([]Hit, error) {
	return f.find(at, "%v %s", kind, normal)
}

func (f *fakeFinder) PersonsOfUser(_ context.Context, at []partner.ID, user partner.UserHash) ([]Hit, error) {
	return f.find(at, "user %s", user)
}

func (f *fakeFinder) SubscriptionsOfHolder(_ context.Context, at []partner.ID, cnpj string) ([]Hit, error) {
	return f.find(at, "holder %s", cnpj)
}

func (f *fakeFinder) FindByID(_ context.Context, at []partner.ID, kind HitKind, id string) ([]Hit, error) {
	return f.find(at, "id %s %s", kind, id)
}

func (f *fakeFinder) CasesNumbered(_ context.Context, at []partner.ID, short int64) ([]Hit, error) {
	return f.find(at, "number %d", short)
}

// banks are the partners of a search.
type banks []partner.Partner

func (b banks) ListPartners(context.Context) ([]partner.Partner, error) { return b, nil }

func (b banks) PartnerByID(context.Context, partner.ID) (partner.Partner, error) {
	return partner.Partner{}, partner.ErrNotFound
}

// TestReadings: a text is looked up as all that it can be, of every partner; an id is nothing else.
func TestReadings(t *testing.T) {
	for text, want := range map[string]string{
		" cs_1 ":             "id case cs_1 at 2",
		"evt_1":              "id event evt_1 at 2",
		"#42":                "number 42 at 2, user #42 at 2",
		"0":                  "user 0 at 2",
		"-42":                "user -42 at 2",
		"ana@exemplo.com.br": "email ana@exemplo.com.br at 2, user ana@exemplo.com.br at 2",
	} {
		f := &fakeFinder{}
		s := NewSearch(f, banks{{ID: "pt_1"}, {ID: "pt_2"}})
		_, as, err := s.FindText(t.Context(), text)
		if got := strings.Join(f.asked, ", "); err != nil || got != want || len(as) != len(f.asked) {
			t.Errorf("%q: %s, as %v, %v", text, got, as, err)
		}
		f.fails = true
		if hits, _, err := s.FindText(t.Context(), text); !errors.Is(err, errOnPurpose) || hits != nil {
			t.Errorf("%q failed: %v, %v", text, hits, err)
		}
	}
	if _, _, err := NewSearch(&fakeFinder{}, banks{}).FindText(t.Context(), "a\nb"); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}

// TestSearchFindsPartners: by the beginning of a name, from two letters on, or by the whole id.
func TestSearchFindsPartners(t *testing.T) {
	for text, found := range map[string]bool{
		"ba": true, "BANCO": true, "banco exemplo": true, "pt_1": true,
		"b": false, "anco": false, "banco exemplo sa": false, "pt_": false,
	} {
		hits, _, err := NewSearch(&fakeFinder{}, banks{{ID: "pt_1", Name: "Banco Exemplo"}}).FindText(t.Context(), text)
		isFound := slices.Equal(hits, []Hit{{HitPartner, "pt_1", "pt_1"}})
		if err != nil || isFound != found || !found && len(hits) > 0 {
			t.Errorf("%q: %v, %v", text, hits, err)
		}
	}
}

// TestHitsComeOnce: what two readings find is one hit, and there are no more than a page.
func TestHitsComeOnce(t *testing.T) {
	f := &fakeFinder{}
	for n := range MaxHits + 5 {
		f.found = append(f.found, Hit{HitCase, "pt_1", fmt.Sprint("cs_", n)})
	}
	hits, _, err := NewSearch(f, banks{{ID: "pt_1"}}).FindText(t.Context(), "#42") // two readings
	if err != nil || len(f.asked) != 2 || !slices.Equal(hits, f.found[:MaxHits]) {
		t.Error(len(hits), f.asked, err)
	}
}

func TestFindEnrolled(t *testing.T) {
	f := &fakeFinder{}
	s := NewSearch(f, banks{})
	if ref, err := s.FindEnrolled(t.Context(), "pt_1", "1"); ref != "" || err != nil || f.asked[0] != "cpf 1 at 1" {
		t.Error(ref, err, f.asked)
	}
	f.found = []Hit{{ID: "us_1"}, {ID: "us_2"}}
	if ref, err := s.FindEnrolled(t.Context(), "pt_1", "1"); ref != "us_1" || err != nil {
		t.Error(ref, err)
	}
	f.fails = true
	if ref, err := s.FindEnrolled(t.Context(), "pt_1", "1"); ref != "" || !errors.Is(err, errOnPurpose) {
		t.Error(ref, err)
	}
}
