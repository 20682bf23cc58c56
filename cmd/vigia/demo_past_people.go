package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// userHash returns the user hash of a person.
func (p *past) userHash(n int) partner.UserHash {
	return partner.UserHash(client.UserHash(makePerson(n).CPF, p.salt))
}

// enrolPeople takes some people in and watches what is theirs.
func (p *past) enrolPeople(ctx context.Context, ago int) error {
	first := p.people
	p.people += 2 + ago*3%5
	var lines strings.Builder
	for n := first; n < p.people; n++ {
		lines.WriteString(subscriptionItem(makePerson(n), p.clock.currentTime().Format("2006-01-02")) + "\n")
	}
	report, err := p.Subscriptions.ImportFile(
		ctx,
		p.partner,
		subscription.NewJSONLines(strings.NewReader(lines.String())),
		false,
		func(r subscription.Reject) error { return fmt.Errorf("line %d is refused: %v", r.Line, r.Problems) },
		func(subscription.ImportReport) {},
	)
	if err != nil {
		return err
	}
	if report.Created != p.people-first {
		return fmt.Errorf("enrolled %d of %d", report.Created, p.people-first)
	}
	for n := first; n < p.people; n++ {
		if err := p.protectPerson(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// protectPerson watches the values of a person; every third person has an antivirus key, too.
func (p *past) protectPerson(ctx context.Context, n int) error {
	who, owner := makePerson(n), cyber.Owner{Partner: p.partner.ID, Mode: p.partner.Mode}
	wanted := []cyber.AssetRequest{
		{Owner: owner, User: p.userHash(n), Type: "email", Value: who.Email},
		{Owner: owner, User: p.userHash(n), Type: "cpf", Value: who.CPF},
	}
	if n%2 == 1 {
		wanted = append(wanted, cyber.AssetRequest{
			Owner: owner,
			User:  p.userHash(n),
			Type:  "phone",
			Value: who.Phone,
		})
	}
	for _, request := range wanted {
		if _, err := p.Monitoring.AddAsset(ctx, request); err != nil {
			return err
		}
	}
	if n%3 == 0 {
		_, err := p.Endpoints.IssueKey(ctx, p.partner.ID, cyber.DeviceRequest{
			User:   p.userHash(n),
			System: cyber.ListSystems()[n%4],
			Name:   "Aparelho de " + who.Name,
		})
		if err != nil {
			return err
		}
	}
	return p.keepScores(ctx, n)
}

// keepScores has the scores of people kept for the day.
func (p *past) keepScores(ctx context.Context, people ...int) error {
	for _, n := range people {
		if _, err := p.persons.ComputeScore(ctx, p.partner.ID, p.userHash(n)); err != nil {
			return err
		}
	}
	return nil
}
