// Package message makes what a person reads of an event: e-mail, SMS, WhatsApp and push, in three languages.
//
// A text is this program's, the operator's for everybody, or the operator's for one partner; the most particular one
// counts. It may name nothing but a short list of words, none of which can hold a personal value: the event itself has
// none. Whatever else comes from outside, such as the title of a breach, is cut to a length and made inert, so that no
// value can add a link, a line or markup.
package message

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the texts that this program brings
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// Channel is how a message reaches its person.
type Channel string

// The channels.
const (
	Email    Channel = "email"
	SMS      Channel = "sms"
	WhatsApp Channel = "whatsapp"
	Push     Channel = "push"
)

// ListChannels lists them.
func ListChannels() []Channel { return []Channel{Email, SMS, WhatsApp, Push} }

// ParseChannel reads the word of a request.
func ParseChannel(s string) (Channel, error) {
	if c := Channel(s); slices.Contains(ListChannels(), c) {
		return c, nil
	}
	return "", ErrChannel.With("channel", fault.OneOf, "email, sms, whatsapp, push")
}

// hasTitle reports whether messages of the channel have a subject or title.
func (c Channel) hasTitle() bool { return c == Email || c == Push }

// Faults of messages.
var (
	ErrChannel = fault.New(fault.Invalid, "message.channel_invalid")
	// ErrNone means that there is no message for such an event.
	ErrNone = fault.New(fault.NotFound, "message.none")
	// ErrInvalid is an operator's mistake in a text.
	ErrInvalid = fault.New(fault.Invalid, "message.invalid")
	// ErrUnchanged means that there is nothing to take back.
	ErrUnchanged = fault.New(fault.NotFound, "message.unchanged")
)

// Key names a text.
type Key struct {
	Event    alert.Type
	Channel  Channel
	Language partner.Language
}

// CheckKey refuses a text that there cannot be.
func (k Key) CheckKey() error {
	if !slices.Contains(ListEventTypes(), k.Event) {
		return ErrInvalid.With("event", fault.NoMessageTells)
	}
	if _, err := ParseChannel(string(k.Channel)); err != nil {
		return err
	}
	if k.Language == "" {
		return partner.ErrLanguage.With("lang", fault.OneOf, "pt-BR, es, en")
	}
	_, err := partner.ParseLanguage(string(k.Language))
	return err
}

// ListEventTypes returns the types of events that people are told of: all but the test of an endpoint.
func ListEventTypes() []alert.Type {
	return slices.DeleteFunc(slices.Clone(alert.Types), func(t alert.Type) bool { return t == alert.WebhookTest })
}

// ListKeys returns all texts there are.
func ListKeys() (list []Key) {
	for _, event := range ListEventTypes() {
		for _, channel := range ListChannels() {
			for _, language := range partner.ListLanguages() {
				list = append(list, Key{event, channel, language})
			}
		}
	}
	return list
}

// Template is a text before its words are filled in.
type Template struct {
	Key
	// Subject is that of an e-mail and the title of a push; the other channels have none.
	Subject, Text string
	// Origin is whose text it is.
	Origin Origin
}

// Origin is who wrote a text.
type Origin string

// The origins.
const (
	BuiltIn    Origin = "built-in"
	ByOperator Origin = "operator"
	ForPartner Origin = "partner"
)

// Message is what is sent.
type Message struct {
	Key
	Subject, Text string
	// HTML is the text of an e-mail once more.
	HTML string
	// Template is what a WhatsApp message is sent by.
	Template *Registered
}

// Registered is a WhatsApp template as it is registered at Meta, and what fills it.
type Registered struct {
	Name, Language, Body string
	Parameters           []string
}

//go:embed builtin.yaml
var builtinFile []byte

// builtinText is what the file says of an event in one language: a title, a short text for SMS and push, a long one for
// e-mail and WhatsApp.
type builtinText struct {
	Title string `yaml:"title"`
	Short string `yaml:"short"`
	Long  string `yaml:"long"`
}

// anyEvent is the text of a type that has none of its own.
const anyEvent alert.Type = "any"

var builtin = sync.OnceValues(func() (map[alert.Type]map[partner.Language]builtinText, error) {
	var texts map[alert.Type]map[partner.Language]builtinText
	if err := yaml.NewDecoder(bytes.NewReader(builtinFile), yaml.Strict()).Decode(&texts); err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	return texts, nil
})

// builtinTemplate returns the text that this program brings.
func builtinTemplate(k Key) (Template, error) {
	texts, err := builtin()
	if err != nil {
		return Template{}, err
	}
	said, ok := texts[k.Event][k.Language]
	if !ok {
		said = texts[anyEvent][k.Language]
	}
	t := Template{Key: k, Text: said.Long, Origin: BuiltIn}
	if k.Channel == SMS || k.Channel == Push {
		t.Text = said.Short
	}
	if k.Channel.hasTitle() {
		t.Subject = said.Title
	}
	return t, nil
}

