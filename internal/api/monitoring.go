package api

import (
	"net/http"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// newAsset is the body of POST /cyber/monitoring.
type newAsset struct {
	Value    string `json:"value"`
	Type     string `json:"type"`
	UserHash string `json:"userHash"`
}

// assetItem is an element of GET /cyber/monitoring/{userhash}.
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

func (s *Server) addMonitoring(r *request) (any, error) {
	var in newAsset
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	user, err := partner.ParseUserHash("userHash", in.UserHash)
	if err != nil {
		return nil, err
	}
	who := cyber.Owner{Partner: r.caller.Partner, Mode: r.caller.Mode}
	if err := r.rules.Monitoring.Watch(r.ctx, who, user, in.Type, in.Value); err != nil {
		return nil, err
	}
	return done{http.StatusOK, msgMonitoringAdded}, nil
}

func (s *Server) listMonitoring(r *request) (any, error) {
	user, err := r.userHash()
	if err != nil {
		return nil, err
	}
	assets, err := r.rules.Monitoring.Watched(r.ctx, r.caller.Partner, user)
	if err != nil {
		return nil, err
	}
	items := make([]assetItem, len(assets))
	for i, a := range assets {
		items[i] = assetItem{ID: string(a.ID), Type: a.Kind.String(), Value: a.Value, Status: string(a.Status)}
	}
	return items, nil
}

func (s *Server) removeMonitoring(r *request) (any, error) {
	id, err := r.idInPath("id", cyber.ErrAssetNotFound)
	if err != nil {
		return nil, err
	}
	user, err := r.userHash()
	if err != nil {
		return nil, err
	}
	if err := r.rules.Monitoring.Forget(r.ctx, r.caller.Partner, user, cyber.AssetID(id)); err != nil {
		return nil, err
	}
	return done{http.StatusOK, msgMonitoringRemoved}, nil
}
