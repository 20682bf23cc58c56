package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/partner"
)

// textsPage are the texts of events, by type, as they apply to a partner or to all partners.
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

// listTexts shows the message texts of a language, by type of event; with a partner, those that the partner's people
// get.
func listTexts(c *Console, r *request) (answer, error) {
	lang, err := partner.ParseLanguage(r.FormValue("lang"))
	if err != nil {
		return nil, err
	}
	page, err := c.gatherTexts(r.Context(), partner.ID(r.FormValue("partner")), lang)
	return newView("texts", "Mensagens", page, err)
}

func (c *Console) gatherTexts(ctx context.Context, id partner.ID, lang partner.Language) (textsPage, error) {
	page := textsPage{
		Partner:  id,
		Lang:     lang,
		Langs:    partner.ListLanguages(),
		Channels: message.ListChannels(),
	}
	var err error
	page.Partners, err = c.Rules.Partners.ListPartners(ctx)
	if err != nil {
		return page, err
	}
	templates, err := c.Rules.Messages.ListTemplates(ctx, id)
	if err != nil {
		return page, err
	}
	for _, t := range templates {
		if t.Language != lang {
			continue
		}
		if n := len(page.Events); n == 0 || page.Events[n-1].Type != t.Event {
			page.Events = append(page.Events, textsOfEvent{Type: t.Event})
		}
		last := &page.Events[len(page.Events)-1]
		last.Texts = append(last.Texts, t)
	}
	return page, nil
}

// textPage is one text, what it may name, and how it looks.
type textPage struct {
	message.Template
	Partner     partner.ID
	PartnerName string
	Words       []message.Word
	Preview     message.Message
}

// Titled reports whether the channel has a subject.
func (p textPage) Titled() bool { return p.Channel == message.Email || p.Channel == message.Push }

// Own reports whether the text was written at this level, by an operator or for the partner, and so can be reset.
func (p textPage) Own() bool {
	return p.Origin == message.ForPartner || p.Origin == message.ByOperator && p.Partner == ""
}

// parseTextKey reads which text an address names.
func parseTextKey(r *request) message.Key {
	return message.Key{
		Event:    alert.Type(r.PathValue("event")),
		Channel:  message.Channel(r.PathValue("channel")),
		Language: partner.Language(r.PathValue("lang")),
	}
}

func showTextPage(c *Console, r *request) (answer, error) {
	t, err := c.Rules.Messages.GetTemplate(r.Context(), partner.ID(r.FormValue("partner")), parseTextKey(r))
	if err != nil {
		return nil, err
	}
	return c.newTextView(r, t)
}

func (c *Console) newTextView(r *request, t message.Template) (answer, error) {
	page := textPage{Template: t, Partner: partner.ID(r.FormValue("partner")), Words: message.ListWords(t.Event)}
	names, err := c.partnerNames(r.Context(), r.viewer)
	if err != nil {
		return nil, err
	}
	page.PartnerName = names[page.Partner]
	page.Preview, err = message.PreviewTemplate(t)
	return newView("text", "Mensagem", page, err)
}

// saveTextForm keeps a partner's own text.
func saveTextForm(c *Console, r *request) (answer, error) {
	t := message.Template{Key: parseTextKey(r), Subject: r.trimmedField("subject"), Text: r.PostFormValue("text")}
	id := partner.ID(r.FormValue("partner"))
	if r.PostForm.Has("preview") {
		if err := t.CheckTemplate(); err != nil {
			return nil, err
		}
		return c.newTextView(r, t)
	}
	next := redirect{pathOfText(t.Key, id), "text.saved"}
	return c.changeAndRedirect(r, "message.set", next, func(ctx context.Context, in *Rules) (string, string, error) {
		return textSubject(t.Key, id), "", in.Messages.SetTemplate(ctx, id, t)
	})
}

// resetText removes a text that an operator wrote, so that the message falls back to the default one.
func resetText(c *Console, r *request) (answer, error) {
	k, id := parseTextKey(r), partner.ID(r.FormValue("partner"))
	next := redirect{pathOfText(k, id), "text.reset"}
	return c.changeAndRedirect(r, "message.reset", next, func(ctx context.Context, in *Rules) (string, string, error) {
		return textSubject(k, id), "", in.Messages.ResetTemplate(ctx, id, k)
	})
}

// textSubject returns the name of a text in the audit trail.
func textSubject(k message.Key, id partner.ID) string {
	name := string(k.Event) + " " + string(k.Channel) + " " + string(k.Language)
	if id != "" {
		name += " " + string(id)
	}
	return name
}

// pathOfText returns the address of a text's page.
func pathOfText(k message.Key, id partner.ID) string {
	path := joinPath("messages", k.Event, k.Channel, k.Language)
	if id != "" {
		path += "?partner=" + string(id)
	}
	return path
}
