package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// newAsset is the body of POST /cyber/monitoring and of POST /cyber/monitoring/extra.
type newAsset struct {
	Value    string `json:"value"`
	Type     string `json:"type"`
	UserHash string `json:"userHash"`
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
func (s *Server) addMonitoring(r *request) (any, error) { return watchValue(r, cyber.ContractAdds) }

// addExtraAsset watches a value of the extension's kinds.
func (s *Server) addExtraAsset(r *request) (any, error) { return watchValue(r, cyber.ExtraKinds) }

// watchValue adds a value of a group's kinds.
func watchValue(r *request, group cyber.Group) (any, error) {
	var in newAsset
	if err := r.decodeBody(&in); err != nil {
		return nil, err
	}
	user, err := partner.ParseUserHash("userHash", in.UserHash)
	if err != nil {
		return nil, err
	}
	_, err = r.rules.Monitoring.AddAsset(r.ctx, cyber.AssetRequest{Owner: r.assetOwner(), User: user, Group: group, Type: in.Type, Value: in.Value})
	return done{http.StatusOK, msgMonitoringAdded}, err
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
	user, err := r.userHashInPath()
	if err != nil {
		return nil, err
	}
	assets, err := r.rules.Monitoring.ListAssets(r.ctx, cyber.AssetScope{Partner: r.caller.Partner, User: user, Group: group})
	if err != nil {
		return nil, err
	}
	r.items = len(assets)
	items := make([]assetItem, len(assets))
	var waiting int
	var newest time.Time
	for i, a := range assets {
		if a.Waits {
			waiting, newest = waiting+1, a.AddedAt
		}
		items[i] = assetItem{ID: string(a.ID), Type: a.Kind.String(), Value: a.Value, Status: string(a.Status)}
	}
	if waiting == 0 {
		return items, nil
	}
	// The contract's items have no member for it.
	status, err := r.rules.FirstLooks.LookStatusSince(r.ctx, r.caller.Partner, r.caller.Settings, newest)
	if err != nil {
		return nil, err
	}
	r.reply.Set(waitingHeader, strconv.Itoa(waiting))
	if !status.Until.IsZero() {
		r.reply.Set(untilHeader, status.Until.UTC().Format(alert.TimeFormat))
	}
	return items, nil
}

// The headers of a list tell how many of its values wait for their first look into past breaches, and when the last of
// them will have had it.
const (
	waitingHeader = "x-first-looks-waiting"
	untilHeader   = "x-first-looks-until"
)

// removeMonitoring stops watching a value of a kind in the contract.
func (s *Server) removeMonitoring(r *request) (any, error) {
	return forgetValue(r, cyber.ContractShows)
}

// removeExtra stops watching a value of a kind beyond the contract.
func (s *Server) removeExtra(r *request) (any, error) { return forgetValue(r, cyber.ExtraKinds) }

// forgetValue ends the watch on a value of a group's kinds.
func forgetValue(r *request, group cyber.Group) (any, error) {
	id, err := r.idInPath("id", cyber.ErrAssetNotFound)
	if err != nil {
		return nil, err
	}
	user, err := r.userHashInPath()
	if err != nil {
		return nil, err
	}
	err = r.rules.Monitoring.DeleteAsset(r.ctx, cyber.AssetScope{Partner: r.caller.Partner, User: user, Group: group}, cyber.AssetID(id))
	return done{http.StatusOK, msgMonitoringRemoved}, err
}
