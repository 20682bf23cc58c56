package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/webhook"
)

var pastServices = []cyber.ServiceID{"sv_ajuda_phishing", "sv_recuperacao_conta", "sv_apoio_vazamento", "sv_compra_segura"}

const pastQuestion = "Quando você percebeu?"

// pastCase is a case and the day on which it was opened.
type pastCase struct {
	cyber.CaseKey
	ago int
	// way is which of the lives of cases it has.
	way int
}

// openCases opens those of the day.
func (p *past) openCases(ctx context.Context, ago int) error {
	for range 1 + ago%3 {
		i := len(p.cases)
		user := p.userHash(i * 3 % p.people)
		opened, err := p.Cases.OpenCase(ctx, p.partner.ID, cyber.CaseRequest{
			Service: pastServices[i%len(pastServices)], User: user,
			Answers: []cyber.TriageAnswer{{Question: pastQuestion, Answer: "Esta semana", JSON: `{"question":"` + pastQuestion + `","answer":"Esta semana"}`}},
		})
		if err != nil {
			return err
		}
		p.cases = append(p.cases, &pastCase{cyber.CaseKey{ID: opened.ID, Partner: p.partner.ID, User: user}, ago, i % 6})
		if err := p.deliverDue(ctx); err != nil {
			return err
		}
		p.clock.passTime(7 * time.Minute)
	}
	return nil
}

// workOnCases takes every case on that has something to happen at its age in days.
func (p *past) workOnCases(ctx context.Context, ago int) error {
	for i, c := range p.cases {
		actor := pastStaff[i%len(pastStaff)]
		if err := p.workOnCase(ctx, c, c.ago-ago, actor); err != nil {
			return err
		}
	}
	return nil
}

// workOnCase plays one day of a case: most are done in time, some late, some wait for the person, some are left.
func (p *past) workOnCase(ctx context.Context, c *pastCase, age int, actor string) error {
	switch {
	case age == 1 && c.way < 5:
		if err := p.takeUpCase(ctx, c, actor); err != nil || c.way > 2 {
			return err
		}
		return p.finishCase(ctx, c, actor)
	case age == 4 && c.way == 3, age == 5 && c.way == 4:
		return p.finishCase(ctx, c, actor)
	case age == 2 && c.way == 4:
		_, err := p.Cases.MoveCase(ctx, c.ID, cyber.CaseWaiting, actor, "Pedi os cabeçalhos da mensagem.")
		return err
	case age == 6 && c.way == 5:
		_, err := p.Cases.CancelCase(ctx, c.CaseKey, "Já resolvi com o banco.")
		return err
	}
	return nil
}

// takeUpCase has an attendant take a case.
func (p *past) takeUpCase(ctx context.Context, c *pastCase, actor string) error {
	_, err := p.Cases.AssignCase(ctx, c.ID, actor)
	if err == nil {
		_, err = p.Cases.MoveCase(ctx, c.ID, cyber.CaseInProgress, actor, "Primeiro contato feito.")
	}
	if err == nil {
		_, err = p.Cases.AddReply(ctx, c.ID, actor, "Olá! Já estamos olhando o seu caso. Não clique em links da mensagem que recebeu.")
	}
	return err
}

// finishCase has an attendant resolve a case.
func (p *past) finishCase(ctx context.Context, c *pastCase, actor string) error {
	if _, err := p.Cases.MoveCase(ctx, c.ID, cyber.CaseResolved, actor, "Senhas trocadas e segunda etapa ligada."); err != nil {
		return err
	}
	if c.way%2 == 0 {
		if _, err := p.Cases.RateCase(ctx, c.CaseKey, 4+c.way%3%2, "Obrigada!"); err != nil {
			return err
		}
	}
	return nil
}

// pastOutside stands for the partner's systems as they answered then.
type pastOutside struct {
	clock *pastClock
	today time.Time
	asked atomic.Int64
}

// isDown reports whether a system does not work: one was down for four days, and is again since yesterday.
func (o *pastOutside) isDown(path string) bool {
	ago := o.today.Sub(o.clock.currentTime())
	return path == brokenPath && (ago > 12*24*time.Hour && ago < 16*24*time.Hour || ago < 26*time.Hour)
}

// RoundTrip answers after the time that a server takes.
func (o *pastOutside) RoundTrip(req *http.Request) (*http.Response, error) {
	_ = req.Body.Close() // what it says is of no interest here
	n := o.asked.Add(1)
	o.clock.passTime(time.Duration(80+n*37%240) * time.Millisecond)
	status, answer := http.StatusOK, "ok"
	if o.isDown(req.URL.Path) {
		status, answer = http.StatusServiceUnavailable, "em manutenção"
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: req}, nil
}

// pastPatience is how long deliveries are waited for that do not come: those of a receiver that failed too often wait for an
// hour that the past may not reach.
const pastPatience = 40 * time.Millisecond

// deliverDue sends what is due, as a worker does.
func (p *past) deliverDue(ctx context.Context) error {
	due, err := p.Store.Alerts.DueEndpoints(ctx)
	if err != nil || len(due) == 0 {
		return err
	}
	d := alert.NewDispatcher(p.Store.Alerts, &http.Client{Transport: p.outside}, p.clock.currentTime, slog.New(slog.DiscardHandler), alert.DispatcherOptions{
		Poll: 5 * time.Millisecond, NextTry: webhook.NewSchedule(func() float64 { return 0.5 }).NextAttempt,
	})
	running, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() { d.Run(running); close(over) }()
	defer func() { stop(); <-over }()
	asked, quiet := p.outside.asked.Load(), time.Now()
	for len(due) > 0 && ctx.Err() == nil && time.Since(quiet) < pastPatience {
		time.Sleep(2 * time.Millisecond)
		p.clock.passTime(20 * time.Millisecond) // the dispatcher looks at its own clock to look again
		if n := p.outside.asked.Load(); n != asked {
			asked, quiet = n, time.Now()
		}
		if due, err = p.Store.Alerts.DueEndpoints(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}