// Store keeps the operator's texts. An empty partner stands for all partners.
type Store interface {
	ListTemplates(ctx context.Context, id partner.ID) ([]Template, error)
	KeepTemplate(ctx context.Context, id partner.ID, t Template) error
	// DropTemplate forgets one; ErrUnchanged when there is none.
	DropTemplate(ctx context.Context, id partner.ID, k Key) error
	// GetEvent returns one event of a partner; alert.ErrEventNotFound when it is not kept.
	GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error)
	// PartnerName, BreachTitle and PlanName are what people know them by; empty for one that is not there any more.
	PartnerName(ctx context.Context, id partner.ID) (string, error)
	BreachTitle(ctx context.Context, name string) (string, error)
	FindPlanName(ctx context.Context, id partner.ID, planID plan.ID) (string, error)
}

// Catalogue is all texts, and makes messages of them.
type Catalogue struct{ store Store }

// NewCatalogue joins the texts to a store.
func NewCatalogue(store Store) *Catalogue { return &Catalogue{store} }

// ListTemplates returns every text as it counts for a partner, or for those without one of their own.
func (c *Catalogue) ListTemplates(ctx context.Context, id partner.ID) ([]Template, error) {
	changed, err := c.loadChanged(ctx, id)
	if err != nil {
		return nil, err
	}
	var list []Template
	for _, k := range ListKeys() {
		t, ok := changed[k]
		if !ok {
			if t, err = builtinTemplate(k); err != nil {
				return nil, err
			}
		}
		list = append(list, t)
	}
	return list, nil
}

// loadChanged returns the operator's texts, with the partner's own in place of those for all partners.
func (c *Catalogue) loadChanged(ctx context.Context, id partner.ID) (map[Key]Template, error) {
	texts := map[Key]Template{}
	for _, of := range slices.Compact([]partner.ID{"", id}) {
		list, err := c.store.ListTemplates(ctx, of)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			if t.Origin = ForPartner; of == "" {
				t.Origin = ByOperator
			}
			texts[t.Key] = t
		}
	}
	return texts, nil
}

// GetTemplate returns one text.
func (c *Catalogue) GetTemplate(ctx context.Context, id partner.ID, k Key) (Template, error) {
	if err := k.CheckKey(); err != nil {
		return Template{}, err
	}
	changed, err := c.loadChanged(ctx, id)
	if err != nil {
		return Template{}, err
	}
	if t, ok := changed[k]; ok {
		return t, nil
	}
	return builtinTemplate(k)
}

// SetTemplate keeps a text for a partner, or for all partners.
func (c *Catalogue) SetTemplate(ctx context.Context, id partner.ID, t Template) error {
	if err := t.CheckTemplate(); err != nil {
		return err
	}
	return c.store.KeepTemplate(ctx, id, t)
}

// ResetTemplate forgets a text of the operator's.
func (c *Catalogue) ResetTemplate(ctx context.Context, id partner.ID, k Key) error {
	if err := k.CheckKey(); err != nil {
		return err
	}
	err := c.store.DropTemplate(ctx, id, k)
	if errors.Is(err, ErrUnchanged) {
		return ErrUnchanged.With("text", fault.NotChangedHere)
	}
	return err
}

// PreviewTemplate shows a text with made-up values.
func PreviewTemplate(t Template) (Message, error) {
	if err := t.CheckTemplate(); err != nil {
		return Message{}, err
	}
	return t.renderMessage(sampleValues(t.Event, t.Language)), nil
}

// RenderEvent returns the message for an event, if the caller's areas allow it to read such events.
func (c *Catalogue) RenderEvent(ctx context.Context, id partner.ID, of alert.Areas, event alert.EventID, channel Channel, l partner.Language) (Message, error) {
	e, err := c.store.GetEvent(ctx, id, event)
	if err != nil {
		return Message{}, err
	}
	if !of.CanRead(e.Type) {
		return Message{}, alert.ErrEventNotFound
	}
	body, err := parseEventBody(e)
	if err != nil {
		return Message{}, err
	}
	t, err := c.GetTemplate(ctx, id, Key{e.Type, channel, l})
	if err != nil {
		return Message{}, err
	}
	known, err := c.loadNames(ctx, id, body)
	if err != nil {
		return Message{}, err
	}
	return t.renderMessage(body.wordValues(e.At, l, known)), nil
}

// loadNames looks up what an event names by an id. What has no name any more is said by its id.
func (c *Catalogue) loadNames(ctx context.Context, id partner.ID, body eventBody) (n names, err error) {
	if n.partner, err = c.store.PartnerName(ctx, id); err != nil {
		return n, err
	}
	if name := body.worstFinding().Breach; name != "" {
		n.breach, err = c.store.BreachTitle(ctx, name)
		n.breach = cmp.Or(n.breach, name)
	}
	if planID := body.Data.PlanID; planID != "" && err == nil {
		n.plan, err = c.store.FindPlanName(ctx, id, plan.ID(planID))
		n.plan = cmp.Or(n.plan, planID)
	}
	return n, err
}
