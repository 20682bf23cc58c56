package api

import (
	"net/http"

	"github.com/vigiahq/vigia/internal/cyber"
)

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

// showFindingPlan answers with the plan of a finding.
func (s *Server) showFindingPlan(r *request) (any, error) {
	in, err := r.requestedLanguage()
	if err != nil {
		return nil, err
	}
	plan, err := r.rules.Monitoring.GetFindingPlan(r.ctx, r.caller.Partner, r.user, cyber.FindingID(r.id))
	return findingPlan{
		FindingID: string(plan.Finding.ID),
		State:     findingState(plan.Finding),
		Language:  string(in),
		Remaining: len(plan.Remaining()),
		Steps: showAll(plan.Steps, func(st cyber.PlannedStep) planStep {
			return planStep{
				ID:        string(st.ID),
				What:      st.What(in),
				Why:       st.Why(in),
				Link:      st.Link,
				Minutes:   st.Minutes,
				Essential: st.Essential,
				DueAt:     formatMoment(st.Due),
				State:     string(st.State),
				MarkedAt:  formatMoment(st.MarkedAt),
			}
		}),
	}, err
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
	_, err = r.rules.Monitoring.MarkPlanStep(
		r.ctx, r.caller.Partner, r.user, cyber.FindingID(r.id), cyber.StepID(step), cyber.StepState(in.State),
	)
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
		FindingID: string(now.Finding.ID),
		State:     findingState(now.Finding),
		Reason:    string(now.Finding.Resolution),
		Status:    now.Status,
		Remaining: showAll(now.Remaining(), func(st cyber.PlannedStep) cyber.StepID { return st.ID }),
	}, err
}
