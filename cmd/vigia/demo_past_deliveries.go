package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
)

// pastOutage is a time in which the partner's second receiver does not work.
type pastOutage struct {
	FromHoursAgo int `json:"fromHoursAgo"`
	ToHoursAgo   int `json:"toHoursAgo"`
}

// pastOutside stands for the partner's systems as they answered then.
type pastOutside struct {
	clock   *pastClock
	today   time.Time
	outages []pastOutage
	asked   atomic.Int64
}

// isDown reports whether a system does not work.
func (o *pastOutside) isDown(path string) bool {
	ago := o.today.Sub(o.clock.currentTime())
	return path == brokenPath && slices.ContainsFunc(o.outages, func(out pastOutage) bool {
		return ago < time.Duration(out.FromHoursAgo)*time.Hour && ago > time.Duration(out.ToHoursAgo)*time.Hour
	})
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
	return &http.Response{
		StatusCode: status,
		Header:     http.Header{},
		Body:       io.NopCloser(strings.NewReader(answer)),
		Request:    req,
	}, nil
}

// pastPatience is how long deliveries are waited for that do not come: those of a receiver that failed too often wait
// for an hour that the past may not reach.
const pastPatience = 40 * time.Millisecond

// deliverDue sends what is due, as a worker does.
func (p *past) deliverDue(ctx context.Context) error {
	due, err := p.Store.Alerts.DueEndpoints(ctx)
	if err != nil || len(due) == 0 {
		return err
	}
	d := alert.NewDispatcher(
		p.Store.Alerts,
		&http.Client{Transport: p.outside},
		p.clock.currentTime,
		slog.New(slog.DiscardHandler),
		alert.DispatcherOptions{
			Poll:    5 * time.Millisecond,
			NextTry: webhook.NewSchedule(func() float64 { return 0.5 }).NextAttempt,
		},
	)
	running, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		d.Run(running)
		close(over)
	}()
	defer func() {
		stop()
		<-over
	}()
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
