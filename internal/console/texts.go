package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/message"
	"github.com/vigiahq/vigia/internal/partner"
)

// textsPage are the texts of events, by type, as they count for a partner or for everybody.
type textsPage struct {
	Partners []partner.Partner
	Partner  partner.ID
	Lang     partner.Language
	Langs    []partner.Language
	Channels []message.Channel
	Events   []textsOfEvent
}

type textsOfEvent struct {
	Type  alert.Type
	Texts []message.Template
}

func listTexts(c *Console, r *request) (answer, error) {
	page := textsPage{Partner: partner.ID(r.FormValue("partner")), Langs: partner.Languages(), Channels: message.Channels()}
	var err error
	if page.Lang, err = partner.ParseLanguage(r.FormValue("lang")); err != nil {
		return nil, err
	}
	if page.Partners, err = c.Rules.Partners.Partners(r.Context()); err != nil {
		return nil, err
	}
	all, err := c.Rules.Messages.All(r.Context(), page.Partner)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Language != page.Lang {
			continue
		}
		if n := len(page.Events); n == 0 || page.Events[n-1].Type != t.Event {
			page.Events = append(page.Events, textsOfEvent{Type: t.Event})
		}
		last := &page.Events[len(page.Events)-1]
		last.Texts = append(last.Texts, t)
	}
	return view{"texts", "Mensagens", page}, nil
}

// textPage is one text, what it may name, and how it looks.
type textPage struct {
	message.Template
	Partner     partner.ID
	PartnerName string
	Words       []message.Word
	Preview     message.Message
}

// Titled tells whether the channel has a subject.
func (p textPage) Titled() bool { return p.Channel == message.Email || p.Channel == message.Push }

// Own tells whether there is something to take back here.
func (p textPage) Own() bool {
	return p.Origin == message.ForPartner || p.Origin == message.ByOperator && p.Partner == ""
}

func textKey(r *request) message.Key {
	return message.Key{Event: alert.Type(r.PathValue("event")), Channel: message.Channel(r.PathValue("channel")), Language: partner.Language(r.PathValue("lang"))}
}

func showText(c *Console, r *request) (answer, error) {
	t, err := c.Rules.Messages.Show(r.Context(), partner.ID(r.FormValue("partner")), textKey(r))
	if err != nil {
		return nil, err
	}
	return c.textView(r, t)
}

func (c *Console) textView(r *request, t message.Template) (answer, error) {
	page := textPage{Template: t, Partner: partner.ID(r.FormValue("partner")), Words: message.Words(t.Event)}
	names, err := c.names(r)
	if err != nil {
		return nil, err
	}
	page.PartnerName = names[page.Partner]
	if page.Preview, err = message.Preview(t); err != nil {
		return nil, err
	}
	return view{"text", "Mensagem", page}, nil
}

func saveText(c *Console, r *request) (answer, error) {
	t, id := message.Template{Key: textKey(r), Subject: r.text("subject"), Text: r.PostFormValue("text")}, partner.ID(r.FormValue("partner"))
	if r.PostForm.Has("preview") {
		if err := t.Check(); err != nil {
			return nil, err
		}
		return c.textView(r, t)
	}
	err := c.change(r, "message.set", func(ctx context.Context, in *Rules) (string, string, error) {
		return textSubject(t.Key, id), "", in.Messages.Set(ctx, id, t)
	})
	if err != nil {
		return nil, err
	}
	return redirect{textPath(t.Key, id), "text.saved"}, nil
}

func resetText(c *Console, r *request) (answer, error) {
	k, id := textKey(r), partner.ID(r.FormValue("partner"))
	err := c.change(r, "message.reset", func(ctx context.Context, in *Rules) (string, string, error) {
		return textSubject(k, id), "", in.Messages.Reset(ctx, id, k)
	})
	if err != nil {
		return nil, err
	}
	return redirect{textPath(k, id), "text.reset"}, nil
}

// textSubject is how the audit trail names a text.
func textSubject(k message.Key, id partner.ID) string {
	name := string(k.Event) + " " + string(k.Channel) + " " + string(k.Language)
	if id != "" {
		name += " " + string(id)
	}
	return name
}

func textPath(k message.Key, id partner.ID) string {
	path := at("messages", string(k.Event), string(k.Channel), string(k.Language))
	if id != "" {
		path += "?partner=" + string(id)
	}
	return path
}
