package console

import (
	"context"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// servicePage is a service with what it asks and when it is there.
type servicePage struct {
	cyber.Service
	Questions []cyber.Question
	Slots     []cyber.Slot
}

// setTarget sets the working time for new cases of a service; 0 means none. Hours may have a decimal comma.
func setTarget(c *Console, r *request) (answer, error) {
	hours, err := time.ParseDuration(strings.Replace(r.trimmedField("hours"), ",", ".", 1) + "h")
	if err != nil || hours < 0 {
		return nil, cyber.ErrServiceInvalid.With("hours", fault.HoursOrNone)
	}
	return c.onService(r, "case.target", "service.target", func(ctx context.Context, in *Rules, id cyber.ServiceID) error {
		return in.Cases.SetTargetTime(ctx, id, hours)
	})
}

// addQuestion adds a triage question that people answer when they open a case; without options the answer is free
// text.
func addQuestion(c *Console, r *request) (answer, error) {
	return c.onService(r, "case.question.add", "service.question", func(ctx context.Context, in *Rules, id cyber.ServiceID) error {
		_, err := in.Cases.AddQuestion(ctx, id, r.trimmedField("question"), r.PostForm.Has("required"), splitLines(r.trimmedField("options")))
		return err
	})
}

// removeQuestion removes a triage question.
func removeQuestion(c *Console, r *request) (answer, error) {
	return c.onService(r, "case.question.remove", "service.question_removed", func(ctx context.Context, in *Rules, _ cyber.ServiceID) error {
		return in.Cases.RemoveQuestion(ctx, cyber.QuestionID(r.PathValue("question")))
	})
}

// addServiceSlots adds times to a service's calendar.
func addServiceSlots(c *Console, r *request) (answer, error) {
	var times []time.Time
	for _, line := range splitLines(r.trimmedField("slots")) {
		t, err := parseMoment("slots", line)
		if err != nil {
			return nil, cyber.ErrServiceInvalid.With("slots", fault.MomentPerLine)
		}
		times = append(times, t)
	}
	return c.onService(r, "case.slot.add", "service.slots", func(ctx context.Context, in *Rules, id cyber.ServiceID) error {
		only := partner.ID(r.trimmedField("partner"))
		if only != "" {
			if _, err := in.Partners.GetPartner(ctx, only); err != nil {
				return err
			}
		}
		_, err := in.Cases.AddFreeSlots(ctx, id, only, times)
		return err
	})
}

// removeSlot deletes a free slot.
func removeSlot(c *Console, r *request) (answer, error) {
	return c.onService(r, "case.slot.remove", "service.slot_removed", func(ctx context.Context, in *Rules, _ cyber.ServiceID) error {
		return in.Cases.RemoveSlot(ctx, cyber.SlotID(r.PathValue("slot")))
	})
}

// onService runs a change of the service in the path in a transaction with its line in the audit trail.
func (c *Console) onService(r *request, action, done string, fn func(ctx context.Context, in *Rules, id cyber.ServiceID) error) (answer, error) {
	id := cyber.ServiceID(r.PathValue("id"))
	return c.changeAndRedirect(r, action, redirect{joinPath("services", string(id)), done}, func(ctx context.Context, in *Rules) (string, string, error) { return string(id), "", fn(ctx, in, id) })
}
