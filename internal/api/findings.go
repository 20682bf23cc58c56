package api

import (
	"net/http"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
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

// formatDayOrNothing writes a day; nothing of one that is not known.
func formatDayOrNothing(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

// resolution is the body of POST /cyber/findings/{id}/resolve.
type resolution struct {
	UserHash string `json:"userHash"`
	Reason   string `json:"reason"`
}

// listFindings answers with all findings of a person.
func (s *Server) listFindings(r *request) (any, error) {
	user, err := r.userHashInPath()
	if err != nil {
		return nil, err
	}
	findings, err := r.rules.Monitoring.ListFindings(r.ctx, r.caller.Partner, user)
	if err != nil {
		return nil, err
	}
	r.items = len(findings)
	items := make([]findingItem, len(findings))
	for i, f := range findings {
		items[i] = findingItem{
			ID: string(f.ID), AssetID: string(f.Asset), AssetType: f.Kind.String(), Exposed: f.Breach.Exposes, Basis: f.Basis(),
			Sites: f.Trace.Sites, TakenOn: formatDayOrNothing(f.Trace.TakenOn()), OwnSite: f.OwnSite, Watched: f.WatchedSite, LeakedAs: f.LeakedAs(),
			Breach:   breachItem{f.Breach.Name, f.Breach.Title, f.Breach.Date.Format(time.DateOnly), string(f.Breach.Kind)},
			Severity: string(f.Severity), State: findingState(f), FoundAt: f.FoundAt.Format(alert.TimeFormat),
		}
		if !f.Open() {
			items[i].ResolvedAt, items[i].Reason = f.ResolvedAt.Format(alert.TimeFormat), string(f.Resolution)
		}
	}
	return items, nil
}

// resolveFinding closes a finding for the reason in the body.
func (s *Server) resolveFinding(r *request) (any, error) {
	id, err := r.idInPath("id", cyber.ErrFindingNotFound)
	if err != nil {
		return nil, err
	}
	var in resolution
	if err := r.decodeBody(&in); err != nil {
		return nil, err
	}
	user, err := partner.ParseUserHash("userHash", in.UserHash)
	if err != nil {
		return nil, err
	}
	err = r.rules.Monitoring.ResolveFinding(r.ctx, r.caller.Partner, user, cyber.FindingID(id), in.Reason)
	return done{http.StatusOK, msgFindingResolved}, err
}
