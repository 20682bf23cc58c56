package main

import (
	"context"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// eventListCmd is 'vigia event list'; with --event it shows the deliveries of that event instead.
type eventListCmd struct {
	Partner string `required:"" placeholder:"ID" help:"The partner's id."`
	Event   string `placeholder:"ID" help:"Show where this event went, try by try."`
	After   int64  `placeholder:"SEQ" help:"Begin behind this number."`
	Limit   int    `default:"100" placeholder:"N" help:"Events at most, up to 1000."`
}

func (eventListCmd) Help() string {
	return "Examples:\n  vigia event list --partner pt_... --after 2500\n  vigia event list --partner pt_... --event " +
		"evt_..."
}

func (l *eventListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if l.Event != "" {
		deliveries, tries, err := a.History.Deliveries(ctx, partner.ID(l.Partner), alert.EventID(l.Event))
		if err != nil {
			return err
		}
		return o.showRecord(newRecord("deliveries", makeRecords(deliveries, func(d alert.DeliveryStatus) record {
			return newRecord(
				"webhook", d.Endpoint,
				"state", d.State,
				"attempts", d.Attempts,
				"next_at", d.NextAt,
				"finished_at", d.FinishedAt,
			)
		}), "attempts", makeRecords(tries, func(t alert.AttemptLog) record {
			return newRecord(
				"webhook", t.Endpoint,
				"at", t.At,
				"status", t.Status,
				"failure", t.Failure,
				"milliseconds", t.Duration.Milliseconds(),
				"answer", t.Answer,
			)
		})))
	}
	found, err := a.History.ListEvents(ctx, partner.ID(l.Partner), l.After, l.Limit)
	if err != nil {
		return err
	}
	return o.listRecords(makeRecords(found, func(e alert.Kept) record {
		return newRecord("seq", e.Seq, "id", e.ID, "at", e.At, "type", e.Type, "body", e.Body)
	}), "No event.", "seq", "id", "at", "type")
}
