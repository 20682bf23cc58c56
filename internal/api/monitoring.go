package api

import (
	"fmt"
	"net/http"
	"slices"

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

func (s *Server) addMonitoring(r *request) (any, error) { return watchOf(r, cyber.ContractAdds) }

func (s *Server) addExtra(r *request) (any, error) { return watchOf(r, cyber.ExtraKinds) }

func watchOf(r *request, group cyber.Group) (any, error) {
	var in newAsset
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	user, err := partner.ParseUserHash("userHash", in.UserHash)
	if err != nil {
		return nil, err
	}
	caps := r.server.Caps.Of(r.caller.Settings)
	who := cyber.Owner{Partner: r.caller.Partner, Mode: r.caller.Mode, Caps: &caps}
	kept, err := r.rules.Monitoring.WatchOf(r.ctx, who, user, group, in.Type, in.Value)
	assetHeaders(r.reply, kept.Left)
	if err != nil {
		return nil, err
	}
	return done{http.StatusOK, msgMonitoringAdded}, nil
}

// assetHeaders tells how many more values the partner may add, beside how many more requests it may send.
func assetHeaders(h http.Header, left cyber.Allowance) {
	if left.HourCap == 0 {
		return
	}
	policy := fmt.Sprintf(`"assets-hour";q=%d;w=3600, "assets-day";q=%d;w=86400`, left.HourCap, left.DayCap)
	now := fmt.Sprintf(`"assets-hour";r=%d, "assets-day";r=%d`, left.HourLeft, left.DayLeft)
	if left.Wait > 0 {
		seconds := wholeSeconds(left.Wait)
		now = fmt.Sprintf(`"assets-hour";r=%d;t=%s, "assets-day";r=%d;t=%s`, left.HourLeft, seconds, left.DayLeft, seconds)
		h.Set("retry-after", seconds)
	}
	// The first line of each is the one of requests, and shared by many answers.
	h["Ratelimit-Policy"] = append(slices.Clone(h["Ratelimit-Policy"][:1]), policy)
	h["Ratelimit"] = append(slices.Clone(h["Ratelimit"][:1]), now)
}

func (s *Server) listMonitoring(r *request) (any, error) { return watchedOf(r, cyber.ContractShows) }

func (s *Server) listExtra(r *request) (any, error) { return watchedOf(r, cyber.ExtraKinds) }

func watchedOf(r *request, group cyber.Group) (any, error) {
	user, err := r.userHash()
	if err != nil {
		return nil, err
	}
	assets, err := r.rules.Monitoring.WatchedOf(r.ctx, r.caller.Partner, user, group)
	if err != nil {
		return nil, err
	}
	r.items = len(assets)
	items := make([]assetItem, len(assets))
	for i, a := range assets {
		items[i] = assetItem{ID: string(a.ID), Type: a.Kind.String(), Value: a.Value, Status: string(a.Status)}
	}
	return items, nil
}

func (s *Server) removeMonitoring(r *request) (any, error) { return forgetOf(r, cyber.ContractShows) }

func (s *Server) removeExtra(r *request) (any, error) { return forgetOf(r, cyber.ExtraKinds) }

func forgetOf(r *request, group cyber.Group) (any, error) {
	id, err := r.idInPath("id", cyber.ErrAssetNotFound)
	if err != nil {
		return nil, err
	}
	user, err := r.userHash()
	if err != nil {
		return nil, err
	}
	if err := r.rules.Monitoring.ForgetOf(r.ctx, r.caller.Partner, user, cyber.AssetID(id), group); err != nil {
		return nil, err
	}
	return done{http.StatusOK, msgMonitoringRemoved}, nil
}
