package subject

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// HitKind is what a search found.
type HitKind string

// The kinds of hits.
const (
	HitPerson       HitKind = "person"
	HitSubscription HitKind = "subscription"
	HitCase         HitKind = "case"
	HitEvent        HitKind = "event"
	HitDevice       HitKind = "device"
	HitEndpoint     HitKind = "endpoint"
	HitPartner      HitKind = "partner"
)

// Hit is one thing that a search found.
type Hit struct {
	Kind    HitKind
	Partner partner.ID
	// ID names it: of a person the reference, of a subscription its number, else its id.
	ID string
}

// Finder looks things up over many partners by keyed indexes, which differ between them for one value.
type Finder interface {
	// PersonsOfCPF are those enrolled with a CPF and those who watch it; PersonsOfValue watch a value; PersonsOfUser
	// are named by a user hash. Each person of a partner comes once, by reference.
	PersonsOfCPF(ctx context.Context, at []partner.ID, cpf string) ([]Hit, error)
	PersonsOfValue(ctx context.Context, at []partner.ID, kind identifier.Kind, normal string) ([]Hit, error)
	PersonsOfUser(ctx context.Context, at []partner.ID, user partner.UserHash) ([]Hit, error)
	// SubscriptionsOfHolder are the newest of a company; Named are cases, events, devices and endpoints by their ids.
	SubscriptionsOfHolder(ctx context.Context, at []partner.ID, cnpj string) ([]Hit, error)
	FindByID(ctx context.Context, at []partner.ID, kind HitKind, id string) ([]Hit, error)
	// CasesNumbered are cases by the short number that operators call them by.
	CasesNumbered(ctx context.Context, at []partner.ID, short int64) ([]Hit, error)
}

// Search finds people and things by whatever an operator was told of them.
type Search struct {
	store   Finder
	tenants Partners
}

// NewSearch joins the rules to a store.
func NewSearch(store Finder, tenants Partners) *Search { return &Search{store, tenants} }

// ForPartner returns the same search for a partner's own people: nothing of others is found.
func (s *Search) ForPartner(id partner.ID) *Search {
	return &Search{s.store, partner.One{Of: s.tenants, ID: id}}
}

const (
	maxSought = 320
	// MaxHits is how many hits a search returns; an operator with more refines the question instead of reading on.
	MaxHits = 50
)

// byPrefix are the ids that say by themselves what they name.
var byPrefix = map[string]HitKind{"cs_": HitCase, "evt_": HitEvent, "ek_": HitDevice, "whe_": HitEndpoint}

// FindText looks a text up as everything that it can be, and tells what that was: names that are safe to keep in a
// trail.
func (s *Search) FindText(ctx context.Context, text string) (hits []Hit, as []string, err error) {
	text = strings.TrimSpace(text)
	if !partner.IsPrintable(text, maxSought) {
		return nil, nil, ErrInvalid.With("search", fault.PrintableLength, maxSought)
	}
	partners, err := s.tenants.ListPartners(ctx)
	if err != nil {
		return nil, nil, err
	}
	at := make([]partner.ID, len(partners))
	for i, p := range partners {
		at[i] = p.ID
		if hasNamePrefix(text, p.Name) || text == string(p.ID) {
			hits = append(hits, Hit{HitPartner, p.ID, string(p.ID)})
		}
	}
	for _, look := range s.possibleReadings(text) {
		found, err := look.run(ctx, at)
		if err != nil {
			return nil, nil, err
		}
		as, hits = append(as, look.as), append(hits, found...)
	}
	return uniqueHits(hits), as, nil
}

// hasNamePrefix reports whether a name begins with a text of at least two letters, whatever their case.
func hasNamePrefix(text, name string) bool {
	t, n := []rune(strings.ToLower(text)), []rune(strings.ToLower(name))
	return len(t) >= 2 && len(t) <= len(n) && string(n[:len(t)]) == string(t)
}

// HasWrongCheckDigits reports whether a text is a CPF but for its check digits, so that who mistyped it is told.
func HasWrongCheckDigits(text string) bool {
	_, err := identifier.ParseCPF(strings.TrimSpace(text), identifier.Required)
	return errors.Is(err, identifier.ErrCheckDigits)
}

// FindEnrolled returns the reference of a person that a partner enrolled; empty when the partner has no person with the
// CPF.
func (s *Search) FindEnrolled(ctx context.Context, id partner.ID, cpf string) (string, error) {
	hits, err := s.store.PersonsOfCPF(ctx, []partner.ID{id}, cpf)
	if err != nil || len(hits) == 0 {
		return "", err
	}
	return hits[0].ID, nil
}

// look is one way to read a text.
type look struct {
	as  string
	run func(ctx context.Context, at []partner.ID) ([]Hit, error)
}

// possibleReadings returns the ways to read a text: an id is nothing else, while eleven digits may be a CPF or a
// telephone.
func (s *Search) possibleReadings(text string) (list []look) {
	for prefix, kind := range byPrefix {
		if strings.HasPrefix(text, prefix) {
			return []look{{string(kind), func(ctx context.Context, at []partner.ID) ([]Hit, error) {
				return s.store.FindByID(ctx, at, kind, text)
			}}}
		}
	}
	if short, err := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 32); err == nil && short > 0 {
		list = append(list, look{"case number", func(ctx context.Context, at []partner.ID) ([]Hit, error) {
			return s.store.CasesNumbered(ctx, at, short)
		}})
	}
	if cpf, err := identifier.ParseCPF(text, identifier.Waived); err == nil {
		list = append(
			list,
			look{
				"cpf",
				func(ctx context.Context, at []partner.ID) ([]Hit, error) { return s.store.PersonsOfCPF(ctx, at, cpf) },
			},
		)
	}
	if cnpj, err := identifier.ParseWrittenCNPJ(text, identifier.Required); err == nil {
		list = append(list, look{"holder", func(ctx context.Context, at []partner.ID) ([]Hit, error) {
			return s.store.SubscriptionsOfHolder(ctx, at, cnpj)
		}})
	}
	for _, kind := range []identifier.Kind{
		identifier.Email,
		identifier.Phone,
		identifier.Card,
		identifier.PixKey,
		identifier.CNPJ,
	} {
		if normal, err := identifier.ParseValue(kind, text, identifier.Required); err == nil {
			list = append(list, look{kind.String(), func(ctx context.Context, at []partner.ID) ([]Hit, error) {
				return s.store.PersonsOfValue(ctx, at, kind, normal)
			}})
		}
	}
	if user, err := partner.ParseUserHash("search", text); err == nil {
		list = append(
			list,
			look{
				"user hash",
				func(ctx context.Context, at []partner.ID) ([]Hit, error) {
					return s.store.PersonsOfUser(ctx, at, user)
				},
			},
		)
	}
	return list
}

// uniqueHits leaves each hit once, and no more than a page.
func uniqueHits(hits []Hit) []Hit {
	seen := make(map[Hit]bool, len(hits))
	list := hits[:0]
	for _, h := range hits {
		if !seen[h] && len(list) < MaxHits {
			seen[h] = true
			list = append(list, h)
		}
	}
	return list
}
