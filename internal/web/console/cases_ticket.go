package console

import (
	"context"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// ticket is a case as the desk shows it.
type ticket struct {
	cyber.Case
	ServiceName, PartnerName string
	Deadline                 badge
	// Name is the masked name of the person, Mark its initials; empty when the partner did not enrol them.
	Name, Mark string
	// LastWord is who wrote last and how long ago; FromPerson that it was the person, whose word waits for an answer.
	LastWord   string
	FromPerson bool
}

// deadlineOf says when a case should be resolved; its colour is bad when late, and warn when it ends today. It is the
// one definition of late and of due today, for the desk, the case and the numbers of the overview: a
// case whose clock runs and whose time is over, or over before midnight. cyber.WaitingCases counts by the same.
func deadlineOf(c cyber.Case, now time.Time) badge {
	due, running := c.Clock.Due()
	rest := due.Sub(now)
	switch {
	case !c.Status.Open():
		return badge{}
	case !running && c.Clock.Target > 0:
		return badge{Text: "Prazo parado"}
	case !running:
		return badge{Text: "Sem prazo"}
	case rest < 0:
		return badge{Kind: "bad", Text: "Atrasado há " + formatDuration(-rest)}
	case due.Before(nextMidnight(now)) && rest < 2*time.Hour:
		return badge{Kind: "warn", Text: "Vence em " + formatDuration(rest)}
	case due.Before(nextMidnight(now)):
		return badge{Kind: "warn", Text: "Vence hoje, " + due.In(brazil).Format("15:04")}
	}
	return badge{Text: "F" + formatTimeLeft(rest)[1:]}
}

// nextMidnight returns the next midnight in Brasília.
func nextMidnight(now time.Time) time.Time {
	y, m, d := now.In(brazil).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, brazil)
}

// newTickets returns cases as cards of the desk.
func (c *Console) newTickets(
	who viewer, cases []cyber.Case, services []cyber.Service, partners map[partner.ID]string,
) []ticket {
	serviceNames := map[cyber.ServiceID]string{}
	for _, s := range services {
		serviceNames[s.ID] = s.Name
	}
	tickets := make([]ticket, len(cases))
	for i, one := range cases {
		t := ticket{
			Case:        one,
			ServiceName: serviceNames[one.Service],
			PartnerName: partners[one.Partner],
			Deadline:    deadlineOf(one, c.Now()),
			FromPerson:  one.Spoke == "",
		}
		if c.confined && one.Assignee != "" { // who of the service works on a case is not for partners
			t.Assignee = theService
		}
		speaker, _, _ := strings.Cut(one.Spoke, "@")
		switch {
		case one.Spoke == "":
			speaker = "Pessoa"
		case one.Spoke == who.who.Email:
			speaker = "Você"
		case c.confined:
			speaker = theService
		}
		t.LastWord = speaker + ", há " + formatDuration(max(0, c.Now().Sub(one.SpokeAt)))
		tickets[i] = t
	}
	return tickets
}

// nameTickets puts the masked names of enrolled persons on cases.
func (c *Console) nameTickets(ctx context.Context, list []ticket) error {
	users := map[partner.ID][]partner.UserHash{}
	for _, t := range list {
		users[t.Partner] = append(users[t.Partner], t.User)
	}
	for id, of := range users {
		names, err := c.Rules.FindSubscriptions.NamesOfUsers(ctx, id, of)
		if err != nil {
			return err
		}
		for i, t := range list {
			if name := names[t.User]; t.Partner == id && name != "" {
				list[i].Name, list[i].Mark = maskPersonName(name), monogramOf(name)
			}
		}
	}
	return nil
}
