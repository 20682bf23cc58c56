package main

import (
	"context"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/partner"
)

// messageListCmd is 'vigia message list'. With --partner it shows the texts that the partner's people get.
type messageListCmd struct {
	Partner string `placeholder:"PARTNER" help:"As they count for this partner."`
	Lang    string `default:"pt-BR" enum:"pt-BR,es,en" help:"pt-BR, es or en."`
}

func (l *messageListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if l.Partner != "" {
		if _, err := a.Partners.PartnerByID(ctx, partner.ID(l.Partner)); err != nil {
			return err
		}
	}
	all, err := a.Messages.ListTemplates(ctx, partner.ID(l.Partner))
	if err != nil {
		return err
	}
	var rows []record
	for _, t := range all {
		if string(t.Language) == l.Lang {
			rows = append(rows, viewMessage(t))
		}
	}
	return o.listRecords(rows, "No text.", "event", "channel", "lang", "origin")
}

// viewMessage returns a message text as a record of output; origin says who wrote it.
func viewMessage(t message.Template) record {
	return newRecord(
		"event", t.Event,
		"channel", t.Channel,
		"lang", t.Language,
		"origin", t.Origin,
		"subject", t.Subject,
		"text", t.Text,
	)
}
