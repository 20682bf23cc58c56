package main

import (
	"context"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// pastMove is what happens to a case so many days after it was opened: take, wait, resolve or cancel.
type pastMove struct {
	Day   int    `json:"day"`
	Do    string `json:"do"`
	Stars int    `json:"stars"`
}

// pastCase is a case, the day on which it was opened and what happens to it.
type pastCase struct {
	cyber.CaseKey
	openedDaysAgo int
	life          []pastMove
	attendant     string
}

// openCases opens those of the day.
func (p *past) openCases(ctx context.Context, ago int) error {
	answer := cyber.TriageAnswer{
		Question: p.plan.Question,
		Answer:   p.plan.Answer,
		JSON:     fmt.Sprintf(`{"question":%q,"answer":%q}`, p.plan.Question, p.plan.Answer),
	}
	for range 1 + ago%3 {
		i := len(p.cases)
		user := p.userHash(i * 3 % p.people)
		opened, err := p.Cases.OpenCase(ctx, p.partner.ID, cyber.CaseRequest{
			Service: p.plan.Services[i%len(p.plan.Services)],
			User:    user,
			Answers: []cyber.TriageAnswer{answer},
		})
		if err != nil {
			return err
		}
		p.cases = append(p.cases, pastCase{
			CaseKey:       cyber.CaseKey{ID: opened.ID, Partner: p.partner.ID, User: user},
			openedDaysAgo: ago,
			life:          p.plan.CaseLives[i%len(p.plan.CaseLives)],
			attendant:     p.plan.Staff[i%len(p.plan.Staff)],
		})
		if err := p.deliverDue(ctx); err != nil {
			return err
		}
		p.clock.passTime(7 * time.Minute)
	}
	return nil
}

// workOnCases makes the moves of all cases that are due at their age in days.
func (p *past) workOnCases(ctx context.Context, ago int) error {
	for _, c := range p.cases {
		for _, move := range c.life {
			if move.Day != c.openedDaysAgo-ago {
				continue
			}
			if err := p.moveCase(ctx, c, move); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *past) moveCase(ctx context.Context, c pastCase, move pastMove) error {
	switch move.Do {
	case "take":
		if _, err := p.Cases.AssignCase(ctx, c.ID, c.attendant); err != nil {
			return err
		}
		note := "Primeiro contato feito."
		if _, err := p.Cases.MoveCase(ctx, c.ID, cyber.CaseInProgress, c.attendant, note); err != nil {
			return err
		}
		reply := "Olá! Já estamos olhando o seu caso. Não clique em links da mensagem que recebeu."
		_, err := p.Cases.AddReply(ctx, c.ID, c.attendant, reply)
		return err
	case "wait":
		_, err := p.Cases.MoveCase(ctx, c.ID, cyber.CaseWaiting, c.attendant, "Pedi os cabeçalhos da mensagem.")
		return err
	case "resolve":
		note := "Senhas trocadas e segunda etapa ligada."
		if _, err := p.Cases.MoveCase(ctx, c.ID, cyber.CaseResolved, c.attendant, note); err != nil {
			return err
		}
		if move.Stars == 0 {
			return nil
		}
		_, err := p.Cases.RateCase(ctx, c.CaseKey, move.Stars, "Obrigada!")
		return err
	case "cancel":
		_, err := p.Cases.CancelCase(ctx, c.CaseKey, "Já resolvi com o banco.")
		return err
	default:
		return fmt.Errorf("demo_past.json: a case cannot %q", move.Do)
	}
}
