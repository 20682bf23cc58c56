package api

import (
	"net/http"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
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
	personBody
	Reason string `json:"reason"`
}

// listFindings answers with all findings of a person.
func (s *Server) listFindings(r *request) (any, error) {
	findings, err := r.rules.Monitoring.ListFindings(r.ctx, r.caller.Partner, r.user)
	r.items = len(findings)
	return showAll(findings, func(f cyber.Finding) findingItem {
		item := findingItem{
			ID: string(f.ID), AssetID: string(f.Asset), AssetType: f.Kind.String(), Exposed: f.Breach.Exposes, Basis: f.Basis(),
			Sites: f.Trace.Sites, TakenOn: formatDayOrNothing(f.Trace.TakenOn()), OwnSite: f.OwnSite, Watched: f.WatchedSite, LeakedAs: f.LeakedAs(),
			Breach:   breachItem{f.Breach.Name, f.Breach.Title, f.Breach.Date.Format(time.DateOnly), string(f.Breach.Kind)},
			Severity: string(f.Severity), State: findingState(f), FoundAt: f.FoundAt.Format(alert.TimeFormat),
		}
		if !f.Open() {
			item.ResolvedAt, item.Reason = f.ResolvedAt.Format(alert.TimeFormat), string(f.Resolution)
		}
		return item
	}), err
}

// resolveFinding closes a finding for the reason in the body.
func (s *Server) resolveFinding(r *request, in resolution) (any, error) {
	err := r.rules.Monitoring.ResolveFinding(r.ctx, r.caller.Partner, r.user, cyber.FindingID(r.id), in.Reason)
	return done{http.StatusOK, msgFindingResolved}, err
}

// findingPlan is the answer of GET /cyber/findings/{id}/plan/{userhash}.
type findingPlan struct {
	FindingID string     `json:"findingId"`
	State     string     `json:"state"`
	Language  string     `json:"language"`
	Remaining int        `json:"remaining"`
	Steps     []planStep `json:"steps"`
}

// planStep is a step that a person can take against a finding.
type planStep struct {
	ID        string `json:"id"`
	What      string `json:"what"`
	Why       string `json:"why"`
	Link      string `json:"link,omitempty"`
	Minutes   int    `json:"minutes"`
	Essential bool   `json:"essential"`
	DueAt     string `json:"dueAt"`
	State     string `json:"state"`
	MarkedAt  string `json:"markedAt,omitempty"`
}

// findingState returns the word of the API for whether a finding is still open.
func findingState(f cyber.Finding) string {
	if f.Open() {
		return "open"
	}
	return "resolved"
}

// showFindingPlan answers with the plan of a finding.
func (s *Server) showFindingPlan(r *request) (any, error) {
	in, err := r.requestedLanguage()
	if err != nil {
		return nil, err
	}
	plan, err := r.rules.Monitoring.GetFindingPlan(r.ctx, r.caller.Partner, r.user, cyber.FindingID(r.id))
	return findingPlan{
		FindingID: string(plan.Finding.ID), State: findingState(plan.Finding), Language: string(in), Remaining: len(plan.Remaining()),
		Steps: showAll(plan.Steps, func(st cyber.PlannedStep) planStep {
			return planStep{
				ID: string(st.ID), What: st.What(in), Why: st.Why(in), Link: st.Link, Minutes: st.Minutes, Essential: st.Essential,
				DueAt: formatMoment(st.Due), State: string(st.State), MarkedAt: formatMoment(st.MarkedAt),
			}
		}),
	}, err
}

// requestedLanguage returns the language in which the request asks for texts.
func (r *request) requestedLanguage() (partner.Language, error) {
	asked := r.query["lang"]
	if len(asked) == 0 {
		return partner.Portuguese, nil
	}
	if len(asked) > 1 || asked[0] == "" {
		return "", errQueryInvalid.With("lang", fault.OneOf, "pt-BR, es, en")
	}
	return partner.ParseLanguage(asked[0])
}

// stepMark is the body of POST /cyber/findings/{id}/steps/{step}.
type stepMark struct {
	personBody
	State string `json:"state"`
}

// markFindingStep keeps what a person says of a step.
func (s *Server) markFindingStep(r *request, in stepMark) (any, error) {
	step, err := r.idInPath("step", cyber.ErrStepNotFound)
	if err != nil {
		return nil, err
	}
	_, err = r.rules.Monitoring.MarkPlanStep(r.ctx, r.caller.Partner, r.user, cyber.FindingID(r.id), cyber.StepID(step), cyber.StepState(in.State))
	return done{http.StatusOK, msgStepMarked}, err
}

// rechecked is the state of a finding after it was checked again, with the steps that remain.
type rechecked struct {
	FindingID string         `json:"findingId"`
	State     string         `json:"state"`
	Reason    string         `json:"reason,omitempty"`
	Status    cyber.Status   `json:"status"`
	Remaining []cyber.StepID `json:"remaining"`
}

// recheckFinding checks a finding again, to see whether the person's steps have settled it.
func (s *Server) recheckFinding(r *request, _ personBody) (any, error) {
	now, err := r.rules.Monitoring.RecheckFinding(r.ctx, r.caller.Partner, r.user, cyber.FindingID(r.id))
	return rechecked{
		FindingID: string(now.Finding.ID), State: findingState(now.Finding), Reason: string(now.Finding.Resolution), Status: now.Status,
		Remaining: showAll(now.Remaining(), func(st cyber.PlannedStep) cyber.StepID { return st.ID }),
	}, err
}
