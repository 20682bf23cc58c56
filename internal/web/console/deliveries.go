package console

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// deliveriesPage is the data of the list of deliveries.
type deliveriesPage struct {
	List  listView
	State alert.DeliveryState
	Table listTable
	Names map[partner.ID]string
	// Addresses are the destinations of the page, by endpoint.
	Addresses map[alert.EndpointID]string
	// Failed are partners with failed deliveries on the page: all of them can be repeated at once.
	Failed []partner.ID
}

// listDeliveries shows one page of deliveries, the failed ones unless the filter asks for others.
func listDeliveries(c *Console, r *request) (answer, error) {
	ctx := r.Context()
	all, err := c.visiblePartners(ctx, r.viewer)
	if err != nil {
		return nil, err
	}
	f, err := c.parseFilter(r, &deliveriesList, all)
	if err != nil {
		return nil, err
	}
	page, err := c.gatherDeliveries(ctx, r.viewer, f, all)
	if err != nil {
		return nil, err
	}
	return view{"deliveries", "Entregas", page}, nil
}

func (c *Console) gatherDeliveries(
	ctx context.Context, who viewer, f filter, all []partner.Partner,
) (deliveriesPage, error) {
	list, next, err := f.readDeliveries(ctx, &c.Rules, perPage)
	if err != nil {
		return deliveriesPage{}, err
	}
	now, err := c.figuresNow(ctx)
	if err != nil {
		return deliveriesPage{}, err
	}
	page := deliveriesPage{
		State:     f.deliveryState(),
		Names:     partnerChoice{All: all}.namesByID(),
		Addresses: map[alert.EndpointID]string{},
	}
	total := int64(-1)
	switch page.State {
	case alert.DeliveryFailed:
		total = f.totalUnlessFiltered(now["deliveries.failed"], "state")
	case alert.Pending:
		total = f.totalUnlessFiltered(now["deliveries.pending"], "state")
	default: // the others are not counted
	}
	for _, d := range list {
		if _, known := page.Addresses[d.Endpoint]; !known {
			e, err := c.Rules.Webhooks.FindEndpoint(ctx, d.Endpoint)
			// A deleted endpoint leaves its deliveries for a while.
			if err != nil && !errors.Is(err, alert.ErrEndpointNotFound) {
				return deliveriesPage{}, err
			}
			page.Addresses[d.Endpoint] = e.Address()
		}
		if page.State == alert.DeliveryFailed && !slices.Contains(page.Failed, d.Partner) {
			page.Failed = append(page.Failed, d.Partner)
		}
	}
	page.Table = tableOfDeliveries(list, page.Addresses, page.Names, c.Now())
	if c.confined {
		page.Table.withoutPartner()
	}
	part := listPart{partners: all, shown: len(list), next: next, total: total}
	page.List, err = c.newListView(ctx, who, &deliveriesList, f, part)
	return page, err
}

// replayFailed queues all failed deliveries of a partner again. They may be many, so this is no single transaction.
func replayFailed(c *Console, r *request) (answer, error) {
	id, endpoint := partner.ID(r.trimmedField("partner")), alert.EndpointID(r.trimmedField("endpoint"))
	detail := strings.TrimSpace("all failed " + string(endpoint))
	next := redirect{"/deliveries", "event.replayed"}
	return c.recordAndRun(r, "event.replay", string(id), detail, next, func() error {
		_, err := c.Rules.History.ReplayEvents(r.Context(), id, alert.Selection{Failed: true, Endpoint: endpoint})
		return err
	})
}
