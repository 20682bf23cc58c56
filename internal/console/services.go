package console

import (
	"context"
	"net/url"

	"github.com/vigiahq/vigia/internal/cyber"
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
func (c *Console) loadService(r *request) (cyber.Service, error) {
	all, err := c.Rules.Services.ListServices(r.Context())
	if err != nil {
		return cyber.Service{}, err
	}
	for _, sv := range all {
		if string(sv.ID) == r.PathValue("id") {
			return sv, nil
		}
	}
	return cyber.Service{}, cyber.ErrServiceNotFound
}

// showService shows a service with its triage questions and its free slots.
func showService(c *Console, r *request) (answer, error) {
	sv, err := c.loadService(r)
	if err != nil {
		return nil, err
	}
	page := servicePage{Service: sv}
	if page.Questions, err = c.Rules.Cases.ListQuestions(r.Context(), sv.ID); err != nil {
		return nil, err
	}
	if page.Slots, err = c.Rules.Cases.ListSlots(r.Context(), sv.ID); err != nil {
		return nil, err
	}
	return view{"service", sv.Name, page}, nil
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
