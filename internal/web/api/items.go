package api

import "github.com/vigiahq/vigia/internal/platform/fault"

// chargeItems makes a partner pay for the items of a request as bulk requests do, or wait until it has paid for others.
func (s *Server) chargeItems(r *request, items int) error {
	if wait := s.limits.waitForBulk(r.caller, s.Now()); wait > 0 {
		r.reply.Set("retry-after", wholeSeconds(wait))
		return errRateLimited.With("body", fault.ItemsOrBytes)
	}
	s.limits.chargeBulk(r.caller, items, len(r.body), s.Now())
	return nil
}

// beginList lets a list of items in: each item is paid for, and a long list takes a slot.
func (s *Server) beginList(r *request, items int) error {
	if err := s.chargeItems(r, items); err != nil {
		return err
	}
	if items > lightList {
		return r.takeHeavySlot()
	}
	return nil
}

// resultWord returns one word for the outcome of many items.
func resultWord(good, bad int) string {
	switch {
	case bad == 0:
		return "success"
	case good == 0:
		return "failure"
	}
	return "partial_success"
}
