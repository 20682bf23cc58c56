package api

import (
	"net/http"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
)

// findingItem is an element of GET /cyber/findings/{userhash}.
type findingItem struct {
	ID         string          `json:"id"`
	AssetID    string          `json:"assetId"`
	AssetType  string          `json:"assetType"`
	Breach     breachItem      `json:"breach"`
	Exposed    []cyber.Exposed `json:"exposed"`
	Basis      cyber.Basis     `json:"basis"`
	Sites      []string        `json:"sites,omitempty"`
	TakenOn    string          `json:"takenOn,omitempty"`
	OwnSite    bool            `json:"ownSite,omitzero"`
	Watched    bool            `json:"watchedSite,omitzero"`
	LeakedAs   []string        `json:"leakedAs,omitempty"`
	Severity   string          `json:"severity"`
	State      string          `json:"state"`
	FoundAt    string          `json:"foundAt"`
	ResolvedAt string          `json:"resolvedAt,omitempty"`
	Reason     string          `json:"reason,omitempty"`
}

// breachItem is the breach of a finding in short.
type breachItem struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Date  string `json:"date"`
	Kind  string `json:"kind"`
}

// listFindings answers with all findings of a person.
func (s *Server) listFindings(r *request) (any, error) {
	findings, err := r.rules.Monitoring.ListFindings(r.ctx, r.caller.Partner, r.user)
	r.items = len(findings)
	if err != nil {
		return nil, err
	}
	return showAll(findings, func(f cyber.Finding) findingItem {
		item := findingItem{
			ID:        string(f.ID),
			AssetID:   string(f.Asset),
			AssetType: f.Kind.String(),
			Exposed:   f.Breach.Exposes,
			Basis:     f.Basis(),
			Sites:     f.Trace.Sites,
			TakenOn:   formatDayOrNothing(f.Trace.TakenOn()),
			OwnSite:   f.OwnSite,
			Watched:   f.WatchedSite,
			LeakedAs:  f.LeakedAs(),
			Breach: breachItem{
				f.Breach.Name,
				f.Breach.Title,
				f.Breach.Date.Format(time.DateOnly),
				string(f.Breach.Kind),
			},
			Severity: string(f.Severity),
			State:    findingState(f),
			FoundAt:  f.FoundAt.Format(alert.TimeFormat),
		}
		if !f.Open() {
			item.ResolvedAt, item.Reason = f.ResolvedAt.Format(alert.TimeFormat), string(f.Resolution)
		}
		return item
	}), r.tellLooksOfUser()
}

// findingState returns the word of the API for whether a finding is still open.
func findingState(f cyber.Finding) string {
	if f.Open() {
		return "open"
	}
	return "resolved"
}

// resolution is the body of POST /cyber/findings/{id}/resolve.
type resolution struct {
	personBody
	Reason string `json:"reason"`
}

// resolveFinding closes a finding for the reason in the body.
func (s *Server) resolveFinding(r *request, in resolution) (any, error) {
	err := r.rules.Monitoring.ResolveFinding(r.ctx, r.caller.Partner, r.user, cyber.FindingID(r.id), in.Reason)
	return done{http.StatusOK, msgFindingResolved}, err
}
