package main

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// caseListCmd is 'vigia case list'. Its flags narrow the list and can be combined.
type caseListCmd struct {
	Partner  string `placeholder:"ID" help:"Only of this partner."`
	Service  string `placeholder:"ID" help:"Only for this service."`
	Status   string `placeholder:"STATUS" help:"Only in this status, such as em-andamento."`
	Assignee string `placeholder:"NAME" help:"Only of this person."`
	Open     bool   `help:"Only those that are not closed."`
	Limit    int    `default:"50" help:"At most so many."`
}

func (caseListCmd) Help() string {
	return "Examples:\n  vigia case list --open --service sv_ajuda_phishing\n  vigia case list --status " +
		"aguardando-cliente --json"
}

func (l *caseListCmd) Run(ctx context.Context, a *app.App, o *output) (err error) {
	f := cyber.CaseFilter{
		Partner:  partner.ID(l.Partner),
		Service:  cyber.ServiceID(l.Service),
		Assignee: l.Assignee,
		OpenOnly: l.Open,
		Limit:    max(l.Limit, 1),
	}
	if l.Status != "" {
		if f.Status, err = cyber.ParseCaseStatus(l.Status); err != nil {
			return err
		}
	}
	if f.Partner != "" {
		if _, err := a.Partners.PartnerByID(ctx, f.Partner); err != nil {
			return err
		}
	}
	now := a.Now()
	found, err := a.Cases.ListCases(ctx, f)
	if err != nil {
		return err
	}
	return o.listRecords(makeRecords(found, func(c cyber.Case) record {
		due, _ := c.Clock.Due()
		return newRecord(
			"case_id", c.ID,
			"partner_id", c.Partner,
			"service_id", c.Service,
			"status", c.Status,
			"assignee", c.Assignee,
			"booked", c.Booked,
			"time_used", c.Clock.UsedAt(now).Round(time.Second),
			"time_target", c.Clock.Target,
			"due", due,
			"late", c.Clock.Late(now),
			"created_at", c.CreatedAt,
			"changed_at", c.ChangedAt,
		)
	}), "No case.", "case_id", "created_at", "status", "service_id", "assignee", "due", "late")
}
