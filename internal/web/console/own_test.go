package console

import (
	"context"
	"errors"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/partner/partnertest"
)

var errOwnOnly = errors.New("only the own partner's")

func askedFor(id partner.ID) error {
	if id != "pt_1" {
		panic("another partner's were asked for")
	}
	return errOwnOnly
}

// The rules below know only what is another partner's. What they do not have must not be reached.
type (
	strangersWebhooks struct{ Webhooks }
	strangersEvents   struct{ Events }
	strangersReview   struct{ Review }
	strangersFigures  struct{ Figures }
)

func (strangersWebhooks) FindEndpoint(context.Context, alert.EndpointID) (alert.Endpoint, error) {
	return alert.Endpoint{Partner: "pt_2"}, nil
}

func (strangersWebhooks) ListEndpoints(_ context.Context, id partner.ID) ([]alert.Endpoint, error) {
	return nil, askedFor(id)
}

func (strangersEvents) DeliveryList(
	_ context.Context,
	f alert.DeliveryFilter,
) ([]alert.Listed, alert.DeliveryMark, error) {
	return nil, alert.DeliveryMark{}, askedFor(f.Partner)
}

func (strangersReview) FindingList(_ context.Context, f cyber.FindingFilter) ([]cyber.Found, cyber.Mark, error) {
	return nil, cyber.Mark{}, askedFor(f.Partner)
}

func (strangersReview) GroupFindings(
	_ context.Context,
	f cyber.FindingFilter,
	_ int,
) ([]cyber.FindingGroup, error) {
	return nil, askedFor(f.Partner)
}

func (strangersReview) CountAffected(_ context.Context, f cyber.FindingFilter) (map[partner.ID]int64, error) {
	return nil, askedFor(f.Partner)
}

func (strangersReview) ListAffected(_ context.Context, f cyber.FindingFilter) ([]cyber.Affected, cyber.Mark, error) {
	return nil, cyber.Mark{}, askedFor(f.Partner)
}

func (strangersReview) ListAssets(_ context.Context, f cyber.AssetFilter) ([]cyber.Asset, cyber.Mark, error) {
	return nil, cyber.Mark{}, askedFor(f.Partner)
}

func (strangersFigures) LastFigures(context.Context) (operator.Figures, error) {
	panic("the whole service's")
}

// TestOwnRulesRefuseStrangers: the rules of a partner's people know nothing of other partners, in none of their
// methods.
func TestOwnRulesRefuseStrangers(t *testing.T) {
	for _, own := range []any{
		ownWebhooks{strangersWebhooks{}, "pt_1"},
		ownEvents{strangersEvents{}, "pt_1"},
		ownReview{strangersReview{}, "pt_1"},
		ownFigures{strangersFigures{}, strangersWebhooks{}, "pt_1"},
		ownSubjects{id: "pt_1"},
	} {
		partnertest.RefuseStrangers(t, own, "pt_2", "Reference") // a keyed name of who was found before
	}
}
