package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

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
	return collectRows(ctx, s.db.UnpreparedReader(), func(row scanner, r *alert.EndpointRef) error {
		return row.Scan(&r.Partner, &r.Endpoint, &r.ChangedAt, &r.Newest)
	}, `SELECT partner_id, id, changed_at, newest FROM (SELECT e.partner_id, e.id, e.changed_at, (SELECT d.seq
		FROM delivery d
			WHERE d.partner_id = e.partner_id AND d.endpoint_id = e.id AND d.state = 'pending' AND d.next_at <= $1
			ORDER BY d.seq DESC LIMIT 1) AS newest
		FROM endpoint e WHERE e.state = 'enabled') AS due WHERE newest IS NOT NULL`,
		s.now(),
	)
}

// EnabledEndpoints reads those of some endpoints that are enabled.
func (s Alerts) EnabledEndpoints(ctx context.Context, refs []alert.EndpointRef) ([]alert.Endpoint, error) {
	var args []any
	ids, partners := make([]alert.EndpointID, len(refs)), make([]partner.ID, len(refs))
	for i, ref := range refs {
		ids[i], partners[i] = ref.Endpoint, ref.Partner
	}
	return collectGenuine(
		ctx,
		s.readQuerier(),
		s.scanEndpoint,
		`SELECT `+endpointColumns+` FROM endpoint WHERE state = 'enabled'
		AND partner_id IN (`+appendMarks(&args, uniqueValues(partners))+`) AND id IN (`+appendMarks(&args, ids)+`)`,
		args...,
	)
}

// NewHolds makes the holds of one dispatcher. That one at a time has an endpoint is what keeps a person's events in
// order: it knows every earlier one as it is.
func (s Alerts) NewHolds() alert.Holds { return holds{s.db.NewHolder()} }

// holds are a holder's, by the names of endpoints.
type holds struct{ *sqldb.Holder }

// TakeHold takes endpoints that no other dispatcher holds.
func (h holds) TakeHold(ctx context.Context, endpoints []alert.EndpointID) ([]alert.EndpointID, error) {
	taken, err := h.Holder.TakeNames(ctx, convertTexts[string](endpoints))
	return convertTexts[alert.EndpointID](taken), classifyError(err)
}

// ReleaseHold lets others take endpoints.
func (h holds) ReleaseHold(ctx context.Context, endpoints []alert.EndpointID) error {
	return classifyError(h.Holder.ReleaseNames(ctx, convertTexts[string](endpoints)))
}
