package main

import (
	"context"
	"fmt"
	"io"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/cyber"
)

type serviceCmd struct {
	Add    serviceAddCmd    `cmd:"" help:"Add a support service."`
	List   serviceListCmd   `cmd:"" help:"List the catalogue."`
	Edit   serviceEditCmd   `cmd:"" help:"Change a service."`
	Retire serviceRetireCmd `cmd:"" help:"Take a service out of the offer; its cases stay."`
}

type serviceView struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Position    int64  `json:"position"`
	Retired     bool   `json:"retired"`
}

func viewService(s cyber.Service) serviceView {
	return serviceView{ID: string(s.ID), Name: s.Name, Description: s.Description, Position: s.Position, Retired: s.Retired}
}

func (o *output) service(s cyber.Service) error {
	return o.print(viewService(s), func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "Service  %s\nName     %s\nText     %s\nRetired  %t\n", s.ID, s.Name, s.Description, s.Retired)
	})
}

type serviceAddCmd struct {
	Name        string `required:"" placeholder:"NAME" help:"What people see."`
	Description string `required:"" placeholder:"TEXT" help:"What the service does, in Portuguese."`
}

// Help shows examples.
func (serviceAddCmd) Help() string {
	return "Example:\n  vigia service add --name 'Backup na nuvem' --description 'Ajudamos a guardar suas fotos com segurança.'"
}

// Run adds a service.
func (s *serviceAddCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		sv, err := a.Services.Add(ctx, s.Name, s.Description)
		if err != nil {
			return err
		}
		return o.service(sv)
	})
}

type serviceListCmd struct{}

// Run lists the catalogue.
func (serviceListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		all, err := a.Services.All(ctx)
		if err != nil {
			return err
		}
		t := table[serviceView]{heading: "SERVICE\tRETIRED\tNAME"}
		for _, sv := range all {
			t.add(viewService(sv), string(sv.ID), sv.Retired, sv.Name)
		}
		return t.print(o)
	})
}

type serviceEditCmd struct {
	ID          string  `arg:"" name:"service" help:"The service's id."`
	Name        *string `placeholder:"NAME" help:"New name."`
	Description *string `placeholder:"TEXT" help:"New description."`
	Position    *int64  `placeholder:"N" help:"Place in the list; lower comes first."`
	Offer       *bool   `negatable:"" help:"Offer it again, or not."`
}

// Run edits a service.
func (s *serviceEditCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		sv, err := a.Services.Edit(ctx, cyber.ServiceID(s.ID), func(sv *cyber.Service) {
			set(&sv.Name, s.Name)
			set(&sv.Description, s.Description)
			set(&sv.Position, s.Position)
			if s.Offer != nil {
				sv.Retired = !*s.Offer
			}
		})
		if err != nil {
			return err
		}
		return o.service(sv)
	})
}

type serviceRetireCmd struct {
	ID string `arg:"" name:"service" help:"The service's id."`
}

// Run retires a service.
func (s *serviceRetireCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		sv, err := a.Services.Retire(ctx, cyber.ServiceID(s.ID))
		if err != nil {
			return err
		}
		return o.service(sv)
	})
}
