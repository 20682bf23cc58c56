package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ alert.Queue = Alerts{}

// DueSignal is signalled after a commit of this process made deliveries due.
func (s Alerts) DueSignal() <-chan struct{} { return s.due }

// signalDue wakes the dispatcher of this process.
func (s Alerts) signalDue() {
	select {
	case s.due <- struct{}{}:
	default: // a notification is pending already
	}
}

// DueEndpoints returns the enabled endpoints that have a delivery due. Its cost grows with the endpoints, not with what
// is waiting for them: it looks from the newest, as what waits for its next try is old.
func (s Alerts) DueEndpoints(ctx context.Context) ([]alert.EndpointRef, error) {
	due, err := collectRows(ctx, s.db.UnpreparedReader(), func(row scanner) (alert.EndpointRef, error) {
		var r alert.EndpointRef
		var changed int64
		err := row.Scan(scanPartnerID(&r.Partner), &r.Endpoint, &changed, &r.Newest)
		r.ChangedAt = fromMicros(changed)
		return r, err
	}, `SELECT partner_id, id, changed_at, newest FROM (SELECT e.partner_id, e.id, e.changed_at, (SELECT d.seq FROM delivery d
			WHERE d.partner_id = e.partner_id AND d.endpoint_id = e.id AND d.state = 'pending' AND d.next_at <= $1
			ORDER BY d.seq DESC LIMIT 1) AS newest
		FROM endpoint e WHERE e.state = 'enabled') AS due WHERE newest IS NOT NULL`, toMicros(s.now()))
	return due, classifyError(err)
}

// EnabledEndpoints reads those of some endpoints that are enabled.
func (s Alerts) EnabledEndpoints(ctx context.Context, refs []alert.EndpointRef) ([]alert.Endpoint, error) {
	var args []any
	ids, partners := make([]alert.EndpointID, len(refs)), map[partner.ID]bool{}
	for i, ref := range refs {
		ids[i] = ref.Endpoint
		partners[ref.Partner] = true
	}
	numbers := make([]string, 0, len(partners))
	for id := range partners {
		args = append(args, partnerNumber(id))
		numbers = append(numbers, fmt.Sprintf("$%d", len(args)))
	}
	return collectGenuine(ctx, s.readQuerier(), s.scanEndpoint, `SELECT `+endpointColumns+` FROM endpoint WHERE state = 'enabled'
		AND partner_id IN (`+strings.Join(numbers, ", ")+`) AND id IN (`+appendListMarks(&args, ids)+`)`, args...)
}

// NewHolds makes the holds of one dispatcher. That one at a time has an endpoint is what keeps a person's events in
// order: it knows every earlier one as it is.
func (s Alerts) NewHolds() alert.Holds { return holds{s.db.NewHolder()} }

// holds are a holder's, by the names of endpoints.
type holds struct{ *sqldb.Holder }

// Take takes endpoints that no other dispatcher holds.
func (h holds) Take(ctx context.Context, endpoints []alert.EndpointID) ([]alert.EndpointID, error) {
	taken, err := h.Holder.TakeNames(ctx, endpointLockNames(endpoints))
	ids := make([]alert.EndpointID, len(taken))
	for i, name := range taken {
		ids[i] = alert.EndpointID(name)
	}
	return ids, classifyError(err)
}

// Release lets others take endpoints.
func (h holds) Release(ctx context.Context, endpoints []alert.EndpointID) error {
	return classifyError(h.Holder.ReleaseNames(ctx, endpointLockNames(endpoints)))
}

// endpointLockNames returns the names of the locks of endpoints.
func endpointLockNames(endpoints []alert.EndpointID) []string {
	names := make([]string, len(endpoints))
	for i, id := range endpoints {
		names[i] = string(id)
	}
	return names
}

// OpenDeliveries returns, in the order of their events, pending deliveries that are due, and ordered ones that are not:
// those are close to their next try, and later ones of the same person have to wait for them.
func (s Alerts) OpenDeliveries(ctx context.Context, id partner.ID, endpoint alert.EndpointID, after int64, limit int) ([]alert.Open, error) {
	now := toMicros(s.now())
	open, err := collectRows(ctx, s.db.UnpreparedReader(), func(row scanner) (alert.Open, error) {
		d := alert.Open{Delivery: alert.Delivery{Partner: id, Endpoint: endpoint}}
		var person []byte
		var next int64
		err := row.Scan(&d.Seq, &d.Event, &person, &d.Ordered, &d.Attempts, &next, &d.Tried)
		d.Person, d.Due = string(person), next <= now
		return d, err
	}, `SELECT seq, event_id, person, ordered, attempts, next_at, tried IS NOT NULL FROM delivery
		WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending' AND seq > $3 AND (next_at <= $4 OR ordered) ORDER BY seq LIMIT $5`,
		partnerNumber(id), string(endpoint), after, now, int64(limit))
	return open, classifyError(err)
}

// openDeliveriesCondition returns the condition for some open deliveries of one endpoint, which are neighbours or
// nearly so: a stretch of the index of what is open, narrowed to those meant.
func openDeliveriesCondition(tx *sqldb.Tx, args *[]any, list []alert.Delivery) string {
	low, high := list[0].Seq, list[0].Seq
	numbers := make([]int64, len(list))
	for i, d := range list {
		low, high, numbers[i] = min(low, d.Seq), max(high, d.Seq), d.Seq
	}
	n := len(*args)
	*args = append(*args, low, high, tx.ListArgument(numbers))
	return fmt.Sprintf("state = 'pending' AND seq >= $%d AND seq <= $%d AND seq %s", n+1, n+2, tx.InListCondition(n+3))
}

// seqGap is how many unwanted events one statement reads over before a second statement is cheaper.
const seqGap = 64

// neighbours returns how many of n deliveries, in the order of their events, one statement is for.
func neighbours(n int, seq func(i int) int64) int {
	for i := 1; i < n; i++ {
		if seq(i)-seq(i-1) > seqGap {
			return i
		}
	}
	return n
}

// WithBodies gives deliveries, in the order of their events, their bodies: the events are mostly neighbours, so they
// are read in runs. A delivery whose event was swept in between is left out: its row goes with the sweep.
func (s Alerts) WithBodies(ctx context.Context, id partner.ID, list []alert.Delivery) ([]alert.Delivery, error) {
	kept := list[:0]
	for len(list) > 0 {
		n := neighbours(len(list), func(i int) int64 { return list[i].Seq })
		type sealedBody struct {
			id   string
			body []byte
		}
		bodies := make(map[int64]sealedBody, n)
		_, err := collectRows(ctx, s.readQuerier(), func(row scanner) (struct{}, error) {
			var seq int64
			var b sealedBody
			err := row.Scan(&b.id, &seq, &b.body)
			bodies[seq] = b
			return struct{}{}, err
		}, `SELECT id, seq, body FROM event WHERE partner_id = $1 AND seq >= $2 AND seq <= $3`, partnerNumber(id), list[0].Seq, list[n-1].Seq)
		if err != nil {
			return nil, classifyError(fmt.Errorf("read bodies: %w", err))
		}
		for _, d := range list[:n] {
			b, ok := bodies[d.Seq]
			if !ok {
				continue
			}
			if d.Body, err = s.keys.Unseal(eventPlace(id, b.id), b.body); err != nil {
				return nil, fmt.Errorf("open event: %w", err)
			}
			kept = append(kept, d)
		}
		list = list[n:]
	}
	return kept, nil
}
