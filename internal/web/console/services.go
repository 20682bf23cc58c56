package console

import (
	"context"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// listServices shows all support services, retired ones included.
func listServices(c *Console, r *request) (answer, error) {
	all, err := c.Rules.Services.ListServices(r.Context())
	return view{"services", "Serviços de atendimento", all}, err
}

// addService creates a support service that people can open cases for.
func addService(c *Console, r *request) (answer, error) {
	return c.changeAndRedirect(
		r,
		"service.add",
		redirect{"/services", "service.added"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			sv, err := in.Services.AddService(ctx, r.trimmedField("name"), r.trimmedField("description"))
			return string(sv.ID), sv.Name, err
		},
	)
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
var saveService = changeHandler("service.edit", "id", "/services/{id}", "service.saved", func(r *request, in *Rules, id cyber.ServiceID) (string, error) {
	position := r.readNumber("position", 0)
	sv, err := in.Services.EditService(r.Context(), id, func(sv *cyber.Service) {
		sv.Name, sv.Description, sv.Position, sv.Retired = r.trimmedField("name"), r.trimmedField("description"), int64(position), !r.PostForm.Has("offered")
	})
	return sv.Name, err
})

// retireService stops offering a service for new cases.
var retireService = changeHandler(
	"service.retire",
	"id",
	"/services",
	"service.retired",
	func(r *request, in *Rules, id cyber.ServiceID) (string, error) {
		sv, err := in.Services.RetireService(r.Context(), id)
		return sv.Name, err
	},
)

// servicePage is a service with what it asks and when it is there.
type servicePage struct {
	cyber.Service
	Questions []cyber.Question
	Slots     []cyber.Slot
}

// setTarget sets the working time for new cases of a service; 0 means none. Hours may have a decimal comma.
var setTarget = changeService("case.target", "service.target", func(r *request, in *Rules, id cyber.ServiceID) error {
	hours, err := time.ParseDuration(strings.Replace(r.trimmedField("hours"), ",", ".", 1) + "h")
	if err != nil || hours < 0 {
		return cyber.ErrServiceInvalid.With("hours", fault.HoursOrNone)
	}
	return in.Cases.SetTargetTime(r.Context(), id, hours)
})

// addQuestion adds a triage question that people answer when they open a case; without options the answer is free
// text.
var addQuestion = changeService(
	"case.question.add",
	"service.question",
	func(r *request, in *Rules, id cyber.ServiceID) error {
		_, err := in.Cases.AddQuestion(
			r.Context(),
			id,
			r.trimmedField("question"),
			r.PostForm.Has("required"),
			splitLines(r.trimmedField("options")),
		)
		return err
	},
)

// removeQuestion removes a triage question.
var removeQuestion = changeService(
	"case.question.remove",
	"service.question_removed",
	func(r *request, in *Rules, _ cyber.ServiceID) error {
		return in.Cases.DeleteQuestion(r.Context(), cyber.QuestionID(r.PathValue("question")))
	},
)

// addServiceSlots adds times to a service's calendar.
var addServiceSlots = changeService(
	"case.slot.add",
	"service.slots",
	func(r *request, in *Rules, id cyber.ServiceID) error {
		var times []time.Time
		for _, line := range splitLines(r.trimmedField("slots")) {
			t, err := parseMoment("slots", line)
			if err != nil {
				return cyber.ErrServiceInvalid.With("slots", fault.MomentPerLine)
			}
			times = append(times, t)
		}
		only := partner.ID(r.trimmedField("partner"))
		if only != "" {
			if _, err := in.Partners.GetPartner(r.Context(), only); err != nil {
				return err
			}
		}
		_, err := in.Cases.AddFreeSlots(r.Context(), id, only, times)
		return err
	},
)

// removeSlot deletes a free slot.
var removeSlot = changeService(
	"case.slot.remove",
	"service.slot_removed",
	func(r *request, in *Rules, _ cyber.ServiceID) error {
		return in.Cases.DeleteSlot(r.Context(), cyber.SlotID(r.PathValue("slot")))
	},
)

// changeService makes the handler of a change of the service in the path.
func changeService(action, done string, change func(r *request, in *Rules, id cyber.ServiceID) error) handler {
	return changeHandler(
		action,
		"id",
		"/services/{id}",
		done,
		func(r *request, in *Rules, id cyber.ServiceID) (string, error) {
			return "", change(r, in, id)
		},
	)
}
