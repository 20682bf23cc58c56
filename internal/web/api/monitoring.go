package api

import (
	"net/http"
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// newAsset is the body of POST /cyber/monitoring and of POST /cyber/monitoring/extra.
type newAsset struct {
	Value string `json:"value"`
	Type  string `json:"type"`
	personBody
}

// assetItem is an element of GET /cyber/monitoring/{userhash} and of GET /cyber/monitoring/extra/{userhash}.
type assetItem struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Value  string `json:"value"`
	Status string `json:"status"`
}

// done is the answer of operations that only report success.
type done struct {
	Status      int    `json:"status"`
	Description string `json:"description"`
}

// addMonitoring watches a value of a kind that the contract allows.
func (s *Server) addMonitoring(r *request, in newAsset) (any, error) {
	return watchValue(r, in, cyber.ContractAdds)
}

// addExtraAsset watches a value of the extension's kinds.
func (s *Server) addExtraAsset(r *request, in newAsset) (any, error) {
	return watchValue(r, in, cyber.ExtraKinds)
}

// watchValue adds a value of a group's kinds.
func watchValue(r *request, in newAsset, group cyber.Group) (any, error) {
	added, err := r.rules.Monitoring.AddAsset(
		r.ctx, cyber.AssetRequest{Owner: r.assetOwner(), User: r.user, Group: group, Type: in.Type, Value: in.Value},
	)
	if err != nil {
		return nil, err
	}
	waiting := 0
	if added.Waits {
		waiting = 1
	}
	return encodeAdded(done{http.StatusOK, msgMonitoringAdded}, waiting)
}

// encodeAdded encodes the answer to values that were added. Its header tells how many of them wait for their first
// look; the contract's body has no member for it. A repeat of the request is told the same.
func encodeAdded(value any, waiting int) (partner.Answer, error) {
	answer, err := encodeAnswer(value)
	if waiting > 0 {
		answer.Headers = map[string]string{waitingHeader: strconv.Itoa(waiting)}
	}
	return answer, err
}

// assetOwner returns whose values the request adds.
func (r *request) assetOwner() cyber.Owner {
	return cyber.NewOwner(r.caller.Partner, r.caller.Mode, r.caller.Settings)
}

// listMonitoring answers with a person's watched values of the kinds in the contract.
func (s *Server) listMonitoring(r *request) (any, error) { return watchedOf(r, cyber.ContractShows) }

// listExtra answers with a person's watched values of the kinds beyond the contract.
func (s *Server) listExtra(r *request) (any, error) { return watchedOf(r, cyber.ExtraKinds) }

// watchedOf answers with a person's watched values of a group of kinds.
func watchedOf(r *request, group cyber.Group) (any, error) {
	assets, err := r.rules.Monitoring.ListAssets(
		r.ctx, cyber.AssetScope{Partner: r.caller.Partner, User: r.user, Group: group},
	)
	r.items = len(assets)
	if err != nil {
		return nil, err
	}
	items := showAll(assets, func(a cyber.Asset) assetItem {
		return assetItem{ID: string(a.ID), Type: a.Kind.String(), Value: a.Value, Status: string(a.Status)}
	})
	return items, r.tellLooks(cyber.CountLooks(assets)) // the contract's items have no member for it
}

// removeMonitoring stops watching a value of a kind in the contract.
func (s *Server) removeMonitoring(r *request) (any, error) {
	return forgetValue(r, cyber.ContractShows)
}

// removeExtra stops watching a value of a kind beyond the contract.
func (s *Server) removeExtra(r *request) (any, error) { return forgetValue(r, cyber.ExtraKinds) }

// forgetValue ends the watch on a value of a group's kinds.
func forgetValue(r *request, group cyber.Group) (any, error) {
	err := r.rules.Monitoring.DeleteAsset(
		r.ctx, cyber.AssetScope{Partner: r.caller.Partner, User: r.user, Group: group}, cyber.AssetID(r.id),
	)
	return done{http.StatusOK, msgMonitoringRemoved}, err
}
