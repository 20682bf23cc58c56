package console

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// deliveriesPart is what stands above the list of deliveries.
type deliveriesPart struct {
	State alert.DeliveryState
	// Failed are partners with failed deliveries on the page: all of them can be repeated at once.
	Failed []choiceOption
}

// gatherDeliveries returns one page of deliveries, the failed ones unless the filter asks for others.
func (c *Console) gatherDeliveries(ctx context.Context, _ viewer, f filter) (listPart, error) {
	rows, next, err := f.readDeliveries(ctx, &c.Rules, perPage)
	if err != nil {
		return listPart{}, err
	}
	now, err := c.figuresNow(ctx)
	if err != nil {
		return listPart{}, err
	}
	more := deliveriesPart{State: f.deliveryState()}
	total := int64(-1)
	switch more.State {
	case alert.DeliveryFailed:
		total = f.totalIfOnly(now["deliveries.failed"], "state")
	case alert.Pending:
		total = f.totalIfOnly(now["deliveries.pending"], "state")
	default: // the others are not counted
	}
	addresses := map[alert.EndpointID]string{}
	for i, d := range rows {
		if addresses[d.Endpoint] == "" {
			e, err := c.Rules.Webhooks.FindEndpoint(ctx, d.Endpoint)
			// A deleted endpoint leaves its deliveries for a while.
			if err != nil && !errors.Is(err, alert.ErrEndpointNotFound) {
				return listPart{}, err
			}
			addresses[d.Endpoint] = cmp.Or(e.Address(), "apagado")
		}
		rows[i].address = addresses[d.Endpoint]
		of := choiceOption{string(d.Partner), f.partners[d.Partner]}
		if more.State == alert.DeliveryFailed && !slices.Contains(more.Failed, of) {
			more.Failed = append(more.Failed, of)
		}
	}
	part := newListPart(f, rows, rowOfDelivery, next, total)
	part.more = more
	return part, nil
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
