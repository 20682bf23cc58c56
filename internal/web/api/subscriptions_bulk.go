package api

import (
	"net/http"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// bulkWire is what became of a bulk request.
type bulkWire struct {
	Result          string           `json:"result"`
	TotalCreated    int              `json:"total_created_items"`
	TotalNotCreated int              `json:"total_not_created_items"`
	NotCreatedItems []notCreatedWire `json:"not_created_items"`
}

// notCreatedWire is a refused item of a bulk, as the contract writes it.
type notCreatedWire struct {
	CPF           string   `json:"cpf"`
	BenefitHolder string   `json:"benefit_holder,omitempty"`
	PlanID        string   `json:"plan_id"`
	Errors        []string `json:"errors"`
}

// createSubscriptions creates the subscriptions of a list that is read as a stream, or only checks them with dry_run.
func (s *Server) createSubscriptions(r *request) (any, error) {
	dryRun, err := r.flagInQuery("dry_run")
	if err != nil {
		return nil, err
	}
	length := r.http.ContentLength
	if _, packed := r.in.from.(*unpacking); packed {
		length = -1 // the unpacked length is unknown
	}
	if wait := s.limits.waitForBulk(r.caller, s.Now()); wait > 0 {
		r.reply.Set("retry-after", wholeSeconds(wait))
		return nil, errRateLimited.With("body", fault.ItemsOrBytes)
	}
	if isHeavyBody(length) {
		if err := r.takeHeavySlot(); err != nil {
			return nil, err
		}
	}
	r.allowTime(s.DatabaseTime)
	enrolment, err := r.rules.Subscriptions.BeginEnrolment(r.ctx, r.caller.Partner, r.caller.Mode, r.caller.Epoch)
	if err != nil {
		return nil, err
	}
	work := s.admission.beginBulk()
	defer work.end()
	work.takeProcessor()
	err = readItems(&r.in, work, enrolment.AddItem)
	work.leaveProcessor()
	s.limits.chargeBulk(r.caller, work.items, work.bytes, s.Now())
	if err != nil {
		return nil, err
	}
	r.allowTime(r.workTime())
	r.claim.IsBulk = !dryRun && work.items > fewItems
	kept, err := r.runIdempotently(func(in *Rules) (any, error) {
		outcome, err := in.Subscriptions.KeepEnrolment(r.ctx, enrolment, dryRun)
		if err != nil {
			return nil, err
		}
		return packOutcome(outcome)
	})
	if err != nil || kept.Status != http.StatusOK {
		return kept, err
	}
	work.takeProcessor()
	return contractAnswer(kept, enrolment)
}

// watchedHeader says how many values of the created items their plans watch, or would with dry_run, by kind.
const watchedHeader = "x-watched-values"
