package main

import (
	"context"
	"fmt"
	"io"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/message"
	"github.com/vigiahq/vigia/internal/partner"
)

type messageCmd struct {
	List  messageListCmd  `cmd:"" help:"List the texts, and whose each is."`
	Show  messageShowCmd  `cmd:"" help:"Show one text, and a message made of it with made-up values."`
	Set   messageSetCmd   `cmd:"" help:"Write a text of your own, for everybody or for one partner."`
	Reset messageResetCmd `cmd:"" help:"Forget a text of your own."`
}

// messageKey names a text on the command line.
type messageKey struct {
	Event   string `arg:"" help:"Type of the event, such as epp.key_ended."`
	Channel string `required:"" enum:"email,sms,whatsapp,push" help:"email, sms, whatsapp or push."`
	Lang    string `default:"pt-BR" enum:"pt-BR,es,en" help:"pt-BR, es or en."`
	Partner string `placeholder:"PARTNER" help:"For this partner alone; everybody when left out."`
}

func (k messageKey) key() message.Key {
	return message.Key{Event: alert.Type(k.Event), Channel: message.Channel(k.Channel), Language: partner.Language(k.Lang)}
}

type messageView struct {
	Event   string `json:"event"`
	Channel string `json:"channel"`
	Lang    string `json:"lang"`
	Origin  string `json:"origin"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	// Preview is the message with made-up values.
	Preview string `json:"preview,omitempty"`
}

func viewMessage(t message.Template) messageView {
	return messageView{
		Event: string(t.Event), Channel: string(t.Channel), Lang: string(t.Language), Origin: string(t.Origin), Subject: t.Subject, Text: t.Text,
	}
}

type messageListCmd struct {
	Partner string `placeholder:"PARTNER" help:"As they count for this partner."`
	Lang    string `default:"pt-BR" enum:"pt-BR,es,en" help:"pt-BR, es or en."`
}

// Help shows examples.
func (messageListCmd) Help() string { return "Example:\n  vigia message list --lang es" }

// Run lists the texts.
func (l *messageListCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		all, err := a.Messages.All(ctx, partner.ID(l.Partner))
		if err != nil {
			return err
		}
		t := table[messageView]{heading: "EVENT\tCHANNEL\tLANG\tORIGIN"}
		for _, one := range all {
			if string(one.Language) == l.Lang {
				v := viewMessage(one)
				t.add(v, v.Event, v.Channel, v.Lang, v.Origin)
			}
		}
		return t.print(o)
	})
}

func (o *output) message(t message.Template) error {
	m, err := message.Preview(t)
	if err != nil {
		return err
	}
	v := viewMessage(t)
	v.Preview = m.Text
	return o.print(v, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "Event    %s\nChannel  %s\nLang     %s\nOrigin   %s\nSubject  %s\n\n%s\n\nPreview\n\n%s\n", v.Event, v.Channel, v.Lang, v.Origin, v.Subject, v.Text, v.Preview)
	})
}

type messageShowCmd struct {
	messageKey
}

// Help shows examples.
func (messageShowCmd) Help() string {
	return "Example:\n  vigia message show epp.key_ended --channel sms"
}

// Run shows a text.
func (s *messageShowCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		t, err := a.Messages.Show(ctx, partner.ID(s.Partner), s.key())
		if err != nil {
			return err
		}
		return o.message(t)
	})
}

type messageSetCmd struct {
	messageKey
	Subject string `placeholder:"TEXT" help:"Subject of an e-mail, title of a push."`
	Text    string `required:"" placeholder:"TEXT" help:"The text; may hold the words in braces that docs/messages.md lists for the event."`
}

// Help shows examples.
func (messageSetCmd) Help() string {
	return "Words that could hold a personal value do not exist, and a text that could become too long is refused.\n\n" +
		"Example:\n  vigia message set epp.key_ended --channel sms --text '{parceiro}: sua chave ({sistema}) terminou: {motivo}.'"
}

// Run keeps a text.
func (s *messageSetCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		id := partner.ID(s.Partner)
		if err := a.Messages.Set(ctx, id, message.Template{Key: s.key(), Subject: s.Subject, Text: s.Text}); err != nil {
			return err
		}
		t, err := a.Messages.Show(ctx, id, s.key())
		if err != nil {
			return err
		}
		return o.message(t)
	})
}

type messageResetCmd struct {
	messageKey
}

// Help shows examples.
func (messageResetCmd) Help() string {
	return "Example:\n  vigia message reset epp.key_ended --channel sms --partner pt_..."
}

// Run forgets a text.
func (s *messageResetCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		if err := a.Messages.Reset(ctx, partner.ID(s.Partner), s.key()); err != nil {
			return err
		}
		t, err := a.Messages.Show(ctx, partner.ID(s.Partner), s.key())
		if err != nil {
			return err
		}
		return o.message(t)
	})
}
