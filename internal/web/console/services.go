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
	return newView("services", "Serviços de atendimento", all, err)
}

// addService creates a support service that people can open cases for.
func addService(c *Console, r *request) (answer, error) {
	next := redirect{"/services", "service.added"}
	return c.changeAndRedirect(r, "service.add", next, func(ctx context.Context, in *Rules) (string, string, error) {
		sv, err := in.Services.AddService(ctx, r.trimmedField("name"), r.trimmedField("description"))
		return string(sv.ID), sv.Name, err
	})
}

// loadService returns the service that the address names.
func (c *Console) loadService(ctx context.Context, id cyber.ServiceID) (cyber.Service, error) {
	all, err := c.Rules.Services.ListServices(ctx)
	if err != nil {
		return cyber.Service{}, err
	}
	for _, sv := range all {
		if sv.ID == id {
			return sv, nil
		}
	}
	return cyber.Service{}, cyber.ErrServiceNotFound
}

// showService shows a service with its triage questions and its free slots.
func showService(c *Console, r *request) (answer, error) {
	page, err := c.gatherService(r.Context(), cyber.ServiceID(r.PathValue("id")))
	return newView("service", page.Name, page, err)
}

func (c *Console) gatherService(ctx context.Context, id cyber.ServiceID) (servicePage, error) {
	sv, err := c.loadService(ctx, id)
	if err != nil {
		return servicePage{}, err
	}
	questions, err := c.Rules.Cases.ListQuestions(ctx, sv.ID)
	if err != nil {
		return servicePage{}, err
	}
	slots, err := c.Rules.Cases.ListSlots(ctx, sv.ID)
	return servicePage{sv, questions, slots}, err
}

// saveService changes a service; a service whose box "offered" is not ticked is retired.
var saveService = changeHandler("service.edit", "id", "/services/{id}", "service.saved",
	func(r *request, in *Rules, id cyber.ServiceID) (string, error) {
		form := newFormReader(r)
		position := form.readNumber("position", 0)
		sv, err := in.Services.EditService(r.Context(), id, func(sv *cyber.Service) {
			sv.Name = r.trimmedField("name")
			sv.Description = r.trimmedField("description")
			sv.Position = int64(position)
			sv.Retired = !r.PostForm.Has("offered")
		})
		return sv.Name, form.joinFaults(err)
	})

// retireService stops offering a service for new cases.
var retireService = changeHandler("service.retire", "id", "/services", "service.retired",
	func(r *request, in *Rules, id cyber.ServiceID) (string, error) {
		sv, err := in.Services.RetireService(r.Context(), id)
		return sv.Name, err
	})

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

// addQuestion adds a triage question that people answer when they open a case; without options the answer is free text.
var addQuestion = changeService("case.question.add", "service.question",
	func(r *request, in *Rules, id cyber.ServiceID) error {
		options := splitLines(r.trimmedField("options"))
		_, err := in.Cases.AddQuestion(r.Context(), id, r.trimmedField("question"), r.PostForm.Has("required"), options)
		return err
	})

var removeQuestion = changeService("case.question.remove", "service.question_removed",
	func(r *request, in *Rules, _ cyber.ServiceID) error {
		return in.Cases.DeleteQuestion(r.Context(), cyber.QuestionID(r.PathValue("question")))
	})

// addServiceSlots adds times to a service's calendar.
var addServiceSlots = changeService("case.slot.add", "service.slots",
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
			if _, err := in.Partners.PartnerByID(r.Context(), only); err != nil {
				return err
			}
		}
		_, err := in.Cases.AddFreeSlots(r.Context(), id, only, times)
		return err
	})

var removeSlot = changeService("case.slot.remove", "service.slot_removed",
	func(r *request, in *Rules, _ cyber.ServiceID) error {
		return in.Cases.DeleteSlot(r.Context(), cyber.SlotID(r.PathValue("slot")))
	})

// changeService makes the handler of a change of the service in the path.
func changeService(action, done string, change func(r *request, in *Rules, id cyber.ServiceID) error) handler {
	return changeHandler(action, "id", "/services/{id}", done,
		func(r *request, in *Rules, id cyber.ServiceID) (string, error) { return "", change(r, in, id) })
}
