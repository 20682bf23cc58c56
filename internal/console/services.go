package console

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// listServices shows all support services, retired ones included.
func listServices(c *Console, r *request) (answer, error) {
	all, err := c.Rules.Services.ListServices(r.Context())
	return view{"services", "Serviços de atendimento", all}, err
}

// addService creates a support service that people can open cases for.
func addService(c *Console, r *request) (answer, error) {
	return c.changeAndRedirect(r, "service.add", redirect{"/services", "service.added"}, func(ctx context.Context, in *Rules) (string, string, error) {
		sv, err := in.Services.AddService(ctx, r.trimmedField("name"), r.trimmedField("description"))
		return string(sv.ID), sv.Name, err
	})
}

// loadService returns the service that the address names.
func (c *Console) loadService(r *request) cyber.Service {
	for _, sv := range callRule(r, c.Rules.Services.ListServices) {
		if string(sv.ID) == r.PathValue("id") {
			return sv
		}
	}
	r.keepFailure(cyber.ErrServiceNotFound)
	return cyber.Service{}
}

// showService shows a service with its triage questions and its free slots.
func showService(c *Console, r *request) (answer, error) {
	sv := c.loadService(r)
	return view{"service", sv.Name, servicePage{sv, callRuleWith(r, c.Rules.Cases.ListQuestions, sv.ID), callRuleWith(r, c.Rules.Cases.ListSlots, sv.ID)}}, nil
}

// saveService changes a service; a service whose box "offered" is not ticked is retired.
func saveService(c *Console, r *request) (answer, error) {
	position := r.readNumber("position", 0)
	return c.changeAndRedirect(r, "service.edit", redirect{"/services/" + url.PathEscape(r.PathValue("id")), "service.saved"}, func(ctx context.Context, in *Rules) (string, string, error) {
		sv, err := in.Services.EditService(ctx, cyber.ServiceID(r.PathValue("id")), func(sv *cyber.Service) {
			sv.Name, sv.Description, sv.Position, sv.Retired = r.trimmedField("name"), r.trimmedField("description"), int64(position), !r.PostForm.Has("offered")
		})
		return r.PathValue("id"), sv.Name, err
	})
}

// retireService stops offering a service for new cases.
func retireService(c *Console, r *request) (answer, error) {
	return c.changeAndRedirect(r, "service.retire", redirect{"/services", "service.retired"}, func(ctx context.Context, in *Rules) (string, string, error) {
		sv, err := in.Services.RetireService(ctx, cyber.ServiceID(r.PathValue("id")))
		return string(sv.ID), sv.Name, err
	})
}

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
