package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
)

// watchValue adds a value of a kind that partners do not add themselves.
func watchValue(c *Console, r *request) (answer, error) {
	p, who, err := c.personNamed(r)
	if err != nil {
		return nil, err
	}
	asked := cyber.AssetRequest{
		Owner: cyber.Owner{Partner: p.ID, Mode: p.Mode},
		User:  who.User,
		Group: cyber.OperatorAdds,
		Type:  r.trimmedField("type"),
		Value: r.trimmedField("value"),
	}
	next := redirect{c.personPath(p.ID, who.User), "asset.added"}
	return c.changeAndRedirect(r, "asset.add", next, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Monitoring.AddAsset(ctx, asked)
		return in.Subjects.Reference(who), asked.Type, err
	})
}

// openCaseForPerson opens a case in the name of a person who calls.
func openCaseForPerson(c *Console, r *request) (answer, error) {
	p, who, err := c.parsePerson(r)
	if err != nil {
		return nil, err
	}
	asked := cyber.CaseRequest{Service: cyber.ServiceID(r.trimmedField("service")), User: who.User}
	var opened cyber.Case
	err = c.changeWithAudit(r, "case.open", func(ctx context.Context, in *Rules) (string, string, error) {
		var err error
		opened, err = in.Cases.OpenCaseByPhone(ctx, p.ID, asked)
		return string(opened.ID), string(p.ID), err
	})
	if err != nil {
		return nil, err
	}
	return redirect{joinPath("cases", opened.ID), "case.opened"}, nil
}
